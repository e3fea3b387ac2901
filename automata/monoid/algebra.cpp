#include "krohn/automata/monoid/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/stamp.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/structure/composition.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {

// Verdicts that need the elements of the monoid one by one: those about the
// semigroup η(Σ⁺), its local monoids eSe, and the stamp.

struct LocalVerdicts {
  std::vector<Verdict> verdicts;
  std::uint64_t stability_index = 0;  ///< 0: unknown
};

namespace {

constexpr std::size_t kProducts = 2000;
constexpr std::size_t kRandomProducts = 500;
constexpr std::size_t kMaxWord = 20'000;
constexpr std::size_t kPerPrime = 60;  ///< elements of each prime order that are paired

struct WordAction {
  Permutation action;
  Word word;
};

WordAction product(const WordAction& a, const WordAction& b) {
  WordAction result{a.action * b.action, a.word};
  result.word.insert(result.word.end(), b.word.begin(), b.word.end());
  return result;
}

/// Short products first, each once; then, of a group that has more, random ones.
std::vector<WordAction> some_elements(std::span<const GreenStructure::Loop> loops) {
  std::vector<WordAction> elements;
  std::set<Permutation> known;
  for (const GreenStructure::Loop& loop : loops)
    if (known.insert(loop.action).second) elements.push_back({loop.action, loop.word});
  const std::size_t generators = elements.size();
  for (std::size_t i = 0; i < elements.size() && elements.size() < kProducts; ++i)
    for (std::size_t g = 0; g < generators; ++g) {
      WordAction next = product(elements[i], elements[g]);
      if (next.word.size() <= kMaxWord && known.insert(next.action).second) elements.push_back(std::move(next));
    }
  if (elements.size() < kProducts) return elements;
  Random random(1);
  for (std::size_t i = 0; i < kRandomProducts; ++i) {
    WordAction next = product(elements[random.below(elements.size())], elements[random.below(elements.size())]);
    if (next.word.size() <= kMaxWord) elements.push_back(std::move(next));
  }
  return elements;
}

std::optional<WordAction> power(const WordAction& element, std::uint64_t exponent) {
  if (exponent > kMaxWord / element.word.size()) return std::nullopt;
  WordAction result = element;
  for (std::uint64_t i = 1; i < exponent; ++i) result = product(result, element);
  return result;
}

}  // namespace

std::optional<Word> odd_word(std::span<const GreenStructure::Loop> loops) {
  for (const WordAction& element : some_elements(loops)) {
    const std::uint64_t order = element.action.order();
    if ((order & (order - 1)) != 0) return element.word;
  }
  return std::nullopt;
}

std::optional<std::pair<Word, Word>> coprime_words(std::span<const GreenStructure::Loop> loops) {
  std::map<std::uint64_t, std::vector<WordAction>> of_order;
  for (const WordAction& element : some_elements(loops)) {
    const std::uint64_t order = element.action.order();
    for (const auto& [p, p_part] : prime_powers(order)) {
      std::vector<WordAction>& same = of_order[p];
      if (same.size() >= kPerPrime) continue;
      if (auto root = power(element, order / p)) same.push_back(*std::move(root));
    }
  }
  for (const auto& [p, first] : of_order)
    for (const auto& [q, second] : of_order) {
      if (q <= p) continue;
      for (const WordAction& u : first)
        for (const WordAction& v : second) {
          const std::uint64_t order = (u.action * v.action).order();
          if (order > 1 && std::gcd(order, p * q) == 1) return std::pair{u.word, v.word};
        }
    }
  return std::nullopt;
}

namespace {

using Element = SyntacticSemigroup::Element;

constexpr const char* kIdentity = "an identity of idempotents";

/// e·e = e and e·x·e = x, by running the words.
bool is_local(const SyntacticSemigroup& semigroup, Element e, Element x) {
  return semigroup.run({e, e}) == semigroup.run({e}) && semigroup.run({e, x, e}) == semigroup.run({x});
}

/// For every idempotent e, the distinct e·s·e.
std::string local_semilattice_violation(const SyntacticSemigroup& semigroup) {
  for (const Element e : semigroup.idempotents()) {
    TimeLimit::check();
    const std::vector<Element> local = semigroup.between(e, e);
    for (const Element x : local)
      if (!semigroup.is_idempotent(x)) {
        require_witness(is_local(semigroup, e, x) && semigroup.run({x, x}) != semigroup.run({x}), kIdentity);
        return fmt::format("with e = {}, x = {} in eSe is not idempotent", semigroup.quoted(e), semigroup.quoted(x));
      }
    for (const Element x : local) {
      TimeLimit::check();
      for (const Element y : local)
        if (x < y && semigroup.product(x, y) != semigroup.product(y, x)) {
          require_witness(
              is_local(semigroup, e, x) && is_local(semigroup, e, y) && semigroup.run({x, y}) != semigroup.run({y, x}),
              kIdentity);
          return fmt::format("with e = {}, x = {} and y = {} in eSe do not commute", semigroup.quoted(e),
                             semigroup.quoted(x), semigroup.quoted(y));
        }
    }
  }
  return {};
}

/// On which sides of s an idempotent e stands.
struct Sides {
  bool left, right;
};

/// Looks for an idempotent e and an s whose product, with e on these sides, is not e; says so as "e = …, s = …". Where
/// one idempotent of a D-class has no such s, the others of the class have none.
std::string violation(const SyntacticSemigroup& semigroup, Sides sides) {
  for (const Element e : semigroup.idempotents()) {
    TimeLimit::check();
    for (Element s = semigroup.first(); s < semigroup.size(); ++s) {
      const Element es = sides.left ? semigroup.product(e, s) : s;
      if ((sides.right ? semigroup.monoid().product(es, e) : es) == e) continue;
      const auto run = sides.left && sides.right ? semigroup.run({e, s, e})
                       : sides.left              ? semigroup.run({e, s})
                                                 : semigroup.run({s, e});
      require_witness(semigroup.run({e, e}) == semigroup.run({e}) && run != semigroup.run({e}), kIdentity);
      return fmt::format("e = {}, s = {}", semigroup.quoted(e), semigroup.quoted(s));
    }
  }
  return {};
}

std::string nilpotent_violation(const SyntacticSemigroup& semigroup) {
  for (const Element e : semigroup.idempotents())
    for (Element f = e + 1; f < semigroup.size(); ++f) {
      if (!semigroup.is_idempotent(f)) continue;
      require_witness(semigroup.run({e, e}) == semigroup.run({e}) && semigroup.run({f, f}) == semigroup.run({f}) &&
                          semigroup.run({e}) != semigroup.run({f}),
                      kIdentity);
      return fmt::format("{} and {} are two idempotents", semigroup.quoted(e), semigroup.quoted(f));
    }
  const std::string left = violation(semigroup, {true, false});
  return left.empty() ? violation(semigroup, {false, true}) : left;
}

Verdict quasi_aperiodic(const SyntacticSemigroup& semigroup, const Stamp& stamp) {
  if (stamp.stability_index() == 0)
    return undecided("quasi-aperiodic", "the powers of the alphabet did not repeat in time");
  const auto cycle = stamp.stable_cycle();
  if (!cycle) return decided("quasi-aperiodic", {});
  require_witness(cycle_lengths(semigroup.run({*cycle})).back() > 1, "quasi-aperiodic");
  return decided("quasi-aperiodic", fmt::format("{} acts with a cycle, and so do words of every multiple of {}",
                                                semigroup.quoted(*cycle), counted(stamp.stability_index(), "letter")));
}

LocalVerdicts all_undecided(const std::string& why) {
  LocalVerdicts result;
  for (const char* property :
       {"locally testable", "definite", "reverse definite", "generalised definite", "nilpotent", "quasi-aperiodic"})
    result.verdicts.push_back(undecided(property, why));
  return result;
}

LocalVerdicts by_elements(const Dfa& dfa, std::uint64_t elements) {
  const SyntacticSemigroup s(dfa, elements);
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

/// Locally testable, definite, reverse definite, generalised definite, nilpotent and quasi-aperiodic, in that order;
/// all unknown when the monoid, of `size` elements, is larger than `max_elements`. O(idempotents · elements · word
/// length), and O(local monoid²) for each idempotent.
LocalVerdicts local_verdicts(const Dfa& dfa, const Integer& size, std::uint64_t max_elements) {
  if (size > max_elements)
    return all_undecided(fmt::format("the monoid has {}; decided up to {} (--max-elements)",
                                     counted(size.str(), "element"), with_thousands(max_elements)));
  try {
    return by_elements(dfa, size.convert_to<std::uint64_t>());
  } catch (const LimitError& error) {  // the time is over
    return all_undecided(error.what());
  }
}

namespace {

/// The most classes with a group on a chain, by counting off those that nothing uncounted is above.
std::uint64_t depth(std::span<const DClass> classes) {
  std::vector<std::uint32_t> above(classes.size(), 0), queue;
  for (const DClass& box : classes)
    for (const std::uint32_t lower : box.below) ++above[lower];
  for (std::uint32_t d = 0; d < classes.size(); ++d)
    if (above[d] == 0) queue.push_back(d);
  std::vector<std::uint64_t> length(classes.size(), 0);
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const DClass& box = classes[queue[i]];
    length[queue[i]] += box.regular && box.group_order > 1;
    most = std::max(most, length[queue[i]]);
    for (const std::uint32_t lower : box.below) {
      length[lower] = std::max(length[lower], length[queue[i]]);
      if (--above[lower] == 0) queue.push_back(lower);
    }
  }
  return most;
}

}  // namespace

ComplexityBounds complexity_bounds(const GreenStructure& green, Point degree) {
  const std::uint64_t chain = depth(green.d_classes());
  if (chain == 0) return {0, 0, "aperiodic", "aperiodic"};
  Integer all = 1;
  for (Point i = 0; i < degree; ++i) all *= degree;
  if (green.size() == all) {
    const std::string why = "all maps of the states";
    return {degree - 1, degree - 1, why, why};
  }
  return {1, chain, "not aperiodic", "classes with groups on a chain of the J-order (Tilson)"};
}

namespace {

constexpr std::size_t kCheckedMaps = 100'000;        ///< met by the check of one witness
constexpr std::size_t kCheckedNumbers = 20'000'000;  ///< maps × states

std::string listed(const Dfa& dfa, const std::vector<State>& states) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(states.size(), 12); ++i)
    text += fmt::format("{}{}", i ? ", " : "", dfa.state_name(states[i]));
  return text + (states.size() > 12 ? ", …" : "");
}

/// Verdicts that the D-classes decide, by witnesses that are checked. What follows from another verdict is left open.
class ByClasses {
 public:
  ByClasses(const Dfa& dfa, const GreenStructure& green, const std::vector<MaximalSubgroup>& groups)
      : dfa_(dfa), green_(green), groups_(groups) {}

  std::vector<Verdict> verdicts() const {
    return {decided("group", merging_letter(dfa_)),
            decided("aperiodic", some_cycle()),
            decided("2-groups only", some_odd_order()),
            decided("solvable groups", some_unsolvable()),
            decided("commutative", non_commuting_letters(dfa_)),
            decided("R-trivial", returning_state(dfa_)),
            l_trivial(),
            undecided("J-trivial", {}),
            in_da()};
  }

 private:
  std::string describe(const MaximalSubgroup& group) const {
    std::string words;
    for (std::size_t i = 0; i < group.words.size(); ++i)
      words += (i > 0 ? " and " : "") + quoted_letters(dfa_.alphabet(), group.generators[i]);
    return fmt::format("{} act{} on states {{{}}} as {}", words, group.words.size() == 1 ? "s" : "",
                       listed(dfa_, group.states), group.name);
  }

  std::string some_cycle() const {
    if (groups_.empty()) return {};
    const MaximalSubgroup& group = groups_.front();
    require_witness(order_on(dfa_, group.generators.front(), group.states) > 1, "aperiodic");
    return describe(group);
  }

  std::string some_odd_order() const {
    for (const MaximalSubgroup& group : groups_) {
      if ((group.order & (group.order - 1)) == 0) continue;
      const std::optional<Word> word = odd_word(green_.loops(group.d_class));
      if (!word) return describe(group);
      const std::uint64_t order = order_on(dfa_, *word, group.states);
      require_witness((order & (order - 1)) != 0, "2-groups only");
      return fmt::format("{}; {} has order {} there", describe(group), quoted_letters(dfa_.alphabet(), *word), order);
    }
    return {};
  }

  std::string some_unsolvable() const {
    for (const MaximalSubgroup& group : groups_) {
      if (group.solvable) continue;
      const auto words = coprime_words(green_.loops(group.d_class));
      if (!words) return describe(group);
      const auto& [u, v] = *words;
      require_witness(has_coprime_orders(dfa_, u, v, group.states), "solvable groups");
      return fmt::format("{}; there {}, {} and their product have orders coprime in pairs (Thompson)", describe(group),
                         quoted_letters(dfa_.alphabet(), u), quoted_letters(dfa_.alphabet(), v));
    }
    return {};
  }

  bool has_groups() const {
    return std::any_of(green_.d_classes().begin(), green_.d_classes().end(),
                       [](const DClass& box) { return box.group_order > 1; });
  }

  std::size_t checked_maps() const { return std::min(kCheckedMaps, kCheckedNumbers / dfa_.states() + 1); }

  /// A no, if its check ended; a check that ended with no is a fault.
  Verdict checked(std::string_view property, std::optional<bool> check, std::string witness) const {
    if (!check)
      return undecided(property,
                       fmt::format("not checked among {}: {}", counted(checked_maps(), "map"), std::move(witness)));
    require_witness(*check, property);
    return decided(property, std::move(witness));
  }

  /// Without groups, for then it follows that there are L-classes of several elements.
  Verdict l_trivial() const {
    if (has_groups()) return undecided("L-trivial", {});
    for (std::uint32_t d = 0; d < green_.d_classes().size(); ++d) {
      if (green_.d_classes()[d].r_classes == 1) continue;
      const Word& word = green_.d_classes()[d].word;
      Word longer{green_.row_changing_generator(d)};
      longer.insert(longer.end(), word.begin(), word.end());
      require_witness(images_of_word(dfa_, longer) != images_of_word(dfa_, word), "L-trivial");
      return checked(
          "L-trivial", left_multiple(dfa_, longer, word, checked_maps()),
          fmt::format("{} L {}", quoted_letters(dfa_.alphabet(), longer), quoted_letters(dfa_.alphabet(), word)));
    }
    return decided("L-trivial", {});
  }

  /// Without groups, for then some regular class has elements that are not idempotent.
  Verdict in_da() const {
    if (has_groups()) return undecided("DA", {});
    for (std::uint32_t d = 0; d < green_.d_classes().size(); ++d) {
      const DClass& box = green_.d_classes()[d];
      if (!box.regular || box.idempotents == box.r_classes * box.l_classes) continue;
      const GreenStructure::EggBox cells = green_.egg_box(d);
      for (std::uint32_t row = 0; row < box.r_classes; ++row)
        for (std::uint32_t column = 0; column < box.l_classes; ++column) {
          if (cells.cells[row][column]) continue;
          const Word word = green_.cell_word(d, row, column);
          require_witness(!is_idempotent_word(dfa_, word), "DA");
          return checked(
              "DA", is_regular_word(dfa_, word, checked_maps()),
              fmt::format("{} lies in a regular class and is not idempotent", quoted_letters(dfa_.alphabet(), word)));
        }
    }
    return decided("DA", {});
  }

  const Dfa& dfa_;
  const GreenStructure& green_;
  const std::vector<MaximalSubgroup>& groups_;
};

/// A few of the shortest loops that generate the whole group already.
std::vector<Word> generating_words(const std::vector<GreenStructure::Loop>& loops, const Integer& group_order) {
  std::vector<Word> words;
  std::vector<Permutation> generators;
  Integer size = 1;
  for (const GreenStructure::Loop& loop : loops) {
    if (size == group_order) break;
    generators.push_back(loop.action);
    const Integer larger = order(PermutationGroup::from_generators(loop.action.degree(), generators));
    if (larger == size) {
      generators.pop_back();
      continue;
    }
    size = larger;
    words.push_back(loop.word);
  }
  return words;
}

std::vector<MaximalSubgroup> maximal_subgroups(const Dfa& dfa, const GreenStructure& green) {
  std::vector<MaximalSubgroup> groups;
  for (std::uint32_t d = 0; d < green.d_classes().size(); ++d) {
    const DClass& box = green.d_classes()[d];
    if (!box.regular || box.group_order == 1) continue;
    MaximalSubgroup group;
    group.name = recognised_name(box.group);
    group.order = box.group_order;
    group.solvable = is_solvable(box.group);
    group.d_class = d;
    group.states = green.image_of(d);
    group.generators = generating_words(green.loops(d), box.group_order);
    for (const Word& word : group.generators) group.words.push_back(dfa.alphabet().format_word(word));
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::string to_string(Answer answer) {
  return answer == Answer::kYes ? "yes" : answer == Answer::kNo ? "no" : "unknown";
}

const Verdict& Algebra::verdict(std::string_view property) const {
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [&](const Verdict& candidate) { return candidate.property == property; });
  assert(found != verdicts.end());
  return *found;
}

std::vector<Transformation> letter_maps(const Dfa& dfa) {
  std::vector<Transformation> maps;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) maps.push_back(dfa.letter_map(letter));
  return maps;
}

Algebra analyse(const Dfa& dfa, const AlgebraOptions& options) {
  Algebra algebra;
  const GreenStructure& green =
      algebra.green.emplace(GreenStructure::of(letter_maps(dfa), dfa.states(), options.green));
  algebra.size = green.size();
  algebra.idempotents = green.idempotents();
  algebra.groups = maximal_subgroups(dfa, green);
  algebra.verdicts = ByClasses(dfa, green, algebra.groups).verdicts();
  LocalVerdicts local = local_verdicts(dfa, algebra.size, options.max_elements);
  algebra.verdicts.insert(algebra.verdicts.end(), local.verdicts.begin(), local.verdicts.end());
  const auto add = [&](const char* property, const auto& decide) {
    algebra.verdicts.push_back(decided_in_time(property, decide));
  };
  add("right regular idempotents", [&] { return right_regular_idempotents(dfa, options.max_elements); });
  add("synchronising", [&] { return synchronising(dfa); });
  if (dfa.is_acceptor()) add("finite", [&] { return decided("finite", endless_words(dfa)); });
  algebra.stability_index = local.stability_index;
  for (Verdict& verdict : algebra.verdicts)
    if (verdict.property == "definite" && verdict.answer == Answer::kUnknown)
      verdict = decided_in_time("definite", [&] { return definite(dfa, verdict.witness); });
  draw_conclusions(algebra.verdicts);
  return algebra;
}

Algebra analyse_within_limits(const Dfa& dfa, const AlgebraOptions& options) {
  try {
    const TimeLimit half = TimeLimit::part(0.5);
    return analyse(dfa, options);
  } catch (const LimitError& error) {
    const TimeLimit half = TimeLimit::part(0.5);
    Algebra algebra;
    algebra.limit = error.what();
    algebra.verdicts = partial_verdicts(dfa, algebra.limit);
    return algebra;
  }
}

}  // namespace krohn
