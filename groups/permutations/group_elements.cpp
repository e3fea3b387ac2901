#include "krohn/groups/permutations/group_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {
namespace {

/// Rows of images, found by breadth-first search and interned by content.
class Closure {
 public:
  Closure(const PermutationGroup& group, std::size_t expected)
      : group_(group), rows_(2 * expected + 1, Hash{this}, Equal{this}) {
    images_.reserve((expected + 1) * group.degree());
  }

  void run() {
    std::vector<Point> row(group_.degree());
    std::iota(row.begin(), row.end(), Point{0});
    intern(row, 0, 0);
    for (ElementIndex element = 0; element < parent.size(); ++element) {
      TimeLimit::check();
      for (std::uint32_t g = 0; g < group_.generators().size(); ++g) {
        const Permutation& generator = group_.generators()[g].value;
        for (Point point = 0; point < group_.degree(); ++point) row[point] = generator[at(element)[point]];
        graph.push_back(intern(row, element, g));
      }
    }
  }

  const Point* at(ElementIndex element) const { return images_.data() + std::size_t{element} * group_.degree(); }

  std::vector<ElementIndex> graph, parent;
  std::vector<std::uint32_t> parent_edge;

 private:
  struct Hash {
    const Closure* closure;
    std::size_t operator()(ElementIndex element) const {
      std::uint64_t hash = 0xcbf29ce484222325ULL;
      for (Point p = 0; p < closure->group_.degree(); ++p) {
        hash = (hash ^ closure->at(element)[p]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
      }
      return static_cast<std::size_t>(hash);
    }
  };
  struct Equal {
    const Closure* closure;
    bool operator()(ElementIndex a, ElementIndex b) const {
      return std::equal(closure->at(a), closure->at(a) + closure->group_.degree(), closure->at(b));
    }
  };

  ElementIndex intern(const std::vector<Point>& row, ElementIndex from, std::uint32_t edge) {
    const auto candidate = static_cast<ElementIndex>(parent.size());
    images_.insert(images_.end(), row.begin(), row.end());
    const auto [found, is_new] = rows_.insert(candidate);
    if (!is_new) {
      images_.resize(images_.size() - row.size());
      return *found;
    }
    parent.push_back(from);
    parent_edge.push_back(edge);
    return candidate;
  }

  const PermutationGroup& group_;
  std::vector<Point> images_;
  std::unordered_set<ElementIndex, Hash, Equal> rows_;
};

/// The order as a number of elements that can be listed.
std::size_t checked_order(const PermutationGroup& group, std::uint64_t max_elements) {
  const Integer exact = order(group);
  if (exact > max_elements)
    throw LimitError(fmt::format("{} has {}; the limit for listing them is {} (--max-states)",
                                 group.name().empty() ? "this group" : group.name(), counted(exact.str(), "element"),
                                 with_thousands(max_elements)));
  constexpr std::uint64_t kMaxImages = 100'000'000;  // 400 MB, twice while they are sorted
  if (exact * group.degree() > kMaxImages)
    throw LimitError(fmt::format("{} has {} on {}; listing them would take more than {} numbers",
                                 group.name().empty() ? "this group" : group.name(), counted(exact.str(), "element"),
                                 counted(group.degree(), "point"), with_thousands(kMaxImages)));
  return static_cast<std::size_t>(exact);
}

}  // namespace

GroupElements GroupElements::enumerate(const PermutationGroup& group, std::uint64_t max_elements) {
  Closure closure(group, checked_order(group, max_elements));
  closure.run();
  const std::size_t size = closure.parent.size(), degree = group.degree(), generators = group.generators().size();
  std::vector<ElementIndex> sorted(size), rank(size);
  std::iota(sorted.begin(), sorted.end(), ElementIndex{0});
  std::sort(sorted.begin(), sorted.end(), [&](ElementIndex a, ElementIndex b) {
    return std::lexicographical_compare(closure.at(a), closure.at(a) + degree, closure.at(b), closure.at(b) + degree);
  });
  for (std::size_t i = 0; i < size; ++i) rank[sorted[i]] = static_cast<ElementIndex>(i);

  GroupElements elements(group);
  elements.images_.reserve(size * degree);
  elements.cayley_graph_.reserve(size * generators);
  for (const ElementIndex old : sorted) {
    elements.images_.insert(elements.images_.end(), closure.at(old), closure.at(old) + degree);
    for (std::size_t g = 0; g < generators; ++g)
      elements.cayley_graph_.push_back(rank[closure.graph[old * generators + g]]);
    elements.parent_.push_back(rank[closure.parent[old]]);
    elements.parent_edge_.push_back(closure.parent_edge[old]);
  }
  return elements;
}

Permutation GroupElements::operator[](ElementIndex element) const {
  const auto row = images(element);
  return Permutation::from_images({row.begin(), row.end()});
}

std::optional<ElementIndex> GroupElements::find(const Permutation& permutation) const {
  if (permutation.degree() != group_.degree()) return std::nullopt;
  const auto target = permutation.images();
  ElementIndex low = 0, high = size();
  while (low < high) {
    const ElementIndex middle = low + (high - low) / 2;
    const auto row = images(middle);
    if (std::lexicographical_compare(row.begin(), row.end(), target.begin(), target.end()))
      low = middle + 1;
    else
      high = middle;
  }
  if (low == size() || !std::equal(target.begin(), target.end(), images(low).begin())) return std::nullopt;
  return low;
}

std::vector<std::uint32_t> GroupElements::word(ElementIndex element) const {
  std::vector<std::uint32_t> letters;
  for (; element != 0; element = parent_[element]) letters.push_back(parent_edge_[element]);
  std::reverse(letters.begin(), letters.end());
  return letters;
}

std::vector<ElementIndex> GroupElements::right_multiplication(std::span<const ElementIndex> factors,
                                                              std::uint64_t max_entries) const {
  const std::size_t columns = factors.size();
  if (columns > 0 && size() > max_entries / columns)
    throw LimitError(fmt::format("a table of {} by {} has more than {} entries; use fewer generators",
                                 counted(size(), "element"), counted(columns, "factor"), max_entries));
  std::vector<ElementIndex> table(size() * columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const std::vector<std::uint32_t> letters = word(factors[column]);
    for (ElementIndex element = 0; element < size(); ++element) {
      ElementIndex product = element;
      for (const std::uint32_t letter : letters) product = times_generator(product, letter);
      table[element * columns + column] = product;
    }
  }
  return table;
}

std::vector<ElementIndex> GroupElements::cayley_table(std::uint64_t max_entries) const {
  const std::size_t n = size();
  if (n > max_entries / n)
    throw LimitError(
        fmt::format("the Cayley table of {} has more than {} entries", counted(n, "element"), max_entries));
  // Columns in breadth-first order of their words: e·(f g) = (e·f)·g, one look-up each.
  std::vector<ElementIndex> order(n), depth(n);
  for (ElementIndex f = 0; f < n; ++f) depth[f] = static_cast<ElementIndex>(word(f).size());
  std::iota(order.begin(), order.end(), ElementIndex{0});
  std::stable_sort(order.begin(), order.end(), [&](ElementIndex a, ElementIndex b) { return depth[a] < depth[b]; });
  std::vector<ElementIndex> table(n * n);
  for (std::size_t e = 0; e < n; ++e) {
    table[e * n] = static_cast<ElementIndex>(e);
    for (const ElementIndex f : order)
      if (f != 0) table[e * n + f] = times_generator(table[e * n + parent_[f]], parent_edge_[f]);
  }
  return table;
}

}  // namespace krohn
