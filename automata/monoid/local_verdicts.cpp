#include "krohn/automata/monoid/local_verdicts.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/monoid/stamp.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {
namespace {

using Element = TransformationMonoid::Element;

/// The semigroup η(Σ⁺) inside the enumerated monoid η(Σ*).
class Semigroup {
 public:
  explicit Semigroup(const Dfa& dfa)
      : dfa_(dfa), monoid_(TransformationMonoid::enumerate(letter_maps(dfa), dfa.states())) {
    for (Element e = 0; e < monoid_.size(); ++e) maps_.push_back(monoid_.element(e));
    bool identity_reached = false;
    for (Element e = 0; e < monoid_.size(); ++e)
      for (std::uint32_t g = 0; g < monoid_.generators(); ++g) identity_reached |= monoid_.right(e, g) == 0;
    for (Element e = identity_reached ? 0 : 1; e < monoid_.size(); ++e) elements_.push_back(e);
    for (const Element e : elements_)
      if (product(e, e) == e) idempotents_.push_back(e);
  }

  const TransformationMonoid& monoid() const { return monoid_; }
  const std::vector<Element>& elements() const { return elements_; }
  const std::vector<Element>& idempotents() const { return idempotents_; }
  Element product(Element e, Element f) const { return *monoid_.find(maps_[e] * maps_[f]); }
  const Transformation& map(Element e) const { return maps_[e]; }

  std::string word(Element e) const {
    const auto letters = monoid_.word(e);
    return letters.empty() ? "the empty word" : fmt::format("\"{}\"", dfa_.alphabet().format_word(letters));
  }

 private:
  const Dfa& dfa_;
  TransformationMonoid monoid_;
  std::vector<Transformation> maps_;
  std::vector<Element> elements_, idempotents_;
};

/// For every idempotent e, the distinct e·s·e.
std::string local_semilattice_violation(const Semigroup& semigroup) {
  for (const Element e : semigroup.idempotents()) {
    std::vector<Element> local;
    for (const Element s : semigroup.elements()) local.push_back(semigroup.product(semigroup.product(e, s), e));
    std::sort(local.begin(), local.end());
    local.erase(std::unique(local.begin(), local.end()), local.end());
    for (const Element x : local)
      if (semigroup.product(x, x) != x)
        return fmt::format("with e = {}, x = {} in eSe is not idempotent", semigroup.word(e), semigroup.word(x));
    for (const Element x : local)
      for (const Element y : local)
        if (x < y && semigroup.product(x, y) != semigroup.product(y, x))
          return fmt::format("with e = {}, x = {} and y = {} in eSe do not commute", semigroup.word(e),
                             semigroup.word(x), semigroup.word(y));
  }
  return {};
}

/// Looks for an idempotent e and an s with f(e, s) ≠ e; says so as "e = …, s = …".
template <class Product>
std::string violation(const Semigroup& semigroup, Product product) {
  for (const Element e : semigroup.idempotents())
    for (const Element s : semigroup.elements())
      if (product(e, s) != e) return fmt::format("e = {}, s = {}", semigroup.word(e), semigroup.word(s));
  return {};
}

std::string nilpotent_violation(const Semigroup& semigroup) {
  const auto& idempotents = semigroup.idempotents();
  if (idempotents.size() > 1)
    return fmt::format("{} and {} are two idempotents", semigroup.word(idempotents[0]), semigroup.word(idempotents[1]));
  return violation(semigroup, [&](Element e, Element s) {
    const Element es = semigroup.product(e, s);
    return es == e ? semigroup.product(s, e) : es;
  });
}

Verdict decided(std::string property, std::string meaning, std::string witness) {
  const Answer answer = witness.empty() ? Answer::kYes : Answer::kNo;
  return {std::move(property), std::move(meaning), answer, std::move(witness)};
}

struct Question {
  const char* property;
  const char* meaning;
};
constexpr Question kLocallyTestable{"locally testable", "decided by which factors of a length occur"};
constexpr Question kDefinite{"definite", "decided by a suffix of bounded length"};
constexpr Question kReverseDefinite{"reverse definite", "decided by a prefix of bounded length"};
constexpr Question kGeneralised{"generalised definite", "decided by a prefix and a suffix of bounded length"};
constexpr Question kNilpotent{"nilpotent", "finite or cofinite when accepted words are asked for"};
constexpr Question kQuasiAperiodic{"quasi-aperiodic", "aperiodic with a position signal"};

Verdict quasi_aperiodic(const Semigroup& semigroup, const Stamp& stamp) {
  Verdict verdict{kQuasiAperiodic.property, kQuasiAperiodic.meaning, Answer::kUnknown, {}};
  if (stamp.stability_index() == 0) {
    verdict.witness = "the powers of the alphabet did not repeat in time";
    return verdict;
  }
  const auto cycle = stamp.stable_cycle();
  verdict.answer = cycle ? Answer::kNo : Answer::kYes;
  if (cycle)
    verdict.witness = fmt::format("{} acts with a cycle, and so do words of every multiple of {} letters",
                                  semigroup.word(*cycle), stamp.stability_index());
  return verdict;
}

}  // namespace

LocalVerdicts local_verdicts(const Dfa& dfa, const Integer& size, std::uint64_t max_elements) {
  LocalVerdicts result;
  if (size > max_elements) {
    for (const Question& q : {kLocallyTestable, kDefinite, kReverseDefinite, kGeneralised, kNilpotent, kQuasiAperiodic})
      result.verdicts.push_back(
          {q.property, q.meaning, Answer::kUnknown,
           fmt::format("the monoid has {} elements; decided up to {} (--max-elements)", size.str(), max_elements)});
    return result;
  }
  const Semigroup s(dfa);
  const auto e_s = [&](Element e, Element x) { return s.product(e, x); };
  const auto s_e = [&](Element e, Element x) { return s.product(x, e); };
  const auto e_s_e = [&](Element e, Element x) { return s.product(s.product(e, x), e); };
  const auto add = [&](const Question& q, std::string witness) {
    result.verdicts.push_back(decided(q.property, q.meaning, std::move(witness)));
  };
  add(kLocallyTestable, local_semilattice_violation(s));
  add(kDefinite, violation(s, s_e));
  add(kReverseDefinite, violation(s, e_s));
  add(kGeneralised, violation(s, e_s_e));
  add(kNilpotent, nilpotent_violation(s));
  const Stamp stamp(s.monoid());
  result.verdicts.push_back(quasi_aperiodic(s, stamp));
  result.stability_index = stamp.stability_index();
  return result;
}

}  // namespace krohn
