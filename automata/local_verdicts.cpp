#include "automata/local_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "groups/transformation_monoid.h"

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

  /// The least number k ≥ 1 with x^(n+k) = x^n for large n: 1 exactly when x has no cycle above length 1.
  bool has_group(Element x) const {
    const Transformation& map = maps_[x];
    Transformation power = map;
    for (State i = 0; i < dfa_.states(); ++i) power = power * map;
    return power * map != power;
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

/// η(Σ^i) for i = 1, 2, … as sets of elements, until one repeats; then the least s with η(Σ^s) = η(Σ^2s).
class Powers {
 public:
  explicit Powers(const Semigroup& semigroup, std::size_t letters) {
    const TransformationMonoid& monoid = semigroup.monoid();
    std::vector<bool> current(monoid.size(), false);
    for (std::uint32_t g = 0; g < letters; ++g) current[monoid.right(0, g)] = true;
    std::map<std::vector<bool>, std::size_t> seen;
    while (sets_.size() < kMaxPowers) {
      const auto [entry, fresh] = seen.try_emplace(current, sets_.size());
      if (!fresh) {
        set_index(entry->second, sets_.size() - entry->second);
        return;
      }
      sets_.push_back(current);
      std::vector<bool> next(monoid.size(), false);
      for (Element e = 0; e < monoid.size(); ++e)
        if (current[e])
          for (std::uint32_t g = 0; g < letters; ++g) next[monoid.right(e, g)] = true;
      current = std::move(next);
    }
  }

  /// 0 when it was not found among the first powers.
  std::uint64_t stability_index() const { return index_; }
  const std::vector<bool>& stable() const { return sets_[(index_ - 1 < sets_.size()) ? index_ - 1 : wrapped_]; }

 private:
  static constexpr std::size_t kMaxPowers = 4096;

  /// Powers 1 + start, 1 + start + period, … are equal: s is the least multiple of the period that is not before them.
  void set_index(std::size_t start, std::size_t period) {
    index_ = period;
    while (index_ < start + 1) index_ += period;
    wrapped_ = start + (index_ - 1 - start) % period;
  }

  std::vector<std::vector<bool>> sets_;
  std::uint64_t index_ = 0;
  std::size_t wrapped_ = 0;
};

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

Verdict quasi_aperiodic(const Semigroup& semigroup, const Powers& powers) {
  Verdict verdict{kQuasiAperiodic.property, kQuasiAperiodic.meaning, Answer::kUnknown, {}};
  if (powers.stability_index() == 0) {
    verdict.witness = "the powers of the alphabet did not repeat in time";
    return verdict;
  }
  verdict.answer = Answer::kYes;
  for (const Element x : semigroup.elements())
    if (powers.stable()[x] && semigroup.has_group(x)) {
      verdict.answer = Answer::kNo;
      verdict.witness = fmt::format("{} acts with a cycle, as a word of {} letters does", semigroup.word(x),
                                    powers.stability_index());
      return verdict;
    }
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
  const Powers powers(s, dfa.letters());
  result.verdicts.push_back(quasi_aperiodic(s, powers));
  result.stability_index = powers.stability_index();
  return result;
}

}  // namespace krohn
