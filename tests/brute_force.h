// tests/brute_force.h — the monoid of a small automaton, element by element, and what the definitions say of it. Takes
// nothing from krohn but the automaton's table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn::brute {

using Map = std::vector<std::uint32_t>;

/// First f, then g.
inline Map then(const Map& f, const Map& g) {
  Map result(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) result[i] = g[f[i]];
  return result;
}

/// All products of the maps, at least one; nothing past the limit.
inline std::optional<std::set<Map>> products(const std::vector<Map>& maps, std::size_t limit) {
  std::set<Map> all(maps.begin(), maps.end());
  std::vector<Map> queue(all.begin(), all.end());
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Map& map : maps)
      if (Map next = then(queue[i], map); all.insert(next).second) {
        if (all.size() > limit) return std::nullopt;
        queue.push_back(std::move(next));
      }
  return all;
}

/// A finite group of maps is solvable: its derived subgroups, by all commutators, end in one element.
inline bool is_solvable(std::set<Map> group) {
  while (group.size() > 1) {
    std::map<Map, Map> inverse;
    Map one(group.begin()->size());
    for (const Map& x : group) {  // the power of x that is idempotent is the group's identity
      Map power = x;
      while (then(power, power) != power) power = then(power, x);
      one = power;
    }
    for (const Map& x : group)
      for (const Map& y : group)
        if (then(x, y) == one) inverse[x] = y;
    std::vector<Map> commutators;
    for (const Map& x : group)
      for (const Map& y : group) commutators.push_back(then(then(inverse[x], inverse[y]), then(x, y)));
    std::sort(commutators.begin(), commutators.end());
    commutators.erase(std::unique(commutators.begin(), commutators.end()), commutators.end());
    std::set<Map> derived = *products(commutators, SIZE_MAX);
    if (derived.size() == group.size()) return false;
    group = std::move(derived);
  }
  return true;
}

class Monoid {
 public:
  /// Nothing past the limit.
  static std::optional<Monoid> of(const Dfa& dfa, std::size_t limit) {
    Monoid monoid;
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      Map map(dfa.states());
      for (State state = 0; state < dfa.states(); ++state) map[state] = dfa.next(state, letter);
      monoid.letters_.push_back(std::move(map));
    }
    const auto semigroup = products(monoid.letters_, limit);
    if (!semigroup) return std::nullopt;
    Map one(dfa.states());
    std::iota(one.begin(), one.end(), 0U);
    std::set<Map> all = *semigroup;
    all.insert(one);
    monoid.elements_.assign(all.begin(), all.end());
    for (std::size_t i = 0; i < monoid.elements_.size(); ++i) monoid.number_[monoid.elements_[i]] = i;
    for (const Map& map : *semigroup) monoid.semigroup_.push_back(monoid.number_.at(map));
    const std::size_t n = monoid.size();
    monoid.table_.resize(n * n);
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y)
        monoid.table_[x * n + y] = monoid.number_.at(then(monoid.elements_[x], monoid.elements_[y]));
    return monoid;
  }

  std::size_t size() const { return elements_.size(); }
  std::size_t product(std::size_t x, std::size_t y) const { return table_[x * size() + y]; }
  bool is_idempotent(std::size_t x) const { return product(x, x) == x; }

  std::size_t omega(std::size_t x) const {
    std::size_t power = x;
    while (!is_idempotent(power)) power = product(power, x);
    return power;
  }
  /// The length of the cycle that x, x², … ends in.
  std::size_t period(std::size_t x) const {
    const std::size_t e = omega(x), start = product(e, x);
    std::size_t length = 1;
    for (std::size_t power = product(start, x); power != start; power = product(power, x)) ++length;
    return length;
  }

  /// The maximal subgroups: for every idempotent e, the units of eMe.
  std::vector<std::set<Map>> groups() const {
    std::vector<std::set<Map>> result;
    for (std::size_t e = 0; e < size(); ++e) {
      if (!is_idempotent(e)) continue;
      std::set<Map> units;
      for (std::size_t x = 0; x < size(); ++x)
        if (product(e, x) == x && product(x, e) == x && omega(x) == e) units.insert(elements_[x]);
      result.push_back(std::move(units));
    }
    return result;
  }

  /// The answers of the definitions, by the names that krohn gives the properties; not "finite".
  std::map<std::string, bool> properties() const {
    std::map<std::string, bool> answers;
    answers["group"] = std::all_of(letters_.begin(), letters_.end(), [](Map map) {
      std::sort(map.begin(), map.end());
      return std::adjacent_find(map.begin(), map.end()) == map.end();
    });
    bool aperiodic = true, two_groups = true, commutative = true, da = true;
    for (std::size_t x = 0; x < size(); ++x) {
      const std::size_t length = period(x);
      aperiodic = aperiodic && length == 1;
      two_groups = two_groups && (length & (length - 1)) == 0;
      for (std::size_t y = 0; y < size(); ++y) {
        commutative = commutative && product(x, y) == product(y, x);
        const std::size_t e = omega(product(x, y));
        da = da && product(product(e, x), e) == e;
      }
    }
    const auto groups_of = groups();
    answers["aperiodic"] = aperiodic;
    answers["2-groups only"] = two_groups;
    answers["solvable groups"] = std::all_of(groups_of.begin(), groups_of.end(), is_solvable);
    answers["commutative"] = commutative;
    answers["DA"] = da;
    std::set<std::set<std::size_t>> right, left, two_sided;
    for (std::size_t x = 0; x < size(); ++x) {
      std::set<std::size_t> xm, mx, mxm;
      for (std::size_t y = 0; y < size(); ++y) {
        xm.insert(product(x, y));
        mx.insert(product(y, x));
        for (std::size_t z = 0; z < size(); ++z) mxm.insert(product(product(y, x), z));
      }
      right.insert(xm);
      left.insert(mx);
      two_sided.insert(mxm);
    }
    answers["R-trivial"] = right.size() == size();
    answers["L-trivial"] = left.size() == size();
    answers["J-trivial"] = two_sided.size() == size();
    answers["synchronising"] = std::any_of(elements_.begin(), elements_.end(), [](const Map& map) {
      return std::adjacent_find(map.begin(), map.end(), std::not_equal_to<>()) == map.end();
    });
    add_local(answers);
    return answers;
  }

 private:
  void add_local(std::map<std::string, bool>& answers) const {
    bool semilattices = true, definite = true, reverse = true, generalised = true;
    for (const std::size_t e : semigroup_) {
      if (!is_idempotent(e)) continue;
      std::set<std::size_t> local;
      for (const std::size_t s : semigroup_) {
        local.insert(product(product(e, s), e));
        definite = definite && product(s, e) == e;
        reverse = reverse && product(e, s) == e;
        generalised = generalised && product(product(e, s), e) == e;
      }
      for (const std::size_t x : local)
        for (const std::size_t y : local)
          semilattices = semilattices && is_idempotent(x) && product(x, y) == product(y, x);
    }
    bool right_regular = true;
    for (const std::size_t e : semigroup_)
      for (const std::size_t f : semigroup_)
        if (is_idempotent(e) && is_idempotent(f))
          right_regular = right_regular && product(product(e, f), e) == product(f, e);
    answers["right regular idempotents"] = right_regular;
    answers["locally testable"] = semilattices;
    answers["definite"] = definite;
    answers["reverse definite"] = reverse;
    answers["generalised definite"] = generalised;
    // S, S², S³, … decrease to one element.
    std::set<std::size_t> power(semigroup_.begin(), semigroup_.end());
    for (std::set<std::size_t> last; last != power;) {
      last = power;
      power.clear();
      for (const std::size_t x : last)
        for (const std::size_t y : semigroup_) power.insert(product(x, y));
    }
    answers["nilpotent"] = power.size() <= 1;
    // The images of the words of each length, until they repeat; in the powers that are multiples of their stable
    // length no element may have a cycle.
    std::vector<std::set<std::size_t>> lengths(1);
    for (const Map& letter : letters_) lengths[0].insert(number_.at(letter));
    for (;;) {
      std::set<std::size_t> next;
      for (const std::size_t x : lengths.back())
        for (const Map& letter : letters_) next.insert(product(x, number_.at(letter)));
      const bool known = std::find(lengths.begin(), lengths.end(), next) != lengths.end();
      lengths.push_back(std::move(next));
      if (known) break;
    }
    const std::size_t start =
        static_cast<std::size_t>(std::find(lengths.begin(), lengths.end(), lengths.back()) - lengths.begin());
    const std::size_t repeat = lengths.size() - 1 - start;
    const auto of_length = [&](std::size_t length) {
      return lengths[length - 1 < start ? length - 1 : start + (length - 1 - start) % repeat];
    };
    std::size_t stable = 1;
    while (of_length(stable) != of_length(2 * stable)) ++stable;
    const auto at = of_length(stable);
    answers["quasi-aperiodic"] = std::all_of(at.begin(), at.end(), [&](std::size_t x) { return period(x) == 1; });
  }

  std::vector<Map> letters_, elements_;
  std::map<Map, std::size_t> number_;
  std::vector<std::size_t> semigroup_, table_;
};

/// Finitely many words are accepted: none of n to 2n − 1 letters.
inline bool is_finite(const Dfa& dfa) {
  std::set<State> reached{dfa.initial()};
  for (State length = 0; length < 2 * dfa.states(); ++length) {
    if (length >= dfa.states())
      for (const State state : reached)
        if (dfa.accepts(state)) return false;
    std::set<State> next;
    for (const State state : reached)
      for (Letter letter = 0; letter < dfa.letters(); ++letter) next.insert(dfa.next(state, letter));
    reached = std::move(next);
  }
  return true;
}

}  // namespace krohn::brute
