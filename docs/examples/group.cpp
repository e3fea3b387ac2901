// Groups by name: order, composition factors, and the group that some permutations generate.
// Prints:
//   M24 has order 244823040
//   S4 is made of Z_2^3, Z_3
//   (1 2 3 4) and (1 3) generate D_4

#include <krohn/krohn.h>

#include <cstdio>

int main() {
  const krohn::StabiliserChain chain(krohn::named_group("M24"));
  std::printf("M24 has order %s\n", chain.order().str().c_str());

  const auto factors = krohn::composition_factors(krohn::named_group("S4"));
  std::printf("S4 is made of %s\n", krohn::to_string(factors).c_str());

  const auto cycle = krohn::parse_cycles("(1 2 3 4)", 4), swap = krohn::parse_cycles("(1 3)", 4);
  const auto group = krohn::PermutationGroup::from_generators(4, {cycle, swap});
  std::printf("(1 2 3 4) and (1 3) generate %s\n", krohn::recognised_name(group).c_str());
}
