#include "groups/recognise.h"

#include <fmt/format.h>

#include "groups/stabiliser_chain.h"

namespace krohn {
namespace {

Point moved_points(const PermutationGroup& group) {
  Point moved = 0;
  for (const std::vector<Point>& orbit : orbits(group))
    if (orbit.size() > 1) moved += static_cast<Point>(orbit.size());
  return moved;
}

Integer factorial(Point n) {
  Integer product = 1;
  for (Point i = 2; i <= n; ++i) product *= i;
  return product;
}

/// An abelian group is cyclic when its exponent, the lcm of the orders of its generators, is its order.
bool is_cyclic(const PermutationGroup& group, const Integer& order) {
  if (!is_abelian(group)) return false;
  Integer exponent = 1;
  for (const NamedPermutation& generator : group.generators())
    exponent = boost::multiprecision::lcm(exponent, Integer(generator.value.order()));
  return exponent == order;
}

}  // namespace

std::string recognised_name(const PermutationGroup& group) {
  const Integer size = order(group);
  if (size == 1) return "trivial";
  if (is_cyclic(group, size)) return fmt::format("Z_{}", size.str());
  // A subgroup of Sym(k) of order k! is all of it, and the only one of index 2 is the alternating group.
  const Point moved = moved_points(group);
  if (size == factorial(moved)) return fmt::format("S_{}", moved);
  if (2 * size == factorial(moved)) return fmt::format("A_{}", moved);
  return fmt::format("order {}", size.str());
}

}  // namespace krohn
