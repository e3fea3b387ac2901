#include "krohn/automata/operations/product.h"

#include <fmt/format.h>

#include <array>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

void require_acceptor(const Dfa& dfa, const char* operation) {
  if (!dfa.is_acceptor())
    throw InputError(
        fmt::format("{} takes acceptors; this automaton has {}, and they are not \"reject\" and \"accept\"", operation,
                    counted(dfa.output_names().size(), "output")));
}

PairSearch::Index PairSearch::visit(StatePair pair) {
  const RecordSet::Insertion insertion = pairs_.insert(std::array<std::uint32_t, 2>{pair.a, pair.b});
  if (!insertion.fresh) return insertion.index;
  if (pairs_.size() % 4096 == 0) TimeLimit::check();
  if (pairs_.size() > max_pairs_)
    throw LimitError(fmt::format("{} passed {} of states; minimise the operands or raise --max-states", operation_,
                                 counted(max_pairs_, "pair")));
  return insertion.index;
}

}  // namespace krohn
