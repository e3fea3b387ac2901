#include "krohn/groups/names/named_group.h"

#include "krohn/groups/error.h"
#include "krohn/groups/names/group_expression.h"
#include "krohn/groups/names/group_families.h"

namespace krohn {
namespace {

PermutationGroup build(const GroupExpression& expression);

PermutationGroup build_power(const GroupExpression& expression) {
  const PermutationGroup base = build(expression.parts.front());
  PermutationGroup power = base;
  for (std::uint64_t i = 1; i < expression.numbers.front(); ++i) power = direct_product(power, base);
  return power;
}

PermutationGroup build(const GroupExpression& expression) {
  switch (expression.kind) {
    case GroupExpression::Kind::kAtom:
      return build_atom(expression.atom, expression.numbers);
    case GroupExpression::Kind::kPower:
      return build_power(expression);
    case GroupExpression::Kind::kWreath:
      return wreath_product(build(expression.parts[0]), build(expression.parts[1]));
    case GroupExpression::Kind::kProduct:
      break;
  }
  return direct_product(build(expression.parts[0]), build(expression.parts[1]));
}

}  // namespace

PermutationGroup named_group(std::string_view name) { return build(parse_group_expression(name)); }

bool is_group_name(std::string_view name) {
  try {
    parse_group_expression(name);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::vector<NamedGroupInfo> named_groups() {
  return {{"S<n>", "the symmetric group on n points", "S5"},
          {"A<n>", "the alternating group on n points", "A5"},
          {"Z<m>, C<m>", "the cyclic group of order m; elements are residues", "Z60"},
          {"D<n>", "the dihedral group of order 2n on n points", "D4"},
          {"V4", "Klein's four-group, regular on 4 points", "V4"},
          {"Q<n>", "the (generalised) quaternion or dicyclic group of order n, regular", "Q8"},
          {"F<n>", "the Frobenius group of order n = p·d on p points", "F20"},
          {"AGL(1,p)", "the affine maps x ↦ ax + b of Z_p", "AGL(1,5)"},
          {"PSL(2,p)", "the projective special linear group on p + 1 points", "PSL(2,7)"},
          {"PGL(2,p)", "the projective general linear group on p + 1 points", "PGL(2,5)"},
          {"GL(3,2)", "PSL(2,7) on the 7 points of the Fano plane", "GL(3,2)"},
          {"M11, M12, M22, M23, M24", "the Mathieu groups", "M11"},
          {"Rubik", "the face turns of Rubik's cube on 48 stickers", "Rubik"},
          {"GxH", "the direct product on disjoint points", "Z2xZ4"},
          {"G^k", "the k-th direct power", "Z2^3"},
          {"GwrH", "the wreath product, imprimitive", "S2wrS3"}};
}

}  // namespace krohn
