#include "krohn/groups/representations/irreducible_blocks.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "krohn/groups/linear/decompositions.h"

namespace krohn {
namespace {

/// A block whose matrices of all elements would hold more numbers is passed over.
constexpr std::uint64_t kMaxMatrixNumbers = std::uint64_t{1} << 26;

/// A permutation representation: one map of its points per generator.
struct Action {
  std::uint32_t degree = 0;
  std::vector<std::vector<std::uint32_t>> images;
};

Action on_points(const GroupElements& elements) {
  Action action{elements.group().degree(), {}};
  for (const NamedPermutation& generator : elements.group().generators())
    action.images.emplace_back(generator.value.images().begin(), generator.value.images().end());
  return action;
}

/// Ordered pairs of different points.
Action on_pairs(const Action& points) {
  const std::uint32_t n = points.degree;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> number(std::size_t{n} * n);
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j)
      if (i != j) {
        number[std::size_t{i} * n + j] = static_cast<std::uint32_t>(pairs.size());
        pairs.emplace_back(i, j);
      }
  Action action{static_cast<std::uint32_t>(pairs.size()), {}};
  for (const auto& images : points.images) {
    std::vector<std::uint32_t>& moved = action.images.emplace_back();
    for (const auto& [i, j] : pairs) moved.push_back(number[std::size_t{images[i]} * n + images[j]]);
  }
  return action;
}

Action on_group(const GroupElements& elements) {
  Action action{elements.size(), {}};
  for (std::size_t g = 0; g < elements.group().generators().size(); ++g) {
    std::vector<std::uint32_t>& images = action.images.emplace_back();
    for (ElementIndex e = 0; e < elements.size(); ++e) images.push_back(elements.times_generator(e, g));
  }
  return action;
}

/// A random symmetric matrix that commutes with the action: constant on the orbits of pairs, {i, j} and {j, i} alike.
Eigen::MatrixXd random_commutant_element(const Action& action, std::mt19937_64& random) {
  const std::uint32_t n = action.degree;
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(n, n, std::nan(""));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> queue;
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j) {
      if (!std::isnan(matrix(i, j))) continue;
      const double value = uniform(random);
      queue.assign(1, {i, j});
      matrix(i, j) = matrix(j, i) = value;
      for (std::size_t at = 0; at < queue.size(); ++at)
        for (const auto& images : action.images) {
          const std::uint32_t a = images[queue[at].first], b = images[queue[at].second];
          if (!std::isnan(matrix(a, b))) continue;
          matrix(a, b) = matrix(b, a) = value;
          queue.emplace_back(a, b);
        }
    }
  return matrix;
}

/// Columns i … j−1 of the eigenvectors whose eigenvalues agree.
std::vector<Eigen::MatrixXd> eigenspaces(const Eigen::MatrixXd& symmetric) {
  const std::optional<SymmetricEigen> eigen = symmetric_eigen(symmetric);
  if (!eigen) return {};
  const Eigen::VectorXd& values = eigen->values;
  const double tolerance = 1e-9 * std::max(1.0, values.cwiseAbs().maxCoeff());
  std::vector<Eigen::MatrixXd> spaces;
  for (Eigen::Index begin = 0, end = 0; begin < values.size(); begin = end) {
    for (end = begin + 1; end < values.size() && values(end) - values(end - 1) < tolerance;) ++end;
    spaces.push_back(eigen->vectors.middleCols(begin, end - begin));
  }
  return spaces;
}

/// Bᵀ P B, where P sends coordinate i to images[i].
Eigen::MatrixXd compressed(const Eigen::MatrixXd& basis, const std::vector<std::uint32_t>& images) {
  Eigen::MatrixXd moved(basis.rows(), basis.cols());
  for (std::size_t i = 0; i < images.size(); ++i)
    moved.row(static_cast<Eigen::Index>(images[i])) = basis.row(static_cast<Eigen::Index>(i));
  return basis.transpose() * moved;
}

std::vector<double> character_of(const GroupElements& elements, const std::vector<Eigen::MatrixXd>& generators) {
  std::vector<double> character;
  for (const Eigen::MatrixXd& matrix : element_matrices(elements, generators)) character.push_back(matrix.trace());
  return character;
}

/// Real representations with the same character are isomorphic.
bool same_character(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-6) return false;
  return true;
}

}  // namespace

std::vector<Eigen::MatrixXd> element_matrices(const GroupElements& elements,
                                              const std::vector<Eigen::MatrixXd>& generators) {
  const Eigen::Index n = generators.empty() ? 1 : generators.front().rows();
  std::vector<Eigen::MatrixXd> matrices(elements.size());
  matrices[0] = Eigen::MatrixXd::Identity(n, n);
  std::vector<ElementIndex> queue{0};
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::size_t g = 0; g < generators.size(); ++g) {
      const ElementIndex to = elements.times_generator(queue[i], g);
      if (matrices[to].size() != 0) continue;
      matrices[to] = generators[g] * matrices[queue[i]];
      queue.push_back(to);
    }
  return matrices;
}

std::vector<IrreducibleBlock> irreducible_blocks(const GroupElements& elements, std::uint32_t max_degree,
                                                 std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<IrreducibleBlock> blocks;
  const Action points = on_points(elements);
  std::vector<Action> actions{points};
  const std::uint64_t pairs = std::uint64_t{points.degree} * (points.degree - 1);
  if (pairs > 0 && pairs <= max_degree) actions.push_back(on_pairs(points));
  if (elements.size() <= max_degree) actions.push_back(on_group(elements));
  for (const Action& action : actions) {
    if (action.degree > max_degree || action.degree == 0) continue;
    for (const Eigen::MatrixXd& basis : eigenspaces(random_commutant_element(action, random))) {
      IrreducibleBlock block;
      block.dimension = static_cast<std::uint32_t>(basis.cols());
      if (std::uint64_t{elements.size()} * block.dimension * block.dimension > kMaxMatrixNumbers) continue;
      for (const auto& images : action.images) block.generators.push_back(compressed(basis, images));
      block.character = character_of(elements, block.generators);
      const bool known = std::any_of(blocks.begin(), blocks.end(), [&](const IrreducibleBlock& other) {
        return same_character(other.character, block.character);
      });
      if (!known) blocks.push_back(std::move(block));
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const IrreducibleBlock& a, const IrreducibleBlock& b) { return a.dimension < b.dimension; });
  return blocks;
}

}  // namespace krohn
