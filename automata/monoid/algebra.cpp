#include "krohn/automata/monoid/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/monoid/local_verdicts.h"
#include "krohn/automata/operations/emptiness.h"
#include "krohn/groups/names/recognise.h"
#include "krohn/groups/structure/series.h"

namespace krohn {
namespace {

std::string quoted(const Dfa& dfa, std::span<const std::uint32_t> word) {
  return word.empty() ? "the empty word" : fmt::format("\"{}\"", dfa.alphabet().format_word(word));
}

Verdict verdict(std::string property, std::string meaning, std::string witness) {
  const Answer answer = witness.empty() ? Answer::kYes : Answer::kNo;
  return {std::move(property), std::move(meaning), answer, std::move(witness)};
}

/// Verdicts that the D-classes decide.
class ByClasses {
 public:
  ByClasses(const Dfa& dfa, const GreenStructure& green, const std::vector<MaximalSubgroup>& groups)
      : dfa_(dfa), green_(green), groups_(groups) {}

  std::vector<Verdict> verdicts() const {
    return {verdict("group", "every letter permutes the states; a group language", merging_letter()),
            verdict("aperiodic", "star-free; first-order definable", some_group([](const auto&) { return true; })),
            verdict("2-groups only", "all subgroups are 2-groups",
                    some_group([](const MaximalSubgroup& g) { return (g.order & (g.order - 1)) != 0; })),
            verdict("solvable groups", "all subgroups are solvable",
                    some_group([](const MaximalSubgroup& g) { return !g.solvable; })),
            verdict("commutative", "the order of letters does not matter", non_commuting_letters()),
            verdict("R-trivial", "no state is entered again once it was left", two_in_a_row("R")),
            verdict("L-trivial", "the reversed language is R-trivial", two_in_a_column("L")),
            verdict("J-trivial", "piecewise testable", two_in_a_class()),
            verdict("DA", "unambiguous; two-variable first-order definable", non_band())};
  }

 private:
  std::string merging_letter() const {
    for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
      std::vector<State> source(dfa_.states(), dfa_.states());
      for (State state = 0; state < dfa_.states(); ++state) {
        State& first = source[dfa_.next(state, letter)];
        if (first != dfa_.states())
          return fmt::format("\"{}\" merges states {} and {}", dfa_.alphabet().name(letter), dfa_.state_name(first),
                             dfa_.state_name(state));
        first = state;
      }
    }
    return {};
  }

  template <class Bad>
  std::string some_group(Bad bad) const {
    for (const MaximalSubgroup& group : groups_)
      if (bad(group)) {
        std::string states;
        for (std::size_t i = 0; i < std::min<std::size_t>(group.states.size(), 12); ++i)
          states += fmt::format("{}{}", i ? ", " : "", dfa_.state_name(group.states[i]));
        if (group.states.size() > 12) states += ", …";
        std::string words;
        for (std::size_t i = 0; i < group.words.size(); ++i)
          words += fmt::format("{}\"{}\"", i ? " and " : "", group.words[i]);
        return fmt::format("{} act{} on states {{{}}} as {}", words, group.words.size() == 1 ? "s" : "", states,
                           group.name);
      }
    return {};
  }

  std::string non_commuting_letters() const {
    for (Letter a = 0; a < dfa_.letters(); ++a)
      for (Letter b = a + 1; b < dfa_.letters(); ++b)
        for (State state = 0; state < dfa_.states(); ++state)
          if (dfa_.next(dfa_.next(state, a), b) != dfa_.next(dfa_.next(state, b), a))
            return fmt::format("{} and {} differ from state {}", quoted(dfa_, std::array{a, b}),
                               quoted(dfa_, std::array{b, a}), dfa_.state_name(state));
    return {};
  }

  /// The class of the group words: x and x·loop are in one H-class.
  std::string group_pair(std::uint32_t d, const char* relation) const {
    for (const GreenStructure::Loop& loop : green_.loops(d)) {
      if (!StabiliserChain(green_.d_classes()[d].group).contains(loop.action)) continue;
      std::vector<std::uint32_t> longer = green_.d_classes()[d].word;
      longer.insert(longer.end(), loop.word.begin(), loop.word.end());
      return fmt::format("{} {} {}", quoted(dfa_, longer), relation, quoted(dfa_, green_.d_classes()[d].word));
    }
    return fmt::format("the H-class of {} has {} elements", quoted(dfa_, green_.d_classes()[d].word),
                       green_.d_classes()[d].group_order.str());
  }

  std::string pair(std::uint32_t d, std::uint32_t row, std::uint32_t column, const char* relation) const {
    return fmt::format("{} {} {}", quoted(dfa_, green_.cell_word(d, row, column)), relation,
                       quoted(dfa_, green_.cell_word(d, 0, 0)));
  }

  std::string two_in_a_row(const char* relation) const {
    for (std::uint32_t d = 0; d < green_.d_classes().size(); ++d) {
      const DClass& box = green_.d_classes()[d];
      if (box.group_order > 1) return group_pair(d, relation);
      if (box.l_classes > 1) return row_pair(d, relation);
    }
    return {};
  }

  /// Columns of one image differ by a loop, others by the image.
  std::string row_pair(std::uint32_t d, const char* relation) const {
    const DClass& box = green_.d_classes()[d];
    const GreenStructure::EggBox egg_box = green_.egg_box(d);
    for (std::uint32_t column = 1; column < box.l_classes; ++column)
      if (egg_box.images[column] != egg_box.images[0]) return pair(d, 0, column, relation);
    std::vector<std::uint32_t> longer = box.word;
    const GreenStructure::Loop loop = green_.loops(d).front();
    longer.insert(longer.end(), loop.word.begin(), loop.word.end());
    return fmt::format("{} {} {}", quoted(dfa_, longer), relation, quoted(dfa_, box.word));
  }

  std::string two_in_a_column(const char* relation) const {
    for (std::uint32_t d = 0; d < green_.d_classes().size(); ++d) {
      const DClass& box = green_.d_classes()[d];
      if (box.group_order > 1) return group_pair(d, relation);
      if (box.r_classes > 1) return column_pair(d, relation);
    }
    return {};
  }

  std::string column_pair(std::uint32_t d, const char* relation) const {
    const std::vector<std::uint32_t>& word = green_.d_classes()[d].word;
    std::vector<std::uint32_t> longer{green_.row_changing_generator(d)};
    longer.insert(longer.end(), word.begin(), word.end());
    return fmt::format("{} {} {}", quoted(dfa_, longer), relation, quoted(dfa_, word));
  }

  /// R and L lie in J.
  std::string two_in_a_class() const {
    const std::string pair = two_in_a_row("J");
    return pair.empty() ? two_in_a_column("J") : pair;
  }

  std::string non_band() const {
    for (std::uint32_t d = 0; d < green_.d_classes().size(); ++d) {
      const DClass& box = green_.d_classes()[d];
      if (!box.regular) continue;
      if (box.group_order > 1) return group_pair(d, "H");
      if (box.idempotents == box.r_classes * box.l_classes) continue;
      const GreenStructure::EggBox cells = green_.egg_box(d);
      for (std::uint32_t row = 0; row < box.r_classes; ++row)
        for (std::uint32_t column = 0; column < box.l_classes; ++column)
          if (!cells.cells[row][column])
            return fmt::format("{} lies in a regular class and is not idempotent",
                               quoted(dfa_, green_.cell_word(d, row, column)));
    }
    return {};
  }

  const Dfa& dfa_;
  const GreenStructure& green_;
  const std::vector<MaximalSubgroup>& groups_;
};

/// A few of the shortest loops that generate the whole group already.
std::vector<std::string> generating_words(const Dfa& dfa, const std::vector<GreenStructure::Loop>& loops,
                                          const Integer& group_order) {
  std::vector<std::string> words;
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
    words.push_back(dfa.alphabet().format_word(loop.word));
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
    group.words = generating_words(dfa, green.loops(d), box.group_order);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// A shortest non-empty word from a state to one that `goal` takes, if there is one.
template <class Goal>
std::optional<Word> shortest_path(const Dfa& dfa, State from, Goal goal) {
  std::vector<std::optional<Word>> words(dfa.states());
  std::vector<State> queue;
  const auto extend = [&](const Word& word, State state) -> std::optional<Word> {
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State to = dfa.next(state, letter);
      if (words[to]) continue;
      words[to] = word;
      words[to]->push_back(letter);
      if (goal(to)) return words[to];
      queue.push_back(to);
    }
    return std::nullopt;
  };
  if (auto found = extend({}, from)) return found;
  for (std::size_t i = 0; i < queue.size(); ++i)
    if (auto found = extend(*words[queue[i]], queue[i])) return found;
  return std::nullopt;
}

/// Whether the language is finite; the witness against is a state on the way to acceptance that a word brings back.
Verdict finite(const Dfa& dfa) {
  Verdict result{"finite", "accepts finitely many words", Answer::kYes, {}};
  if (is_finite(dfa)) return result;
  result.answer = Answer::kNo;
  const ShortestWords words(dfa);
  const std::vector<bool> useful = coaccessible_states(dfa);
  for (const State state : words.states()) {
    if (!useful[state]) continue;
    const auto loop = shortest_path(dfa, state, [&](State to) { return to == state; });
    if (!loop) continue;
    Word end;
    if (!dfa.accepts(state)) end = *shortest_path(dfa, state, [&](State to) { return dfa.accepts(to); });
    result.witness = fmt::format("{}, then {} any number of times, then {}", quoted(dfa, *words.to(state)),
                                 quoted(dfa, *loop), quoted(dfa, end));
    break;
  }
  return result;
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
  Algebra algebra(GreenStructure::of(letter_maps(dfa), dfa.states(), options.green));
  algebra.size = algebra.green.size();
  algebra.idempotents = algebra.green.idempotents();
  algebra.groups = maximal_subgroups(dfa, algebra.green);
  algebra.verdicts = ByClasses(dfa, algebra.green, algebra.groups).verdicts();
  LocalVerdicts local = local_verdicts(dfa, algebra.size, options.max_elements);
  algebra.verdicts.insert(algebra.verdicts.end(), local.verdicts.begin(), local.verdicts.end());
  if (dfa.is_acceptor()) algebra.verdicts.push_back(finite(dfa));
  algebra.stability_index = local.stability_index;
  return algebra;
}

}  // namespace krohn
