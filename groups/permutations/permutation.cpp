#include "krohn/groups/permutations/permutation.h"

#include <fmt/format.h>

#include <cctype>
#include <numeric>
#include <utility>

#include "krohn/groups/base/error.h"

namespace krohn {

Permutation Permutation::identity(Point degree) {
  std::vector<Point> images(degree);
  std::iota(images.begin(), images.end(), Point{0});
  return Permutation(std::move(images));
}

Permutation Permutation::from_images(std::vector<Point> images) {
  std::vector<bool> seen(images.size(), false);
  for (std::size_t point = 0; point < images.size(); ++point) {
    const Point image = images[point];
    if (image >= images.size())
      throw InputError(fmt::format("point {} goes to {}, outside 0…{}", point, image, images.size() - 1));
    if (seen[image]) throw InputError(fmt::format("two points go to {}; a permutation needs distinct images", image));
    seen[image] = true;
  }
  return Permutation(std::move(images));
}

bool Permutation::is_identity() const {
  for (Point point = 0; point < degree(); ++point)
    if (images_[point] != point) return false;
  return true;
}

std::vector<std::vector<Point>> Permutation::cycles() const {
  std::vector<std::vector<Point>> result;
  std::vector<bool> seen(images_.size(), false);
  for (Point start = 0; start < degree(); ++start) {
    if (seen[start] || images_[start] == start) continue;
    std::vector<Point>& cycle = result.emplace_back();
    for (Point point = start; !seen[point]; point = images_[point]) {
      seen[point] = true;
      cycle.push_back(point);
    }
  }
  return result;
}

Point Permutation::reflection_length() const {
  Point length = 0;
  for (const auto& cycle : cycles()) length += static_cast<Point>(cycle.size()) - 1;
  return length;
}

std::uint64_t Permutation::order() const {
  std::uint64_t order = 1;
  for (const auto& cycle : cycles()) {
    const std::uint64_t factor = cycle.size() / std::gcd(order, static_cast<std::uint64_t>(cycle.size()));
    if (__builtin_mul_overflow(order, factor, &order))
      throw LimitError("the order of this permutation does not fit 64 bits");
  }
  return order;
}

Permutation Permutation::inverse() const {
  std::vector<Point> images(images_.size());
  for (Point point = 0; point < degree(); ++point) images[images_[point]] = point;
  return Permutation(std::move(images));
}

Permutation Permutation::power(std::uint64_t exponent) const {
  Permutation result = identity(degree());
  for (Permutation square = *this; exponent; exponent /= 2, square = square * square)
    if (exponent % 2) result = result * square;
  return result;
}

Permutation operator*(const Permutation& f, const Permutation& g) {
  if (f.degree() != g.degree())
    throw InputError(fmt::format("cannot multiply permutations of degrees {} and {}", f.degree(), g.degree()));
  std::vector<Point> images(f.degree());
  for (Point point = 0; point < f.degree(); ++point) images[point] = g[f[point]];
  return Permutation(std::move(images));
}

namespace {

/// Reads cycle notation one token at a time; `column` counts from 1.
class CycleReader {
 public:
  CycleReader(std::string_view text, Point degree) : text_(text), degree_(degree) {}

  Permutation read() {
    Permutation product = Permutation::identity(degree_);
    skip_space();
    if (at_ == text_.size()) fail("expected \"(\"; the identity is written \"()\"");
    while (at_ < text_.size()) {
      product = product * read_cycle();
      skip_space();
    }
    return product;
  }

 private:
  Permutation read_cycle() {
    if (text_[at_] != '(') fail("expected \"(\"");
    ++at_;
    std::vector<Point> cycle;
    std::vector<bool> used(degree_, false);
    for (skip_separators(); at_ < text_.size() && text_[at_] != ')'; skip_separators()) {
      const Point point = read_point();
      if (used[point]) fail(fmt::format("point {} stands twice in one cycle", point + 1));
      used[point] = true;
      cycle.push_back(point);
    }
    if (at_ == text_.size()) fail("missing \")\"");
    ++at_;
    std::vector<Point> images(degree_);
    std::iota(images.begin(), images.end(), Point{0});
    for (std::size_t i = 0; i < cycle.size(); ++i) images[cycle[i]] = cycle[(i + 1) % cycle.size()];
    return Permutation::from_images(std::move(images));
  }

  Point read_point() {
    if (!std::isdigit(static_cast<unsigned char>(text_[at_]))) fail("expected a point, a number from 1");
    std::uint64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
      if (value > degree_) fail(fmt::format("points of this permutation are 1…{}", degree_));
    }
    if (value == 0) fail("points are counted from 1");
    return static_cast<Point>(value - 1);
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  void skip_separators() {
    while (at_ < text_.size() && (text_[at_] == ',' || std::isspace(static_cast<unsigned char>(text_[at_])))) ++at_;
  }
  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("cycles \"{}\", column {}", text_, at_ + 1), message);
  }

  std::string_view text_;
  Point degree_;
  std::size_t at_ = 0;
};

}  // namespace

Permutation parse_cycles(std::string_view text, Point degree) { return CycleReader(text, degree).read(); }

std::string to_string(const Permutation& permutation) {
  if (permutation.is_identity()) return "()";
  std::string text;
  for (const auto& cycle : permutation.cycles()) {
    text += '(';
    for (std::size_t i = 0; i < cycle.size(); ++i) text += fmt::format("{}{}", i ? " " : "", cycle[i] + 1);
    text += ')';
  }
  return text;
}

std::vector<Transposition> transpositions_of(const Permutation& permutation) {
  std::vector<Transposition> swaps;
  for (const std::vector<Point>& cycle : permutation.cycles())
    for (std::size_t i = 1; i < cycle.size(); ++i) swaps.push_back({cycle[0], cycle[i]});
  return swaps;
}

Permutation permutation_of(const Transposition& swap, Point degree) {
  if (swap.first >= degree || swap.second >= degree)
    throw InputError(fmt::format("a swap of the points {} and {} among {}; they are counted from 0", swap.first,
                                 swap.second, counted(degree, "point")));
  std::vector<Point> images(degree);
  std::iota(images.begin(), images.end(), Point{0});
  std::swap(images[swap.first], images[swap.second]);
  return Permutation::from_images(std::move(images));
}

Permutation random_permutation(Point degree, Random& random) {
  std::vector<Point> images(degree);
  std::iota(images.begin(), images.end(), Point{0});
  random.shuffle(std::span<Point>(images));
  return Permutation::from_images(std::move(images));
}

}  // namespace krohn
