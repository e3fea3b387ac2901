#include "tools/krohn/report/smallest_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/constructions/smallest/smallest.h"
#include "krohn/groups/names/recognise.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/structure/small_groups.h"
#include "krohn/groups/transformations/small_monoids.h"

namespace krohn {
namespace {

constexpr Point kMostPoints = 3;
constexpr std::uint32_t kMostElements = 24;

Dfa machine(const std::vector<Transformation>& letters, Point states, State initial) {
  std::vector<State> table;
  for (State q = 0; q < states; ++q)
    for (const Transformation& letter : letters) table.push_back(letter[q]);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < letters.size(); ++i) names.push_back(fmt::format("s{}", i));
  return Dfa::acceptor(Alphabet::from_names(names), std::move(table), initial, std::vector<bool>(states, false));
}

/// A state from which every state is reached.
std::optional<State> source(const std::vector<Transformation>& elements, Point states) {
  for (State q = 0; q < states; ++q) {
    std::set<Point> reached;
    for (const Transformation& f : elements) reached.insert(f[q]);
    if (reached.size() == states) return q;
  }
  return std::nullopt;
}

/// "2", where bound and plan meet; "2 (3)" for a bound of 2 and a network of 3; "none" where no number is enough; "–"
/// where there is no bound.
std::string cell(const Smallest& found, std::string_view counted, std::string_view model) {
  const auto bound = std::ranges::find_if(
      found.bounds, [&](const SizeBound& row) { return row.counted == counted && row.model.starts_with(model); });
  if (bound == found.bounds.end()) return "–";
  if (bound->is_optimal()) return fmt::format("**{}**", bound->least());
  return bound->built ? fmt::format("{} ({})", bound->least(), *bound->built) : bound->least();
}

struct Column {
  const char* title;
  const char* counted;
  const char* model;
};

template <std::size_t N>
std::string heading(const std::string& first, const Column (&columns)[N]) {
  std::string titles = first, rule;
  for (const Column& column : columns) titles += fmt::format(" {} |", column.title);
  for (const char c : titles)
    if (c == '|') rule += rule.empty() ? "|" : "---|";
  return fmt::format("{}\n{}\n", titles, rule);
}

template <std::size_t N>
std::string cells(const Smallest& found, const Column (&columns)[N]) {
  std::string row;
  for (const Column& column : columns) row += fmt::format(" {} |", cell(found, column.counted, column.model));
  return row;
}

constexpr Column kMonoidColumns[] = {{"numbers, any read-out", "numbers of state", "one layer, finitely many values"},
                                     {"numbers, read linearly", "numbers of state", "one layer, read linearly"},
                                     {"the same, nothing added", "numbers of state", "one layer, no inputs added"},
                                     {"reflections", "reflections per letter", "one layer, finitely many values"},
                                     {"labels of the widest layer", "labels of the widest layer", "cascade"},
                                     {"layers with groups", "layers with groups", "cascade"},
                                     {"reset layers", "layers", "diagonal matrices in [0, 1]"}};

constexpr Column kGroupColumns[] = {
    {"numbers, a matrix for each element", "numbers of state", "one layer, a matrix for each element"},
    {"numbers, any read-out", "numbers of state", "one layer, finitely many values"},
    {"reflections, a matrix for each element", "reflections per letter", "one layer, a matrix for each element"},
    {"reflections, any layer", "reflections per letter", "one layer, finitely many values"},
    {"labels of the widest layer", "labels of the widest layer", "cascade"},
    {"diagonal complex layers", "layers", "diagonal complex"}};

std::string groups_of(const Dfa& automaton) {
  std::string text;
  const GreenStructure green = GreenStructure::of(letter_maps(automaton), automaton.states());
  for (const DClass& box : green.d_classes())
    if (box.regular && box.group_order > 1) text += (text.empty() ? "" : ", ") + recognised_name(box.group);
  return text.empty() ? "none" : text;
}

}  // namespace

std::string smallest_monoids_table() {
  std::string text = heading("| points | elements | letters | groups |", kMonoidColumns);
  for (Point points = 1; points <= kMostPoints; ++points)
    for (const SmallMonoid& monoid : monoids_on(points)) {
      std::string letters;
      for (const Transformation& letter : monoid.generators)
        letters += (letters.empty() ? "" : " ") + to_string(letter);
      const auto start = source(monoid.elements, points);
      const Dfa automaton = machine(monoid.generators, points, start.value_or(0));
      text += fmt::format("| {} | {} | {} | {} |", points, monoid.elements.size(), letters, groups_of(automaton));
      if (start) {
        text += cells(smallest(automaton, states_shown(automaton)), kMonoidColumns);
      } else {
        for (std::size_t i = 0; i < std::size(kMonoidColumns); ++i) text += " |";
      }
      text += "\n";
    }
  return text;
}

std::string smallest_groups_table() {
  std::string text = heading("| order | group |", kGroupColumns);
  for (std::uint32_t size = 1; size <= kMostElements; ++size)
    for (const PermutationGroup& group : groups_of_order(size)) {
      const GroupElements elements = GroupElements::enumerate(group);
      std::vector<Transformation> letters;
      for (ElementIndex e = 0; e < elements.size(); ++e) {
        const auto images = elements.images(e);
        letters.push_back(Transformation::from_images({images.begin(), images.end()}));
      }
      const Dfa automaton = machine(letters, size, 0);
      text += fmt::format("| {} | {} |{}\n", size, recognised_name(group),
                          cells(smallest(automaton, states_shown(automaton)), kGroupColumns));
    }
  return text;
}

}  // namespace krohn
