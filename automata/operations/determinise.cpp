// The subset construction, in two sizes: subsets of up to 64 states are one machine word, larger ones are lists of
// occupied blocks. Only *kernel* states count: those from which acceptance is possible and that read a letter or
// accept. ε-moves, and the states that do nothing but pass them on, are closed over beforehand.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/questions.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

namespace {

constexpr std::uint64_t kMaxTableEntries = std::uint64_t{1} << 30;

using EpsilonSources = std::vector<std::vector<State>>;  ///< by state: those from which an ε-move leads to it

EpsilonSources epsilon_sources(const Nfa& nfa) {
  EpsilonSources sources(nfa.states());
  for (State state = 0; state < nfa.states(); ++state)
    for (const Nfa::Arc& arc : nfa.arcs(state))
      if (arc.letter == kEpsilon) sources[arc.target].push_back(state);
  return sources;
}

/// The states from which ε-moves alone reach an accepting one, and every letter leads back.
std::vector<bool> states_that_accept_all(const Nfa& nfa, const EpsilonSources& sources) {
  std::vector<bool> ends(nfa.states(), false), all(nfa.states(), false);
  std::vector<State> queue;
  const auto reach = [&](State state) {
    if (!ends[state]) queue.push_back(state);
    ends[state] = true;
  };
  for (State state = 0; state < nfa.states(); ++state)
    if (nfa.accepts(state)) reach(state);
  std::vector<State> looped(nfa.alphabet().size(), NfaKernel::kNone);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    std::size_t loops = 0;
    for (const Nfa::Arc& arc : nfa.arcs(queue[i]))
      if (arc.letter != kEpsilon && arc.target == queue[i] && looped[arc.letter] != queue[i]) {
        looped[arc.letter] = queue[i];
        ++loops;
      }
    all[queue[i]] = loops == looped.size();
    for (const State source : sources[queue[i]]) reach(source);
  }
  return all;
}

NfaKernel kernel_of(const Nfa& nfa, const EpsilonSources& sources) {
  NfaKernel kernel(nfa);
  kernel.accepts_all = states_that_accept_all(nfa, sources);
  for (const State state : kernel.states)
    if (kernel.accepts_all[state]) kernel.one_of_these = state;
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
  std::vector<State>& table() { return table_; }
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
  SmallSubsets(const Nfa& nfa, const NfaKernel& kernel, const EpsilonSources& sources)
      : letters_(nfa.alphabet().size()), moves_(letters_ * kernel.states.size(), 0) {
    const std::vector<std::uint64_t> closure = closures(nfa, kernel, sources);
    for (std::size_t i = 0; i < kernel.states.size(); ++i) {
      if (nfa.accepts(kernel.states[i])) accepting_ |= std::uint64_t{1} << i;
      if (kernel.accepts_all[kernel.states[i]]) accepts_all_ |= std::uint64_t{1} << i;
      for (const Nfa::Arc& arc : nfa.arcs(kernel.states[i]))
        if (arc.letter != kEpsilon) moves_[i * letters_ + arc.letter] |= closure[arc.target];
    }
    for (const State state : nfa.initial()) initial_ |= closure[state];
    if (kernel.one_of_these != NfaKernel::kNone) everything_ = closure[kernel.one_of_these];
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
      for (const std::uint64_t target : targets) rows.table().push_back(number_of(target));
    }
  }

 private:
  /// Per Nfa state, the kernel states that ε-moves reach from it: one backward search per kernel state.
  static std::vector<std::uint64_t> closures(const Nfa& nfa, const NfaKernel& kernel, const EpsilonSources& sources) {
    std::vector<std::uint64_t> closure(nfa.states(), 0);
    std::vector<State> queue;
    for (std::size_t i = 0; i < kernel.states.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      closure[kernel.states[i]] |= bit;
      queue.assign(1, kernel.states[i]);
      while (!queue.empty()) {
        const State state = queue.back();
        queue.pop_back();
        for (const State source : sources[state])
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

/// Any number of kernel states.
void determinise_large(const Nfa& nfa, NfaKernel kernel, DfaRows& rows) {
  LazySubsets subsets(nfa, std::move(kernel));
  for (LazySubsets::Index i = 0; i < subsets.size(); ++i) {
    while (rows.states() < subsets.size()) rows.add_state(subsets.accepts(rows.states()));
    subsets.append_row(i, rows.table());
  }
}

}  // namespace

NfaKernel::NfaKernel(const Nfa& nfa)
    : number(nfa.states(), kNone), useful(coaccessible_states(nfa)), accepts_all(nfa.states(), false) {
  const auto reads = [&](const Nfa::Arc& arc) { return arc.letter != kEpsilon && useful[arc.target]; };
  for (State state = 0; state < nfa.states(); ++state) {
    if (!nfa.accepts(state) && std::ranges::none_of(nfa.arcs(state), reads)) continue;
    number[state] = static_cast<State>(states.size());
    states.push_back(state);
  }
}

LazySubsets::LazySubsets(const Nfa& nfa, NfaKernel kernel)
    : nfa_(nfa),
      kernel_(std::move(kernel)),
      bits_(kernel_.states.size() / 32 + 1, 0),
      visited_(nfa.states(), 0),
      by_letter_(nfa.alphabet().size()),
      slots_(1024, kFree),
      ends_{0} {
  intern(close(nfa.initial()));
}

std::size_t LazySubsets::count(Index subset) const {
  std::size_t members = 0;
  for (const std::uint64_t block : blocks(subset)) members += static_cast<unsigned>(std::popcount(block & UINT32_MAX));
  return members;
}

bool LazySubsets::is_subset(Index inner, Index outer) const {
  const Blocks all = blocks(outer);
  auto other = all.begin();
  return std::ranges::all_of(blocks(inner), [&](std::uint64_t block) {
    while (other != all.end() && *other >> 32 < block >> 32) ++other;
    return other != all.end() && *other >> 32 == block >> 32 && (block & ~*other) == 0;
  });
}

LazySubsets::Index LazySubsets::next(Index subset, Letter letter) {
  row_of_.resize(size(), kNoRow);
  if (row_of_[subset] == kNoRow) {
    row_of_[subset] = rows_.size();
    append_row(subset, rows_);
    if (2 * pool_.size() + rows_.size() > kMaxTableEntries)
      throw LimitError("the subsets of states and their successors take more than 4 GiB");
  }
  return rows_[row_of_[subset] + letter];
}

void LazySubsets::append_row(Index subset, std::vector<Index>& rows) {
  for (auto& reached : by_letter_) reached.clear();
  for (const std::uint64_t block : blocks(subset))
    for (std::uint64_t rest = block & UINT32_MAX; rest != 0; rest &= rest - 1) {
      const auto member = (block >> 32) * 32 + static_cast<unsigned>(std::countr_zero(rest));
      for (const Nfa::Arc& arc : nfa_.arcs(kernel_.states[member]))
        if (arc.letter != kEpsilon && kernel_.useful[arc.target]) by_letter_[arc.letter].push_back(arc.target);
    }
  const std::vector<State>* previous = nullptr;
  Index target = 0;
  for (const std::vector<State>& reached : by_letter_) {
    // Neighbouring letters often do the same, as the members of a class do.
    if (previous == nullptr || *previous != reached) target = intern(close(reached));
    rows.push_back(target);
    previous = &reached;
  }
}

// Searched anew each time: tables of all closures would be quadratic in long chains of optional parts.
LazySubsets::Blocks LazySubsets::close(std::span<const State> from) {
  search(from, false);
  closed_.clear();
  for (const State state : queue_) {
    const State number = kernel_.number[state];
    if (number == NfaKernel::kNone) continue;
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

void LazySubsets::search(std::span<const State> from, bool is_everything) {
  constexpr std::size_t kWorkBetweenChecks = std::size_t{1} << 16;
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

LazySubsets::Index LazySubsets::intern(Blocks subset) {
  if (2 * std::size_t{size()} >= slots_.size()) {
    slots_.assign(slots_.size() * 4, kFree);
    for (Index number = 0; number < size(); ++number) find(blocks(number)) = number;
  }
  Index& slot = find(subset);
  if (slot != kFree) return slot;
  const auto accepts = [&](std::uint64_t block) {
    for (std::uint64_t rest = block & UINT32_MAX; rest != 0; rest &= rest - 1)
      if (nfa_.accepts(kernel_.states[(block >> 32) * 32 + static_cast<unsigned>(std::countr_zero(rest))])) return true;
    return false;
  };
  const Index number = slot = size();
  accepting_.push_back(std::ranges::any_of(subset, accepts));
  pool_.insert(pool_.end(), subset.begin(), subset.end());
  ends_.push_back(pool_.size());
  return number;
}

LazySubsets::Index& LazySubsets::find(Blocks subset) {
  std::uint64_t hash = 0;
  for (const std::uint64_t block : subset) hash = (std::rotl(hash, 23) ^ block) * 0x9E3779B97F4A7C15U;
  std::size_t i = (hash ^ hash >> 32) & (slots_.size() - 1);
  while (slots_[i] != kFree && !std::ranges::equal(subset, blocks(slots_[i]))) i = (i + 1) & (slots_.size() - 1);
  return slots_[i];
}

Dfa determinise(const Nfa& nfa, const DeterminiseOptions& options) {
  const EpsilonSources sources = epsilon_sources(nfa);
  NfaKernel kernel = kernel_of(nfa, sources);
  DfaRows rows(nfa.alphabet(), options);
  if (kernel.states.size() <= 64)
    SmallSubsets(nfa, kernel, sources).determinise(rows);
  else
    determinise_large(nfa, std::move(kernel), rows);
  return std::move(rows).finish();
}

}  // namespace krohn
