#include "krohn/simulate/check/recheck_any_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "krohn/simulate/check/recheck_dyadic.h"

namespace krohn {
namespace {

using Format = DeterministicArithmetic::Format;

/// A set of numbers: the greatest power of two that divides them all, and the greatest of them.
struct Extent {
  std::optional<int> grain;
  RecheckedDyadic most;

  void add(const RecheckedDyadic& number) {
    if (number.is_zero()) return;
    grain = grain ? std::min(*grain, number.grain()) : number.grain();
    most = std::max(most, number.absolute());
  }
};

std::optional<int> product(const std::optional<int>& a, const std::optional<int>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<int> common(const std::optional<int>& a, const std::optional<int>& b) {
  return a && b ? std::optional(std::min(*a, *b)) : a ? a : b;
}

/// Sums of multiples of 2^grain whose absolute values come to at most `most` are numbers of the format, all of them.
void require_fit(const Format& format, const std::optional<int>& grain, const RecheckedDyadic& most,
                 const std::string& what) {
  if (!grain || most.is_zero()) return;
  require(*grain >= format.least - format.digits + 1, what + " may underflow");
  require(most <= RecheckedDyadic::power_of_two(*grain + format.digits), what + " may round");
  require(most < RecheckedDyadic::power_of_two(format.greatest + 1), what + " may overflow");
}

using Column = std::map<std::uint32_t, RecheckedDyadic>;  ///< rows that are not 0

void add_to(Column& column, std::uint32_t row, const RecheckedDyadic& number) {
  RecheckedDyadic& entry = column[row];
  entry = entry + number;
  if (entry.is_zero()) column.erase(row);
}

/// Bounds over matrices, or over vectors (n×d numbers, column after column).
struct Sums {
  Extent entries;
  RecheckedDyadic row, column;
};

class LayerCheck {
 public:
  LayerCheck(const LayerMaps& maps, const ClosedTable& table, const Network& network, const RecheckedNetwork& plain,
             std::size_t k)
      : maps_(maps), table_(table), layer_(network.layers[k]), plain_(plain), k_(k), n_(layer_.dimension) {
    const auto format = plain.arithmetic().only_format();
    require(format.has_value(), "this arithmetic rounds to several formats");
    format_ = *format;
    for (Action action = 0; action < layer_.transitions.size(); ++action) {
      letters_.push_back(columns_of(action));
      adds_ = adds_ || !plain_.addition(k_, action).empty();
    }
    for (std::size_t i = 0; i < table.codewords.size(); ++i)
      widen_vector(states_, exact(plain.codeword_numbers(k, table.codewords[i])));
  }

  void check() {
    if (maps_.only_moves)
      check_moves();
    else
      check_maps();
    for (Action action = 0; action < layer_.transitions.size(); ++action)
      if (const auto& factors = plain_.matrix(k_, action).reflections; !factors.empty()) check_factors(factors);
  }

 private:
  using Numbers = std::vector<RecheckedDyadic>;

  static Numbers exact(const std::vector<double>& numbers) {
    Numbers result;
    for (const double number : numbers) result.emplace_back(number);
    return result;
  }

  /// The exact matrix of an action, as what it makes of unit vectors.
  std::vector<Column> columns_of(Action action) const {
    const RecheckedNetwork::RecheckedMatrix& matrix = plain_.matrix(k_, action);
    std::vector<Column> columns(n_);
    if (matrix.is_rows) {
      for (std::uint32_t i = 0; i < matrix.rows.size(); ++i)
        for (const auto& entry : matrix.rows[i]) add_to(columns[entry.column], i, RecheckedDyadic(entry.weight));
      return columns;
    }
    for (const auto& [outputs, inputs] : matrix.terms)
      for (const std::uint32_t j : inputs)
        for (const std::uint32_t i : outputs) add_to(columns[j], i, RecheckedDyadic(1.0));
    if (!matrix.rows.empty()) return columns;  // terms, which start from 0
    for (std::uint32_t j = 0; j < n_; ++j) {
      columns[j][j] = RecheckedDyadic(1.0);
      for (const auto& [key, beta] : matrix.reflections) {
        RecheckedDyadic along;
        for (const auto& entry : key)
          if (const auto at = columns[j].find(entry.column); at != columns[j].end())
            along = along + RecheckedDyadic(entry.weight) * at->second;
        if (along.is_zero()) continue;
        const RecheckedDyadic scaled = RecheckedDyadic(beta) * along;
        for (const auto& entry : key) add_to(columns[j], entry.column, -(RecheckedDyadic(entry.weight) * scaled));
      }
    }
    return columns;
  }

  void widen_vector(Sums& sums, const Numbers& numbers) const {
    for (std::size_t at = 0; at < numbers.size(); at += n_) {
      RecheckedDyadic column;
      for (std::size_t i = 0; i < n_; ++i) {
        if (numbers[at + i].is_zero()) continue;
        sums.entries.add(numbers[at + i]);
        column = column + numbers[at + i].absolute();
      }
      sums.column = std::max(sums.column, column);
    }
  }

  void widen_matrix(Sums& sums, const Numbers& rows) const {
    Numbers columns(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      RecheckedDyadic row;
      for (std::size_t j = 0; j < n_; ++j) {
        const RecheckedDyadic entry = rows[i * n_ + j].absolute();
        if (entry.is_zero()) continue;
        sums.entries.add(entry);
        row = row + entry;
        columns[j] = columns[j] + entry;
      }
      sums.row = std::max(sums.row, row);
    }
    for (const RecheckedDyadic& column : columns) sums.column = std::max(sums.column, column);
  }

  Numbers addition(Action action) const {
    const std::vector<double>& b = plain_.addition(k_, action);
    return b.empty() ? Numbers(adds_ ? n_ * layer_.columns : 0) : exact(b);
  }

  /// A x, for d columns or row by row.
  Numbers times(const std::vector<Column>& a, const Numbers& x) const {
    Numbers y(x.size());
    for (std::size_t at = 0; at < x.size(); at += n_)
      for (std::size_t j = 0; j < n_; ++j)
        if (!x[at + j].is_zero())
          for (const auto& [i, entry] : a[j]) y[at + i] = y[at + i] + entry * x[at + j];
    return y;
  }

  static Numbers sum(Numbers a, const Numbers& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] + b[i];
    return a;
  }

  std::string where(const char* what) const { return fmt::format("layer {}: {}", k_, what); }

  void fit(const std::optional<int>& grain, const RecheckedDyadic& most, const char* what) const {
    require_fit(format_, grain, most, where(what));
  }

  void check_maps() {
    const std::size_t letters = layer_.transitions.size(), size = adds_ ? n_ * layer_.columns : 0;
    require(maps_.letters.size() == letters, where("not one map for each action"));
    std::vector<Numbers> a, b;  // A column after column, which products go along
    Sums matrices, additions;
    for (const LayerMaps::Map& map : maps_.maps) {
      require(map.a.size() == n_ * n_ && map.b.size() == size && map.next.size() == letters,
              where("a map of another size"));
      for (const std::uint32_t next : map.next) require(next < maps_.maps.size(), where("no such map"));
      const Numbers rows = exact(map.a);
      widen_matrix(matrices, rows);
      a.emplace_back(n_ * n_);
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < n_; ++j) a.back()[j * n_ + i] = rows[i * n_ + j];
      b.push_back(exact(map.b));
      widen_vector(additions, b.back());
    }
    for (Action action = 0; action < letters; ++action)  // terms are added one by one, each entry being 1
      for (const auto& [outputs, inputs] : plain_.matrix(k_, action).terms)
        if (!outputs.empty() && !inputs.empty()) matrices.entries.add(RecheckedDyadic(1.0));
    for (Action action = 0; action < letters; ++action) {
      const std::uint32_t own = maps_.letters[action];
      require(own < a.size(), where("no such map"));
      Numbers columns(n_ * n_);
      for (std::size_t j = 0; j < n_; ++j)
        for (const auto& [i, entry] : letters_[action][j]) columns[j * n_ + i] = entry;
      require(a[own] == columns && b[own] == addition(action), where("the map of an action is another one"));
      for (std::size_t map = 0; map < a.size(); ++map) {
        const std::uint32_t next = maps_.maps[map].next[action];
        require(a[next] == times(letters_[action], a[map]) &&
                    b[next] == sum(times(letters_[action], b[map]), addition(action)),
                where("an action makes another map of a map than the one that is named"));
      }
    }
    const auto bound = [&](const Sums& x) {
      return std::min(matrices.row * x.entries.most, matrices.entries.most * x.column);
    };
    const auto grain = [&](const Sums& x) {
      return common(product(matrices.entries.grain, x.entries.grain), additions.entries.grain);
    };
    fit(matrices.entries.grain, matrices.entries.most, "an entry of a map");
    fit(additions.entries.grain, additions.entries.most, "an entry of an addition");
    fit(states_.entries.grain, states_.entries.most, "a number of a state");
    fit(product(matrices.entries.grain, matrices.entries.grain), bound(matrices), "a product of maps");
    fit(grain(states_), bound(states_) + additions.entries.most, "a map of a state");
    fit(grain(additions), bound(additions) + additions.entries.most, "a map of an addition");
  }

  void check_moves() {
    for (const auto& columns : letters_)
      for (const Column& column : columns)
        require(column.size() <= 1 && (column.empty() || column.begin()->second.absolute() == RecheckedDyadic(1.0)),
                where("an action does more than move numbers"));
    require(maps_.letters.empty() && maps_.maps.empty() == !adds_, where("additions are not listed"));
    Sums additions;
    for (std::size_t i = 0; i < maps_.maps.size(); ++i) {
      const LayerMaps::Map& map = maps_.maps[i];
      require(map.a.empty() && map.b.size() == n_ * layer_.columns && map.next.size() == letters_.size(),
              where("an addition of another size"));
      const Numbers b = exact(map.b);
      require(i > 0 || b == Numbers(b.size()), where("the first addition is not 0"));
      widen_vector(additions, b);
      for (Action action = 0; action < letters_.size(); ++action) {
        require(map.next[action] < maps_.maps.size(), where("no such addition"));
        require(exact(maps_.maps[map.next[action]].b) == sum(times(letters_[action], b), addition(action)),
                where("an action makes another addition than the one that is named"));
      }
    }
    for (Action action = 0; action < letters_.size(); ++action) widen_vector(additions, addition(action));
    fit(additions.entries.grain, additions.entries.most, "an entry of an addition");
    fit(states_.entries.grain, states_.entries.most, "a number of a state");
    fit(common(states_.entries.grain, additions.entries.grain), states_.column + additions.entries.most,
        "a sum of moved numbers");
    fit(additions.entries.grain, additions.column + additions.entries.most, "a sum of additions");
  }

  /// One factor after another, on every codeword.
  void check_factors(const std::vector<std::pair<RecheckedNetwork::Row, double>>& factors) const {
    for (const std::uint32_t codeword : table_.codewords) {
      const Numbers numbers = exact(plain_.codeword_numbers(k_, codeword));
      for (std::size_t at = 0; at < numbers.size(); at += n_) {
        Column x;
        for (std::uint32_t i = 0; i < n_; ++i)
          if (!numbers[at + i].is_zero()) x[i] = numbers[at + i];
        for (const auto& [key, beta] : factors) reflect(key, RecheckedDyadic(beta), x);
      }
    }
  }

  void reflect(const RecheckedNetwork::Row& key, const RecheckedDyadic& beta, Column& x) const {
    Extent along, moved;
    RecheckedDyadic size, s;
    for (const auto& entry : key) {
      const auto at = x.find(entry.column);
      if (at == x.end()) continue;
      const RecheckedDyadic term = RecheckedDyadic(entry.weight) * at->second;
      along.add(term);
      size = size + term.absolute();
      s = s + term;
    }
    fit(along.grain, size, "a sum along a key");
    const RecheckedDyadic t = beta * s;
    if (t.is_zero()) return;
    fit(t.grain(), t.absolute(), "a scaled sum");
    RecheckedDyadic most, term_most;
    Extent terms;
    for (const auto& entry : key) {
      const RecheckedDyadic term = RecheckedDyadic(entry.weight) * t;
      const auto at = x.find(entry.column);
      const RecheckedDyadic before = at == x.end() ? RecheckedDyadic() : at->second;
      terms.add(term);
      moved.add(term);
      moved.add(before);
      most = std::max(most, term.absolute() + before.absolute());
      add_to(x, entry.column, -term);
    }
    fit(terms.grain, terms.most, "a step along a key");
    fit(moved.grain, most, "a reflected number");
  }

  const LayerMaps& maps_;
  const ClosedTable& table_;
  const Layer& layer_;
  const RecheckedNetwork& plain_;
  std::size_t k_, n_;
  Format format_;
  std::vector<std::vector<Column>> letters_;  ///< by action, columns
  bool adds_ = false;
  Sums states_;
};

}  // namespace

std::string check_any_order(const AnyOrder& proof, const Network& network, const RecheckedNetwork& plain) {
  require(proof.layers.size() == network.layers.size(), "the maps are not one list for each layer");
  require(network.snap_every == 0, "a network that snaps has an order");
  std::size_t maps = 0;
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    LayerCheck(proof.layers[k], proof.codewords.layers[k], network, plain, k).check();
    maps += proof.layers[k].maps.size();
  }
  return fmt::format("{} maps and additions, in exact arithmetic", maps);
}

}  // namespace krohn
