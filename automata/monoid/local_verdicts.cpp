#include "krohn/automata/monoid/local_verdicts.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/stamp.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {
namespace {

using Element = TransformationMonoid::Element;

/// The semigroup η(Σ⁺) inside the enumerated monoid η(Σ*).
class Semigroup {
 public:
  Semigroup(const Dfa& dfa, std::uint64_t elements)
      : dfa_(dfa), monoid_(TransformationMonoid::enumerate(letter_maps(dfa), dfa.states(), at_most(elements))) {
    for (Element e = 0; e < monoid_.size(); ++e) maps_.push_back(monoid_.element(e));
    for (Element e = 0; e < monoid_.size() && identity_.empty(); ++e)
      for (std::uint32_t g = 0; g < monoid_.generators() && identity_.empty(); ++g)
        if (monoid_.right(e, g) == 0) {
          identity_ = monoid_.word(e);
          identity_.push_back(g);
        }
    for (Element e = identity_.empty() ? 1 : 0; e < monoid_.size(); ++e) elements_.push_back(e);
    for (const Element e : elements_)
      if (product(e, e) == e) idempotents_.push_back(e);
  }

  static TransformationMonoid::Options at_most(std::uint64_t elements) {
    TransformationMonoid::Options options;
    options.max_elements = elements;
    return options;
  }

  const TransformationMonoid& monoid() const { return monoid_; }
  const std::vector<Element>& elements() const { return elements_; }
  const std::vector<Element>& idempotents() const { return idempotents_; }
  Element product(Element e, Element f) const { return *monoid_.find(maps_[e] * maps_[f]); }
  const Transformation& map(Element e) const { return maps_[e]; }

  /// A word for an element of the semigroup: never the empty one.
  Word letters(Element e) const { return e == 0 ? identity_ : monoid_.word(e); }
  std::string word(Element e) const { return quoted_letters(dfa_.alphabet(), letters(e)); }

  /// Where the words of the elements take every state, one after the other: by running them, for checks.
  std::vector<State> run(std::initializer_list<Element> elements) const {
    Word all;
    for (const Element e : elements) {
      const Word next = letters(e);
      all.insert(all.end(), next.begin(), next.end());
    }
    return images_of_word(dfa_, all);
  }

  /// A witness that fails its check is a fault of krohn's, and nothing may be claimed on it.
  void require(bool holds) const {
    if (!holds) throw Error("a witness of idempotents failed its check; please report this");
  }

 private:
  const Dfa& dfa_;
  TransformationMonoid monoid_;
  Word identity_;  ///< a shortest non-empty word that moves no state, if there is one
  std::vector<Transformation> maps_;
  std::vector<Element> elements_, idempotents_;
};

/// e·e = e and e·x·e = x, by running the words.
bool is_local(const Semigroup& semigroup, Element e, Element x) {
  return semigroup.run({e, e}) == semigroup.run({e}) && semigroup.run({e, x, e}) == semigroup.run({x});
}

/// For every idempotent e, the distinct e·s·e.
std::string local_semilattice_violation(const Semigroup& semigroup) {
  for (const Element e : semigroup.idempotents()) {
    TimeLimit::check();
    std::vector<Element> local;
    for (const Element s : semigroup.elements()) local.push_back(semigroup.product(semigroup.product(e, s), e));
    std::sort(local.begin(), local.end());
    local.erase(std::unique(local.begin(), local.end()), local.end());
    for (const Element x : local)
      if (semigroup.product(x, x) != x) {
        semigroup.require(is_local(semigroup, e, x) && semigroup.run({x, x}) != semigroup.run({x}));
        return fmt::format("with e = {}, x = {} in eSe is not idempotent", semigroup.word(e), semigroup.word(x));
      }
    for (const Element x : local) {
      TimeLimit::check();
      for (const Element y : local)
        if (x < y && semigroup.product(x, y) != semigroup.product(y, x)) {
          semigroup.require(is_local(semigroup, e, x) && is_local(semigroup, e, y) &&
                            semigroup.run({x, y}) != semigroup.run({y, x}));
          return fmt::format("with e = {}, x = {} and y = {} in eSe do not commute", semigroup.word(e),
                             semigroup.word(x), semigroup.word(y));
        }
    }
  }
  return {};
}

/// On which sides of s an idempotent e stands.
struct Sides {
  bool left, right;
};

/// Looks for an idempotent e and an s whose product, with e on these sides, is not e; says so as "e = …, s = …".
std::string violation(const Semigroup& semigroup, Sides sides) {
  for (const Element e : semigroup.idempotents()) {
    TimeLimit::check();
    for (const Element s : semigroup.elements()) {
      const Element es = sides.left ? semigroup.product(e, s) : s;
      if ((sides.right ? semigroup.product(es, e) : es) == e) continue;
      const auto run = sides.left && sides.right ? semigroup.run({e, s, e})
                       : sides.left              ? semigroup.run({e, s})
                                                 : semigroup.run({s, e});
      semigroup.require(semigroup.run({e, e}) == semigroup.run({e}) && run != semigroup.run({e}));
      return fmt::format("e = {}, s = {}", semigroup.word(e), semigroup.word(s));
    }
  }
  return {};
}

std::string nilpotent_violation(const Semigroup& semigroup) {
  const auto& idempotents = semigroup.idempotents();
  if (idempotents.size() > 1) {
    const Element e = idempotents[0], f = idempotents[1];
    semigroup.require(semigroup.run({e, e}) == semigroup.run({e}) && semigroup.run({f, f}) == semigroup.run({f}) &&
                      semigroup.run({e}) != semigroup.run({f}));
    return fmt::format("{} and {} are two idempotents", semigroup.word(e), semigroup.word(f));
  }
  const std::string left = violation(semigroup, {true, false});
  return left.empty() ? violation(semigroup, {false, true}) : left;
}

Verdict quasi_aperiodic(const Semigroup& semigroup, const Stamp& stamp) {
  if (stamp.stability_index() == 0)
    return undecided("quasi-aperiodic", "the powers of the alphabet did not repeat in time");
  const auto cycle = stamp.stable_cycle();
  if (!cycle) return decided("quasi-aperiodic", {});
  semigroup.require(cycle_lengths(semigroup.run({*cycle})).back() > 1);
  return decided("quasi-aperiodic", fmt::format("{} acts with a cycle, and so do words of every multiple of {}",
                                                semigroup.word(*cycle), counted(stamp.stability_index(), "letter")));
}

LocalVerdicts all_undecided(const std::string& why) {
  LocalVerdicts result;
  for (const char* property :
       {"locally testable", "definite", "reverse definite", "generalised definite", "nilpotent", "quasi-aperiodic"})
    result.verdicts.push_back(undecided(property, why));
  return result;
}

LocalVerdicts by_elements(const Dfa& dfa, std::uint64_t elements) {
  const Semigroup s(dfa, elements);
  LocalVerdicts result;
  result.verdicts = {
      decided("locally testable", local_semilattice_violation(s)), decided("definite", violation(s, {false, true})),
      decided("reverse definite", violation(s, {true, false})),
      decided("generalised definite", violation(s, {true, true})), decided("nilpotent", nilpotent_violation(s))};
  const Stamp stamp(s.monoid());
  result.verdicts.push_back(quasi_aperiodic(s, stamp));
  result.stability_index = stamp.stability_index();
  return result;
}

}  // namespace

LocalVerdicts local_verdicts(const Dfa& dfa, const Integer& size, std::uint64_t max_elements) {
  if (size > max_elements)
    return all_undecided(
        fmt::format("the monoid has {} elements; decided up to {} (--max-elements)", size.str(), max_elements));
  try {
    return by_elements(dfa, size.convert_to<std::uint64_t>());
  } catch (const LimitError& error) {  // the time is over
    return all_undecided(error.what());
  }
}

}  // namespace krohn
