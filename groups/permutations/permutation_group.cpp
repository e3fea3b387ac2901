#include "krohn/groups/permutations/permutation_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

/// "a", …, "z", then "g27", "g28", ….
std::string short_name(std::size_t index) {
  return index < 26 ? std::string(1, static_cast<char>('a' + index)) : fmt::format("g{}", index + 1);
}

/// `permutation` moved to the points `shift`, `shift`+1, … of a larger set; all other points are fixed.
Permutation shifted(const Permutation& permutation, Point shift, Point degree) {
  std::vector<Point> images(degree);
  std::iota(images.begin(), images.end(), Point{0});
  for (Point point = 0; point < permutation.degree(); ++point) images[shift + point] = shift + permutation[point];
  return Permutation::from_images(std::move(images));
}

/// Moves blocks of `width` points as `top` moves points.
Permutation moving_blocks(const Permutation& top, Point width) {
  std::vector<Point> images(std::size_t{top.degree()} * width);
  for (Point block = 0; block < top.degree(); ++block)
    for (Point point = 0; point < width; ++point)
      images[std::size_t{block} * width + point] = top[block] * width + point;
  return Permutation::from_images(std::move(images));
}

/// An operand of ≀: a product stands in brackets.
std::string operand(const std::string& name) {
  return name.find('x') == std::string::npos && name.find("wr") == std::string::npos ? name : "(" + name + ")";
}

void check_degree(std::uint64_t degree) {
  constexpr std::uint64_t kMaxPoints = 10'000'000;
  if (degree > kMaxPoints)
    throw LimitError(fmt::format("this group would act on {}; the limit is {}", counted(degree, "point"), kMaxPoints));
}

}  // namespace

PermutationGroup PermutationGroup::from_generators(Point degree, std::vector<Permutation> generators,
                                                   std::string name) {
  PermutationGroup group;
  group.name_ = std::move(name);
  group.degree_ = degree;
  for (Permutation& generator : generators) {
    if (generator.degree() != degree)
      throw InputError(fmt::format("generator {} has degree {}, the group has degree {}", group.generators_.size() + 1,
                                   generator.degree(), degree));
    group.generators_.push_back({{}, std::move(generator)});
  }
  group.name_generators();
  return group;
}

PermutationGroup PermutationGroup::with_blocks(std::vector<FreeBlock> blocks) && {
  for (const FreeBlock& block : blocks)
    if (block.names.empty() || block.first >= degree_ || block.names.size() > degree_ - block.first)
      throw InputError(fmt::format("a block of {} from point {} does not fit degree {}",
                                   counted(block.names.size(), "point"), block.first + 1, degree_));
  blocks_ = std::move(blocks);
  name_generators();
  return std::move(*this);
}

PermutationGroup PermutationGroup::with_generator_names(std::vector<std::string> names) && {
  if (names.size() != generators_.size())
    throw InputError(fmt::format("{} for {}", counted(names.size(), "name"), counted(generators_.size(), "generator")));
  for (std::size_t i = 0; i < names.size(); ++i) generators_[i].name = std::move(names[i]);
  return std::move(*this);
}

void PermutationGroup::name_generators() {
  constexpr std::size_t kLongestName = 40;
  bool all_short = true;
  for (NamedPermutation& generator : generators_) {
    generator.name = element_name(generator.value);
    all_short = all_short && generator.name.size() <= kLongestName;
  }
  if (all_short) return;
  for (std::size_t i = 0; i < generators_.size(); ++i) generators_[i].name = short_name(i);
}

std::vector<Permutation> PermutationGroup::generator_values() const {
  std::vector<Permutation> values;
  for (const NamedPermutation& generator : generators_) values.push_back(generator.value);
  return values;
}

std::string PermutationGroup::element_name(const Permutation& element) const {
  if (blocks_.empty()) return to_string(element);
  std::string text;
  for (const FreeBlock& block : blocks_)
    text += (text.empty() ? "" : ",") + block.names[element[block.first] - block.first];
  return blocks_.size() == 1 ? text : "(" + text + ")";
}

PermutationGroup direct_product(const PermutationGroup& a, const PermutationGroup& b) {
  check_degree(std::uint64_t{a.degree()} + b.degree());
  const Point degree = a.degree() + b.degree();
  std::vector<Permutation> generators;
  for (const NamedPermutation& g : a.generators()) generators.push_back(shifted(g.value, 0, degree));
  for (const NamedPermutation& g : b.generators()) generators.push_back(shifted(g.value, a.degree(), degree));
  PermutationGroup product =
      PermutationGroup::from_generators(degree, std::move(generators), a.name() + "x" + b.name());
  if (a.blocks().empty() || b.blocks().empty()) return product;
  std::vector<FreeBlock> blocks(a.blocks().begin(), a.blocks().end());
  for (FreeBlock block : b.blocks()) {
    block.first += a.degree();
    blocks.push_back(std::move(block));
  }
  return std::move(product).with_blocks(std::move(blocks));
}

PermutationGroup wreath_product(const PermutationGroup& a, const PermutationGroup& b) {
  check_degree(std::uint64_t{a.degree()} * b.degree());
  const Point degree = a.degree() * b.degree();
  std::vector<Permutation> generators;
  // B carries A's action from one block to every block of the same orbit.
  for (const std::vector<Point>& orbit : orbits(b))
    for (const NamedPermutation& g : a.generators())
      generators.push_back(shifted(g.value, orbit.front() * a.degree(), degree));
  for (const NamedPermutation& g : b.generators()) generators.push_back(moving_blocks(g.value, a.degree()));
  return PermutationGroup::from_generators(degree, std::move(generators), operand(a.name()) + "wr" + operand(b.name()));
}

std::vector<std::vector<Point>> orbits(const PermutationGroup& group) {
  std::vector<std::vector<Point>> result;
  std::vector<bool> seen(group.degree(), false);
  for (Point start = 0; start < group.degree(); ++start) {
    if (seen[start]) continue;
    std::vector<Point> orbit{start};
    seen[start] = true;
    for (std::size_t i = 0; i < orbit.size(); ++i)
      for (const NamedPermutation& generator : group.generators())
        if (const Point image = generator.value[orbit[i]]; !seen[image]) {
          seen[image] = true;
          orbit.push_back(image);
        }
    std::sort(orbit.begin(), orbit.end());
    result.push_back(std::move(orbit));
  }
  return result;
}

bool is_transitive(const PermutationGroup& group) { return orbits(group).size() <= 1; }

bool is_abelian(const PermutationGroup& group) {
  const auto generators = group.generators();
  for (std::size_t i = 0; i < generators.size(); ++i)
    for (std::size_t j = i + 1; j < generators.size(); ++j)
      if (generators[i].value * generators[j].value != generators[j].value * generators[i].value) return false;
  return true;
}

}  // namespace krohn
