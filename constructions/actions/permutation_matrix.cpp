#include "krohn/constructions/actions/permutation_matrix.h"

#include <fmt/format.h>

#include "krohn/groups/base/error.h"
#include "krohn/groups/permutations/permutation.h"

namespace krohn {

KeyStyle parse_key_style(std::string_view name) {
  if (name == "unit") return KeyStyle::kUnit;
  if (name == "unnormalised") return KeyStyle::kUnnormalised;
  if (name == "doubled") return KeyStyle::kDoubled;
  throw InputError("keys", fmt::format("\"{}\" is not one of unit, unnormalised, doubled", name));
}

namespace {

/// The reflection that swaps points i < j of n.
Reflection swap_reflection(Point i, Point j, Point n, KeyStyle keys) {
  Reflection reflection;
  reflection.entries = {{i, 1}, {j, -1}};
  switch (keys) {
    case KeyStyle::kUnit:
      reflection.scale_squared_denominator = 2;
      break;
    case KeyStyle::kUnnormalised:
      reflection.beta = 1;
      break;
    case KeyStyle::kDoubled:
      reflection.entries.push_back({n + i, 1});
      reflection.entries.push_back({n + j, -1});
      reflection.scale_squared_denominator = 4;
      break;
  }
  return reflection;
}

}  // namespace

std::uint32_t coordinate_copies(std::optional<KeyStyle> keys) { return keys == KeyStyle::kDoubled ? 2 : 1; }

ReflectionProduct reflection_product(const Permutation& permutation, KeyStyle keys) {
  const Point n = permutation.degree();
  ReflectionProduct product{n * coordinate_copies(keys), {}};
  for (const Transposition& swap : transpositions_of(permutation))
    product.factors.push_back(swap_reflection(swap.first, swap.second, n, keys));
  return product;
}

Matrix permutation_matrix(const Permutation& permutation, std::optional<KeyStyle> keys) {
  if (keys) return reflection_product(permutation, *keys);
  const auto images = permutation.images();
  return MapMatrix{Transformation::from_images({images.begin(), images.end()})};
}

}  // namespace krohn
