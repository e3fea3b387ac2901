#include "simulate/spectrum.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "groups/error.h"
#include "simulate/evaluate.h"
#include "simulate/word.h"

namespace krohn {
namespace {

constexpr std::uint64_t kWords = 50, kLetters = 16;  ///< what states are looked at
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

double root_mean_square(const auto& row) {
  return row.size() == 0 ? 0 : row.norm() / std::sqrt(static_cast<double>(row.size()));
}

/// The modes of one block of one letter.
void add_modes(LetterSpectrum& letter, const Eigen::MatrixXd& a, std::uint32_t block, const Eigen::MatrixXd& decoder,
               const Eigen::MatrixXd& states) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(a);
  if (solver.info() != Eigen::Success) throw InputError("the eigenvalues of a letter's matrix were not found");
  const Eigen::MatrixXcd vectors = solver.eigenvectors();
  const Eigen::FullPivLU<Eigen::MatrixXcd> lu(vectors);
  const bool is_told_apart = lu.isInvertible() && lu.rcond() > 1 / kWorstCondition;
  Eigen::MatrixXcd coordinates;
  if (is_told_apart) coordinates = lu.solve(states.cast<std::complex<double>>());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    Mode mode{solver.eigenvalues()(i), block, 0};
    mode.weight = is_told_apart ? (decoder.cast<std::complex<double>>() * vectors.col(i)).norm() *
                                      root_mean_square(coordinates.row(i))
                                : decoder.norm() * root_mean_square(states);
    letter.modes.push_back(mode);
  }
}

std::vector<std::complex<double>> plane_factors(const std::vector<Eigen::MatrixXd>& matrices, const Block& block) {
  std::vector<std::complex<double>> factors;
  for (const Eigen::MatrixXd& whole : matrices) {
    const Eigen::MatrixXd a = whole(block, block);
    factors.emplace_back((a(0, 0) + a(1, 1)) / 2, (a(1, 0) - a(0, 1)) / 2);
  }
  return factors;
}

double as_real(const Turn& turn) { return static_cast<double>(turn.numerator) / static_cast<double>(turn.denominator); }

/// Of the cycles of the map, each length once.
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

double orthogonality_defect(const Eigen::MatrixXd& a) {
  if (a.rows() == 0) return 0;
  const Eigen::VectorXd values = a.jacobiSvd().singularValues();
  double defect = 0;
  for (const double value : values) defect = std::max(defect, std::abs(value * value - 1));
  return defect;
}

}  // namespace

double turn_of(std::complex<double> value) { return std::arg(value) / (2 * std::numbers::pi); }

Spectrum spectrum(const Network& network) {
  const std::vector<Eigen::MatrixXd> matrices = letter_matrices(network);
  const Layer& layer = network.layers[0];
  const Eigen::MatrixXd decoder = decoder_rows(layer), states = visited_states(network);
  Spectrum result;
  result.blocks = common_blocks(matrices, layer.dimension);
  std::vector<double> importance;
  for (const Block& block : result.blocks)
    importance.push_back(decoder(Eigen::all, block).norm() * root_mean_square(states(block, Eigen::all)));
  std::vector<std::size_t> order(result.blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return importance[a] > importance[b]; });
  std::vector<Block> sorted;
  const double greatest_block = importance.empty() ? 0 : importance[order[0]];
  for (const std::size_t i : order) {
    sorted.push_back(std::move(result.blocks[i]));
    result.block_weights.push_back(greatest_block > 0 ? importance[i] / greatest_block : 0);
  }
  result.blocks = std::move(sorted);
  for (std::size_t b = 0; b < result.blocks.size(); ++b)
    if (result.blocks[b].size() == 2)
      result.planes.push_back({result.block_weights[b], plane_factors(matrices, result.blocks[b])});
  Block used;  // coordinates that reach the decoder
  for (std::size_t b = 0; b < result.blocks.size(); ++b)
    if (result.block_weights[b] > 0) used.insert(used.end(), result.blocks[b].begin(), result.blocks[b].end());
  for (const Eigen::MatrixXd& a : matrices) {
    LetterSpectrum letter;
    for (std::uint32_t b = 0; b < result.blocks.size(); ++b) {
      const Block& block = result.blocks[b];
      add_modes(letter, a(block, block), b, decoder(Eigen::all, block), states(block, Eigen::all));
    }
    std::ranges::stable_sort(letter.modes, [](const Mode& x, const Mode& y) { return x.weight > y.weight; });
    const double greatest = letter.modes.empty() ? 0 : letter.modes[0].weight;
    for (Mode& mode : letter.modes) {
      if (greatest > 0) mode.weight /= greatest;
      letter.spectral_radius = std::max(letter.spectral_radius, mode.modulus());
    }
    letter.orthogonality_defect = orthogonality_defect(a(used, used));
    result.letters.push_back(std::move(letter));
  }
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
