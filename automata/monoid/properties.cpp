#include "krohn/automata/monoid/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/transformations/transformation.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {
namespace {

struct Implication {
  const char* from;
  const char* to;
};

/// Each also says, the other way round, that no follows from no. S is the image of the non-empty words.
constexpr Implication kImplications[] = {{"nilpotent", "definite"},          // the one idempotent is a zero of S,
                                         {"nilpotent", "reverse definite"},  // from both sides,
                                         {"nilpotent", "J-trivial"},  // so nothing but the identity is above it twice
                                         {"definite", "generalised definite"},  // se = e for all s gives ese = e,
                                         {"reverse definite", "generalised definite"},  // and so does es = e
                                         {"generalised definite", "locally testable"},  // eSe = {e} is a semilattice
                                         {"locally testable", "aperiodic"},  // a group lies in its local monoid
                                         {"J-trivial", "R-trivial"},
                                         {"J-trivial", "L-trivial"},
                                         {"R-trivial", "DA"},
                                         {"L-trivial", "DA"},
                                         {"DA", "aperiodic"},
                                         {"aperiodic", "2-groups only"},
                                         {"aperiodic", "quasi-aperiodic"},
                                         {"2-groups only", "solvable groups"},
                                         {"group", "right regular idempotents"},        // e = 1
                                         {"commutative", "right regular idempotents"},  // efe = fee
                                         {"definite", "right regular idempotents"}};    // se = e

const char* meaning_of(std::string_view property) {
  const auto* found = std::find_if(kProperties.begin(), kProperties.end(),
                                   [&](const Property& candidate) { return property == candidate.name; });
  assert(found != kProperties.end());
  return found->meaning;
}

Verdict* find(std::vector<Verdict>& verdicts, std::string_view property) {
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [&](const Verdict& verdict) { return verdict.property == property; });
  return found == verdicts.end() ? nullptr : &*found;
}

/// Moves `answer` from one verdict to the other, when the first has it and the second is open.
bool conclude(const Verdict& from, Verdict& to, Answer answer) {
  if (from.answer != answer || to.answer != Answer::kUnknown) return false;
  to.answer = answer;
  to.witness.clear();
  if (answer == Answer::kNo) {
    const bool drawn = from.witness.starts_with("not ");
    to.witness = drawn ? from.witness : fmt::format("not {}: {}", from.property, from.witness);
  }
  return true;
}

}  // namespace

Verdict decided(std::string_view property, std::string witness) {
  const Answer answer = witness.empty() ? Answer::kYes : Answer::kNo;
  return {std::string(property), meaning_of(property), answer, std::move(witness)};
}

Verdict undecided(std::string_view property, std::string why) {
  return {std::string(property), meaning_of(property), Answer::kUnknown, std::move(why)};
}

void draw_conclusions(std::vector<Verdict>& verdicts) {
  for (bool drawn = true; drawn;) {
    drawn = false;
    for (const auto& [from, to] : kImplications) {
      Verdict *premise = find(verdicts, from), *conclusion = find(verdicts, to);
      if (premise == nullptr || conclusion == nullptr) continue;
      drawn = conclude(*premise, *conclusion, Answer::kYes) || drawn;
      drawn = conclude(*conclusion, *premise, Answer::kNo) || drawn;
    }
    Verdict *r = find(verdicts, "R-trivial"), *l = find(verdicts, "L-trivial"), *j = find(verdicts, "J-trivial");
    if (r != nullptr && l != nullptr && j != nullptr && j->answer == Answer::kUnknown && r->answer == Answer::kYes)
      drawn = conclude(*l, *j, Answer::kYes) || drawn;  // J = D = L ∘ R in finite monoids
  }
}

namespace {

constexpr std::uint64_t kFirstElements = 20'000;
constexpr std::uint64_t kFirstNumbers = 20'000'000;  ///< elements × states

struct Cycles {
  std::string any, odd;  ///< witnesses for a cycle, and for one whose length is no power of two
};

std::string describe_cycle(const Dfa& dfa, const Word& word, std::uint64_t length) {
  return fmt::format("{} acts with a cycle of {}", quoted_letters(dfa.alphabet(), word), counted(length, "state"));
}

void note_cycles(const Dfa& dfa, const Word& word, Cycles& cycles) {
  for (const std::uint64_t length : cycle_lengths(images_of_word(dfa, word))) {
    if (length > 1 && cycles.any.empty()) cycles.any = describe_cycle(dfa, word, length);
    if ((length & (length - 1)) != 0 && cycles.odd.empty()) cycles.odd = describe_cycle(dfa, word, length);
  }
}

std::uint64_t first_elements(const Dfa& dfa) { return std::min(kFirstElements, kFirstNumbers / dfa.states() + 1); }

/// Cycles of the letters, and of the words that the first elements of the monoid stand for, as far as the time goes.
Cycles early_cycles(const Dfa& dfa) {
  Cycles cycles;
  std::vector<Transformation> letters;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    letters.push_back(dfa.letter_map(letter));
    note_cycles(dfa, {letter}, cycles);
  }
  try {
    TransformationMonoid::Options options;
    options.max_elements = first_elements(dfa);
    const auto monoid = TransformationMonoid::enumerate(letters, dfa.states(), options);
    for (TransformationMonoid::Element e = 0; e < monoid.size() && cycles.odd.empty(); ++e) {
      TimeLimit::check();
      note_cycles(dfa, monoid.word(e), cycles);
    }
  } catch (const LimitError&) {  // what was found stays
  }
  return cycles;
}

}  // namespace

std::string early_cycle(const Dfa& dfa) { return early_cycles(dfa).any; }

std::string merging_letter(const Dfa& dfa) {
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    std::vector<State> source(dfa.states(), dfa.states());
    for (State state = 0; state < dfa.states(); ++state) {
      State& first = source[dfa.next(state, letter)];
      if (first != dfa.states())
        return fmt::format("\"{}\" merges states {} and {}", dfa.alphabet().name(letter), dfa.state_name(first),
                           dfa.state_name(state));
      first = state;
    }
  }
  return {};
}

std::string non_commuting_letters(const Dfa& dfa) {
  for (Letter a = 0; a < dfa.letters(); ++a) {
    TimeLimit::check();
    for (Letter b = a + 1; b < dfa.letters(); ++b)
      for (State state = 0; state < dfa.states(); ++state)
        if (dfa.next(dfa.next(state, a), b) != dfa.next(dfa.next(state, b), a))
          return fmt::format("{} and {} differ from state {}", quoted_letters(dfa.alphabet(), std::array{a, b}),
                             quoted_letters(dfa.alphabet(), std::array{b, a}), dfa.state_name(state));
  }
  return {};
}

std::string returning_state(const Dfa& dfa) {
  const std::vector<std::uint32_t> component = strong_components(dfa.states(), dfa.letters(), dfa.table());
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State away = dfa.next(state, letter);
      if (away == state || component[away] != component[state]) continue;
      return fmt::format("{} leaves state {}, and {} enters it again",
                         quoted_letters(dfa.alphabet(), std::array{letter}), dfa.state_name(state),
                         quoted_letters(dfa.alphabet(), word_between(dfa, away, state)));
    }
  return {};
}

Verdict definite(const Dfa& dfa, const std::string& limit) {
  if (dfa.states() > kMaxPairedStates) return undecided("definite", limit);
  const PairPaths paths = pair_paths(dfa, std::vector<bool>(dfa.states(), true));
  if (!paths.cycle) return decided("definite", {});
  return decided("definite", fmt::format("{} takes the states {} and {} to themselves",
                                         quoted_letters(dfa.alphabet(), paths.cycle->word),
                                         dfa.state_name(paths.cycle->p), dfa.state_name(paths.cycle->q)));
}

std::string endless_words(const Dfa& dfa) {
  if (is_finite(dfa)) return {};
  const ShortestWords words(dfa);
  const std::vector<bool> useful = coaccessible_states(dfa);
  for (const State state : words.states()) {
    if (!useful[state]) continue;
    const auto loop = shortest_word(
        dfa, state, [&](State to) { return to == state; }, /*may_be_empty=*/false);
    if (!loop) continue;
    const Word end = shortest_word(dfa, state, [&](State to) { return dfa.accepts(to); }).value();
    return product_of_words(dfa.alphabet(), {{*words.to(state)}, {*loop, true}, {end}}) + " for every n";
  }
  throw Error("a language that is not finite has no state that a word brings back");
}

std::vector<Verdict> partial_verdicts(const Dfa& dfa, const std::string& limit) {
  std::map<std::string_view, Verdict> known;
  const auto know = [&](const char* property, const auto& decide) {
    known.emplace(property, decided_in_time(property, decide));
  };
  know("group", [&] { return decided("group", merging_letter(dfa)); });
  know("commutative", [&] { return decided("commutative", non_commuting_letters(dfa)); });
  know("R-trivial", [&] { return decided("R-trivial", returning_state(dfa)); });
  know("definite", [&] { return definite(dfa, limit); });
  if (dfa.is_acceptor()) know("finite", [&] { return decided("finite", endless_words(dfa)); });
  know("synchronising", [&] { return synchronising(dfa); });
  const Cycles cycles = [&] {
    const TimeLimit half = TimeLimit::part(0.5);
    return early_cycles(dfa);
  }();
  if (!cycles.any.empty()) known.emplace("aperiodic", decided("aperiodic", cycles.any));
  if (!cycles.odd.empty()) known.emplace("2-groups only", decided("2-groups only", cycles.odd));
  know("right regular idempotents", [&] { return right_regular_idempotents(dfa, first_elements(dfa)); });
  std::vector<Verdict> verdicts;
  for (const Property& property : kProperties) {
    if (std::string_view(property.name) == "finite" && !dfa.is_acceptor()) continue;
    const auto found = known.find(property.name);
    verdicts.push_back(found == known.end() ? undecided(property.name, limit) : found->second);
  }
  draw_conclusions(verdicts);
  return verdicts;
}

namespace {

constexpr std::uint64_t kMaxPairs = std::uint64_t{1} << 27;  ///< × letters
constexpr std::uint64_t kMaxWork = 200'000'000;              ///< states moved in the search for a shortest word
constexpr std::size_t kMaxCompared = 300;                    ///< states of a set whose pairs are all compared
constexpr std::size_t kLongestShown = 10'000;
constexpr std::uint32_t kApart = UINT32_MAX;

/// For every pair of different states the least number of letters after which they may be one, and the first of them.
class MeetingPairs {
 public:
  explicit MeetingPairs(const Dfa& dfa) : dfa_(dfa), steps_(pairs(dfa.states()), kApart), first_(steps_.size(), 0) {
    std::vector<std::vector<std::vector<State>>> before(dfa.letters(), std::vector<std::vector<State>>(dfa.states()));
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      for (State state = 0; state < dfa.states(); ++state) before[letter][dfa.next(state, letter)].push_back(state);
    std::vector<std::pair<State, State>> queue;
    const auto extend = [&](State p, State q, std::uint32_t steps) {
      for (Letter letter = 0; letter < dfa.letters(); ++letter)
        for (const State from_p : before[letter][p])
          for (const State from_q : before[letter][q]) {
            if (from_p == from_q || steps_[number(from_p, from_q)] != kApart) continue;
            steps_[number(from_p, from_q)] = steps + 1;
            first_[number(from_p, from_q)] = letter;
            queue.emplace_back(from_p, from_q);
          }
    };
    for (State state = 0; state < dfa.states(); ++state) extend(state, state, 0);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (i % 1024 == 0) TimeLimit::check();
      const auto [p, q] = queue[i];
      extend(p, q, steps_[number(p, q)]);
    }
  }

  /// A pair that never meets.
  std::optional<std::pair<State, State>> apart() const {
    for (State q = 1; q < dfa_.states(); ++q)
      for (State p = 0; p < q; ++p)
        if (steps_[number(p, q)] == kApart) return std::pair(p, q);
    return std::nullopt;
  }

  std::uint32_t steps(State p, State q) const { return steps_[number(p, q)]; }
  Letter first(State p, State q) const { return first_[number(p, q)]; }

 private:
  static std::size_t pairs(State states) { return std::size_t{states} * (states - 1) / 2; }
  static std::size_t number(State p, State q) {
    return std::size_t{std::max(p, q)} * (std::max(p, q) - 1) / 2 + std::min(p, q);
  }

  const Dfa& dfa_;
  std::vector<std::uint32_t> steps_;
  std::vector<Letter> first_;
};

/// Breadth first over the images of all states, as sets of bits.
std::optional<Word> shortest_resetting_word(const Dfa& dfa, std::uint64_t max_sets) {
  constexpr State kBits = 32;
  const std::size_t words = (std::size_t{dfa.states()} + kBits - 1) / kBits;
  std::vector<std::uint32_t> set(words, 0);
  for (State state = 0; state < dfa.states(); ++state) set[state / kBits] |= std::uint32_t{1} << (state % kBits);
  RecordSet sets(words);
  sets.insert(set);
  std::vector<std::pair<RecordSet::Index, Letter>> came_by{{0, 0}};
  const auto word_to = [&](RecordSet::Index index) {
    Word word;
    for (; index != 0; index = came_by[index].first) word.push_back(came_by[index].second);
    std::reverse(word.begin(), word.end());
    return word;
  };
  if (dfa.states() == 1) return Word{};
  std::uint64_t work = 0;
  for (RecordSet::Index index = 0; index < sets.size(); ++index) {
    if (index % 1024 == 0) TimeLimit::check();
    work += std::uint64_t{dfa.letters()} * dfa.states();
    if (sets.size() > max_sets || work > kMaxWork) return std::nullopt;
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      std::fill(set.begin(), set.end(), 0);
      const RecordSet::Record from = sets[index];
      for (std::size_t word = 0; word < words; ++word)
        for (std::uint32_t bits = from[word]; bits != 0; bits &= bits - 1) {
          const State to =
              dfa.next(static_cast<State>(word * kBits + static_cast<State>(std::countr_zero(bits))), letter);
          set[to / kBits] |= std::uint32_t{1} << (to % kBits);
        }
      if (!sets.insert(set).fresh) continue;
      came_by.emplace_back(index, letter);
      int size = 0;
      for (const std::uint32_t part : set) size += std::popcount(part);
      if (size == 1) return word_to(sets.size() - 1);
    }
  }
  return std::nullopt;
}

/// Brings two states of the set together, two that need the fewest letters where all can be compared, until one is
/// left.
Word greedy_word(const Dfa& dfa, const MeetingPairs& pairs) {
  std::vector<State> set(dfa.states());
  for (State state = 0; state < dfa.states(); ++state) set[state] = state;
  Word word;
  while (set.size() > 1) {
    TimeLimit::check();
    State p = set[0], q = set[1];
    if (set.size() <= kMaxCompared)
      for (std::size_t i = 1; i < set.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (pairs.steps(set[i], set[j]) < pairs.steps(p, q)) p = set[i], q = set[j];
    while (p != q) {
      const Letter letter = pairs.first(p, q);
      word.push_back(letter);
      p = dfa.next(p, letter), q = dfa.next(q, letter);
      for (State& state : set) state = dfa.next(state, letter);
    }
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  return word;
}

/// The first state of each component that no word leaves.
std::vector<State> ends(const Dfa& dfa) {
  const Components components = strongly_connected_components(dfa);
  std::vector<bool> is_done(components.count);
  for (State state = 0; state < dfa.states(); ++state)
    for (const State next : dfa.row(state))
      if (components.of[next] != components.of[state]) is_done[components.of[state]] = true;
  std::vector<State> first;
  for (State state = 0; state < dfa.states(); ++state) {
    if (!is_done[components.of[state]]) first.push_back(state);
    is_done[components.of[state]] = true;
  }
  return first;
}

/// A word or a pair that fails its check is a fault of krohn's, and nothing may be claimed on it.
void require(bool checked) {
  if (!checked) throw Error("the witness of \"synchronising\" failed its check; please report this");
}

}  // namespace

Synchronisation synchronise(const Dfa& dfa, std::uint64_t max_sets) {
  Synchronisation found;
  for (Letter letter = 0; letter < dfa.letters() && dfa.states() > 1; ++letter) {  // a reset, whatever the pairs do
    const auto is_reset = [&](State state) { return dfa.next(state, letter) == dfa.next(0, letter); };
    if (!std::ranges::all_of(std::views::iota(State{0}, dfa.states()), is_reset)) continue;
    found.answer = Answer::kYes;
    found.word = {letter};
    found.is_shortest = true;
    return found;
  }
  const auto never = [&](State p, State q) {
    found.first = p, found.second = q;
    found.answer = Answer::kNo;
    require(never_meet(dfa, p, q));
    return found;
  };
  const std::vector<State> closed = ends(dfa);
  if (closed.size() > 1) return never(closed[0], closed[1]);
  const bool has_sink = std::ranges::count(dfa.row(closed[0]), closed[0]) == std::ptrdiff_t{dfa.letters()};
  std::optional<Word> word;
  if (has_sink) word = shortest_resetting_word(dfa, max_sets);  // there is one, whatever the pairs do
  found.is_shortest = word.has_value();
  if (!word) {
    if (std::uint64_t{dfa.states()} * dfa.states() / 2 > kMaxPairs / std::max<Letter>(1, dfa.letters())) {
      found.limit = fmt::format("the pairs of {} states are too many to compare under {}", with_thousands(dfa.states()),
                                counted(dfa.letters(), "letter"));
      return found;
    }
    const MeetingPairs pairs(dfa);
    if (const auto apart = pairs.apart()) return never(apart->first, apart->second);
    if (!has_sink) word = shortest_resetting_word(dfa, max_sets);
    found.is_shortest = word.has_value();
    if (!word) word = greedy_word(dfa, pairs);
  }
  found.word = *std::move(word);
  found.answer = Answer::kYes;
  const std::vector<State> images = images_of_word(dfa, found.word);
  require(std::ranges::count(images, images.front()) == std::ptrdiff_t{dfa.states()});
  return found;
}

std::string in_words(const Dfa& dfa, const Synchronisation& found) {
  if (found.answer == Answer::kUnknown) return found.limit;
  if (found.answer == Answer::kNo)
    return fmt::format("no word takes states {} and {} to one", dfa.state_name(found.first),
                       dfa.state_name(found.second));
  const std::size_t length = found.word.size();
  const std::string count = counted(length, "letter");
  if (length > kLongestShown) return fmt::format("by a word of {}", count);
  return fmt::format("by {}, {}{}", quoted_letters(dfa.alphabet(), found.word), count,
                     found.is_shortest ? ", the shortest" : "; a shorter word may exist");
}

Verdict synchronising(const Dfa& dfa) {
  const Synchronisation found = synchronise(dfa);
  Verdict verdict = undecided("synchronising", in_words(dfa, found));
  verdict.answer = found.answer;
  return verdict;
}

}  // namespace krohn
