#include "krohn/simulate/closing/dyadic_roots.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kBlock = 8;

/// Supports of the words of weight four, a bit a coordinate.
std::vector<std::uint32_t> hamming_words() {
  constexpr std::array<std::uint32_t, 4> kGenerators{0x0F, 0x33, 0x55, 0xFF};
  std::vector<std::uint32_t> words;
  for (std::uint32_t chosen = 0; chosen < 16; ++chosen) {
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
      if (chosen >> i & 1) word ^= kGenerators[i];
    if (std::popcount(word) == 4) words.push_back(word);
  }
  std::ranges::sort(words);
  return words;
}

/// Depth first over vectors, each given the next root that has the wanted products with all before it.
class RootSearch {
 public:
  RootSearch(const MatrixXd& products, Index dimensions)
      : products_(products), roots_(dyadic_roots(dimensions)), found_(dimensions, products.cols()) {}

  std::optional<MatrixXd> run() {
    if (place(0)) return found_;
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t kMostTries = 5'000'000;

  bool place(Index at) {
    if (at == found_.cols()) return true;
    for (const VectorXd& root : roots_) {
      if (++tries_ > kMostTries) return false;
      bool fits = true;
      for (Index i = 0; i < at && fits; ++i) fits = found_.col(i).dot(root) == products_(i, at);
      if (!fits) continue;
      found_.col(at) = root;
      if (place(at + 1)) return true;
    }
    return false;
  }

  const MatrixXd& products_;
  std::vector<VectorXd> roots_;
  MatrixXd found_;
  std::uint64_t tries_ = 0;
};

constexpr double kUnit = 8, kSquare = kUnit * kUnit;

/// Changes up to `depth` entries from `first` on by ±1 so that the squares sum to kSquare; keeps the nearest.
void adjust(VectorXd& a, const VectorXd& wanted, Index first, int depth, VectorXd& best, double& distance) {
  if (a.squaredNorm() == kSquare) {
    if (const double d = (a - wanted).squaredNorm(); d < distance) distance = d, best = a;
  }
  if (depth == 0) return;
  for (Index i = first; i < a.size(); ++i)
    for (const double step : {-1.0, 1.0}) {
      a(i) += step;
      adjust(a, wanted, i + 1, depth - 1, best, distance);
      a(i) -= step;
    }
}

}  // namespace

std::vector<VectorXd> dyadic_roots(Index dimensions) {
  std::vector<VectorXd> roots;
  for (Index i = 0; i < dimensions; ++i)
    for (const double sign : {1.0, -1.0}) roots.push_back(sign * VectorXd::Unit(dimensions, i));
  for (Index block = 0; block < dimensions; block += kBlock)
    for (const std::uint32_t word : hamming_words()) {
      if (block + std::bit_width(word) > dimensions) continue;
      for (std::uint32_t signs = 0; signs < 16; ++signs) {
        VectorXd root = VectorXd::Zero(dimensions);
        std::uint32_t sign = signs;
        for (Index i = 0; i < kBlock; ++i)
          if (word >> i & 1) root(block + i) = sign & 1 ? -0.5 : 0.5, sign >>= 1;
        roots.push_back(std::move(root));
      }
    }
  return roots;
}

std::optional<MatrixXd> nearest_roots(const MatrixXd& vectors, double tolerance) {
  const MatrixXd products = vectors.transpose() * vectors;
  const MatrixXd halves = (2 * products).array().round().matrix() / 2;
  if (vectors.cols() > 0 && (products - halves).cwiseAbs().maxCoeff() > tolerance) return std::nullopt;
  return RootSearch(halves, vectors.rows()).run();
}

VectorXd nearest_dyadic_unit(const VectorXd& direction) {
  const VectorXd wanted = kUnit * direction.normalized();
  VectorXd a = wanted.array().round().matrix(), best;
  double distance = INFINITY;
  adjust(a, wanted, 0, 3, best, distance);
  if (distance < INFINITY) return best / kUnit;
  Index greatest = 0;
  direction.cwiseAbs().maxCoeff(&greatest);
  return (direction(greatest) < 0 ? -1 : 1) * VectorXd::Unit(direction.size(), greatest);
}

}  // namespace krohn
