// tests/groups/random_maps.h — transformations to try monoid algorithms on.
#pragma once

#include "krohn/groups/transformations/transformation.h"
#include "tests/testing.h"

namespace krohn {

inline std::vector<Transformation> random_maps(std::mt19937& random, Point degree, std::size_t count) {
  std::vector<Transformation> maps;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Point> images(degree);
    for (Point& image : images) image = static_cast<Point>(random() % degree);
    maps.push_back(Transformation::from_images(std::move(images)));
  }
  return maps;
}

/// A cycle, a transposition and a map of rank n−1 generate all n^n maps of n points.
inline std::vector<Transformation> full_monoid(Point n) {
  std::vector<std::vector<Point>> images(3, std::vector<Point>(n));
  for (auto& map : images) std::iota(map.begin(), map.end(), Point{0});
  std::rotate(images[0].begin(), images[0].begin() + 1, images[0].end());
  if (n > 1) std::swap(images[1][0], images[1][1]);
  images[2][0] = n > 1 ? 1 : 0;
  std::vector<Transformation> maps;
  for (auto& map : images) maps.push_back(Transformation::from_images(std::move(map)));
  return maps;
}

}  // namespace krohn
