// The orders of simulate/arithmetic/order.h written out over whole words, to be compared with the runs of
// simulate/evaluate/layer_run.h. Every matrix is dense and whole.
#include <bit>
#include <cmath>
#include <utility>

#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {
namespace {

/// n rows; stored numbers.
template <class A>
using Rows = std::vector<std::vector<typename A::Number>>;

/// H ↦ a H + b; b has a column for each column of H.
template <class A>
struct Affine {
  Rows<A> a, b;
};

template <class A>
Rows<A> rows(std::size_t count, std::size_t size) {
  return Rows<A>(count, std::vector<typename A::Number>(size, typename A::Number(0)));
}

/// A row of a matrix that only moves numbers times a column: ± x_j added, no product.
template <class A>
typename A::Sum moves(const std::vector<typename A::Number>& a, const std::vector<typename A::Number>& x) {
  auto sum = A::load(typename A::Number(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto moved = A::load(x[i]);
    if (to_double(a[i]) != 0) sum = A::add(sum, to_double(a[i]) < 0 ? -moved : moved);
  }
  return sum;
}

/// A row of a matrix times a column.
template <class A>
typename A::Sum dot(const std::vector<typename A::Number>& a, const std::vector<typename A::Number>& x) {
  auto sum = A::product(a[0], A::load(x[0]));
  for (std::size_t i = 1; i < a.size(); ++i) sum = A::add_product(sum, a[i], A::load(x[i]));
  return sum;
}

/// How a layer's maps are applied.
struct How {
  bool moves = true;  ///< every column of every letter's matrix has at most one entry, ±1, and may be taken so
  bool adds = false;  ///< some letter has a B
};

/// a x + b by columns of x and b.
template <class A>
Rows<A> moved(const Rows<A>& a, const Rows<A>& x, const Rows<A>& b, How how) {
  Rows<A> y = x;
  for (std::size_t c = 0; c < x.size(); ++c)
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto sum = how.moves ? moves<A>(a[i], x[c]) : dot<A>(a[i], x[c]);
      y[c][i] = A::store(how.adds ? A::add(sum, A::load(b[c][i])) : sum);
    }
  return y;
}

template <class A>
Rows<A> product(const Rows<A>& second, const Rows<A>& first) {
  Rows<A> out = rows<A>(second.size(), second.size()), columns = out;
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = 0; j < first.size(); ++j) columns[j][i] = first[i][j];
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = 0; j < first.size(); ++j) out[i][j] = A::store(dot<A>(second[i], columns[j]));
  return out;
}

/// One layer and a whole word of its actions.
template <class A>
class LayerReference {
 public:
  using Number = typename A::Number;

  LayerReference(const Layer& layer, Form form, Order order)
      : n_(layer.dimension), d_(layer.columns), order_(order), ut_(form == Form::kStructured) {
    for (const Transition& transition : layer.transitions) {
      const auto rounded = round_matrix<typename A::Format>(transition.a, form);
      matrices_.push_back(rounded);
      letters_.push_back({to_rows(rounded), to_columns(transition.b)});
      how_.adds = how_.adds || transition.b.size() > 0;
      how_.moves = how_.moves && form == Form::kStructured && only_moves(letters_.back().a);
      ut_ = ut_ && transition.b.size() == 0 && std::holds_alternative<ReflectionProduct>(transition.a);
    }
    initial_ = to_columns(layer.initial);
  }

  /// After 0, 1, …, word.size() letters.
  std::vector<Rows<A>> states(std::span<const Action> word) const {
    std::vector<Rows<A>> all{initial_};
    const std::size_t block = order_.block == 0 ? std::max<std::size_t>(word.size(), 1) : order_.block;
    for (std::size_t first = 0; first < word.size(); first += block) {
      const auto part = states_of_block(all.back(), word.subspan(first, std::min(block, word.size() - first)));
      all.insert(all.end(), part.begin() + 1, part.end());
    }
    return all;
  }

 private:
  static bool only_moves(const Rows<A>& a) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      std::size_t entries = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double entry = to_double(a[i][j]);
        if (entry != 0 && std::abs(entry) != 1) return false;
        entries += entry != 0;
      }
      if (entries > 1) return false;
    }
    return true;
  }

  std::vector<Rows<A>> states_of_block(const Rows<A>& h, std::span<const Action> word) const {
    switch (order_.kind) {
      case Order::Kind::kChunked:
        return ut_ ? ut_transform(h, word) : prefix_products(h, word);
      case Order::Kind::kScan:
        return blelloch(h, word);
      default:
        return fan(h, word);
    }
  }

  Affine<A> after(const Affine<A>& second, const Affine<A>& first) const {
    return {product<A>(second.a, first.a), moved<A>(second.a, first.b, second.b, how_)};
  }
  Rows<A> apply_to(const Affine<A>& map, const Rows<A>& h) const { return moved<A>(map.a, h, map.b, how_); }

  std::vector<Rows<A>> prefix_products(const Rows<A>& h, std::span<const Action> word) const {
    std::vector<Rows<A>> states{h};
    Affine<A> prefix;
    for (std::size_t i = 0; i < word.size(); ++i) {
      prefix = i == 0 ? letters_[word[i]] : after(letters_[word[i]], prefix);
      states.push_back(apply_to(prefix, h));
    }
    return states;
  }

  /// Leaf i holds letter i + 1 and is given H_i; the padding is the identity.
  std::vector<Rows<A>> blelloch(const Rows<A>& h, std::span<const Action> word) const {
    const std::size_t leaves = std::bit_ceil(word.size() + 1);
    std::vector<Affine<A>> tree(leaves, Affine<A>{rows<A>(n_, n_), rows<A>(d_, n_)});
    for (auto& leaf : tree)
      for (std::size_t i = 0; i < n_; ++i) leaf.a[i][i] = Number(1);
    for (std::size_t i = 0; i < word.size(); ++i) tree[i] = letters_[word[i]];
    std::vector<std::vector<Affine<A>>> levels{tree};
    while (levels.back().size() > 1) {  // up-sweep
      std::vector<Affine<A>> totals;
      for (std::size_t i = 0; i < levels.back().size(); i += 2)
        totals.push_back(after(levels.back()[i + 1], levels.back()[i]));
      levels.push_back(std::move(totals));
    }
    std::vector<Rows<A>> states{h};
    for (std::size_t level = levels.size() - 1; level-- > 0;) {  // down-sweep
      std::vector<Rows<A>> children;
      for (std::size_t i = 0; i < states.size(); ++i) {
        children.push_back(states[i]);
        children.push_back(apply_to(levels[level][2 * i], states[i]));
      }
      states = std::move(children);
    }
    states.resize(word.size() + 1);
    return states;
  }

  /// The listing of Fan's appendix A.2.2, `coef` and `remain` as there; x holds H_0 and then what each letter adds.
  std::vector<Rows<A>> fan(const Rows<A>& h, std::span<const Action> word) const {
    const std::size_t length = std::bit_ceil(word.size() + 1);
    std::vector<Rows<A>> x(length, rows<A>(d_, n_));
    x[0] = h;
    std::vector<std::vector<Rows<A>>> groups(length - 1, {rows<A>(n_, n_)});
    for (std::size_t i = 0; i < word.size(); ++i) {
      groups[i] = {letters_[word[i]].a};
      x[i + 1] = letters_[word[i]].b;
    }
    for (std::size_t half = 1; half < length; half *= 2) {
      std::vector<std::vector<Rows<A>>> coef, remain;
      for (std::size_t i = 0; i < groups.size(); ++i) (i % 2 == 0 ? coef : remain).push_back(groups[i]);
      for (std::size_t i = 0; i < remain.size(); ++i) {
        const Rows<A> last = remain[i].back();
        for (const Rows<A>& c : coef[i + 1]) remain[i].push_back(product<A>(c, last));
      }
      for (std::size_t pair = 0; pair < coef.size(); ++pair) {
        const Rows<A>& last = x[2 * half * pair + half - 1];
        for (std::size_t i = 0; i < half; ++i) {
          Rows<A>& right = x[2 * half * pair + half + i];
          right = moved<A>(coef[pair][i], last, right, how_);
        }
      }
      groups = std::move(remain);
    }
    x.resize(word.size() + 1);
    return x;
  }

  std::vector<Rows<A>> ut_transform(const Rows<A>& h, std::span<const Action> word) const {
    Rows<A> keys, scaled;
    std::vector<std::size_t> factors_after{0};
    for (const Action action : word) {
      for (const auto& factor : std::get<RoundedReflections<Number>>(matrices_[action]).factors) {
        auto& key = keys.emplace_back(n_, Number(0));
        for (const auto& entry : factor.entries) key[entry.position] = entry.key;
        auto& row = scaled.emplace_back();
        for (const Number k : key) row.push_back(A::store(A::product(factor.beta, A::load(k))));
      }
      factors_after.push_back(keys.size());
    }
    const Rows<A> u = updates(h, keys, scaled, triangle(keys, scaled));
    std::vector<Rows<A>> states;
    for (const std::size_t count : factors_after) {
      Rows<A> state = h;
      for (std::size_t c = 0; c < d_ && count > 0; ++c)
        for (std::size_t i = 0; i < n_; ++i) {
          auto sum = A::product(keys[0][i], A::load(u[0][c]));
          for (std::size_t r = 1; r < count; ++r) sum = A::add_product(sum, keys[r][i], A::load(u[r][c]));
          state[c][i] = A::store(A::add(A::load(h[c][i]), sum));
        }
      states.push_back(std::move(state));
    }
    return states;
  }

  /// T.
  Rows<A> triangle(const Rows<A>& keys, const Rows<A>& scaled) const {
    const std::size_t size = keys.size();
    using Sum = typename A::Sum;
    using Solver = std::conditional_t<std::is_same_v<Sum, Number>, A, Fp32>;
    std::vector<std::vector<Sum>> l(size, std::vector<Sum>(size));
    for (std::size_t r = 0; r < size; ++r)
      for (std::size_t j = 0; j < r; ++j) l[r][j] = -dot<A>(scaled[r], keys[j]);
    for (std::size_t r = 1; r < size; ++r) {
      const std::vector<Sum> before = l[r];
      for (std::size_t j = 0; j + 1 < r; ++j) {
        Sum sum = Solver::product(before[j + 1], l[j + 1][j]);
        for (std::size_t k = j + 2; k < r; ++k) sum = Solver::add_product(sum, before[k], l[k][j]);
        l[r][j] = A::add(before[j], sum);
      }
    }
    Rows<A> t = rows<A>(size, size);
    for (std::size_t r = 0; r < size; ++r) {
      t[r][r] = Number(1);
      for (std::size_t j = 0; j < r; ++j) t[r][j] = A::store(l[r][j]);
    }
    return t;
  }

  /// U, from W = T K̂.
  Rows<A> updates(const Rows<A>& h, const Rows<A>& keys, const Rows<A>& scaled, const Rows<A>& t) const {
    Rows<A> u = rows<A>(keys.size(), d_);
    for (std::size_t r = 0; r < keys.size(); ++r) {
      std::vector<Number> w;
      for (std::size_t i = 0; i < n_; ++i) {
        auto sum = A::product(t[r][0], A::load(scaled[0][i]));
        for (std::size_t j = 1; j <= r; ++j) sum = A::add_product(sum, t[r][j], A::load(scaled[j][i]));
        w.push_back(A::store(sum));
      }
      for (std::size_t c = 0; c < d_; ++c) u[r][c] = -A::store(dot<A>(w, h[c]));
    }
    return u;
  }

  Rows<A> to_columns(const Eigen::MatrixXd& values) const {
    Rows<A> columns = rows<A>(d_, n_);
    for (Eigen::Index c = 0; c < values.cols(); ++c)
      for (Eigen::Index i = 0; i < values.rows(); ++i)
        columns[static_cast<std::size_t>(c)][static_cast<std::size_t>(i)] = round_weight<A>(values(i, c));
    return columns;
  }

  Rows<A> to_rows(const RoundedMatrix<Number>& matrix) const {
    Rows<A> a = rows<A>(n_, n_);
    for (std::size_t j = 0; j < n_; ++j) {
      std::vector<typename A::Sum> unit(n_, A::load(Number(0))), column(n_);
      unit[j] = A::load(Number(1));
      apply<A>(matrix, static_cast<std::uint32_t>(n_), 1, unit.data(), column.data());
      for (std::size_t i = 0; i < n_; ++i) a[i][j] = A::store(column[i]);
    }
    return a;
  }

  std::size_t n_, d_;
  Order order_;
  bool ut_;
  How how_;
  std::vector<RoundedMatrix<Number>> matrices_;
  std::vector<Affine<A>> letters_;
  Rows<A> initial_;
};

/// All layers, one after another.
template <class A>
OrderedReading read_word(const Network& network, Form form, Order order, std::span<const Letter> word) {
  const std::size_t positions = word.size() + 1;
  OrderedReading reading{std::vector<std::optional<State>>(positions), std::vector<std::vector<double>>(positions)};
  std::vector<Context> contexts(word.begin(), word.end()), nodes(positions, 0);
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const Layer& layer = network.layers[k];
    std::vector<Action> actions;
    for (const Context context : contexts) actions.push_back(layer.wiring.action_of[context]);
    auto states = LayerReference<A>(layer, form, order).states(actions);
    std::vector<Label> labels{layer.initial_label};
    for (std::size_t t = 0; t < positions; ++t) {
      std::vector<double> exact;
      for (const auto& column : states[std::min(t, states.size() - 1)])
        for (const auto number : column) exact.push_back(to_double(number));
      reading.numbers[t].insert(reading.numbers[t].end(), exact.begin(), exact.end());
      if (t == 0) continue;
      const bool known = t < states.size();
      const std::uint32_t book = known && !layer.book_of_context.empty() ? layer.book_of_context[contexts[t - 1]] : 0;
      labels.push_back(known ? NearestCodeword(layer, book).reference(exact) : kNoLabel);
    }
    for (std::size_t t = 0; t < positions; ++t) {
      if (nodes[t] == kNoContext || labels[t] == kNoLabel)
        nodes[t] = kNoContext;
      else
        nodes[t] = network.readout.next[k][std::size_t{nodes[t]} * layer.labels + labels[t]];
    }
    if (k + 1 == network.layers.size()) break;
    std::vector<Context> next;
    for (std::size_t t = 0; t < contexts.size() && labels[t] != kNoLabel; ++t) {
      const Context context = layer.wiring.next[std::size_t{contexts[t]} * layer.labels + labels[t]];
      if (context == kNoContext) break;
      next.push_back(context);
    }
    contexts = std::move(next);
  }
  for (std::size_t t = 0; t < positions; ++t)
    if (nodes[t] != kNoContext) reading.answers[t] = nodes[t];
  return reading;
}

}  // namespace

OrderedReading reference_reading(const Network& network, ArithmeticName arithmetic, Form form, Order order,
                                 std::span<const Letter> word) {
  return with_arithmetic(arithmetic, [&](auto type) { return read_word<decltype(type)>(network, form, order, word); });
}

}  // namespace krohn
