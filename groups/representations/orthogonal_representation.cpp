#include "krohn/groups/representations/orthogonal_representation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "krohn/groups/base/decompositions.h"
#include "krohn/groups/base/error.h"

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

namespace {

constexpr double kSame = 1e-7;  ///< codewords closer than this are one; far above rounding, far below any margin

/// A set of blocks put side by side, with the matrix of every element.
struct Candidate {
  std::vector<std::uint32_t> blocks;
  std::vector<Eigen::MatrixXd> generators;
  std::vector<Eigen::MatrixXd> elements;
};

Eigen::MatrixXd direct_sum(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(a.rows() + b.rows(), a.cols() + b.cols());
  sum.topLeftCorner(a.rows(), a.cols()) = a;
  sum.bottomRightCorner(b.rows(), b.cols()) = b;
  return sum;
}

Candidate candidate(const GroupElements& elements, const std::vector<IrreducibleBlock>& blocks,
                    const std::vector<std::size_t>& chosen) {
  Candidate result;
  const std::size_t letters = elements.group().generators().size();
  result.generators.assign(letters, Eigen::MatrixXd(0, 0));
  for (const std::size_t i : chosen) {
    result.blocks.push_back(blocks[i].dimension);
    for (std::size_t g = 0; g < letters; ++g)
      result.generators[g] = direct_sum(result.generators[g], blocks[i].generators[g]);
  }
  result.elements = element_matrices(elements, result.generators);
  return result;
}

/// Sets of at most three blocks whose elements of joint full character fix every point of the orbit, least total
/// dimension first; all of that dimension.
class FaithfulSets {
 public:
  FaithfulSets(const GroupElements& elements, const std::vector<IrreducibleBlock>& blocks,
               const std::vector<bool>& fixes_orbit)
      : blocks_(blocks) {
    for (const IrreducibleBlock& block : blocks) {
      std::vector<bool> kernel(elements.size());
      for (ElementIndex e = 0; e < elements.size(); ++e)
        kernel[e] = std::abs(block.character[e] - block.dimension) < 1e-6 && !fixes_orbit[e];
      kernels_.push_back(std::move(kernel));
    }
  }

  std::vector<std::vector<std::size_t>> least() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      try_set({i});
      for (std::size_t j = i + 1; j < blocks_.size(); ++j) {
        try_set({i, j});
        for (std::size_t k = j + 1; k < blocks_.size(); ++k) try_set({i, j, k});
      }
    }
    return best_;
  }

 private:
  void try_set(const std::vector<std::size_t>& set) {
    std::uint32_t dimension = 0;
    for (const std::size_t i : set) dimension += blocks_[i].dimension;
    if (dimension > best_dimension_ || !is_faithful(set)) return;
    if (dimension < best_dimension_) best_.clear();
    best_dimension_ = dimension;
    best_.push_back(set);
  }

  bool is_faithful(const std::vector<std::size_t>& set) const {
    for (std::size_t e = 0; e < kernels_.front().size(); ++e)
      if (std::all_of(set.begin(), set.end(), [&](std::size_t i) { return kernels_[i][e]; })) return false;
    return true;
  }

  const std::vector<IrreducibleBlock>& blocks_;
  std::vector<std::vector<bool>> kernels_;  ///< without the elements that fix the whole orbit
  std::uint32_t best_dimension_ = UINT32_MAX;
  std::vector<std::vector<std::size_t>> best_;
};

/// The vectors that all these elements fix: the image of their average, as an orthonormal basis.
Eigen::MatrixXd fixed_space(const Candidate& candidate, const std::vector<ElementIndex>& subgroup) {
  const Eigen::Index n = candidate.elements.front().rows();
  Eigen::MatrixXd average = Eigen::MatrixXd::Zero(n, n);
  for (const ElementIndex e : subgroup) average += candidate.elements[e];
  average /= static_cast<double>(subgroup.size());
  const SingularValues svd = singular_value_decomposition(average);
  Eigen::Index rank = 0;
  while (rank < n && svd.values(rank) > 0.5) ++rank;
  return svd.left.leftCols(rank);
}

/// Searches for v.
class StartVector {
 public:
  StartVector(const GroupElements& elements, const Candidate& candidate, Point start, std::uint64_t seed)
      : elements_(elements), candidate_(candidate), start_(start), random_(seed) {
    for (ElementIndex e = 1; e < elements_.size(); ++e)
      if (elements_.images(e)[start_] != start_) moving_.push_back(e);
  }

  /// A v that separates, and its least distance; an empty vector when none was found. Spaces fixed by larger subgroups
  /// come first, because they give fewer codewords, and the search stops at the first kind of space that separates.
  std::pair<Eigen::VectorXd, double> best() {
    std::vector<ElementIndex> stabiliser;
    for (ElementIndex e = 0; e < elements_.size(); ++e)
      if (elements_.images(e)[start_] == start_) stabiliser.push_back(e);
    search(fixed_space(candidate_, stabiliser));
    if (best_vector_.size() == 0) search_cyclic(stabiliser);
    if (best_vector_.size() == 0) search(fixed_space(candidate_, {0}));
    return {best_vector_, best_distance_};
  }

 private:
  static constexpr int kMaxCyclic = 60, kStarts = 16, kSteps = 60;

  void search_cyclic(const std::vector<ElementIndex>& stabiliser) {
    int tried = 0;
    for (const ElementIndex e : stabiliser)
      if (e != 0 && tried++ < kMaxCyclic) search(fixed_space(candidate_, cyclic(e)));
  }

  std::vector<ElementIndex> cyclic(ElementIndex e) const {
    const Permutation generator = elements_[e];
    std::vector<ElementIndex> powers{0};
    for (Permutation power = generator; !power.is_identity(); power = power * generator)
      powers.push_back(*elements_.find(power));
    return powers;
  }

  /// Between codewords of different points. One end may be v itself, since the group moves any pair to such a one; an
  /// element that fixes v but not the start makes it 0. One that is not above `enough` may be another than the least:
  /// the element that gave it is then asked first.
  double least_distance(const Eigen::VectorXd& v, double enough = -1) {
    double least = 2;
    for (ElementIndex& e : moving_) {
      least = std::min(least, (candidate_.elements[e] * v - v).norm());
      if (least > enough) continue;
      std::swap(moving_.front(), e);
      break;
    }
    return least;
  }

  /// Random starts, each improved by steps that shrink when they fail.
  void search(const Eigen::MatrixXd& space) {
    if (space.cols() == 0) return;
    std::normal_distribution<double> normal;
    const auto random_coordinates = [&] {
      Eigen::VectorXd x(space.cols());
      for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = normal(random_);
      return x.normalized().eval();
    };
    const bool line = space.cols() == 1;
    for (int round = 0; round < (line ? 1 : kStarts); ++round) {
      Eigen::VectorXd centre = random_coordinates();
      double reached = least_distance(space * centre);
      double width = 0.5;
      for (int i = 0; !line && i < kSteps; ++i) {
        const Eigen::VectorXd next = (centre + width * random_coordinates()).normalized();
        const double distance = least_distance(space * next, reached);
        if (distance > reached) {
          centre = next;
          reached = distance;
        } else {
          width *= 0.93;
        }
      }
      consider(space * centre, reached);
    }
  }

  void consider(const Eigen::VectorXd& v, double distance) {
    if (distance <= best_distance_ + 1e-6) return;
    best_distance_ = distance;
    best_vector_ = v;
  }

  const GroupElements& elements_;
  const Candidate& candidate_;
  Point start_;
  std::vector<ElementIndex> moving_;  ///< the elements that move the start
  std::mt19937_64 random_;
  Eigen::VectorXd best_vector_;
  double best_distance_ = 10 * kSame;
};

/// The orbit of v, each vector once, with the point that it names.
void list_codewords(const GroupElements& elements, const Candidate& candidate, const Eigen::VectorXd& v, Point start,
                    OrthogonalRepresentation& result) {
  for (ElementIndex e = 0; e < elements.size(); ++e) {
    const Eigen::VectorXd code = candidate.elements[e] * v;
    const bool known = std::any_of(result.codewords.begin(), result.codewords.end(),
                                   [&](const Eigen::VectorXd& other) { return (other - code).norm() < kSame; });
    if (known) continue;
    result.codewords.push_back(code);
    result.point_of.push_back(elements.images(e)[start]);
  }
}

std::uint32_t reflection_count(const Eigen::MatrixXd& orthogonal) {
  const Eigen::MatrixXd moved = orthogonal - Eigen::MatrixXd::Identity(orthogonal.rows(), orthogonal.cols());
  return static_cast<std::uint32_t>(numerical_rank(moved, 1e-9));
}

std::vector<bool> elements_that_fix_orbit(const GroupElements& elements, Point start) {
  std::vector<bool> in_orbit(elements.group().degree(), false);
  for (ElementIndex e = 0; e < elements.size(); ++e) in_orbit[elements.images(e)[start]] = true;
  std::vector<bool> fixes(elements.size(), true);
  for (ElementIndex e = 0; e < elements.size(); ++e)
    for (Point point = 0; point < elements.group().degree(); ++point)
      if (in_orbit[point] && elements.images(e)[point] != point) fixes[e] = false;
  return fixes;
}

}  // namespace

OrthogonalRepresentation smallest_separating_representation(const PermutationGroup& group, Point start,
                                                            const RepresentationOptions& options) {
  const GroupElements elements = GroupElements::enumerate(group, options.max_order);
  const std::vector<IrreducibleBlock> blocks = irreducible_blocks(elements, options.max_eigenproblem, options.seed);
  OrthogonalRepresentation result;
  std::optional<Candidate> best;
  Eigen::VectorXd vector;
  if (!blocks.empty())
    for (const auto& set : FaithfulSets(elements, blocks, elements_that_fix_orbit(elements, start)).least()) {
      Candidate next = candidate(elements, blocks, set);
      const auto [v, distance] = StartVector(elements, next, start, options.seed).best();
      if (v.size() == 0 || distance <= result.least_distance + 1e-6) continue;
      result.least_distance = distance;
      vector = v;
      best = std::move(next);
    }
  if (!best) throw InputError("no three real irreducible blocks together are faithful on the orbit of the start");
  result.blocks = best->blocks;
  result.generators = best->generators;
  for (const Eigen::MatrixXd& generator : best->generators) result.reflections.push_back(reflection_count(generator));
  list_codewords(elements, *best, vector, start, result);
  return result;
}

}  // namespace krohn
