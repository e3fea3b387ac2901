#include "krohn/groups/permutations/random_permutation.h"

#include <numeric>
#include <utility>
#include <vector>

namespace krohn {

Permutation random_permutation(Point degree, Random& random) {
  std::vector<Point> images(degree);
  std::iota(images.begin(), images.end(), Point{0});
  random.shuffle(std::span<Point>(images));
  return Permutation::from_images(std::move(images));
}

}  // namespace krohn
