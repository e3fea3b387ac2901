#include "krohn/automata/monoid/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>

#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/crossing_idempotents.h"
#include "krohn/automata/monoid/group_witness.h"
#include "krohn/automata/monoid/local_verdicts.h"
#include "krohn/automata/monoid/partial_verdicts.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/synchronising.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/names/recognise.h"
#include "krohn/groups/structure/series.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr std::size_t kCheckedMaps = 100'000;        ///< met by the check of one witness
constexpr std::size_t kCheckedNumbers = 20'000'000;  ///< maps × states

/// A witness that fails its check is a fault of krohn's, and nothing may be claimed on it.
void require(bool checked, std::string_view property) {
  if (!checked) throw Error(fmt::format("the witness against \"{}\" failed its check; please report this", property));
}

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
    require(order_on(dfa_, group.generators.front(), group.states) > 1, "aperiodic");
    return describe(group);
  }

  std::string some_odd_order() const {
    for (const MaximalSubgroup& group : groups_) {
      if ((group.order & (group.order - 1)) == 0) continue;
      const std::optional<Word> word = odd_word(green_.loops(group.d_class));
      if (!word) return describe(group);
      const std::uint64_t order = order_on(dfa_, *word, group.states);
      require((order & (order - 1)) != 0, "2-groups only");
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
      require(has_coprime_orders(dfa_, u, v, group.states), "solvable groups");
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
    require(*check, property);
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
      require(images_of_word(dfa_, longer) != images_of_word(dfa_, word), "L-trivial");
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
          require(!is_idempotent_word(dfa_, word), "DA");
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
  algebra.verdicts.push_back(right_regular_idempotents(dfa, options.max_elements));
  algebra.verdicts.push_back(synchronising(dfa));
  if (dfa.is_acceptor()) algebra.verdicts.push_back(decided("finite", endless_words(dfa)));
  algebra.stability_index = local.stability_index;
  for (Verdict& verdict : algebra.verdicts)
    if (verdict.property == "definite" && verdict.answer == Answer::kUnknown) verdict = definite(dfa, verdict.witness);
  draw_conclusions(algebra.verdicts);
  return algebra;
}

Algebra analyse_within_limits(const Dfa& dfa, const AlgebraOptions& options) {
  try {
    const TimeLimit half = TimeLimit::part(0.5);
    return analyse(dfa, options);
  } catch (const LimitError& error) {
    Algebra algebra;
    algebra.limit = error.what();
    algebra.verdicts = partial_verdicts(dfa, algebra.limit);
    return algebra;
  }
}

}  // namespace krohn
