// tests/simulate/reference_evaluator.h — networks read the slow way, to be compared with the fast ones: every matrix
// from its exact description, every codeword looked at. The arithmetic is that of the re-checker of certificates
// (simulate/check/), which shares no code with simulate/arithmetic.
#pragma once

#include <variant>

#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "tests/testing.h"

namespace krohn {

/// The re-checker's network, letter after letter.
class ReferenceEvaluator final : public Evaluator {
 public:
  ReferenceEvaluator(const Network& network, ArithmeticName arithmetic, Form form)
      : network_(std::make_shared<const RecheckedNetwork>(network, to_string(arithmetic), form)) {
    reset();
  }

  void reset() override {
    const FloatEnvironment environment;
    now_ = network_->start();
  }
  void run(std::span<const Letter> letters, std::span<State> states) override {
    const FloatEnvironment environment;
    for (std::size_t t = 0; t < letters.size(); ++t) {
      now_ = network_->step(now_, letters[t]);
      states[t] = current().value_or(kNoState);
    }
  }
  std::optional<State> current() const override { return network_->read(now_); }
  std::vector<double> numbers() const override {
    std::vector<double> all;
    for (const RecheckedNumbers& layer : now_.numbers) all.insert(all.end(), layer.begin(), layer.end());
    return all;
  }
  std::unique_ptr<Evaluator> fresh() const override {
    auto other = std::make_unique<ReferenceEvaluator>(*this);
    other->reset();
    return other;
  }

 private:
  std::shared_ptr<const RecheckedNetwork> network_;
  RecheckedReader::Moment now_;
};

/// Views the network. Throws InputError for `exact`.
inline std::unique_ptr<Evaluator> reference_evaluator(const Network& network, ArithmeticName arithmetic,
                                                      Form form = Form::kStructured) {
  return std::make_unique<ReferenceEvaluator>(network, arithmetic, form);
}
std::unique_ptr<Evaluator> reference_evaluator(Network&& network, ArithmeticName arithmetic,
                                               Form form = Form::kStructured) = delete;

/// A word as one layer after another, each over the whole word, reads it.
struct OrderedReading {
  std::vector<std::optional<State>> answers;  ///< after 0, 1, …, word.size() letters
  std::vector<std::vector<double>> numbers;   ///< of all layers at these positions, as Evaluator::numbers gives them
};

/// The orders of simulate/arithmetic/order.h but `sequential`, written out over whole words: padded to a power of two,
/// up-sweep and down-sweep, Fan's listing, and the UT transform a whole chunk at a time, with dense matrices. A layer
/// above one that does not decode stays at its last state. O(word · n³) and all of it in memory.
class ReferenceReading {
 public:
  ReferenceReading(const Network& network, ArithmeticName arithmetic, Form form, Order order)
      : network_(network),
        without_b_(cleared(network)),
        slow_(network, to_string(arithmetic), form),
        slow_without_b_(without_b_, to_string(arithmetic), form),
        in_(slow_.arithmetic()),
        form_(form),
        order_(order) {}

  OrderedReading read(std::span<const Letter> word) {
    const std::size_t positions = word.size() + 1;
    OrderedReading reading{std::vector<std::optional<State>>(positions), std::vector<std::vector<double>>(positions)};
    std::vector<Context> contexts(word.begin(), word.end()), nodes(positions, 0);
    for (std::size_t k = 0; k < network_.layers.size(); ++k) {
      const Layer& layer = network_.layers[k];
      std::vector<Action> actions;
      for (const Context context : contexts) actions.push_back(layer.wiring.action_of[context]);
      prepare(k);
      const auto states = states_after(actions);
      std::vector<std::optional<Label>> labels{layer.initial_label};
      for (std::size_t t = 0; t < positions; ++t) {
        RecheckedNumbers numbers;
        for (const auto& column : states[std::min(t, states.size() - 1)])
          numbers.insert(numbers.end(), column.begin(), column.end());
        reading.numbers[t].insert(reading.numbers[t].end(), numbers.begin(), numbers.end());
        if (t == 0) continue;
        const bool known = t < states.size();
        const std::uint32_t book = known && !layer.book_of_context.empty() ? layer.book_of_context[contexts[t - 1]] : 0;
        labels.push_back(known ? slow_.decode(k, book, numbers) : std::nullopt);
      }
      for (std::size_t t = 0; t < positions; ++t)
        nodes[t] = nodes[t] == kNoContext || !labels[t]
                       ? kNoContext
                       : network_.readout.next[k][std::size_t{nodes[t]} * layer.labels + *labels[t]];
      if (k + 1 == network_.layers.size()) break;
      std::vector<Context> next;
      for (std::size_t t = 0; t < contexts.size() && labels[t]; ++t) {
        const Context context = layer.wiring.next[std::size_t{contexts[t]} * layer.labels + *labels[t]];
        if (context == kNoContext) break;
        next.push_back(context);
      }
      contexts = std::move(next);
    }
    for (std::size_t t = 0; t < positions; ++t)
      if (nodes[t] != kNoContext) reading.answers[t] = nodes[t];
    return reading;
  }

 private:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;
  /// H ↦ a H + b; a by rows, b and H by columns.
  struct Affine {
    Rows a, b;
  };

  static Network cleared(Network network) {
    for (Layer& layer : network.layers)
      for (Transition& transition : layer.transitions) transition.b = Eigen::MatrixXd();
    return network;
  }

  /// The maps of one layer's letters.
  void prepare(std::size_t k) {
    const Layer& layer = network_.layers[k];
    n_ = layer.dimension;
    d_ = layer.columns;
    letters_.clear();
    factors_.clear();
    adds_ = false;
    moves_ = uses_ut_ = form_ == Form::kStructured;
    Row unit(n_ * n_, 0);
    for (std::size_t j = 0; j < n_; ++j) unit[j * n_ + j] = 1;
    for (Action action = 0; action < layer.transitions.size(); ++action) {
      const Rows columns = by(n_, slow_without_b_.move(k, action, unit));
      const Transition& transition = layer.transitions[action];
      letters_.push_back(
          {transposed(columns), transition.b.size() > 0 ? by(n_, slow_.rounded(transition.b)) : Rows(d_, Row(n_, 0))});
      adds_ = adds_ || transition.b.size() > 0;
      moves_ = moves_ && std::ranges::all_of(columns, only_moves);
      const bool is_product = std::holds_alternative<ReflectionProduct>(transition.a);
      uses_ut_ = uses_ut_ && is_product && transition.b.size() == 0;
      factors_.push_back(uses_ut_ ? slow_.factors(k, action).value() : std::vector<RecheckedNetwork::Factor>());
    }
    initial_ = by(n_, slow_.rounded(layer.initial));
  }

  static Rows by(std::size_t size, const RecheckedNumbers& numbers) {
    Rows columns;
    for (std::size_t at = 0; at < numbers.size(); at += size)
      columns.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>(at),
                           numbers.begin() + static_cast<std::ptrdiff_t>(at + size));
    return columns;
  }
  static Rows transposed(const Rows& rows) {
    Rows columns(rows.size(), Row(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < rows.size(); ++j) columns[j][i] = rows[i][j];
    return columns;
  }
  /// At most one entry, ±1.
  static bool only_moves(const Row& column) {
    std::size_t entries = 0;
    for (const double entry : column) {
      if (entry != 0 && std::abs(entry) != 1) return false;
      entries += entry != 0;
    }
    return entries <= 1;
  }

  /// A row of a matrix times a column; of one that only moves numbers ± x_j added, no product.
  double moved(const Row& a, const Row& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != 0) sum = in_.sum(sum, a[i] < 0 ? -x[i] : x[i]);
    return sum;
  }
  double dot(const Row& a, const Row& x) const {
    double sum = in_.product(a[0], x[0]);
    for (std::size_t i = 1; i < a.size(); ++i) sum = in_.sum_of_product(sum, a[i], x[i]);
    return sum;
  }

  /// a x + b by columns of x and b.
  Rows applied(const Rows& a, const Rows& x, const Rows& b) const {
    Rows y = x;
    for (std::size_t c = 0; c < x.size(); ++c)
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double sum = moves_ ? moved(a[i], x[c]) : dot(a[i], x[c]);
        y[c][i] = in_.store(adds_ ? in_.sum(sum, b[c][i]) : sum);
      }
    return y;
  }
  Rows product(const Rows& second, const Rows& first) const {
    const Rows columns = transposed(first);
    Rows out = first;
    for (std::size_t i = 0; i < first.size(); ++i)
      for (std::size_t j = 0; j < first.size(); ++j) out[i][j] = in_.store(dot(second[i], columns[j]));
    return out;
  }
  Affine after(const Affine& second, const Affine& first) const {
    return {product(second.a, first.a), applied(second.a, first.b, second.b)};
  }

  /// After 0, 1, …, word.size() letters.
  std::vector<Rows> states_after(std::span<const Action> word) const {
    std::vector<Rows> all{initial_};
    const std::size_t block = order_.block == 0 ? std::max<std::size_t>(word.size(), 1) : order_.block;
    for (std::size_t first = 0; first < word.size(); first += block) {
      const auto part = states_of_block(all.back(), word.subspan(first, std::min(block, word.size() - first)));
      all.insert(all.end(), part.begin() + 1, part.end());
    }
    return all;
  }

  std::vector<Rows> states_of_block(const Rows& h, std::span<const Action> word) const {
    if (order_.kind == Order::Kind::kScan) return blelloch(h, word);
    if (order_.kind != Order::Kind::kChunked) return fan(h, word);
    return uses_ut_ ? ut_transform(h, word) : prefix_products(h, word);
  }

  std::vector<Rows> prefix_products(const Rows& h, std::span<const Action> word) const {
    std::vector<Rows> states{h};
    Affine prefix;
    for (std::size_t i = 0; i < word.size(); ++i) {
      prefix = i == 0 ? letters_[word[i]] : after(letters_[word[i]], prefix);
      states.push_back(applied(prefix.a, h, prefix.b));
    }
    return states;
  }

  /// Leaf i holds letter i + 1 and is given H_i; the padding is the identity.
  std::vector<Rows> blelloch(const Rows& h, std::span<const Action> word) const {
    const std::size_t leaves = std::bit_ceil(word.size() + 1);
    Affine identity{Rows(n_, Row(n_, 0)), Rows(d_, Row(n_, 0))};
    for (std::size_t i = 0; i < n_; ++i) identity.a[i][i] = 1;
    std::vector<std::vector<Affine>> levels{std::vector<Affine>(leaves, identity)};
    for (std::size_t i = 0; i < word.size(); ++i) levels[0][i] = letters_[word[i]];
    while (levels.back().size() > 1) {  // up-sweep
      std::vector<Affine> totals;
      for (std::size_t i = 0; i < levels.back().size(); i += 2)
        totals.push_back(after(levels.back()[i + 1], levels.back()[i]));
      levels.push_back(std::move(totals));
    }
    std::vector<Rows> states{h};
    for (std::size_t level = levels.size() - 1; level-- > 0;) {  // down-sweep
      std::vector<Rows> children;
      for (std::size_t i = 0; i < states.size(); ++i) {
        const Affine& left = levels[level][2 * i];
        children.push_back(states[i]);
        children.push_back(applied(left.a, states[i], left.b));
      }
      states = std::move(children);
    }
    states.resize(word.size() + 1);
    return states;
  }

  /// The listing of Fan's appendix A.2.2, `coef` and `remain` as there; x holds H_0 and then what each letter adds.
  std::vector<Rows> fan(const Rows& h, std::span<const Action> word) const {
    const std::size_t length = std::bit_ceil(word.size() + 1);
    std::vector<Rows> x(length, Rows(d_, Row(n_, 0)));
    x[0] = h;
    std::vector<std::vector<Rows>> groups(length - 1, {Rows(n_, Row(n_, 0))});
    for (std::size_t i = 0; i < word.size(); ++i) {
      groups[i] = {letters_[word[i]].a};
      x[i + 1] = letters_[word[i]].b;
    }
    for (std::size_t half = 1; half < length; half *= 2) {
      std::vector<std::vector<Rows>> coef, remain;
      for (std::size_t i = 0; i < groups.size(); ++i) (i % 2 == 0 ? coef : remain).push_back(groups[i]);
      for (std::size_t i = 0; i < remain.size(); ++i) {
        const Rows last = remain[i].back();
        for (const Rows& c : coef[i + 1]) remain[i].push_back(product(c, last));
      }
      for (std::size_t pair = 0; pair < coef.size(); ++pair) {
        const Rows& last = x[2 * half * pair + half - 1];
        for (std::size_t i = 0; i < half; ++i) {
          Rows& right = x[2 * half * pair + half + i];
          right = applied(coef[pair][i], last, right);
        }
      }
      groups = std::move(remain);
    }
    x.resize(word.size() + 1);
    return x;
  }

  std::vector<Rows> ut_transform(const Rows& h, std::span<const Action> word) const {
    Rows keys, scaled;
    std::vector<std::size_t> factors_after{0};
    for (const Action action : word) {
      for (const auto& factor : factors_[action]) {
        Row& key = keys.emplace_back(n_, 0.0);
        for (const auto& [position, entry] : factor.key) key[position] = entry;
        Row& row = scaled.emplace_back();
        for (const double k : key) row.push_back(in_.store(in_.product(factor.beta, k)));
      }
      factors_after.push_back(keys.size());
    }
    const Rows u = updates(h, keys, scaled, triangle(keys, scaled));
    std::vector<Rows> states;
    for (const std::size_t count : factors_after) {
      Rows state = h;
      for (std::size_t c = 0; c < d_ && count > 0; ++c)
        for (std::size_t i = 0; i < n_; ++i) {
          double sum = in_.product(keys[0][i], u[0][c]);
          for (std::size_t r = 1; r < count; ++r) sum = in_.sum_of_product(sum, keys[r][i], u[r][c]);
          state[c][i] = in_.store(in_.sum(h[c][i], sum));
        }
      states.push_back(std::move(state));
    }
    return states;
  }

  /// T.
  Rows triangle(const Rows& keys, const Rows& scaled) const {
    const std::size_t size = keys.size();
    Rows l(size, Row(size, 0));
    for (std::size_t r = 0; r < size; ++r)
      for (std::size_t j = 0; j < r; ++j) l[r][j] = -dot(scaled[r], keys[j]);
    for (std::size_t r = 1; r < size; ++r) {
      const Row before = l[r];
      for (std::size_t j = 0; j + 1 < r; ++j) {
        double sum = in_.product(before[j + 1], l[j + 1][j]);
        for (std::size_t k = j + 2; k < r; ++k) sum = in_.sum_of_product(sum, before[k], l[k][j]);
        l[r][j] = in_.sum(before[j], sum);
      }
    }
    for (std::size_t r = 0; r < size; ++r) {
      for (std::size_t j = 0; j < r; ++j) l[r][j] = in_.store(l[r][j]);
      l[r][r] = 1;
    }
    return l;
  }

  /// U, from W = T K̂.
  Rows updates(const Rows& h, const Rows& keys, const Rows& scaled, const Rows& t) const {
    Rows u(keys.size(), Row(d_));
    for (std::size_t r = 0; r < keys.size(); ++r) {
      Row w;
      for (std::size_t i = 0; i < n_; ++i) {
        double sum = in_.product(t[r][0], scaled[0][i]);
        for (std::size_t j = 1; j <= r; ++j) sum = in_.sum_of_product(sum, t[r][j], scaled[j][i]);
        w.push_back(in_.store(sum));
      }
      for (std::size_t c = 0; c < d_; ++c) u[r][c] = -in_.store(dot(w, h[c]));
    }
    return u;
  }

  const Network& network_;
  Network without_b_;
  RecheckedNetwork slow_, slow_without_b_;
  DeterministicArithmetic in_;
  Form form_;
  Order order_;
  // The layer that is read:
  std::size_t n_ = 0, d_ = 0;
  bool moves_ = true;    ///< every column of every letter's matrix has at most one entry, ±1, and may be taken so
  bool adds_ = false;    ///< some letter has a B
  bool uses_ut_ = true;  ///< all letters are products of reflections
  std::vector<Affine> letters_;
  std::vector<std::vector<RecheckedNetwork::Factor>> factors_;
  Rows initial_;
};

inline OrderedReading reference_reading(const Network& network, ArithmeticName arithmetic, Form form, Order order,
                                        std::span<const Letter> word) {
  const FloatEnvironment environment;
  return ReferenceReading(network, arithmetic, form, order).read(word);
}

/// How long words can be so that all of them are read rightly in the order; `most` when all that are tried are.
inline std::size_t right_up_to(const Network& network, ArithmeticName arithmetic, Order order, std::size_t most) {
  const Letter letters = network.automaton.letters();
  for (std::size_t length = 1; length <= most; ++length) {
    Word word(length, 0);
    for (;;) {
      const auto reading = reference_reading(network, arithmetic, Form::kStructured, order, word);
      if (reading.answers[length] != network.automaton.run(word)) return length - 1;
      std::size_t last = length;
      while (last > 0 && ++word[last - 1] == letters) word[--last] = 0;
      if (last == 0) break;
    }
  }
  return most;
}

}  // namespace krohn
