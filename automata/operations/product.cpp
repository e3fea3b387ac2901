#include "krohn/automata/operations/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/messages.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

void require_acceptor(const Dfa& dfa, const char* operation) {
  if (!dfa.is_acceptor())
    throw InputError(
        fmt::format("{} takes acceptors; this automaton has {}, and they are not \"reject\" and \"accept\"", operation,
                    counted(dfa.output_names().size(), "output")));
}

PairSearch::PairSearch(StatePair start, const char* operation, std::uint64_t max_pairs)
    : pairs_(2), operation_(operation), max_pairs_(max_pairs) {
  visit(start, 0, 0);
}

PairSearch::Index PairSearch::visit(StatePair pair, Index parent, Letter letter) {
  const std::array<std::uint32_t, 2> record{pair.a, pair.b};
  const RecordSet::Insertion insertion = pairs_.insert(record);
  if (insertion.fresh) {
    if (pairs_.size() % 4096 == 0) TimeLimit::check();
    if (pairs_.size() > max_pairs_)
      throw LimitError(fmt::format("{} passed {} of states; minimise the operands or raise --max-states", operation_,
                                   counted(max_pairs_, "pair")));
    tree_.push_back({parent, letter});
  }
  return insertion.index;
}

Word PairSearch::word_to(Index index) const {
  Word word;
  for (; index != 0; index = tree_[index].parent) word.push_back(tree_[index].letter);
  std::reverse(word.begin(), word.end());
  return word;
}

}  // namespace krohn
