// groups/transformations/transformation.h — a map of {0, …, n−1} to itself: what one letter does to the states of an
// automaton.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/groups/permutations/permutation.h"

namespace krohn {

/// A total map of {0, …, degree−1} to itself. `f * g` means first f, then g.
class Transformation {
 public:
  static Transformation identity(Point degree);
  /// Every point goes to `image`. Throws InputError when `image >= degree`.
  static Transformation constant(Point degree, Point image);
  /// `point ↦ images[point]`. Throws InputError naming the first out-of-range image. O(n).
  static Transformation from_images(std::vector<Point> images);

  Point degree() const { return static_cast<Point>(images_.size()); }
  Point operator[](Point point) const { return images_[point]; }
  std::span<const Point> images() const { return images_; }

  /// The number of distinct images.
  Point rank() const;
  /// The distinct images, increasing.
  std::vector<Point> image_set() const;
  bool is_identity() const;
  /// O(n). A map of degree 1 is a permutation, and constant too.
  bool is_permutation() const;
  /// The single image when the map is constant, otherwise nothing. The empty map has none.
  std::optional<Point> constant_image() const;
  /// The same map as a permutation. Throws InputError when two points share an image.
  Permutation to_permutation() const;

  friend bool operator==(const Transformation&, const Transformation&) = default;
  friend auto operator<=>(const Transformation&, const Transformation&) = default;

 private:
  explicit Transformation(std::vector<Point> images) : images_(std::move(images)) {}
  std::vector<Point> images_;
};

/// First `f`, then `g`. Throws InputError when the degrees differ.
Transformation operator*(const Transformation& f, const Transformation& g);

/// "[2 3 1]": images of 1, 2, …, counted from 1.
std::string to_string(const Transformation& transformation);

/// The component of every node of the graph node → table[node · letters + letter]. Components are numbered so that
/// every edge goes to an equal or smaller number (sinks first). Iterative, O(nodes · letters).
std::vector<std::uint32_t> strong_components(std::uint32_t nodes, std::uint32_t letters,
                                             std::span<const std::uint32_t> table);

}  // namespace krohn
