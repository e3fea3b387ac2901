#include "krohn/simulate/check/recheck_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace krohn {

/// One case per structured form; the dense form is every entry of the matrix.
struct RecheckedNetwork::Prepare {
  const DeterministicArithmetic& in;

  RecheckedMatrix dense(const LongMatrix& a) const {
    RecheckedMatrix result{std::vector<Row>(static_cast<std::size_t>(a.rows())), {}, {}, true};
    add_block(result, a, 0);
    return result;
  }
  void add_block(RecheckedMatrix& result, const auto& a, Eigen::Index at) const {
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      for (Eigen::Index j = 0; j < a.cols(); ++j)
        result.rows[static_cast<std::size_t>(at + i)].push_back(
            {static_cast<std::uint32_t>(at + j), in.weight(a(i, j)), false});
  }

  double cosine(Turn turn) const {
    turn = turn.normalised();
    return in.cosine(turn.numerator, turn.denominator);
  }
  double sine(Turn turn) const {
    turn = turn.normalised();
    return in.sine(turn.numerator, turn.denominator);
  }

  /// Every entry of a structured form, zeros included. The entries of rotations are the structured form's own.
  RecheckedMatrix dense_form(const Matrix& a) const {
    if (!std::holds_alternative<RotationBlocks>(a)) return dense(to_dense(a));
    const RecheckedMatrix blocks = (*this)(std::get<RotationBlocks>(a));
    RecheckedMatrix result{std::vector<Row>(blocks.rows.size()), {}, {}, true};
    for (std::size_t i = 0; i < blocks.rows.size(); ++i) {
      for (std::uint32_t j = 0; j < blocks.rows.size(); ++j) result.rows[i].push_back({j, 0, false});
      for (const Entry& entry : blocks.rows[i]) result.rows[i][entry.column].weight = entry.weight;
    }
    return result;
  }

  RecheckedMatrix operator()(const MapMatrix& a) const {
    RecheckedMatrix result{std::vector<Row>(a.map.degree()), {}, {}, true};
    for (Point j = 0; j < a.map.degree(); ++j) result.rows[a.map[j]].push_back({j, 1, true});
    return result;
  }
  RecheckedMatrix operator()(const SignedPermutationMatrix& a) const {
    RecheckedMatrix result{std::vector<Row>(a.map.degree()), {}, {}, true};
    for (Point j = 0; j < a.map.degree(); ++j) result.rows[a.map[j]] = {{j, double{a.sign[j] < 0 ? -1.0 : 1.0}, true}};
    return result;
  }
  RecheckedMatrix operator()(const ReflectionProduct& a) const {
    RecheckedMatrix result;
    for (const Reflection& factor : a.factors) {
      Row key;
      const long double scale = std::sqrt(static_cast<long double>(factor.scale_squared_numerator) /
                                          static_cast<long double>(factor.scale_squared_denominator));
      for (const auto& entry : factor.entries) key.push_back({entry.position, in.weight(scale * entry.value), false});
      if (factor.entries.empty())
        key = {{factor.plane, cosine(factor.angle), false}, {factor.plane + 1, sine(factor.angle), false}};
      result.reflections.emplace_back(std::move(key), in.weight(factor.beta));
    }
    return result;
  }
  RecheckedMatrix operator()(const RotationBlocks& a) const {
    RecheckedMatrix result{{}, {}, {}, true};
    for (const auto& block : a.blocks) {
      const auto at = static_cast<std::uint32_t>(result.rows.size());
      const double c = cosine(block.turn), s = sine(block.turn);
      if (block.is_sign) {
        result.rows.push_back({{at, c < 0 ? -1.0 : 1.0, true}});
        continue;
      }
      result.rows.push_back({{at, c, false}, {at + 1, -s, false}});
      result.rows.push_back({{at, s, false}, {at + 1, c, false}});
    }
    return result;
  }
  RecheckedMatrix operator()(const DiagonalMatrix& a) const {
    RecheckedMatrix result{{}, {}, {}, true};
    for (const double value : a.values)
      result.rows.push_back({{static_cast<std::uint32_t>(result.rows.size()), in.weight(value), false}});
    return result;
  }
  RecheckedMatrix operator()(const ZeroMatrix& a) const { return {std::vector<Row>(a.dimension), {}, {}, true}; }
  RecheckedMatrix operator()(const DenseMatrix& a) const { return dense(a.values.cast<long double>()); }
  RecheckedMatrix operator()(const BlockDiagonalMatrix& a) const {
    RecheckedMatrix result{{}, {}, {}, true};
    for (const Eigen::MatrixXd& block : a.blocks) {
      const auto at = static_cast<Eigen::Index>(result.rows.size());
      result.rows.resize(result.rows.size() + static_cast<std::size_t>(block.rows()));
      add_block(result, block, at);
    }
    return result;
  }
  RecheckedMatrix operator()(const FactoredMatrix& a) const {
    RecheckedMatrix result;
    result.rows.resize(a.dimension);
    for (const std::uint32_t term : a.gate) result.terms.emplace_back(a.outputs[term], a.inputs[term]);
    return result;
  }
};

RecheckedNetwork::RecheckedNetwork(const Network& network, const std::string& arithmetic, Form form)
    : network_(network), in_(arithmetic) {
  const Prepare prepare{in_};
  for (const Layer& layer : network.layers) {
    auto& matrices = matrices_.emplace_back();
    auto& additions = additions_.emplace_back();
    for (const Transition& transition : layer.transitions) {
      matrices.push_back(form == Form::kDense ? prepare.dense_form(transition.a) : std::visit(prepare, transition.a));
      additions.push_back(rounded(transition.b));
    }
    codeword_of_.push_back(integer_codewords(layer));
  }
}

/// Different integers lie at least 1 apart, in fp64 too, so that numbers which are an integer codeword are at distance
/// 0 from it and from those that are equal to it, and further from all others.
RecheckedNetwork::CodewordOf RecheckedNetwork::integer_codewords(const Layer& layer) {
  const auto is_integer = [](double entry) { return std::isfinite(entry) && std::nearbyint(entry) == entry; };
  CodewordOf codewords;
  for (std::size_t i = 0; i < layer.decoder.codewords.size(); ++i) {
    const Eigen::MatrixXd& code = layer.decoder.codewords[i];
    const RecheckedNumbers entries(code.data(), code.data() + code.size());
    if (!std::all_of(entries.begin(), entries.end(), is_integer)) return {};
    const auto [place, fresh] = codewords.try_emplace({codeword_book(layer, i), entries}, i);
    if (!fresh) place->second.reset();
  }
  return codewords;
}

RecheckedNumbers RecheckedNetwork::rounded(const Eigen::MatrixXd& matrix) const {
  RecheckedNumbers numbers;
  for (Eigen::Index i = 0; i < matrix.size(); ++i) numbers.push_back(in_.weight(matrix.data()[i]));
  return numbers;
}

RecheckedNumbers RecheckedNetwork::codeword_numbers(std::size_t layer, std::size_t i) const {
  return rounded(codeword(network_.layers[layer], i));
}

double RecheckedNetwork::dot(const Row& row, const double* x) const {
  double sum = 0;
  bool first = true;
  for (const auto& [column, weight, is_sign] : row) {
    if (is_sign)
      sum = first ? weight * x[column] : in_.sum(sum, weight * x[column]);
    else
      sum = first ? in_.product(weight, x[column]) : in_.sum_of_product(sum, weight, x[column]);
    first = false;
  }
  return sum;
}

void RecheckedNetwork::multiply(const RecheckedMatrix& matrix, const double* x, double* y,
                                std::size_t dimension) const {
  if (matrix.is_rows) {
    for (std::size_t i = 0; i < dimension; ++i) y[i] = dot(matrix.rows[i], x);
    return;
  }
  if (matrix.rows.empty()) std::copy_n(x, dimension, y);  // otherwise terms, which start from 0
  for (const auto& [key, beta] : matrix.reflections) {
    const double scaled = in_.product(beta, dot(key, y));
    for (const Entry& entry : key) y[entry.column] = in_.sum_of_product(y[entry.column], -entry.weight, scaled);
  }
  for (const auto& [outputs, inputs] : matrix.terms) {
    double sum = 0;
    for (const std::uint32_t j : inputs) sum = in_.sum(sum, x[j]);
    for (const std::uint32_t i : outputs) y[i] = in_.sum(y[i], sum);
  }
}

RecheckedNumbers RecheckedNetwork::move(std::size_t layer, Action action, const RecheckedNumbers& from) const {
  const std::size_t dimension = network_.layers[layer].dimension;
  RecheckedNumbers to(from.size(), 0.0);
  for (std::size_t at = 0; at < from.size(); at += dimension)
    multiply(matrices_[layer][action], from.data() + at, to.data() + at, dimension);
  const RecheckedNumbers& b = additions_[layer][action];
  for (std::size_t i = 0; i < b.size(); ++i) to[i] = in_.sum(to[i], b[i]);
  for (double& number : to) number = in_.store(number);
  return to;
}

std::optional<std::size_t> RecheckedNetwork::nearest(std::size_t k, std::uint32_t book,
                                                     const RecheckedNumbers& numbers) const {
  const Layer& layer = network_.layers[k];
  if (!std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); })) return {};
  const std::uint32_t copies = layer.decoder.unit_copies;
  if (copies > 0) {  // a unit codeword is nearest to itself, and there may be 10^4 of them
    const auto one = static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), 1.0) - numbers.begin());
    if (one < layer.labels && book == 0 && numbers == codeword_numbers(k, one)) return one;
  }
  if (const auto found = codeword_of_[k].find({book, numbers}); found != codeword_of_[k].end()) return found->second;
  double least = std::numeric_limits<double>::infinity();
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    if (codeword_book(layer, i) != book) continue;
    double distance = 0;
    for (std::size_t j = 0; j < numbers.size() && distance <= least; ++j) {
      const double unit = j % layer.labels == i ? 1 : 0;
      const double code = copies > 0 ? unit : layer.decoder.codewords[i].data()[j];
      distance += (numbers[j] - code) * (numbers[j] - code);
    }
    if (distance == least) nearest.reset();
    if (distance < least) {
      least = distance;
      nearest = i;
    }
  }
  return nearest;
}

std::optional<Label> RecheckedNetwork::decode(std::size_t k, std::uint32_t book,
                                              const RecheckedNumbers& numbers) const {
  const std::optional<std::size_t> codeword = nearest(k, book, numbers);
  return codeword ? std::optional(codeword_label(network_.layers[k], *codeword)) : std::nullopt;
}

RecheckedNetwork::Moment RecheckedNetwork::start() const {
  Moment moment;
  for (const Layer& layer : network_.layers) {
    moment.numbers.push_back(rounded(layer.initial));
    moment.labels.emplace_back(layer.initial_label);
  }
  return moment;
}

RecheckedNetwork::Moment RecheckedNetwork::step(const Moment& before, Letter letter) const {
  Moment after = before;
  Context context = letter;
  for (std::size_t k = 0; k < network_.layers.size(); ++k) {
    const Layer& layer = network_.layers[k];
    after.labels[k].reset();
    if (context == kNoContext) continue;
    after.numbers[k] = move(k, layer.wiring.action_of[context], before.numbers[k]);
    after.labels[k] = decode(k, layer.book_of_context.empty() ? 0 : layer.book_of_context[context], after.numbers[k]);
    if (k + 1 == network_.layers.size()) break;
    const auto& pre = before.labels[k];
    context = pre ? layer.wiring.next[std::size_t{context} * layer.labels + *pre] : kNoContext;
  }
  if (network_.snap_every == 0 || ++after.phase < network_.snap_every) return after;
  after.phase = 0;
  for (std::size_t k = 0; k < network_.layers.size(); ++k)
    if (after.labels[k]) after.numbers[k] = codeword_numbers(k, *nearest(k, 0, after.numbers[k]));
  return after;
}

std::optional<std::uint32_t> RecheckedNetwork::read(const Moment& moment) const {
  Context node = 0;
  for (std::size_t k = 0; k < network_.layers.size(); ++k) {
    if (!moment.labels[k]) return std::nullopt;
    node = network_.readout.next[k][std::size_t{node} * network_.layers[k].labels + *moment.labels[k]];
    if (node == kNoContext) return std::nullopt;
  }
  return node;
}

std::optional<RecheckedNetwork::Weights> RecheckedNetwork::weights(std::size_t layer, Action action) const {
  const RecheckedMatrix& matrix = matrices_[layer][action];
  if (!matrix.is_rows) return std::nullopt;
  const auto n = static_cast<Eigen::Index>(matrix.rows.size());
  Weights weights{Eigen::MatrixXd::Zero(n, n), additions_[layer][action], 0};
  for (Eigen::Index i = 0; i < n; ++i) {
    const Row& row = matrix.rows[static_cast<std::size_t>(i)];
    weights.products = std::max(weights.products, row.size());
    for (const Entry& entry : row) weights.a(i, entry.column) += entry.weight;
  }
  return weights;
}

std::optional<std::vector<RecheckedNetwork::Factor>> RecheckedNetwork::factors(std::size_t layer, Action action) const {
  const RecheckedMatrix& matrix = matrices_[layer][action];
  if (matrix.is_rows || !matrix.rows.empty() || !additions_[layer][action].empty()) return std::nullopt;
  std::vector<Factor> factors;
  for (const auto& [key, beta] : matrix.reflections) {
    factors.push_back({{}, beta});
    for (const Entry& entry : key) factors.back().key.emplace_back(entry.column, entry.weight);
  }
  return factors;
}

}  // namespace krohn
