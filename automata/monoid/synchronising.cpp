#include "krohn/automata/monoid/synchronising.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/partial_verdicts.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/record_set.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMaxPairs = std::uint64_t{1} << 27;  ///< × letters
constexpr std::uint64_t kMaxWork = 200'000'000;              ///< states moved in the search for a shortest word
constexpr std::size_t kMostCompared = 300;                   ///< states of a set whose pairs are all compared
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
std::optional<Word> shortest_word(const Dfa& dfa, std::uint64_t max_sets) {
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
    if (set.size() <= kMostCompared)
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

/// A word or a pair that fails its check is a fault of krohn's, and nothing may be claimed on it.
void require(bool checked) {
  if (!checked) throw Error("the witness of \"synchronising\" failed its check; please report this");
}

}  // namespace

Synchronisation synchronise(const Dfa& dfa, std::uint64_t max_sets) {
  Synchronisation found;
  if (std::uint64_t{dfa.states()} * dfa.states() / 2 > kMaxPairs / std::max<Letter>(1, dfa.letters())) {
    found.limit =
        fmt::format("the pairs of {} states are too many to compare under {} letters", dfa.states(), dfa.letters());
    return found;
  }
  const MeetingPairs pairs(dfa);
  if (const auto apart = pairs.apart()) {
    std::tie(found.first, found.second) = *apart;
    found.answer = Answer::kNo;
    require(never_meet(dfa, found.first, found.second));
    return found;
  }
  std::optional<Word> word = shortest_word(dfa, max_sets);
  found.is_shortest = word.has_value();
  found.word = word ? *std::move(word) : greedy_word(dfa, pairs);
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
