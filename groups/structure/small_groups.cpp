#include "krohn/groups/structure/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr std::uint32_t kMaxElements = 31;

/// A group by its multiplication table; element 0 is the identity.
class Table {
 public:
  Table(std::uint32_t order, const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& product)
      : order_(order), entries_(std::size_t{order} * order) {
    for (std::uint32_t a = 0; a < order; ++a)
      for (std::uint32_t b = 0; b < order; ++b) entries_[std::size_t{a} * order + b] = product(a, b);
    find_orders();
    find_generators();
  }

  std::uint32_t order() const { return order_; }
  std::uint32_t product(std::uint32_t a, std::uint32_t b) const { return entries_[std::size_t{a} * order_ + b]; }
  std::uint32_t element_order(std::uint32_t a) const { return orders_[a]; }
  const std::vector<std::uint32_t>& generators() const { return generators_; }

  std::uint32_t inverse(std::uint32_t a) const {
    std::uint32_t b = 0;
    while (product(a, b) != 0) ++b;
    return b;
  }

  /// An invariant that distinguishes most groups: how many elements there are of each order with each number of square
  /// roots.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> census() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> result;
    for (std::uint32_t a = 0; a < order_; ++a) {
      std::uint32_t square_roots = 0;
      for (std::uint32_t b = 0; b < order_; ++b) square_roots += product(b, b) == a;
      ++result[{orders_[a], square_roots}];
    }
    return result;
  }

  /// The subgroup that elements generate, as a list that begins with the identity.
  std::vector<std::uint32_t> generated(const std::vector<std::uint32_t>& by) const {
    std::vector<bool> known(order_, false);
    std::vector<std::uint32_t> list{0};
    known[0] = true;
    for (std::size_t i = 0; i < list.size(); ++i)
      for (const std::uint32_t g : by)
        if (const std::uint32_t next = product(list[i], g); !known[next]) known[next] = true, list.push_back(next);
    return list;
  }

 private:
  void find_orders() {
    for (std::uint32_t a = 0; a < order_; ++a) {
      std::uint32_t power = a, order = 1;
      while (power != 0) power = product(power, a), ++order;
      orders_.push_back(order);
    }
  }

  /// Always the element that adds most.
  void find_generators() {
    while (generated(generators_).size() < order_) {
      std::uint32_t best = 0;
      std::size_t reached = 0;
      for (std::uint32_t a = 1; a < order_; ++a) {
        generators_.push_back(a);
        if (const std::size_t size = generated(generators_).size(); size > reached) reached = size, best = a;
        generators_.pop_back();
      }
      generators_.push_back(best);
    }
  }

  std::uint32_t order_;
  std::vector<std::uint32_t> entries_, orders_, generators_;
};

/// The map that takes the generators of `from` to `images`, if it is an isomorphism.
std::optional<std::vector<std::uint32_t>> extended(const Table& from, const Table& to,
                                                   const std::vector<std::uint32_t>& images) {
  std::vector<std::uint32_t> map(from.order(), UINT32_MAX), list{0};
  map[0] = 0;
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t g = 0; g < images.size(); ++g) {
      const std::uint32_t next = from.product(list[i], from.generators()[g]);
      const std::uint32_t image = to.product(map[list[i]], images[g]);
      if (map[next] == UINT32_MAX) {
        map[next] = image;
        list.push_back(next);
      } else if (map[next] != image) {
        return std::nullopt;
      }
    }
  std::vector<std::uint32_t> sorted = map;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end() ? std::optional(std::move(map)) : std::nullopt;
}

/// All isomorphisms between groups of one order, or only the first.
std::vector<std::vector<std::uint32_t>> isomorphisms(const Table& from, const Table& to, bool first) {
  std::vector<std::vector<std::uint32_t>> found;
  std::vector<std::uint32_t> images;
  const std::function<void()> extend = [&] {
    if (first && !found.empty()) return;
    if (images.size() == from.generators().size()) {
      if (auto map = extended(from, to, images)) found.push_back(*std::move(map));
      return;
    }
    for (std::uint32_t a = 0; a < to.order(); ++a) {
      if (to.element_order(a) != from.element_order(from.generators()[images.size()])) continue;
      images.push_back(a);
      extend();
      images.pop_back();
    }
  };
  extend();
  return found;
}

/// N ∪ Nt ∪ …: element x t^i is i |N| + x.
Table extension(const Table& normal, std::uint32_t index, const std::vector<std::uint32_t>& automorphism,
                std::uint32_t power) {
  const std::uint32_t m = normal.order();
  return {m * index, [&](std::uint32_t a, std::uint32_t b) {
            std::uint32_t y = b % m, i = a / m + b / m;
            for (std::uint32_t turn = 0; turn < a / m; ++turn) y = automorphism[y];
            std::uint32_t x = normal.product(a % m, y);
            if (i >= index) x = normal.product(x, power), i -= index;
            return i * m + x;
          }};
}

bool extends(const Table& normal, std::uint32_t index, const std::vector<std::uint32_t>& automorphism,
             std::uint32_t power) {
  if (automorphism[power] != power) return false;
  const std::uint32_t inverse = normal.inverse(power);
  for (std::uint32_t x = 0; x < normal.order(); ++x) {
    std::uint32_t y = x;
    for (std::uint32_t turn = 0; turn < index; ++turn) y = automorphism[y];
    if (y != normal.product(normal.product(power, x), inverse)) return false;
  }
  return true;
}

std::vector<Table> tables_of_order(std::uint32_t order) {
  std::vector<Table> found;
  if (order == 1) found.emplace_back(1, [](std::uint32_t, std::uint32_t) { return 0U; });
  for (std::uint32_t p = 2; p <= order; ++p) {
    if (order % p != 0 || std::ranges::any_of(std::vector{2U, 3U, 5U}, [&](auto d) { return d < p && p % d == 0; }))
      continue;
    for (const Table& normal : tables_of_order(order / p))
      for (const std::vector<std::uint32_t>& automorphism : isomorphisms(normal, normal, false))
        for (std::uint32_t power = 0; power < normal.order(); ++power) {
          if (!extends(normal, p, automorphism, power)) continue;
          Table next = extension(normal, p, automorphism, power);
          if (std::ranges::none_of(found, [&](const Table& known) {
                return known.census() == next.census() && !isomorphisms(known, next, true).empty();
              }))
            found.push_back(std::move(next));
        }
  }
  return found;
}

}  // namespace

std::vector<PermutationGroup> groups_of_order(std::uint32_t order) {
  if (order == 0 || order > kMaxElements)
    throw InputError(fmt::format("groups of order {}", order),
                     fmt::format("only those of orders 1 to {} are listed", kMaxElements));
  std::vector<PermutationGroup> groups;
  for (const Table& table : tables_of_order(order)) {
    std::vector<Permutation> generators;
    for (const std::uint32_t g : table.generators()) {
      std::vector<Point> images(order);
      for (std::uint32_t a = 0; a < order; ++a) images[a] = table.product(a, g);
      generators.push_back(Permutation::from_images(std::move(images)));
    }
    groups.push_back(PermutationGroup::from_generators(order, std::move(generators)));
  }
  return groups;
}

}  // namespace krohn
