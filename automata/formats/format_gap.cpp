#include "krohn/automata/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

std::string gap_string(const std::string& text) { return '"' + escape_dot(text) + '"'; }

constexpr std::size_t kMaxImages = std::size_t{1} << 26;

std::string named_in_words(std::string_view text, std::string_view where, const GapSemigroup& semigroup) {
  return fmt::format(
      "{} ({})",
      semigroup.variables.empty() ? "one without a name" : fmt::to_string(fmt::join(semigroup.variables, " = ")),
      position_in(text, semigroup.offset, where));
}

/// The semigroup that is meant.
const GapSemigroup& chosen(const GapText& read, std::string_view text, std::string_view where,
                           const std::optional<std::string>& name) {
  if (read.semigroups.empty())
    throw InputError(where, "no Semigroup, Monoid or Group in it, and no transformation or permutation");
  if (!name && read.semigroups.size() == 1) return read.semigroups.front();
  std::vector<std::string> all;
  for (const GapSemigroup& semigroup : read.semigroups) {
    if (name && std::ranges::find(semigroup.variables, *name) != semigroup.variables.end()) return semigroup;
    if (all.size() < 10) all.push_back(named_in_words(text, where, semigroup));
  }
  throw InputError(
      where, name ? fmt::format("no semigroup is called {}; there are: {}", in_quotes(*name), fmt::join(all, ", "))
                  : fmt::format("{} semigroups: {}. Say which with --semigroup NAME", read.semigroups.size(),
                                fmt::join(all, ", ")));
}

std::vector<std::string> letter_names(const GapText& read, const GapSemigroup& semigroup) {
  if (!read.letters.empty()) return read.letters;
  std::vector<std::string> names = semigroup.names;
  for (std::size_t i = names.size(); i < semigroup.generators.size(); ++i)
    names.push_back(i < 26 ? std::string(1, static_cast<char>('a' + i)) : fmt::format("x{}", i + 1));
  return names;
}

void set_outputs(Draft& draft, const GapText& read, std::size_t points, std::string_view where) {
  draft.outputs.assign(points, 0);
  for (std::size_t point = 0; point < points; ++point) draft.state_names.push_back(std::to_string(point + 1));
  if (!read.outputs.empty()) {
    if (read.outputs.size() != points)
      throw InputError(where, fmt::format("{} outputs for {} points", read.outputs.size(), points));
    NameTable names;
    for (std::size_t point = 0; point < points; ++point) draft.outputs[point] = names.intern(read.outputs[point]);
    draft.output_names = names.names();
  } else if (read.accepting) {
    for (const std::uint32_t point : *read.accepting) {
      if (point > points) throw InputError(where, fmt::format("accepting has point {} of {}", point, points));
      draft.outputs[point - 1] = 1;
    }
  } else {
    draft.has_start = read.initial.has_value();
    for (std::size_t point = 0; point < points; ++point) draft.outputs[point] = static_cast<Output>(point);
    draft.output_names = draft.state_names;
  }
}

}  // namespace

std::string write_gap(const Dfa& dfa) {
  if (dfa.letters() == 0) throw InputError("GAP has no transformations of no letters; write JSON or DOT");
  std::vector<std::string> letters, maps;
  const bool permutes = dfa.is_permutation_automaton();
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    letters.push_back(gap_string(dfa.alphabet().name(letter)));
    std::vector<State> images;
    for (State state = 0; state < dfa.states(); ++state) images.push_back(dfa.next(state, letter) + 1);
    maps.push_back(fmt::format("Transformation([{}])", fmt::join(images, ", ")));
  }
  std::string text = fmt::format("letters := [{}];\ntransformations := [\n  {}\n];\n", fmt::join(letters, ", "),
                                 fmt::join(maps, ",\n  "));
  text += permutes ? "group := Group(List(transformations, AsPermutation));\n"
                   : "semigroup := Semigroup(transformations);\n";
  if (!dfa.has_start()) return text;
  text += fmt::format("initial := {};\n", dfa.initial() + 1);
  std::vector<State> accepting;
  std::vector<std::string> outputs;
  for (State state = 0; state < dfa.states(); ++state) {
    if (dfa.is_acceptor() && dfa.accepts(state)) accepting.push_back(state + 1);
    outputs.push_back(gap_string(dfa.output_names()[dfa.output(state)]));
  }
  if (dfa.is_acceptor()) return text + fmt::format("accepting := [{}];\n", fmt::join(accepting, ", "));
  return text + fmt::format("outputs := [{}];\n", fmt::join(outputs, ", "));
}

Draft read_gap(std::string_view text, std::string_view where, const LanguageOptions& options) {
  text = checked_text(text, where);
  const GapText read = read_gap_text(text, where);
  const GapSemigroup& semigroup = chosen(read, text, where, options.semigroup);
  std::size_t points = 1;
  for (const auto& map : semigroup.generators) {
    points = std::max(points, map->size());
    for (const std::uint32_t image : *map) points = std::max(points, std::size_t{image} + 1);
  }
  if (points * semigroup.generators.size() > kMaxImages)
    throw LimitError(fmt::format("{}: {} transformations of {} points; the limit is 2^26 images", where,
                                 semigroup.generators.size(), points));
  const std::vector<std::string> names = letter_names(read, semigroup);
  if (names.size() != semigroup.generators.size())
    throw InputError(
        where, fmt::format("{} names in letters for {} transformations", names.size(), semigroup.generators.size()));
  Draft draft;
  draft.alphabet = alphabet_of_names(names, where);
  const std::uint64_t initial = read.initial.value_or(1);
  if (initial > points) throw InputError(where, fmt::format("initial is {} of {} points", initial, points));
  draft.initial = {static_cast<State>(initial - 1)};
  set_outputs(draft, read, points, where);
  for (Letter letter = 0; letter < names.size(); ++letter) {
    const std::vector<std::uint32_t>& map = *semigroup.generators[letter];
    // GAP's transformations fix every point past their lists.
    for (State point = 0; point < points; ++point)
      draft.arcs.push_back({point, letter, point < map.size() ? map[point] : point});
  }
  return draft;
}

}  // namespace krohn
