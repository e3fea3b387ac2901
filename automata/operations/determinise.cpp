// The subset construction, in two sizes: subsets of up to 64 states are one machine word, larger ones are lists of
// occupied blocks. Only *kernel* states count: those from which acceptance is possible and that read a letter or
// accept. ε-moves, and the states that do nothing but pass them on, are closed over beforehand.
#include "krohn/automata/operations/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

namespace {

constexpr std::uint64_t kMaxTableEntries = std::uint64_t{1} << 30;

/// The parts of an Nfa that decide its language, with the kernel states numbered 0, 1, ….
struct Kernel {
  std::vector<State> number;      ///< of every Nfa state; kNone when it is not in the kernel
  std::vector<State> states;      ///< the Nfa state of every number
  std::vector<bool> useful;       ///< acceptance is possible
  std::vector<bool> accepts_all;  ///< every word is accepted, for every letter leads back here
  State one_of_these = kNone;
  static constexpr State kNone = UINT32_MAX;
};

/// The arcs of an automaton turned round, those that read a letter and those that do not.
struct ReverseArcs {
  std::vector<std::vector<State>> epsilon, lettered;
};

ReverseArcs reverse_arcs(const Nfa& nfa) {
  ReverseArcs reverse{std::vector<std::vector<State>>(nfa.states()), std::vector<std::vector<State>>(nfa.states())};
  for (State state = 0; state < nfa.states(); ++state)
    for (const Nfa::Arc& arc : nfa.arcs(state)) {
      auto& sources = (arc.letter == kEpsilon ? reverse.epsilon : reverse.lettered)[arc.target];
      if (sources.empty() || sources.back() != state) sources.push_back(state);
    }
  return reverse;
}

std::vector<bool> useful_states(const Nfa& nfa, const ReverseArcs& reverse) {
  std::vector<bool> useful(nfa.states(), false);
  std::vector<State> queue;
  const auto reach = [&](State state) {
    if (!useful[state]) queue.push_back(state);
    useful[state] = true;
  };
  for (State state = 0; state < nfa.states(); ++state)
    if (nfa.accepts(state)) reach(state);
  while (!queue.empty()) {
    const State state = queue.back();
    queue.pop_back();
    for (const State source : reverse.epsilon[state]) reach(source);
    for (const State source : reverse.lettered[state]) reach(source);
  }
  return useful;
}

/// The states from which ε-moves alone reach an accepting one, and every letter leads back.
std::vector<bool> states_that_accept_all(const Nfa& nfa, const ReverseArcs& reverse) {
  std::vector<bool> ends(nfa.states(), false), all(nfa.states(), false);
  std::vector<State> queue;
  const auto reach = [&](State state) {
    if (!ends[state]) queue.push_back(state);
    ends[state] = true;
  };
  for (State state = 0; state < nfa.states(); ++state)
    if (nfa.accepts(state)) reach(state);
  std::vector<State> looped(nfa.alphabet().size(), Kernel::kNone);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    std::size_t loops = 0;
    for (const Nfa::Arc& arc : nfa.arcs(queue[i]))
      if (arc.letter != kEpsilon && arc.target == queue[i] && looped[arc.letter] != queue[i]) {
        looped[arc.letter] = queue[i];
        ++loops;
      }
    all[queue[i]] = loops == looped.size();
    for (const State source : reverse.epsilon[queue[i]]) reach(source);
  }
  return all;
}

Kernel kernel_of(const Nfa& nfa, const ReverseArcs& reverse) {
  Kernel kernel;
  kernel.useful = useful_states(nfa, reverse);
  kernel.accepts_all = states_that_accept_all(nfa, reverse);
  kernel.number.assign(nfa.states(), Kernel::kNone);
  const auto reads = [&](const Nfa::Arc& arc) { return arc.letter != kEpsilon && kernel.useful[arc.target]; };
  for (State state = 0; state < nfa.states(); ++state) {
    const auto arcs = nfa.arcs(state);
    if (!nfa.accepts(state) && std::none_of(arcs.begin(), arcs.end(), reads)) continue;
    kernel.number[state] = static_cast<State>(kernel.states.size());
    kernel.states.push_back(state);
    if (kernel.accepts_all[state]) kernel.one_of_these = state;
  }
  return kernel;
}

/// The state that both sizes share: the rows found so far and the limits.
class DfaRows {
 public:
  DfaRows(const Alphabet& alphabet, const DeterminiseOptions& options) : alphabet_(alphabet), options_(options) {}

  void add_state(bool accepting) {
    if (accepting_.size() % 4096 == 0) TimeLimit::check();
    if (accepting_.size() >= options_.max_states)
      throw LimitError(fmt::format("the subset construction passed {}; raise the limit with --max-states",
                                   counted(options_.max_states, "state")));
    if ((accepting_.size() + 1) * std::uint64_t{std::max(alphabet_.size(), Letter{1})} > kMaxTableEntries)
      throw LimitError(
          fmt::format("the subset construction passed {} of {}, 4 GiB; lower the number of "
                      "letters or stop earlier with --max-states",
                      counted(accepting_.size(), "state"), counted(alphabet_.size(), "letter")));
    accepting_.push_back(accepting);
  }
  void add_target(State target) { table_.push_back(target); }
  State states() const { return static_cast<State>(accepting_.size()); }

  Dfa finish() && { return Dfa::acceptor(alphabet_, std::move(table_), 0, accepting_); }

 private:
  Alphabet alphabet_;
  DeterminiseOptions options_;
  std::vector<State> table_;
  std::vector<bool> accepting_;
};

/// Numbers for 64-bit keys in the order of arrival: open addressing with Fibonacci hashing.
class WordNumbers {
 public:
  WordNumbers() : slots_(1024) {}

  /// The number of `key`; `next` is given to one that is new.
  State number(std::uint64_t key, State next) {
    if (2 * std::size_t{next} >= slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.number == kFree) slot = {key, next};
    return slot.number;
  }

 private:
  static constexpr State kFree = UINT32_MAX;
  struct Slot {
    std::uint64_t key = 0;
    State number = kFree;
  };

  Slot& find(std::uint64_t key) {
    std::size_t i = (key * 0x9E3779B97F4A7C15U) >> (64 - std::bit_width(slots_.size() - 1));
    while (slots_[i].number != kFree && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 4);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.number != kFree) find(slot.key) = slot;
  }

  std::vector<Slot> slots_;
};

/// Up to 64 kernel states: a subset is a word.
class SmallSubsets {
 public:
  SmallSubsets(const Nfa& nfa, const Kernel& kernel, const ReverseArcs& reverse)
      : letters_(nfa.alphabet().size()), moves_(letters_ * kernel.states.size(), 0) {
    const std::vector<std::uint64_t> closure = closures(nfa, kernel, reverse);
    for (std::size_t i = 0; i < kernel.states.size(); ++i) {
      if (nfa.accepts(kernel.states[i])) accepting_ |= std::uint64_t{1} << i;
      if (kernel.accepts_all[kernel.states[i]]) accepts_all_ |= std::uint64_t{1} << i;
      for (const Nfa::Arc& arc : nfa.arcs(kernel.states[i]))
        if (arc.letter != kEpsilon) moves_[i * letters_ + arc.letter] |= closure[arc.target];
    }
    for (const State state : nfa.initial()) initial_ |= closure[state];
    if (kernel.one_of_these != Kernel::kNone) everything_ = closure[kernel.one_of_these];
  }

  void determinise(DfaRows& rows) const {
    WordNumbers numbers;
    std::vector<std::uint64_t> subsets, targets(letters_);
    const auto number_of = [&](std::uint64_t subset) {
      if ((subset & accepts_all_) != 0) subset = everything_;
      const State number = numbers.number(subset, rows.states());
      if (number == rows.states()) {
        rows.add_state((subset & accepting_) != 0);
        subsets.push_back(subset);
      }
      return number;
    };
    number_of(initial_);
    for (std::size_t i = 0; i < subsets.size(); ++i) {
      std::fill(targets.begin(), targets.end(), 0);
      for (std::uint64_t rest = subsets[i]; rest != 0; rest &= rest - 1) {
        const std::uint64_t* moves = moves_.data() + static_cast<std::size_t>(std::countr_zero(rest)) * letters_;
        for (std::size_t letter = 0; letter < letters_; ++letter) targets[letter] |= moves[letter];
      }
      for (const std::uint64_t target : targets) rows.add_target(number_of(target));
    }
  }

 private:
  /// Per Nfa state, the kernel states that ε-moves reach from it: one backward search per kernel state.
  static std::vector<std::uint64_t> closures(const Nfa& nfa, const Kernel& kernel, const ReverseArcs& reverse) {
    std::vector<std::uint64_t> closure(nfa.states(), 0);
    std::vector<State> queue;
    for (std::size_t i = 0; i < kernel.states.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      closure[kernel.states[i]] |= bit;
      queue.assign(1, kernel.states[i]);
      while (!queue.empty()) {
        const State state = queue.back();
        queue.pop_back();
        for (const State source : reverse.epsilon[state])
          if ((closure[source] & bit) == 0) {
            closure[source] |= bit;
            queue.push_back(source);
          }
      }
    }
    return closure;
  }

  std::size_t letters_;
  std::vector<std::uint64_t> moves_;  ///< [kernel state · letters + letter], closed under ε
  std::uint64_t initial_ = 0;
  std::uint64_t accepting_ = 0;
  std::uint64_t accepts_all_ = 0, everything_ = 0;
};

/// Any number of kernel states. A subset is its occupied blocks in increasing order, each a word: which 32 states (high
/// half) and which of them (low half), so that sparse and dense subsets both stay small.
class LargeSubsets {
 public:
  LargeSubsets(const Nfa& nfa, const Kernel& kernel)
      : nfa_(nfa),
        kernel_(kernel),
        bits_(kernel.states.size() / 32 + 1, 0),
        visited_(nfa.states(), 0),
        by_letter_(nfa.alphabet().size()),
        slots_(1024, kFree),
        ends_{0} {}

  void determinise(DfaRows& rows) {
    intern(close(nfa_.initial()), rows);
    for (State i = 0; i < rows.states(); ++i) {
      gather(i);
      const std::vector<State>* previous = nullptr;
      State target = 0;
      for (const std::vector<State>& reached : by_letter_) {
        // Neighbouring letters often do the same, as the members of a class do.
        if (previous == nullptr || *previous != reached) target = intern(close(reached), rows);
        rows.add_target(target);
        previous = &reached;
      }
    }
  }

 private:
  static constexpr State kFree = UINT32_MAX;
  static constexpr std::size_t kWorkBetweenChecks = std::size_t{1} << 16;
  using Blocks = std::span<const std::uint64_t>;

  Blocks blocks(State number) const { return {pool_.data() + ends_[number], pool_.data() + ends_[number + 1]}; }

  /// The states that the members of subset `number` reach on each letter, before closing.
  void gather(State number) {
    for (auto& reached : by_letter_) reached.clear();
    for (const std::uint64_t block : blocks(number))
      for (std::uint64_t rest = block & UINT32_MAX; rest != 0; rest &= rest - 1) {
        const auto member = (block >> 32) * 32 + static_cast<unsigned>(std::countr_zero(rest));
        for (const Nfa::Arc& arc : nfa_.arcs(kernel_.states[member]))
          if (arc.letter != kEpsilon && kernel_.useful[arc.target]) by_letter_[arc.letter].push_back(arc.target);
      }
  }

  /// The kernel states that ε-moves reach, as blocks in `closed_`. Searched anew each time: tables of all closures
  /// would be quadratic in long chains of optional parts.
  Blocks close(std::span<const State> from) {
    search(from, false);
    return blocks_of_queue();
  }

  /// Fills the queue; with one state that accepts all, where any is met.
  void search(std::span<const State> from, bool is_everything) {
    ++visit_;
    queue_.clear();
    bool accepts_all = false;
    const auto reach = [&](State state) {
      if (visited_[state] == visit_ || !kernel_.useful[state]) return;
      queue_.push_back(state);
      visited_[state] = visit_;
      accepts_all = accepts_all || kernel_.accepts_all[state];
    };
    for (const State state : from) reach(state);
    for (std::size_t i = 0; i < queue_.size() && (is_everything || !accepts_all); ++i)
      for (const Nfa::Arc& arc : nfa_.arcs(queue_[i]))
        if (arc.letter == kEpsilon) reach(arc.target);
    work_ += queue_.size();
    if (work_ >= kWorkBetweenChecks) TimeLimit::check();
    work_ %= kWorkBetweenChecks;
    if (accepts_all && !is_everything) search({&kernel_.one_of_these, 1}, true);
  }

  Blocks blocks_of_queue() {
    closed_.clear();
    for (const State state : queue_) {
      const State number = kernel_.number[state];
      if (number == Kernel::kNone) continue;
      if (bits_[number / 32] == 0) closed_.push_back(number / 32);
      bits_[number / 32] |= std::uint32_t{1} << number % 32;
    }
    std::sort(closed_.begin(), closed_.end());
    for (std::uint64_t& block : closed_) {
      const std::uint64_t index = block;
      block = index << 32 | bits_[index];
      bits_[index] = 0;
    }
    return closed_;
  }

  State intern(Blocks subset, DfaRows& rows) {
    if (2 * std::size_t{rows.states()} >= slots_.size()) grow(rows.states());
    State& slot = find(subset);
    if (slot != kFree) return slot;
    slot = rows.states();
    const State number = slot;
    rows.add_state(std::any_of(subset.begin(), subset.end(), [&](std::uint64_t block) { return accepts(block); }));
    pool_.insert(pool_.end(), subset.begin(), subset.end());
    ends_.push_back(pool_.size());
    return number;
  }

  bool accepts(std::uint64_t block) const {
    for (std::uint64_t rest = block & UINT32_MAX; rest != 0; rest &= rest - 1)
      if (nfa_.accepts(kernel_.states[(block >> 32) * 32 + static_cast<unsigned>(std::countr_zero(rest))])) return true;
    return false;
  }

  State& find(Blocks subset) {
    std::uint64_t hash = 0;
    for (const std::uint64_t block : subset) hash = (std::rotl(hash, 23) ^ block) * 0x9E3779B97F4A7C15U;
    std::size_t i = (hash ^ hash >> 32) & (slots_.size() - 1);
    const auto same = [&](State number) {
      const Blocks other = blocks(number);
      return std::equal(subset.begin(), subset.end(), other.begin(), other.end());
    };
    while (slots_[i] != kFree && !same(slots_[i])) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  void grow(State states) {
    slots_.assign(slots_.size() * 4, kFree);
    for (State number = 0; number < states; ++number) find(blocks(number)) = number;
  }

  const Nfa& nfa_;
  const Kernel& kernel_;
  std::vector<std::uint32_t> bits_;     ///< scratch, all zero between calls
  std::vector<std::uint64_t> visited_;  ///< the last visit of every Nfa state
  std::uint64_t visit_ = 0;
  std::vector<State> queue_;
  std::size_t work_ = 0;  ///< states visited since the last look at the clock
  std::vector<std::uint64_t> closed_;
  std::vector<std::vector<State>> by_letter_;
  std::vector<State> slots_;         ///< open addressing into the subsets
  std::vector<std::uint64_t> pool_;  ///< the blocks of all subsets
  std::vector<std::size_t> ends_;    ///< subset i is pool_[ends_[i] … ends_[i+1])
};

}  // namespace

Dfa determinise(const Nfa& nfa, const DeterminiseOptions& options) {
  const ReverseArcs reverse = reverse_arcs(nfa);
  const Kernel kernel = kernel_of(nfa, reverse);
  DfaRows rows(nfa.alphabet(), options);
  if (kernel.states.size() <= 64)
    SmallSubsets(nfa, kernel, reverse).determinise(rows);
  else
    LargeSubsets(nfa, kernel).determinise(rows);
  return std::move(rows).finish();
}

}  // namespace krohn
