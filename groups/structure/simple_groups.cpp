#include "krohn/groups/structure/simple_groups.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "krohn/groups/permutations/group_elements.h"

namespace krohn {
namespace {

struct SimpleGroup {
  std::uint64_t order;
  const char* name;
};

/// Conway et al., Atlas of Finite Groups, 1985: the orders below 3·10⁸ that are not those of A_n or PSL(2,q).
constexpr std::array<SimpleGroup, 37> kSimpleGroups = {{
    {5616, "PSL(3,3)"},
    {6048, "PSU(3,3)"},
    {7920, "M_11"},
    {25920, "PSU(4,2)"},
    {29120, "Sz(8)"},
    {62400, "PSU(3,4)"},
    {95040, "M_12"},
    {126000, "PSU(3,5)"},
    {175560, "J_1"},
    {372000, "PSL(3,5)"},
    {443520, "M_22"},
    {604800, "J_2"},
    {979200, "PSp(4,4)"},
    {1451520, "PSp(6,2)"},
    {1876896, "PSL(3,7)"},
    {3265920, "PSU(4,3)"},
    {4245696, "G_2(3)"},
    {4680000, "PSp(4,5)"},
    {5515776, "PSU(3,8)"},
    {5663616, "PSU(3,7)"},
    {6065280, "PSL(4,3)"},
    {9999360, "PSL(5,2)"},
    {10200960, "M_23"},
    {13685760, "PSU(5,2)"},
    {16482816, "PSL(3,8)"},
    {17971200, "2F_4(2)'"},
    {32537600, "Sz(32)"},
    {42456960, "PSL(3,9)"},
    {42573600, "PSU(3,9)"},
    {44352000, "HS"},
    {50232960, "J_3"},
    {70915680, "PSU(3,11)"},
    {138297600, "PSp(4,7)"},
    {174182400, "POmega+(8,2)"},
    {197406720, "POmega-(8,2)"},
    {211341312, "3D_4(2)"},
    {244823040, "M_24"},
}};

/// Is n a power of one prime? The prime, if so.
std::optional<std::uint64_t> prime_of_power(std::uint64_t n) {
  for (std::uint64_t p = 2; p * p <= n; ++p) {
    if (n % p) continue;
    while (n % p == 0) n /= p;
    return n == 1 ? std::optional(p) : std::nullopt;
  }
  return n > 1 ? std::optional(n) : std::nullopt;
}

/// A_n by n!/2.
std::optional<std::string> alternating_name(const Integer& order) {
  Integer size = 60;
  for (Point n = 5; size <= order; size *= ++n)
    if (size == order) return fmt::format("A_{}", n);
  return {};
}

/// PSL(2,q) by q(q²−1)/gcd(2, q−1); q up to 10⁶.
std::optional<std::string> linear_name(const Integer& order) {
  constexpr double kMost = 1e6;
  for (const int halves : {1, 2}) {
    const double root = std::cbrt(order.convert_to<double>() * halves);
    if (root > kMost) return {};
    const auto nearest = static_cast<std::uint64_t>(root);
    for (std::uint64_t q = nearest; q <= nearest + 2; ++q)
      if (q >= 7 && Integer(q) * (q * q - 1) / (q % 2 ? 2 : 1) == order && prime_of_power(q))
        return fmt::format("PSL(2,{})", q);
  }
  return {};
}

/// A_8 has elements of order 15; the orders in PSL(3,4) are 1, 2, 3, 4, 5 and 7.
std::string alternating_or_linear(const PermutationGroup& group) {
  const GroupElements elements = GroupElements::enumerate(group);
  for (ElementIndex i = 0; i < elements.size(); ++i)
    if (elements[i].order() == 15) return "A_8";
  return "PSL(3,4)";
}

}  // namespace

std::string simple_group_name(const PermutationGroup& group, const Integer& order) {
  if (order <= UINT32_MAX && prime_of_power(order.convert_to<std::uint64_t>()) == order.convert_to<std::uint64_t>())
    return fmt::format("Z_{}", order.str());
  if (order == 20160) return alternating_or_linear(group);
  if (const auto name = alternating_name(order)) return *name;
  if (const auto name = linear_name(order)) return *name;
  for (const SimpleGroup& simple : kSimpleGroups)
    if (simple.order == order) return simple.name;
  return fmt::format("simple of order {}", order.str());
}

bool may_be_power_of_simple_order(Point n) {
  if (n < 60 || n % 4) return false;
  int primes = 0;
  for (Point p = 2; n > 1; ++p) {
    if (n % p) continue;
    ++primes;
    while (n % p == 0) n /= p;
  }
  return primes >= 3;
}

}  // namespace krohn
