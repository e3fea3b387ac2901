#include "krohn/simulate/check/recheck_horizon.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <map>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

using Rational = boost::multiprecision::cpp_rational;
using Rationals = std::vector<Rational>;

constexpr std::uint32_t kMostRows = 64;

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
            fmt::format("the errors of {} letters may reach the decoder's margin", length));
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
    require(format.has_value(), "this arithmetic rounds to several formats");
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

  /// What `roundings` roundings one after another can change, relatively.
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
  if (layer.dimension > kMostRows)
    throw LimitError(fmt::format("{} rows, and this checker multiplies matrices of at most {} in rational arithmetic",
                                 layer.dimension, kMostRows));
  Horizon horizon(proof, network, plain);
  horizon.check_table();
  horizon.check_length(proof.length);
  return fmt::format("{} codewords and {} moves, and the errors of {} letters, bounded in rational arithmetic",
                     proof.table.codewords.size(), proof.table.moves.size(), proof.length);
}

}  // namespace krohn
