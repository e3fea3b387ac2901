#include "krohn/automata/questions/lazy_subsets.h"

#include <algorithm>
#include <limits>

#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr std::size_t kMostEntries = std::size_t{1} << 30;
constexpr LazySubsets::Index kFree = std::numeric_limits<LazySubsets::Index>::max();

std::uint64_t hash_of(std::span<const State> members) {
  std::uint64_t hash = members.size();
  for (const State state : members) {
    hash = (hash ^ state) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

LazySubsets::LazySubsets(const Nfa& nfa)
    : nfa_(nfa),
      useful_(coaccessible_states(nfa)),
      kernel_(nfa.states(), false),
      first_{0},
      table_(1024, kFree),
      stamp_(nfa.states(), 0),
      targets_(nfa.alphabet().size()) {
  for (State state = 0; state < nfa.states(); ++state) {
    const auto arcs = nfa.arcs(state);
    kernel_[state] = useful_[state] && (nfa.accepts(state) || std::ranges::any_of(arcs, [&](const Nfa::Arc& arc) {
                                          return arc.letter != kEpsilon && useful_[arc.target];
                                        }));
  }
  intern();  // the empty subset is number 0
  ++now_;
  for (const State state : nfa.initial()) close(state);
  initial_ = intern();
}

bool LazySubsets::is_subset(Index inner, Index outer) const {
  if ((signature_[inner] & ~signature_[outer]) != 0) return false;
  const auto a = members(inner), b = members(outer);
  return a.size() <= b.size() && std::ranges::includes(b, a);
}

LazySubsets::Index LazySubsets::next(Index subset, Letter letter) {
  if (row_of_[subset] == kNoRow) make_row(subset);
  return rows_[row_of_[subset] + letter];
}

void LazySubsets::make_row(Index subset) {
  for (const State state : members(subset))
    for (const Nfa::Arc& arc : nfa_.arcs(state))
      if (arc.letter != kEpsilon && useful_[arc.target]) targets_[arc.letter].push_back(arc.target);
  row_of_[subset] = rows_.size();
  for (std::vector<State>& targets : targets_) {
    Index target = kEmpty;
    if (!targets.empty()) {
      ++now_;
      for (const State state : targets) close(state);
      targets.clear();
      target = intern();
    }
    rows_.push_back(target);
  }
}

void LazySubsets::close(State state) {
  const auto reach = [&](State reached) {
    if (stamp_[reached] == now_ || !useful_[reached]) return;
    stamp_[reached] = now_;
    stack_.push_back(reached);
    if (kernel_[reached]) closing_.push_back(reached);
  };
  reach(state);
  while (!stack_.empty()) {
    const State here = stack_.back();
    stack_.pop_back();
    for (const Nfa::Arc& arc : nfa_.arcs(here))
      if (arc.letter == kEpsilon) reach(arc.target);
  }
}

LazySubsets::Index LazySubsets::intern() {
  std::sort(closing_.begin(), closing_.end());
  if (2 * std::size_t{size()} >= table_.size()) grow_table();
  std::size_t slot = hash_of(closing_) & (table_.size() - 1);
  for (; table_[slot] != kFree; slot = (slot + 1) & (table_.size() - 1))
    if (std::ranges::equal(members(table_[slot]), closing_)) {
      closing_.clear();
      return table_[slot];
    }
  if (members_.size() + rows_.size() > kMostEntries)
    throw LimitError("the subsets of states have more than 2^30 members and successors, 4 GiB");
  const Index number = size();
  table_[slot] = number;
  std::uint64_t signature = 0;
  bool accepting = false;
  for (const State state : closing_) {
    signature |= std::uint64_t{1} << (state % 64);
    accepting = accepting || nfa_.accepts(state);
  }
  members_.insert(members_.end(), closing_.begin(), closing_.end());
  first_.push_back(members_.size());
  signature_.push_back(signature);
  accepting_.push_back(accepting);
  row_of_.push_back(kNoRow);
  closing_.clear();
  return number;
}

void LazySubsets::grow_table() {
  table_.assign(table_.size() * 4, kFree);
  for (Index subset = 0; subset < size(); ++subset) {
    std::size_t slot = hash_of(members(subset)) & (table_.size() - 1);
    while (table_[slot] != kFree) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = subset;
  }
}

}  // namespace krohn
