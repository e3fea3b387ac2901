#include "krohn/constructions/actions/abelian_structure.h"

#include <fmt/format.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cassert>
#include <optional>
#include <utility>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

using Integer = boost::multiprecision::cpp_int;
using Row = std::vector<Integer>;
using Element = AbelianStructure::Element;

/// Coordinates over independent generators: the orbit of state 0 under generators g_1, g_2, … taken one by one, and for
/// each the relation that closes its cycle. Element e_1 g_1 + … + e_k g_k.
struct Presentation {
  std::vector<Action> generators;
  std::vector<Row> relations;  ///< rows; lower triangular
  std::vector<Label> orbit{0};
  std::vector<std::optional<Element>> of_state;
};

void require_commuting(const Dfa& automaton, const TrackedStates& tracked, Action a, Action b) {
  const Transformation &f = tracked.maps[a], &g = tracked.maps[b];
  for (Label label = 0; label < tracked.count(); ++label)
    if (g[f[label]] != f[g[label]])
      throw InputError(fmt::format("the transition group is not abelian: letters \"{}\" and \"{}\" do not commute",
                                   automaton.alphabet().name(tracked.letter_of[a]),
                                   automaton.alphabet().name(tracked.letter_of[b])));
}

/// Adds the generator: new orbit = old orbit + {0, g, …, (r−1) g}, and the relation r g = an element of the old orbit.
void extend(Presentation& presentation, const TrackedStates& tracked, Action generator) {
  const Transformation& map = tracked.maps[generator];
  std::vector<Label> coset = presentation.orbit;
  std::uint64_t power = 1;
  for (Label image = map[0]; !presentation.of_state[image]; image = map[image], ++power) {
    // `image` is 0 moved by power · g, and reaching it means that the whole coset is new.
    std::vector<Label> moved;
    for (const Label label : coset) {
      Element element = *presentation.of_state[label];
      element.resize(presentation.generators.size() + 1, 0);
      element.back() = power;
      moved.push_back(map[label]);
      presentation.of_state[map[label]] = std::move(element);
    }
    presentation.orbit.insert(presentation.orbit.end(), moved.begin(), moved.end());
    coset = std::move(moved);
  }
  const Label closing = map[coset[0]];  // 0 moved by power · g, back in the old orbit
  Row relation;
  for (const std::uint64_t exponent : *presentation.of_state[closing]) relation.push_back(-Integer(exponent));
  relation.resize(presentation.generators.size() + 1, 0);
  relation.back() += power;
  presentation.generators.push_back(generator);
  presentation.relations.push_back(std::move(relation));
}

Presentation present(const Dfa& automaton, const TrackedStates& tracked) {
  Presentation presentation;
  presentation.of_state.resize(tracked.count());
  presentation.of_state[0] = Element{};
  for (Action action = 0; action < tracked.maps.size(); ++action) {
    if (presentation.of_state[tracked.maps[action][0]]) continue;
    for (const Action generator : presentation.generators) require_commuting(automaton, tracked, generator, action);
    extend(presentation, tracked, action);
  }
  // The generators make a regular abelian group on their orbit. An action that keeps state 0 in that orbit was passed
  // over, and may yet be anything: only one that commutes with every generator, those found after it included, keeps
  // the orbit (so that it is the whole set of states) and is the element of the group that its image of state 0 names.
  for (Action action = 0; action < tracked.maps.size(); ++action)
    for (const Action generator : presentation.generators) require_commuting(automaton, tracked, generator, action);
  assert(presentation.orbit.size() == tracked.count());
  for (Row& relation : presentation.relations) relation.resize(presentation.generators.size(), 0);
  return presentation;
}

/// The diagonal of U·R·V with each entry dividing the next, and V. R is square and non-singular.
struct SmithForm {
  std::vector<Integer> diagonal;
  std::vector<Row> columns;  ///< V
};

class Smith {
 public:
  explicit Smith(std::vector<Row> relations) : r_(std::move(relations)), v_(r_.size(), Row(r_.size(), 0)) {
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i][i] = 1;
  }

  SmithForm reduce() {
    SmithForm form;
    for (std::size_t k = 0; k < r_.size(); ++k) {
      while (!step(k)) {
      }
      form.diagonal.push_back(abs(r_[k][k]));
    }
    form.columns = std::move(v_);
    return form;
  }

 private:
  /// Moves the least non-zero entry to (k, k) and reduces by it; true once it divides everything that remains.
  bool step(std::size_t k) {
    move_least(k);
    bool clean = true;
    for (std::size_t i = k + 1; i < r_.size(); ++i) {
      add_row(i, k, -(r_[i][k] / r_[k][k]));
      add_column(i, k, -(r_[k][i] / r_[k][k]));
      clean = clean && r_[i][k] == 0 && r_[k][i] == 0;
    }
    if (!clean) return false;
    for (std::size_t i = k + 1; i < r_.size(); ++i)
      for (std::size_t j = k + 1; j < r_.size(); ++j)
        if (r_[i][j] % r_[k][k] != 0) {
          add_row(k, i, 1);
          return false;
        }
    return true;
  }

  void move_least(std::size_t k) {
    std::size_t row = k, column = k;
    for (std::size_t i = k; i < r_.size(); ++i)
      for (std::size_t j = k; j < r_.size(); ++j)
        if (r_[i][j] != 0 && (r_[row][column] == 0 || abs(r_[i][j]) < abs(r_[row][column]))) row = i, column = j;
    std::swap(r_[k], r_[row]);
    for (Row& r : r_) std::swap(r[k], r[column]);
    for (Row& r : v_) std::swap(r[k], r[column]);
  }

  void add_row(std::size_t to, std::size_t from, const Integer& factor) {
    for (std::size_t j = 0; j < r_.size(); ++j) r_[to][j] += factor * r_[from][j];
  }
  void add_column(std::size_t to, std::size_t from, const Integer& factor) {
    for (Row& r : r_) r[to] += factor * r[from];
    for (Row& r : v_) r[to] += factor * r[from];
  }

  std::vector<Row> r_, v_;
};

/// The element e·V modulo the diagonal, over the factors of order > 1.
Element transform(const Element& exponents, const SmithForm& form) {
  Element result;
  for (std::size_t j = 0; j < form.diagonal.size(); ++j) {
    if (form.diagonal[j] == 1) continue;
    Integer sum = 0;
    for (std::size_t i = 0; i < exponents.size(); ++i) sum += exponents[i] * form.columns[i][j];
    sum %= form.diagonal[j];
    if (sum < 0) sum += form.diagonal[j];
    result.push_back(sum.convert_to<std::uint64_t>());
  }
  if (result.empty()) result.push_back(0);
  return result;
}

/// p^a with a ≥ 1 for each prime p, in increasing order of p.
std::vector<std::uint64_t> prime_powers(std::uint64_t n) {
  std::vector<std::uint64_t> powers;
  for (std::uint64_t p = 2; p * p <= n; ++p) {
    std::uint64_t power = 1;
    while (n % p == 0) n /= p, power *= p;
    if (power > 1) powers.push_back(power);
  }
  if (n > 1) powers.push_back(n);
  return powers;
}

}  // namespace

AbelianStructure abelian_structure(const Dfa& automaton, const TrackedStates& tracked) {
  permutations_of(automaton, tracked);  // for its reason when a letter is no bijection
  const Presentation presentation = present(automaton, tracked);
  const SmithForm form = Smith(presentation.relations).reduce();
  AbelianStructure structure;
  for (const Integer& order : form.diagonal)
    if (order != 1) structure.orders.push_back(order.convert_to<std::uint64_t>());
  if (structure.orders.empty()) structure.orders.push_back(1);
  for (Label label = 0; label < tracked.count(); ++label)
    structure.of_state.push_back(transform(*presentation.of_state[label], form));
  for (const Transformation& map : tracked.maps) structure.of_action.push_back(structure.of_state[map[0]]);
  return structure;
}

AbelianStructure primary_structure(const AbelianStructure& structure) {
  struct Part {
    std::uint64_t order;
    std::size_t factor;
  };
  std::vector<Part> parts;
  for (std::size_t factor = 0; factor < structure.orders.size(); ++factor)
    for (const std::uint64_t power : prime_powers(structure.orders[factor])) parts.push_back({power, factor});
  if (parts.empty()) return structure;
  AbelianStructure primary;
  for (const Part& part : parts) primary.orders.push_back(part.order);
  const auto reduce = [&](const std::vector<Element>& elements) {
    std::vector<Element> reduced;
    for (const Element& element : elements) {
      Element coordinates;
      for (const Part& part : parts) coordinates.push_back(element[part.factor] % part.order);
      reduced.push_back(std::move(coordinates));
    }
    return reduced;
  };
  primary.of_state = reduce(structure.of_state);
  primary.of_action = reduce(structure.of_action);
  return primary;
}

std::string to_string(const AbelianStructure& structure) {
  std::string text;
  for (const std::uint64_t order : structure.orders) text += fmt::format("{}Z_{}", text.empty() ? "" : " x ", order);
  return text;
}

}  // namespace krohn
