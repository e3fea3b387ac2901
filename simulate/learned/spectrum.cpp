#include "krohn/simulate/learned/spectrum.h"

#include <fmt/format.h>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

std::optional<ComplexEigen> complex_eigen(const Eigen::MatrixXd& matrix) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(matrix);
  if (solver.info() != Eigen::Success) return std::nullopt;
  return ComplexEigen{solver.eigenvalues(), solver.eigenvectors()};
}

PivotedQr pivoted_qr(const Eigen::MatrixXd& matrix) {
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(matrix);
  const auto& order = qr.colsPermutation().indices();
  return {qr.householderQ(), qr.matrixQR().diagonal(), {order.begin(), order.end()}};
}

Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
  return qr.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), columns.cols());
}

Eigen::MatrixXd solution(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return Eigen::PartialPivLU<Eigen::MatrixXd>(a).solve(b);
}

std::optional<Eigen::MatrixXcd> solution_if_conditioned(const Eigen::MatrixXcd& a, const Eigen::MatrixXcd& b,
                                                        double least) {
  const Eigen::FullPivLU<Eigen::MatrixXcd> lu(a);
  if (!lu.isInvertible() || !(lu.rcond() > least)) return std::nullopt;
  return lu.solve(b);
}

Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, std::optional<double> threshold) {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  if (threshold) solver.setThreshold(*threshold);
  solver.compute(a);
  return solver.solve(b);
}

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& matrix) {
  return least_squares(matrix, Eigen::MatrixXd::Identity(matrix.rows(), matrix.rows()));
}

std::vector<RotationPlane> rotation_planes(const SequenceModel<float>& model) {
  const auto* const bilinear = dynamic_cast<const BilinearModel<float>*>(&model);
  if (bilinear == nullptr || bilinear->shape().form != BilinearShape::Form::kRotations)
    throw InputError(
        fmt::format("the model {} has no angles of its own; those of bilinear:rotations are drawn", model.name()));
  const BilinearShape& shape = bilinear->shape();
  const std::size_t planes = shape.generated(), letters = model.letters(), labels = model.labels();
  const TensorFile tensors = model.tensors();
  TensorReader reader(tensors);
  const std::vector<double> embedding = reader.reals("embedding", {letters, shape.inputs}),
                            weights = reader.reals("weights", {shape.inputs, planes}),
                            readout = reader.reals("readout", {labels, shape.hidden});
  std::vector<RotationPlane> all(planes);
  for (std::size_t k = 0; k < planes; ++k) {
    RotationPlane& plane = all[k];
    plane.plane = static_cast<std::uint32_t>(k);
    for (std::size_t letter = 0; letter < letters; ++letter) {
      double angle = 0;
      for (std::size_t i = 0; i < shape.inputs; ++i)
        angle += embedding[letter * shape.inputs + i] * weights[i * planes + k];
      plane.turns.push_back(angle / (2 * std::numbers::pi));
    }
    double squares = 0;
    for (std::size_t label = 0; label < labels; ++label)
      for (const std::size_t i : {2 * k, 2 * k + 1})
        squares += readout[label * shape.hidden + i] * readout[label * shape.hidden + i];
    plane.readout = std::sqrt(squares);
  }
  std::ranges::stable_sort(all, std::greater{}, &RotationPlane::readout);
  return all;
}

namespace {

constexpr std::uint64_t kWords = 50, kLetters = 16;  ///< the states that are examined
constexpr double kLeastAlive = 1e-3;                 ///< of the greatest direction's root mean square
constexpr double kWorstCondition = 1e8;              ///< of eigenvectors that are still told apart

using Block = std::vector<std::uint32_t>;

std::vector<Eigen::MatrixXd> letter_matrices(const Network& network) {
  if (network.layers.size() != 1)
    throw InputError(
        "a spectrum is of one recurrence; this network has several layers, whose letters depend on the "
        "layers below");
  const Layer& layer = network.layers[0];
  std::vector<Eigen::MatrixXd> matrices;
  for (Letter letter = 0; letter < network.automaton.letters(); ++letter)
    matrices.push_back(to_dense(layer.transitions[layer.wiring.action_of[letter]].a).cast<double>());
  return matrices;
}

/// The connected components of "some letter mixes i into j".
std::vector<Block> common_blocks(const std::vector<Eigen::MatrixXd>& matrices, std::uint32_t dimension) {
  Eigen::MatrixXd mixed = Eigen::MatrixXd::Zero(dimension, dimension);
  for (const Eigen::MatrixXd& a : matrices) mixed += a.cwiseAbs() + a.transpose().cwiseAbs();
  std::vector<bool> seen(dimension, false);
  std::vector<Block> blocks;
  for (std::uint32_t first = 0; first < dimension; ++first) {
    if (seen[first]) continue;
    Block block{first};
    seen[first] = true;
    for (std::size_t i = 0; i < block.size(); ++i)
      for (std::uint32_t j = 0; j < dimension; ++j)
        if (!seen[j] && mixed(block[i], j) != 0) {
          seen[j] = true;
          block.push_back(j);
        }
    std::ranges::sort(block);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

/// The codewords that decode after letters, less their mean: a row each, column by column of H.
Eigen::MatrixXd decoder_rows(const Layer& layer) {
  std::vector<Eigen::MatrixXd> words;
  const std::uint32_t book = layer.book_of_context.empty() ? 0 : layer.book_of_context[0];
  for (std::size_t i = 0; i < codeword_count(layer); ++i)
    if (codeword_book(layer, i) == book) words.push_back(codeword(layer, i));
  Eigen::MatrixXd rows(words.size() * layer.columns, layer.dimension);
  for (std::size_t i = 0; i < words.size(); ++i)
    rows.middleRows(static_cast<Eigen::Index>(i * layer.columns), layer.columns) = words[i].transpose();
  return rows.rowwise() - rows.colwise().mean();
}

/// States that words lead to, each scaled to norm 1: columns.
Eigen::MatrixXd visited_states(const Network& network) {
  const Layer& layer = network.layers[0];
  const auto evaluator = make_evaluator(network, Precision::kFp64);
  std::vector<Eigen::MatrixXd> states;
  for (std::uint64_t word = 0; word < kWords; ++word) {
    evaluator->reset();
    for (const Letter letter : RandomWord(network.automaton.letters(), 1, word).slice(0, kLetters)) {
      evaluator->step(letter);
      const std::vector<double> numbers = evaluator->numbers();
      Eigen::MatrixXd state = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), layer.dimension, layer.columns);
      if (!state.allFinite()) throw InputError("the network's numbers leave the range of fp64 within a few letters");
      if (state.norm() > 0) states.push_back(state / state.norm());
    }
  }
  Eigen::MatrixXd columns(layer.dimension, states.size() * layer.columns);
  for (std::size_t i = 0; i < states.size(); ++i)
    columns.middleCols(static_cast<Eigen::Index>(i * layer.columns), layer.columns) = states[i];
  return columns;
}

/// The mean states of the automaton, less their mean: columns.
Eigen::MatrixXd learned_code(const Network& network) {
  const Layer& layer = network.layers[0];
  Eigen::MatrixXd centres = state_centres(network, network.automaton, Precision::kFp64).centres;
  centres.colwise() -= centres.rowwise().mean().eval();
  return Eigen::Map<const Eigen::MatrixXd>(centres.data(), layer.dimension, layer.columns * centres.cols());
}

double root_mean_square(const auto& row) {
  return row.size() == 0 ? 0 : row.norm() / std::sqrt(static_cast<double>(row.size()));
}

/// The modes of one block of one letter.
void add_modes(LetterSpectrum& letter, const Eigen::MatrixXd& a, std::uint32_t block, const Eigen::MatrixXd& decoder,
               const Eigen::MatrixXd& states) {
  const auto eigen = complex_eigen(a);
  if (!eigen) throw InputError("the eigenvalues of a letter's matrix were not found");
  // Nothing where the eigenvectors are not told apart.
  const auto coordinates =
      solution_if_conditioned(eigen->vectors, states.cast<std::complex<double>>(), 1 / kWorstCondition);
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    Mode mode{eigen->values(i), block, 0};
    mode.weight = coordinates ? (decoder.cast<std::complex<double>>() * eigen->vectors.col(i)).norm() *
                                    root_mean_square(coordinates->row(i))
                              : decoder.norm() * root_mean_square(states);
    letter.modes.push_back(mode);
  }
}

std::complex<double> plane_factor(const Eigen::MatrixXd& a) {
  return {(a(0, 0) + a(1, 1)) / 2, (a(1, 0) - a(0, 1)) / 2};
}

double as_real(const Turn& turn) { return static_cast<double>(turn.numerator) / static_cast<double>(turn.denominator); }

/// The lengths of the map's cycles, each once.
std::set<std::uint32_t> cycle_lengths(const Transformation& map) {
  std::set<std::uint32_t> lengths;
  std::vector<Point> seen_from(map.degree(), map.degree());  // the walk on which a point was first met
  std::vector<std::uint32_t> step(map.degree(), 0);
  for (Point start = 0; start < map.degree(); ++start) {
    std::uint32_t t = 0;
    Point at = start;
    for (; seen_from[at] == map.degree(); at = map[at]) seen_from[at] = start, step[at] = t++;
    if (seen_from[at] == start) lengths.insert(t - step[at]);
  }
  return lengths;
}

SymmetricEigen eigen_of(const Eigen::MatrixXd& gram) {
  if (std::optional<SymmetricEigen> found = symmetric_eigen(gram)) return *std::move(found);
  throw InputError("the eigenvalues of the learned states were not found");
}

/// Orthonormal bases of what the states span in every block.
std::vector<Eigen::MatrixXd> living_spaces(const std::vector<Eigen::MatrixXd>& states) {
  std::vector<SymmetricEigen> grams;
  double greatest = 0;
  for (const Eigen::MatrixXd& block : states) {
    grams.push_back(eigen_of(block * block.transpose()));
    greatest = std::max(greatest, grams.back().values(block.rows() - 1));
  }
  std::vector<Eigen::MatrixXd> spaces;
  for (const SymmetricEigen& gram : grams) {
    const double least = greatest * kLeastAlive * kLeastAlive;
    const auto alive = (gram.values.array() > least).count();
    spaces.push_back(gram.vectors.rightCols(alive));
  }
  return spaces;
}

double orthogonality_defect(const Eigen::MatrixXd& a, const Eigen::MatrixXd& space) {
  if (space.cols() == 0) return 0;
  const Eigen::MatrixXd image = a * space;
  return (eigen_of(image.transpose() * image).values.array() - 1).abs().maxCoeff();
}

}  // namespace

double turn_of(std::complex<double> value) { return std::arg(value) / (2 * std::numbers::pi); }

Spectrum spectrum(const LetterBlocks& given) {
  const FloatEnvironment environment;
  Spectrum result;
  const std::vector<Eigen::MatrixXd> spaces = living_spaces(given.code);
  double greatest_block = 0;
  for (std::size_t b = 0; b < spaces.size(); ++b) {
    result.coordinates += static_cast<std::uint64_t>(spaces[b].rows());
    result.alive += static_cast<std::uint64_t>(spaces[b].cols());
    result.block_weights.push_back(given.readers[b].norm() * root_mean_square(given.states[b]));
    greatest_block = std::max(greatest_block, result.block_weights.back());
  }
  for (std::size_t b = 0; b < spaces.size(); ++b) {
    if (greatest_block > 0) result.block_weights[b] /= greatest_block;
    if (spaces[b].rows() != 2) continue;
    Plane plane{result.block_weights[b], {}};
    for (const std::vector<Eigen::MatrixXd>& letter : given.matrices) plane.factors.push_back(plane_factor(letter[b]));
    result.planes.push_back(std::move(plane));
  }
  std::ranges::stable_sort(result.planes, [](const Plane& x, const Plane& y) { return x.weight > y.weight; });
  for (const std::vector<Eigen::MatrixXd>& matrices : given.matrices) {
    LetterSpectrum letter;
    for (std::size_t b = 0; b < matrices.size(); ++b) {
      add_modes(letter, matrices[b], static_cast<std::uint32_t>(b), given.readers[b], given.states[b]);
      letter.orthogonality_defect = std::max(letter.orthogonality_defect, orthogonality_defect(matrices[b], spaces[b]));
    }
    std::ranges::stable_sort(letter.modes, [](const Mode& x, const Mode& y) { return x.weight > y.weight; });
    const double greatest = letter.modes.empty() ? 0 : letter.modes[0].weight;
    for (Mode& mode : letter.modes) {
      if (greatest > 0) mode.weight /= greatest;
      letter.spectral_radius = std::max(letter.spectral_radius, mode.modulus());
    }
    result.letters.push_back(std::move(letter));
  }
  return result;
}

Spectrum spectrum(const Network& network) {
  const FloatEnvironment environment;
  const std::vector<Eigen::MatrixXd> matrices = letter_matrices(network);
  const Layer& layer = network.layers[0];
  const Eigen::MatrixXd decoder = decoder_rows(layer), states = visited_states(network), code = learned_code(network);
  std::vector<Block> blocks = common_blocks(matrices, layer.dimension);
  const auto importance = [&](const Block& block) {
    return decoder(Eigen::all, block).norm() * root_mean_square(states(block, Eigen::all));
  };
  std::ranges::stable_sort(blocks, [&](const Block& a, const Block& b) { return importance(a) > importance(b); });
  LetterBlocks given;
  given.matrices.resize(matrices.size());
  for (const Block& block : blocks) {
    for (std::size_t letter = 0; letter < matrices.size(); ++letter)
      given.matrices[letter].emplace_back(matrices[letter](block, block));
    given.readers.emplace_back(decoder(Eigen::all, block));
    given.states.emplace_back(states(block, Eigen::all));
    given.code.emplace_back(code(block, Eigen::all));
  }
  Spectrum result = spectrum(given);
  result.blocks = std::move(blocks);
  return result;
}

double turn_distance(double a, double b) {
  const double apart = std::abs(a - b);
  return std::abs(apart - std::round(apart));
}

std::vector<Turn> exact_turns(const Transformation& map) {
  std::vector<Turn> turns;
  for (const std::uint32_t length : cycle_lengths(map))
    for (std::uint32_t k = 0; k < length; ++k) turns.push_back(Turn{k, length}.normalised());
  std::ranges::sort(turns, {}, as_real);
  turns.erase(std::ranges::unique(turns).begin(), turns.end());
  return turns;
}

Turn nearest_exact_turn(const Transformation& map, double turn) {
  Turn best{0, 1};
  double least = 1;
  for (const std::uint32_t length : cycle_lengths(map)) {
    const auto numerator = static_cast<std::int64_t>(std::llround((turn < 0 ? turn + 1 : turn) * length));
    const Turn candidate = Turn{numerator % length, length}.normalised();
    const double off = turn_distance(turn, as_real(candidate));
    if (off < least - 1e-12) least = off, best = candidate;
  }
  return best;
}

}  // namespace krohn
