#include "krohn/simulate/check/recheck_network.h"

#include <fmt/format.h>
#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "krohn/groups/base/error.h"

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
    if (in_.has_integers())
      for (const Eigen::MatrixXd& code : layer.decoder.codewords) rounded(code);  // each is a number of the type
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

namespace {

using Rational = boost::multiprecision::cpp_rational;
using Column = std::vector<Rational>;

/// One case per structured form: A x, or nothing.
struct Times {
  const Column& x;

  bool operator()(const MapMatrix& a, Column& y) const {
    for (Point j = 0; j < a.map.degree(); ++j) y[a.map[j]] += x[j];
    return true;
  }
  bool operator()(const SignedPermutationMatrix& a, Column& y) const {
    for (Point j = 0; j < a.map.degree(); ++j) y[a.map[j]] = a.sign[j] < 0 ? Rational(-x[j]) : x[j];
    return true;
  }
  bool operator()(const ReflectionProduct& a, Column& y) const {
    y = x;
    for (const Reflection& factor : a.factors) {
      if (factor.entries.empty()) return false;  // a key of cosines
      Rational along = 0;
      for (const auto& entry : factor.entries) along += y[entry.position] * entry.value;
      along *= Rational(factor.beta) * Rational(factor.scale_squared_numerator, factor.scale_squared_denominator);
      for (const auto& entry : factor.entries) y[entry.position] -= along * entry.value;
    }
    return true;
  }
  /// Quarters of a turn.
  bool operator()(const RotationBlocks& a, Column& y) const {
    constexpr int kCosine[4] = {1, 0, -1, 0};
    std::size_t at = 0;
    for (const auto& block : a.blocks) {
      const Turn turn = block.turn.normalised();
      const std::int64_t quarters = 4 * turn.numerator / turn.denominator;
      if (4 * turn.numerator != quarters * turn.denominator) return false;
      const auto quarter = static_cast<std::size_t>((quarters % 4 + 4) % 4);
      const int c = kCosine[quarter], s = kCosine[(quarter + 3) % 4];
      if (block.is_sign) {
        y[at] = c * x[at];
        ++at;
        continue;
      }
      y[at] = c * x[at] - s * x[at + 1];
      y[at + 1] = s * x[at] + c * x[at + 1];
      at += 2;
    }
    return true;
  }
  bool operator()(const DiagonalMatrix& a, Column& y) const {
    for (std::size_t i = 0; i < a.values.size(); ++i) y[i] = Rational(a.values[i]) * x[i];
    return true;
  }
  bool operator()(const ZeroMatrix&, Column&) const { return true; }
  bool operator()(const DenseMatrix& a, Column& y) const { return block(a.values, 0, y); }
  bool operator()(const BlockDiagonalMatrix& a, Column& y) const {
    Eigen::Index at = 0;
    for (const Eigen::MatrixXd& values : a.blocks) {
      block(values, at, y);
      at += values.rows();
    }
    return true;
  }
  bool operator()(const FactoredMatrix& a, Column& y) const {
    for (const std::uint32_t term : a.gate) {
      Rational sum = 0;
      for (const std::uint32_t j : a.inputs[term]) sum += x[j];
      for (const std::uint32_t i : a.outputs[term]) y[i] += sum;
    }
    return true;
  }

  bool block(const Eigen::MatrixXd& a, Eigen::Index at, Column& y) const {
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      for (Eigen::Index j = 0; j < a.cols(); ++j)
        if (a(i, j) != 0)
          y[static_cast<std::size_t>(at + i)] += Rational(a(i, j)) * x[static_cast<std::size_t>(at + j)];
    return true;
  }
};

}  // namespace

bool moves_exactly(const Layer& layer, Action action, const std::vector<double>& from, const std::vector<double>& to) {
  const Transition& transition = layer.transitions[action];
  for (std::size_t at = 0; at < from.size(); at += layer.dimension) {
    const Column x(from.begin() + static_cast<std::ptrdiff_t>(at),
                   from.begin() + static_cast<std::ptrdiff_t>(at + layer.dimension));
    Column y(layer.dimension, 0);
    if (!std::visit([&, times = Times{x}](const auto& a) { return times(a, y); }, transition.a)) return false;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (transition.b.size() > 0) y[i] += Rational(transition.b.data()[at + i]);
      if (y[i] != Rational(to[at + i])) return false;
    }
  }
  return true;
}

namespace {

using Rationals = std::vector<Rational>;

constexpr std::uint32_t kMaxRows = 64;

Rationals rationals(const auto& numbers) {
  Rationals result;
  for (const double number : numbers) {
    require(std::isfinite(number), "a number is not finite");
    result.emplace_back(number);
  }
  return result;
}

Rational sum_of_squares(const Rationals& numbers) {
  Rational sum = 0;
  for (const Rational& number : numbers) sum += number * number;
  return sum;
}

/// A number whose square is at least, or at most, the given one, and nearly it.
Rational root_above(const Rational& square) {
  double root = std::sqrt(square.convert_to<double>());
  while (Rational(root) * Rational(root) < square) root = root * (1 + 0x1p-48) + 0x1p-1000;
  return Rational(root);
}
Rational root_below(const Rational& square) {
  double root = std::sqrt(square.convert_to<double>());
  while (root > 0 && Rational(root) * Rational(root) > square) root *= 1 - 0x1p-48;
  return Rational(root);
}

Rational power_of_two(int exponent) {
  const Rational two = 2;
  Rational power = 1;
  for (int i = 0; i < std::abs(exponent); ++i) power *= two;
  return exponent < 0 ? Rational(1) / power : power;
}

class Horizon {
 public:
  Horizon(const LinearHorizon& proof, const Network& network, const RecheckedNetwork& plain)
      : table_(proof.table), network_(network), layer_(network.layers[0]), plain_(plain) {}

  void check_table() {
    const std::string bad = "the table does not fit the layer";
    require(!table_.codewords.empty() && table_.next.size() == table_.moves.size(), bad);
    for (const std::uint32_t codeword : table_.codewords) require(codeword < codeword_count(layer_), bad);
    for (std::size_t m = 0; m < table_.moves.size(); ++m) {
      require(std::find(table_.moves.begin(), table_.moves.begin() + static_cast<std::ptrdiff_t>(m), table_.moves[m]) ==
                  table_.moves.begin() + static_cast<std::ptrdiff_t>(m),
              bad);  // named twice
      require(table_.moves[m].action < layer_.transitions.size() && table_.next[m].size() == table_.codewords.size(),
              bad);
      for (const std::uint32_t to : table_.next[m]) {
        require(to < table_.codewords.size(), bad);
        require(codeword_book(layer_, table_.codewords[to]) == table_.moves[m].book, "a codeword is of another book");
      }
    }
    require(label(0) == layer_.initial_label && state(0) == network_.automaton.initial(),
            "the first codeword is not the initial state's");
    for (Letter letter = 0; letter < network_.automaton.letters(); ++letter) {
      const std::size_t move = move_of(letter);
      for (std::size_t i = 0; i < table_.codewords.size(); ++i) {
        require(state(i) != kNoContext, "the readout has no entry for a codeword of the table");
        require(state(table_.next[move][i]) == network_.automaton.next(state(i), letter),
                "the table leads to a wrong state");
      }
    }
  }

  void check_length(std::uint64_t length) {
    find_rounding();
    const Rational radius = margin();
    Rational error = 0, growth = 0;
    for (std::size_t m = 0; m < table_.moves.size(); ++m) {
      const auto factors = plain_.factors(0, table_.moves[m].action);
      const auto weights = plain_.weights(0, table_.moves[m].action);
      const Reflected reflected = factors ? reflect(*factors) : Reflected{};
      growth = std::max(growth, factors ? Rational(reflected.rounded - 1) : growth_of(*weights));
      for (std::size_t i = 0; i < table_.codewords.size(); ++i) {
        const Rationals from = centre(i), to = centre(table_.next[m][i]);
        error = std::max(
            error, factors ? error_of(*factors, reflected, from, to, radius) : error_of(*weights, from, to, radius));
      }
    }
    Rationals away = rationals(plain_.rounded(layer_.initial));
    const Rationals first = centre(0);
    for (std::size_t i = 0; i < away.size(); ++i) away[i] -= first[i];
    const Rational start = root_above(sum_of_squares(away)), letters = Rational(length);
    require(letters * growth < 1 && start + letters * error <= radius * (1 - letters * growth),
            fmt::format("the errors of {} may reach the decoder's margin", counted(length, "letter")));
  }

 private:
  Label label(std::size_t i) const { return codeword_label(layer_, table_.codewords[i]); }
  Context state(std::size_t i) const { return network_.readout.next[0][label(i)]; }

  std::size_t move_of(Letter letter) const {
    const ClosedTable::Move move{layer_.wiring.action_of[letter],
                                 layer_.book_of_context.empty() ? 0 : layer_.book_of_context[letter]};
    const auto found = std::find(table_.moves.begin(), table_.moves.end(), move);
    require(found != table_.moves.end(), "the table has no move for a letter");
    return static_cast<std::size_t>(found - table_.moves.begin());
  }

  Rationals centre(std::size_t i) const {
    const Eigen::MatrixXd numbers = codeword(layer_, table_.codewords[i]);
    return rationals(std::vector<double>(numbers.data(), numbers.data() + numbers.size()));
  }

  /// γ, the underflow of one step, and the greatest number that cannot overflow.
  void find_rounding() {
    const auto format = plain_.arithmetic().only_format();
    require(format.has_value(), "this arithmetic is not one that rounds to one format");
    unit_ = power_of_two(-format->digits);
    quantum_ = power_of_two(format->least - format->digits + 1);
    greatest_ = power_of_two(format->greatest);
    std::size_t products = 0;
    for (const ClosedTable::Move& move : table_.moves) {
      if (plain_.factors(0, move.action)) continue;
      const auto weights = plain_.weights(0, move.action);
      require(weights.has_value(), "a matrix of this form is neither a sum of products nor a product of reflections");
      products = std::max(products, weights->products + (weights->b.empty() ? 0 : 1));
    }
    relative_ = gamma(products);
    absolute_ = Rational(products) * layer_.dimension * layer_.columns * quantum_;
  }

  /// The greatest relative change by `roundings` roundings one after another.
  Rational gamma(std::size_t roundings) const {
    const Rational lost = Rational(roundings) * unit_;
    require(lost < Rational(1, 2), "too many products in one row");
    return lost / (1 - lost);
  }

  /// Half the least distance of two codewords of a book, less 2⁻²⁰ of it: the decoder's fp64 can err by far less.
  Rational margin() const {
    std::vector<Rationals> codewords;
    for (std::size_t i = 0; i < codeword_count(layer_); ++i) {
      const Eigen::MatrixXd numbers = codeword(layer_, i);
      codewords.push_back(rationals(std::vector<double>(numbers.data(), numbers.data() + numbers.size())));
    }
    Rational least = -1;
    for (std::size_t i = 0; i < codewords.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        if (codeword_book(layer_, i) != codeword_book(layer_, j)) continue;
        Rational square = 0;
        for (std::size_t k = 0; k < codewords[i].size(); ++k) {
          const Rational difference = codewords[i][k] - codewords[j][k];
          square += difference * difference;
        }
        if (least < 0 || square < least) least = square;
      }
    require(least > 0, "there are not two codewords, or two are equal");
    const Rational distance = root_below(least);
    require(distance > power_of_two(-300) && distance < power_of_two(300), "the distances of codewords are extreme");
    return distance / 2 * (1 - power_of_two(-20));
  }

  /// (‖A‖₂ + γ‖A‖ − 1), with ‖A‖₂ ≤ 1 + ‖AᵀA − I‖/2.
  Rational growth_of(const RecheckedNetwork::Weights& weights) const {
    const auto n = static_cast<std::size_t>(weights.a.rows());
    const Rationals a = rationals(std::vector<double>(weights.a.data(), weights.a.data() + weights.a.size()));
    Rational off = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        Rational entry = i == j ? -1 : 0;
        for (std::size_t k = 0; k < n; ++k) entry += a[i * n + k] * a[j * n + k];
        off += entry * entry;
      }
    return root_above(off) / 2 + relative_ * root_above(sum_of_squares(a));
  }

  /// ‖A c + B − c'‖ + γ ‖|A||c| + |B|‖ + the underflow.
  Rational error_of(const RecheckedNetwork::Weights& weights, const Rationals& c, const Rationals& to,
                    const Rational& radius) const {
    const auto n = static_cast<std::size_t>(weights.a.rows());
    const Rationals a = rationals(std::vector<double>(weights.a.data(), weights.a.data() + weights.a.size()));
    const Rationals b = rationals(weights.b);
    Rationals off, size;
    for (std::size_t column = 0; column < layer_.columns; ++column)
      for (std::size_t i = 0; i < n; ++i) {
        Rational sum = b.empty() ? Rational(0) : b[column * n + i], absolute = abs(sum), row = 0;
        for (std::size_t k = 0; k < n; ++k) {
          const Rational product = a[k * n + i] * c[column * n + k];
          sum += product;
          absolute += abs(product);
          row += abs(a[k * n + i]);
        }
        require((absolute + row * radius) * (1 + relative_) < greatest_, "a number may overflow");
        off.push_back(sum - to[column * n + i]);
        size.push_back(absolute);
      }
    return root_above(sum_of_squares(off)) + relative_ * root_above(sum_of_squares(size)) + absolute_;
  }

  /// Reflections in a row: a column of norm x becomes one of norm exact · x without rounding, of at most
  /// rounded · x + absolute with it, and the two differ by at most (rounded − exact) · x + absolute.
  struct Reflected {
    Rational exact = 1, rounded = 1, absolute = 0;
    Rational greatest = 0;  ///< no number on the way is above greatest · (x + 1)
  };

  Reflected reflect(const std::vector<RecheckedNetwork::Factor>& factors) const {
    Reflected all;
    for (const RecheckedNetwork::Factor& factor : factors) {
      Rationals key;
      for (const auto& [position, entry] : factor.key) key.push_back(rationals(std::vector{entry})[0]);
      const Rational beta = rationals(std::vector{factor.beta})[0], square = sum_of_squares(key);
      const Rational scaled = abs(beta) * square, norm = root_above(square), away = abs(1 - beta * square);
      const Rational exact = away > 1 ? away : Rational(1);
      const Rational step = exact + gamma(1) + gamma(key.size() + 3) * scaled;
      const Rational bound = 4 * (1 + norm) * (1 + norm) * (1 + abs(beta)) * step;
      all.greatest = std::max(all.greatest, Rational((all.rounded + all.absolute) * bound));
      all.exact *= exact;
      all.rounded *= step;
      all.absolute = all.absolute * step + 4 * Rational(key.size() + 1) * (1 + norm) * (1 + abs(beta)) * quantum_;
    }
    return all;
  }

  /// ‖A c − c'‖ + (Π (g + δ) − Π g) ‖c‖ + the underflow.
  Rational error_of(const std::vector<RecheckedNetwork::Factor>& factors, const Reflected& reflected,
                    const Rationals& c, const Rationals& to, const Rational& radius) const {
    const Rational size = root_above(sum_of_squares(c));
    require(reflected.greatest * (size + radius + 1) < greatest_, "a number may overflow");
    Rationals away = c;
    for (std::size_t column = 0; column < away.size(); column += layer_.dimension)
      for (const RecheckedNetwork::Factor& factor : factors) {
        Rational along = 0;
        for (const auto& [position, entry] : factor.key) along += Rational(entry) * away[column + position];
        along *= Rational(factor.beta);
        for (const auto& [position, entry] : factor.key) away[column + position] -= Rational(entry) * along;
      }
    for (std::size_t i = 0; i < away.size(); ++i) away[i] -= to[i];
    return root_above(sum_of_squares(away)) + (reflected.rounded - reflected.exact) * size +
           layer_.columns * reflected.absolute;
  }

  const ClosedTable& table_;
  const Network& network_;
  const Layer& layer_;
  const RecheckedNetwork& plain_;
  Rational unit_ = 0, quantum_ = 0, relative_ = 0, absolute_ = 0, greatest_ = 0;
};

}  // namespace

std::string check_horizon(const LinearHorizon& proof, const Network& network, const RecheckedNetwork& plain) {
  require(network.layers.size() == 1, "a linear horizon is of one layer");
  const Layer& layer = network.layers[0];
  if (layer.dimension > kMaxRows)
    throw LimitError(fmt::format("{} rows, and this checker multiplies matrices of at most {} in rational arithmetic",
                                 layer.dimension, kMaxRows));
  Horizon horizon(proof, network, plain);
  horizon.check_table();
  horizon.check_length(proof.length);
  return fmt::format("{} and {}, and the errors of {}, bounded in rational arithmetic",
                     counted(proof.table.codewords.size(), "codeword"), counted(proof.table.moves.size(), "move"),
                     counted(proof.length, "letter"));
}

}  // namespace krohn
