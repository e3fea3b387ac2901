#include "krohn/automata/dfa/decision_diagrams.h"

#include <array>

#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {

DecisionDiagrams::DecisionDiagrams(std::size_t max_nodes, std::string too_large)
    : max_nodes_(max_nodes), too_large_(std::move(too_large)) {}

DecisionDiagrams::Ref DecisionDiagrams::make(std::uint32_t variable, Ref low, Ref high) {
  if (low == high) return low;
  const RecordSet::Insertion node = nodes_.insert(std::array{variable, low, high});
  if (node.fresh && nodes_.size() % 4096 == 0) TimeLimit::check();
  if (nodes_.size() > max_nodes_) throw LimitError(too_large_);
  return node.index;
}

DecisionDiagrams::Ref DecisionDiagrams::choose(Ref condition, Ref then, Ref otherwise) {
  if (is_leaf(condition)) return number_of(condition) != 0 ? then : otherwise;
  if (then == otherwise || (then == leaf(1) && otherwise == leaf(0))) return then == otherwise ? then : condition;
  const std::array operands{condition, then, otherwise};
  if (const std::optional<Ref> known = chosen_.find(operands)) return *known;
  const std::uint32_t first = std::min({variable_of(condition), variable_of(then), variable_of(otherwise)});
  const auto of = [&](bool is_true) {
    return choose(child(condition, first, is_true), child(then, first, is_true), child(otherwise, first, is_true));
  };
  const Ref where_false = of(false);
  return chosen_.add(operands, make(first, where_false, of(true)));
}

}  // namespace krohn
