#include "krohn/groups/names/named_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "krohn/groups/base/error.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {
namespace {

std::string group_label(const PermutationGroup& group) { return group.name().empty() ? "this group" : group.name(); }

/// The 3-cycles and transpositions among all points that lie in the group.
class SmallElements {
 public:
  explicit SmallElements(const PermutationGroup& group) : chain_(group), degree_(group.degree()) {
    constexpr Point kMaxPoints = 200;  // n³/3 membership tests
    if (degree_ > kMaxPoints)
      throw LimitError(fmt::format("{} acts on {}; sets of small cycles are listed up to {}", group_label(group),
                                   counted(degree_, "point"), kMaxPoints));
  }

  std::vector<Permutation> transpositions() const {
    std::vector<Permutation> found;
    for (Point i = 0; i < degree_; ++i)
      for (Point j = i + 1; j < degree_; ++j) keep(found, {i, j});
    return found;
  }

  std::vector<Permutation> three_cycles() const {
    std::vector<Permutation> found;
    for (Point i = 0; i < degree_; ++i)
      for (Point j = i + 1; j < degree_; ++j)
        for (Point k = i + 1; k < degree_; ++k)
          if (k != j) keep(found, {i, j, k});
    return found;
  }

 private:
  void keep(std::vector<Permutation>& found, const std::vector<Point>& cycle) const {
    std::vector<Point> images(degree_);
    for (Point p = 0; p < degree_; ++p) images[p] = p;
    for (std::size_t i = 0; i < cycle.size(); ++i) images[cycle[i]] = cycle[(i + 1) % cycle.size()];
    const Permutation candidate = Permutation::from_images(std::move(images));
    if (chain_.contains(candidate)) found.push_back(candidate);
  }

  StabiliserChain chain_;
  Point degree_;
};

std::vector<Permutation> adjacent_swaps(const PermutationGroup& group) {
  const StabiliserChain chain(group);
  std::vector<Permutation> swaps;
  for (Point i = 1; i < group.degree(); ++i) {
    swaps.push_back(parse_cycles(fmt::format("({} {})", i, i + 1), group.degree()));
    if (!chain.contains(swaps.back()))
      throw InputError(fmt::format("{} does not contain {}; \"adjacent\" needs every swap of neighbours",
                                   group_label(group), to_string(swaps.back())));
  }
  return swaps;
}

std::vector<Permutation> all_elements(const PermutationGroup& group, std::uint64_t max_elements) {
  const GroupElements elements = GroupElements::enumerate(group, max_elements);
  std::vector<Permutation> all;
  for (ElementIndex i = 0; i < elements.size(); ++i) all.push_back(elements[i]);
  return all;
}

std::vector<NamedPermutation> named(const PermutationGroup& group, std::vector<Permutation> elements) {
  std::vector<NamedPermutation> result;
  for (Permutation& element : elements) {
    std::string name = group.element_name(element);
    result.push_back({std::move(name), std::move(element)});
  }
  return result;
}

std::vector<NamedPermutation> sorted_and_named(const PermutationGroup& group, std::vector<Permutation> elements,
                                               std::string_view set) {
  if (elements.empty()) throw InputError(fmt::format("{} has no {}", group_label(group), set));
  std::sort(elements.begin(), elements.end());
  return named(group, std::move(elements));
}

/// Splits at commas outside brackets and trims white space.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth <= 0)
      items.emplace_back();
    else if (!std::isspace(static_cast<unsigned char>(c)) || !items.back().empty())
      items.back() += c;
  }
  for (std::string& item : items)
    while (!item.empty() && std::isspace(static_cast<unsigned char>(item.back()))) item.pop_back();
  return items;
}

/// Reads elements by their block names, or else as cycles.
class ExplicitList {
 public:
  ExplicitList(const PermutationGroup& group, std::uint64_t max_elements) : group_(group) {
    if (!group.blocks().empty()) elements_ = GroupElements::enumerate(group, max_elements);
  }

  Permutation read(const std::string& item) {
    for (ElementIndex element = 0; elements_ && element < elements_->size(); ++element)
      if (elements_->name(element) == item) return (*elements_)[element];
    if (item.empty() || item.front() != '(') unknown(item);
    Permutation element = parse_cycles(item, group_.degree());
    if (!chain_) chain_.emplace(group_);
    if (!chain_->contains(element)) throw InputError(fmt::format("{} is not in {}", item, group_label(group_)));
    return element;
  }

 private:
  [[noreturn]] void unknown(const std::string& item) const {
    throw InputError(
        fmt::format("\"{}\" is neither a set of generators nor an element of {}.{} Sets: {}; or give cycles: "
                    "\"(1 2),(1 2 3)\"",
                    item, group_label(group_), did_you_mean(item, generating_set_names()),
                    fmt::join(generating_set_names(), ", ")));
  }
  const PermutationGroup& group_;
  std::optional<GroupElements> elements_;
  std::optional<StabiliserChain> chain_;  ///< made when the first cycles are read
};

std::vector<NamedPermutation> explicit_set(const PermutationGroup& group, std::string_view text,
                                           std::uint64_t max_elements) {
  ExplicitList list(group, max_elements);
  std::vector<NamedPermutation> result;
  for (const std::string& item : split_list(text)) {
    Permutation element = list.read(item);
    const bool repeated = std::any_of(result.begin(), result.end(),
                                      [&](const NamedPermutation& known) { return known.value == element; });
    if (repeated) throw InputError(fmt::format("generator {} is listed twice", item));
    std::string name = group.element_name(element);
    result.push_back({std::move(name), std::move(element)});
  }
  return result;
}

}  // namespace

std::vector<std::string> generating_set_names() {
  return {"standard", "all", "transpositions", "adjacent", "swaps", "3-cycles", "swaps and 3-cycles"};
}

std::vector<NamedPermutation> generating_set(const PermutationGroup& group, std::string_view name,
                                             const GeneratingSetOptions& options) {
  if (name == "standard") return {group.generators().begin(), group.generators().end()};
  if (name == "all") return named(group, all_elements(group, options.max_elements));
  if (name == "adjacent") return sorted_and_named(group, adjacent_swaps(group), "points to swap");
  if (name == "transpositions") return sorted_and_named(group, SmallElements(group).transpositions(), name);
  if (name == "3-cycles") return sorted_and_named(group, SmallElements(group).three_cycles(), name);
  if (name == "swaps" || name == "swaps and 3-cycles") {
    const SmallElements small(group);
    std::vector<Permutation> elements = small.transpositions();
    if (name != "swaps")
      for (Permutation& cycle : small.three_cycles()) elements.push_back(std::move(cycle));
    elements.push_back(Permutation::identity(group.degree()));
    return sorted_and_named(group, std::move(elements), name);
  }
  return explicit_set(group, name, options.max_elements);
}

}  // namespace krohn
