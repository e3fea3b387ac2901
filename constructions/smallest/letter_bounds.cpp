#include "krohn/constructions/smallest/letter_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "krohn/automata/monoid/algebra.h"
#include "krohn/constructions/smallest/finite_values.h"
#include "krohn/groups/error.h"
#include "krohn/groups/structure/composition.h"
#include "krohn/groups/structure/series.h"
#include "krohn/groups/time_limit.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {
namespace {

constexpr std::size_t kMostPairs = 300;

Permutation on_image(const Transformation& map, const std::vector<Point>& image) {
  std::vector<Point> images;
  for (const Point point : image)
    images.push_back(static_cast<Point>(std::ranges::lower_bound(image, map[point]) - image.begin()));
  return Permutation::from_images(std::move(images));
}

/// The points that the letter moves around for ever.
std::vector<Point> lasting_image(const Transformation& map) {
  Transformation power = map;
  while (power.rank() != (power * map).rank()) power = power * map;
  return power.image_set();
}

LeastNumber of_letter(const Transformation& map, const std::string& name) {
  const std::vector<Point> image = lasting_image(map);
  const bool drops = image.size() < map.degree();
  const std::uint64_t order = on_image(map, image).order();
  const std::uint64_t turns = order == 1 ? 0 : order == 2 ? 1 : 2;
  if (drops && turns == 0) return {1, fmt::format("\"{}\" merges states", name)};
  const std::string moved = fmt::format("has order {}", order);
  if (drops) return {1 + turns, fmt::format("\"{}\" merges states and {} on those left", name, moved)};
  return {turns, fmt::format("\"{}\" {}{}", name, moved, turns > 1 ? ", and a reflection has order 2" : "")};
}

std::uint64_t ceiling(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// How few letters generate the whole group, as far as one and two are tried; otherwise some that do.
std::size_t few_generators(const std::vector<Permutation>& letters, Point degree, const Integer& whole) {
  const auto generates = [&](std::vector<Permutation> some) {
    return order(PermutationGroup::from_generators(degree, std::move(some))) == whole;
  };
  for (const Permutation& a : letters)
    if (generates({a})) return 1;
  std::size_t tried = 0;
  for (std::size_t i = 0; i < letters.size(); ++i)
    for (std::size_t j = 0; j < i && tried < kMostPairs; ++j, ++tried) {
      TimeLimit::check();
      if (generates({letters[i], letters[j]})) return 2;
    }
  std::vector<Permutation> kept = letters;
  for (std::size_t i = kept.size(); i-- > 0;) {
    std::vector<Permutation> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (generates(fewer)) kept = std::move(fewer);
  }
  return kept.size();
}

/// The least w with |P| dividing w!.
std::uint64_t least_degree(const Integer& order_of_group) {
  std::uint64_t w = 1;
  for (Integer factorial = 1; factorial % order_of_group != 0;) factorial *= ++w;
  return w;
}

/// The least numbers of a layer whose finite groups of matrices have this simple group as a section.
std::uint64_t least_numbers(const CompositionFactor& factor) {
  if (factor.order == 2) return 1;
  if (factor.name.starts_with("Z_")) return 2;
  return factor.name == "A_5" ? 3 : 4;
}

void raise(LeastNumber& least, std::uint64_t value, const std::string& because) {
  if (value > least.value) least = {value, because};
}

}  // namespace

LeastNumber reflections_of_any_layer(const Dfa& automaton) {
  LeastNumber least;
  std::set<Permutation> letters;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) {
    const Transformation map = automaton.letter_map(letter);
    const LeastNumber one = of_letter(map, automaton.alphabet().name(letter));
    raise(least, one.value, one.because);
    if (map.is_permutation() && !map.is_identity()) letters.insert(map.to_permutation());
  }
  if (!automaton.is_permutation_automaton() || letters.empty()) return least;
  const std::vector<Permutation> list(letters.begin(), letters.end());
  const PermutationGroup group = PermutationGroup::from_generators(automaton.states(), list);
  const Integer whole = order(group);
  const std::uint64_t dimension = least_orthogonal_dimension(group, whole);
  if (dimension <= least.value) return least;
  const std::size_t few = few_generators(list, automaton.states(), whole);
  raise(least, ceiling(dimension, few),
        fmt::format("the group needs {} dimensions, and {} letter{} generate{} it", dimension, few, few == 1 ? "" : "s",
                    few == 1 ? "s" : ""));
  return least;
}

DivisorBounds divisor_bounds(const Dfa& automaton, const GreenStructure& green) {
  DivisorBounds bounds;
  const bool some = automaton.states() > 1;
  const char* const why = some ? "there are states to tell apart" : "there is nothing to tell apart";
  bounds.labels = {some ? 2U : 1U, why};
  bounds.numbers = {some ? 1U : 0U, why};
  bounds.diagonal = LeastNumber{some ? 1U : 0U, why};
  std::set<std::vector<Permutation>> known;
  for (const DClass& box : green.d_classes()) {
    if (!box.regular || box.group_order == 1 || !known.insert(box.group.generator_values()).second) continue;
    TimeLimit::check();
    bool solvable = true;
    for (const CompositionFactor& factor : composition_factors(box.group)) {
      const std::string because = fmt::format("{} divides the monoid", factor.name);
      raise(bounds.labels, least_degree(factor.order), because);
      raise(bounds.numbers, least_numbers(factor), because);
      solvable = solvable && factor.name.starts_with("Z_");
    }
    if (!solvable) {
      bounds.diagonal.reset();
    } else if (bounds.diagonal) {
      const std::size_t length = derived_series(box.group).size() - 1;
      raise(*bounds.diagonal, length, fmt::format("a group in the monoid has derived length {}", length));
    }
  }
  return bounds;
}

std::optional<LeastNumber> layers_of_resets(const Dfa& automaton, std::uint64_t max_elements) {
  TransformationMonoid::Options options;
  options.max_elements = max_elements;
  const auto monoid = TransformationMonoid::enumerate(letter_maps(automaton), automaton.states(), options);
  if (!monoid.complete()) return std::nullopt;
  if (monoid.size() == 1) return LeastNumber{0, "no letter moves a state"};
  const auto text = [&](TransformationMonoid::Element e) { return automaton.alphabet().format_word(monoid.word(e)); };
  for (TransformationMonoid::Element x = 0; x < monoid.size(); ++x)
    if (!monoid.is_idempotent(x)) return LeastNumber{2, fmt::format("xx ≠ x for x = {}", text(x))};
  for (TransformationMonoid::Element x = 0; x < monoid.size(); ++x)
    for (TransformationMonoid::Element y = 0; y < monoid.size(); ++y) {
      TimeLimit::check();
      const TransformationMonoid::Element yx = monoid.product(y, x);
      if (monoid.product(x, yx) != yx)
        return LeastNumber{2, fmt::format("xyx ≠ yx for x = {}, y = {}", text(x), text(y))};
    }
  return LeastNumber{1, "some letter moves a state"};
}

}  // namespace krohn
