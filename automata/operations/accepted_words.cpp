#include "krohn/automata/operations/accepted_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

constexpr CodePointRange kPrintable{0x20, 0x7E};

/// Ranges of the class, the printable ones of ASCII first.
std::vector<CodePointRange> in_order(const CharacterSet& characters) {
  const std::array printable{kPrintable};
  std::vector<CodePointRange> ranges = intersection(characters, printable);
  const CharacterSet others = intersection(characters, complement(printable));
  ranges.insert(ranges.end(), others.begin(), others.end());
  return ranges;
}

char32_t character_at(const std::vector<CodePointRange>& ranges, std::uint64_t place) {
  for (const CodePointRange& range : ranges) {
    const std::uint64_t size = range.last - range.first + 1;
    if (place < size) return range.first + static_cast<char32_t>(place);
    place -= size;
  }
  return 0;
}

/// The text in which every class is the character at its place.
std::string spelled(const Alphabet& alphabet, const Word& word, const std::vector<std::uint64_t>& places) {
  std::vector<std::vector<CodePointRange>> ranges(alphabet.size());
  std::set<char32_t> single;
  std::vector<std::optional<char32_t>> chosen(word.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    const Symbol& symbol = alphabet[word[i]];
    if (spellings(symbol) == 1) continue;
    if (ranges[word[i]].empty()) ranges[word[i]] = in_order(symbol.characters);
    chosen[i] = character_at(ranges[word[i]], places[i]);
    single.insert(*chosen[i]);
  }
  if (single.empty()) return alphabet.format_word(word);
  std::vector<Symbol> own;
  for (const char32_t character : single) own.push_back(character_symbol(character));
  // Where the chosen characters are letters of their own, the word has but one text.
  const AlphabetRefinement split = refine(alphabet, Alphabet::from_symbols(std::move(own)));
  std::vector<Letter> same(alphabet.size());
  for (Letter letter = 0; letter < split.merged.size(); ++letter)
    if (split.in_a[letter]) same[*split.in_a[letter]] = letter;
  Word letters;
  for (std::size_t i = 0; i < word.size(); ++i)
    letters.push_back(chosen[i] ? *split.merged.find(*chosen[i]) : same[word[i]]);
  return split.merged.format_word(letters);
}

/// Uniform below `bound`, by rejection.
std::uint64_t uniform_below(std::uint64_t bound, std::mt19937_64& random) {
  const std::uint64_t rest = (UINT64_MAX % bound + 1) % bound;  // how many of the 2^64 values are too many
  while (true)
    if (const std::uint64_t value = random(); value <= UINT64_MAX - rest) return value % bound;
}

}  // namespace

std::uint64_t spellings(const Symbol& symbol) { return symbol.characters.empty() ? 1 : cardinality(symbol.characters); }

std::vector<std::uint64_t> spellings(const Alphabet& alphabet) {
  std::vector<std::uint64_t> counts;
  for (const Symbol& symbol : alphabet.symbols()) counts.push_back(spellings(symbol));
  return counts;
}

Spellings::Spellings(Alphabet alphabet, Word word)
    : alphabet_(std::move(alphabet)), word_(std::move(word)), place_(word_.size()) {}

std::optional<std::string> Spellings::next() {
  if (at_end_) return std::nullopt;
  std::string text = spelled(alphabet_, word_, place_);
  std::size_t i = word_.size();
  while (i > 0 && ++place_[i - 1] == spellings(alphabet_[word_[i - 1]])) place_[--i] = 0;
  at_end_ = i == 0;
  return text;
}

std::string random_spelling(const Alphabet& alphabet, const Word& word, std::mt19937_64& random) {
  std::vector<std::uint64_t> places;
  for (const Letter letter : word) {
    const std::uint64_t count = spellings(alphabet[letter]);
    places.push_back(count > 1 ? uniform_below(count, random) : 0);
  }
  return spelled(alphabet, word, places);
}

namespace {

Dfa minimal_acceptor(const Dfa& dfa) {
  require_acceptor(dfa, "enumeration");
  return minimise(dfa);
}

}  // namespace

AcceptedWords::AcceptedWords(const Dfa& dfa, std::uint64_t length)
    : dfa_(minimal_acceptor(dfa)), finite_(is_finite(dfa_)), path_{dfa_.initial()} {
  possible_.emplace_back(dfa_.outputs().begin(), dfa_.outputs().end());
  while (length_ < length) next_length();
}

std::optional<Word> AcceptedWords::next() {
  while (true) {
    if (fresh_ && possible_[length_][dfa_.initial()]) {
      fresh_ = false;
      complete();
      return word_;
    }
    if (!fresh_ && advance()) return word_;
    // A finite language has no word as long as its automaton has states: some state would be met twice.
    if (finite_ && length_ + 1 >= dfa_.states()) return std::nullopt;
    next_length();
  }
}

std::optional<Letter> AcceptedWords::letter_from(State state, Letter first, std::size_t remaining) const {
  for (Letter letter = first; letter < dfa_.letters(); ++letter)
    if (possible_[remaining][dfa_.next(state, letter)]) return letter;
  return std::nullopt;
}

void AcceptedWords::complete() {
  while (word_.size() < length_) {
    const Letter letter = *letter_from(path_.back(), 0, length_ - word_.size() - 1);
    word_.push_back(letter);
    path_.push_back(dfa_.next(path_.back(), letter));
  }
}

bool AcceptedWords::advance() {
  while (!word_.empty()) {
    const Letter last = word_.back();
    word_.pop_back();
    path_.pop_back();
    const std::optional<Letter> letter = letter_from(path_.back(), last + 1, length_ - word_.size() - 1);
    if (!letter) continue;
    word_.push_back(*letter);
    path_.push_back(dfa_.next(path_.back(), *letter));
    complete();
    return true;
  }
  return false;
}

void AcceptedWords::next_length() {
  TimeLimit::check();
  std::vector<bool> possible(dfa_.states(), false);
  for (State state = 0; state < dfa_.states(); ++state)
    for (const State target : dfa_.row(state)) possible[state] = possible[state] || possible_[length_][target];
  possible_.push_back(std::move(possible));
  ++length_;
  fresh_ = true;
  word_.clear();
  path_.assign(1, dfa_.initial());
}

std::vector<std::string> first_accepted_texts(const Dfa& dfa, std::uint64_t count) {
  AcceptedWords words(dfa);
  std::vector<std::string> list;
  while (list.size() < count) {
    auto word = words.next();
    if (!word) break;
    Spellings texts(dfa.alphabet(), std::move(*word));
    for (auto text = texts.next(); text && list.size() < count; text = texts.next()) list.push_back(*text);
  }
  return list;
}

std::vector<Word> first_accepted_words(const Dfa& dfa, std::size_t count) {
  std::vector<Word> words;
  AcceptedWords generator(dfa);
  while (words.size() < count) {
    std::optional<Word> word = generator.next();
    if (!word) break;
    words.push_back(std::move(*word));
  }
  return words;
}

namespace {

Dfa acceptor_to_draw(const Dfa& dfa) {
  require_acceptor(dfa, "drawing accepted words");
  return minimise(dfa);
}

InputError no_word(std::uint64_t length) {
  return InputError(fmt::format("no word of {} is accepted; choose another length", counted(length, "letter")));
}

/// The bytes of the counts of all states and lengths; half of the bits of the longest, on average.
double table_bytes(const Dfa& dfa, std::uint64_t length) {
  double texts = 1;
  for (const std::uint64_t count : spellings(dfa.alphabet())) texts += static_cast<double>(count);
  const double bits = static_cast<double>(length) * std::log2(texts);
  return (static_cast<double>(length) + 1) * dfa.states() * (sizeof(Count) + bits / 16);
}

std::vector<double> doubles(const std::vector<std::uint64_t>& counts) { return {counts.begin(), counts.end()}; }

/// Uniform below `bound`, by rejection.
Count uniform_below(const Count& bound, std::mt19937_64& random) {
  const std::size_t bits = msb(bound) + 1;
  while (true) {
    Count value = 0;
    for (std::size_t filled = 0; filled < bits; filled += 64) {
      const std::size_t take = std::min<std::size_t>(64, bits - filled);
      value <<= take;
      value += random() >> (64 - take);
    }
    if (value < bound) return value;
  }
}

/// 2^−shift, zero below the normal numbers: what is 2^1022 times smaller than its neighbour cannot change a sum.
double power_of_half(std::int64_t shift) {
  return shift > 1022 ? 0.0 : std::bit_cast<double>(static_cast<std::uint64_t>(1023 - shift) << 52);
}

}  // namespace

ExactUniformWords::ExactUniformWords(const Dfa& dfa, std::uint64_t length, std::uint64_t max_bytes)
    : dfa_(acceptor_to_draw(dfa)), texts_(spellings(dfa_.alphabet())), length_(length) {
  if (table_bytes(dfa_, length) > static_cast<double>(max_bytes))
    throw LimitError(fmt::format("exact counts for {} and {} letters need about {:.0f} MB; the limit is {} MB",
                                 counted(dfa_.states(), "state"), length, table_bytes(dfa_, length) / 1e6,
                                 max_bytes / 1'000'000));
  counts_.emplace_back(dfa_.outputs().begin(), dfa_.outputs().end());
  while (counts_.size() <= length) {
    std::vector<Count> longer(dfa_.states());
    for (State state = 0; state < dfa_.states(); ++state)
      for (Letter letter = 0; letter < dfa_.letters(); ++letter)
        longer[state] += texts_[letter] * counts_.back()[dfa_.next(state, letter)];
    counts_.push_back(std::move(longer));
  }
  if (words() == 0) throw no_word(length);
}

Word ExactUniformWords::draw(std::mt19937_64& random) const {
  Word word;
  Count rank = uniform_below(words(), random);  // the place of the word in lexicographic order
  State state = dfa_.initial();
  for (std::uint64_t left = length_; left-- > 0;) {
    Letter letter = 0;
    const auto words = [&] { return texts_[letter] * counts_[left][dfa_.next(state, letter)]; };
    for (Count here = words(); rank >= here; here = words()) rank -= here, ++letter;
    state = dfa_.next(state, letter);
    word.push_back(letter);
    rank %= counts_[left][state];
  }
  return word;
}

ScaledUniformWords::Weight ScaledUniformWords::normalised(double value, std::int64_t exponent) {
  if (value == 0) return {};
  const int own = std::ilogb(value);
  return {std::scalbn(value, -own), exponent + own};
}

std::int64_t ScaledUniformWords::partial_sums(State state, const std::vector<Weight>& weights,
                                              std::vector<double>& partial) const {
  const auto targets = dfa_.row(state);
  std::int64_t exponent = INT64_MIN;
  for (const State target : targets)
    if (weights[target].mantissa != 0) exponent = std::max(exponent, weights[target].exponent);
  double sum = 0;
  partial.clear();
  for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
    const Weight& weight = weights[targets[letter]];
    if (weight.mantissa != 0) sum += texts_[letter] * (weight.mantissa * power_of_half(exponent - weight.exponent));
    partial.push_back(sum);
  }
  return exponent;
}

std::vector<ScaledUniformWords::Weight> ScaledUniformWords::one_letter_more(const std::vector<Weight>& weights) const {
  std::vector<Weight> result(dfa_.states());
  std::vector<double> partial;
  for (State state = 0; state < dfa_.states(); ++state) {
    const std::int64_t exponent = partial_sums(state, weights, partial);
    if (!partial.empty()) result[state] = normalised(partial.back(), exponent);
  }
  return result;
}

ScaledUniformWords::ScaledUniformWords(const Dfa& dfa, std::uint64_t length)
    : dfa_(acceptor_to_draw(dfa)),
      texts_(doubles(spellings(dfa_.alphabet()))),
      length_(length),
      stride_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::sqrt(static_cast<double>(length))))) {
  std::vector<Weight> weights;
  for (State state = 0; state < dfa_.states(); ++state) weights.push_back({dfa_.accepts(state) ? 1.0 : 0.0, 0});
  for (std::uint64_t done = 0; done < length; ++done) {
    if (done % stride_ == 0) checkpoints_.push_back(weights);
    weights = one_letter_more(weights);
  }
  if (weights[dfa_.initial()].mantissa == 0) throw no_word(length);
}

Word ScaledUniformWords::draw(std::mt19937_64& random) const {
  Word word;
  word.reserve(length_);
  State state = dfa_.initial();
  std::vector<std::vector<Weight>> segment;
  std::vector<double> partial;
  for (std::size_t block = checkpoints_.size(); block-- > 0;) {
    const std::uint64_t letters = std::min(stride_, length_ - block * stride_);
    segment.assign(1, checkpoints_[block]);
    while (segment.size() < letters) segment.push_back(one_letter_more(segment.back()));
    for (std::size_t left = letters; left-- > 0;) {
      partial_sums(state, segment[left], partial);
      const double place = static_cast<double>(random() >> 11) * 0x1p-53 * partial.back();
      // (1 − 2^−53) · sum rounds below the sum, so the place is always before the end.
      const auto chosen = std::upper_bound(partial.begin(), partial.end(), place);
      word.push_back(static_cast<Letter>(chosen - partial.begin()));
      state = dfa_.next(state, word.back());
    }
  }
  return word;
}

CountingGraph::CountingGraph(const Dfa& dfa) {
  constexpr State kUseless = std::numeric_limits<State>::max();
  const Dfa reachable = canonical(dfa);
  const std::vector<bool> useful = coaccessible_states(reachable);
  std::vector<State> number(reachable.states(), kUseless);
  const std::vector<std::uint64_t> texts = spellings(dfa.alphabet());
  State states = 0;
  for (State state = 0; state < reachable.states(); ++state)
    if (useful[state]) number[state] = states++;
  arcs_.resize(states);
  for (State state = 0; state < reachable.states(); ++state) {
    if (!useful[state]) continue;
    accepting_.push_back(reachable.accepts(state));
    std::vector<std::pair<State, Letter>> targets;
    for (Letter letter = 0; letter < reachable.letters(); ++letter)
      if (const State target = reachable.next(state, letter); useful[target]) targets.emplace_back(target, letter);
    std::sort(targets.begin(), targets.end());
    std::vector<Arc>& arcs = arcs_[number[state]];
    for (const auto& [target, letter] : targets) {
      if (arcs.empty() || arcs.back().target != number[target]) arcs.push_back({number[target], 0});
      arcs.back().multiplicity += texts[letter];
    }
  }
}

std::vector<Count> CountingGraph::counts_of_empty_word() const {
  return std::vector<Count>(accepting_.begin(), accepting_.end());
}

std::vector<Count> CountingGraph::one_letter_more(const std::vector<Count>& counts) const {
  std::vector<Count> result(states());
  for (State state = 0; state < states(); ++state)
    for (const Arc& arc : arcs_[state]) {
      if (arc.multiplicity == 1)
        result[state] += counts[arc.target];
      else
        result[state] += counts[arc.target] * arc.multiplicity;
    }
  return result;
}

std::vector<Count> count_words_by_length(const Dfa& dfa, std::uint64_t max_length) {
  const CountingGraph graph(dfa);
  std::vector<Count> result, counts = graph.counts_of_empty_word();
  for (std::uint64_t length = 0; length <= max_length; ++length) {
    if (length > 0) counts = graph.one_letter_more(counts);
    result.push_back(graph.states() == 0 ? Count(0) : counts[0]);
  }
  return result;
}

}  // namespace krohn
