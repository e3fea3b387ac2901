#include "krohn/automata/words/uniform_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/product.h"
#include "krohn/automata/words/spellings.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

Dfa minimal_acceptor(const Dfa& dfa) {
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
    : dfa_(minimal_acceptor(dfa)), texts_(spellings(dfa_.alphabet())), length_(length) {
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
    : dfa_(minimal_acceptor(dfa)),
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

}  // namespace krohn
