// automata/formats/format_gap.h — what the letters do to the states, for GAP and its packages SgpDec, Semigroups,
// Automata.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/formats/format_draft.h"

namespace krohn {

/// GAP statements: the letters' transformations and their semigroup, the group when they all permute the states, and
/// the ends of an acceptor or the outputs, where the automaton has a start. State q is point q + 1.
std::string write_gap(const Dfa& dfa);

/// The generated object: the semigroup, monoid or group of a GAP text, or that of its transformations where it names
/// none.
struct GapSemigroup {
  std::vector<std::string> variables;                                         ///< that hold it in the end
  std::size_t offset = 0;                                                     ///< of the call that made it
  std::vector<std::shared_ptr<const std::vector<std::uint32_t>>> generators;  ///< images from 0; later points are fixed
  std::vector<std::string> names;  ///< the variables of the generators, when each is one; otherwise none
};

struct GapText {
  std::vector<GapSemigroup> semigroups;
  std::vector<std::string> letters, outputs;            ///< of the variables of these names, or none
  std::optional<std::vector<std::uint32_t>> accepting;  ///< points from 1
  std::optional<std::uint64_t> initial;
};

/// Evaluates the statements of the text: assignments; numbers, strings, lists and ranges; `Transformation`,
/// `TransformationNC`, `AsTransformation`, `AsPermutation`, `PermList`, `IdentityTransformation`, permutations in
/// cycles; products, quotients and powers; `List` with a conversion; `Semigroup`, `Monoid` and `Group` of such.
/// Questions about them, such as `Size(S);`, are passed over. Throws InputError with line and column for anything else,
/// and LimitError past 2^28 images.
GapText read_gap_text(std::string_view text, std::string_view where);

/// The transformations that generate the semigroup of a GAP text, as letters, on as many points as the largest has.
/// Letters have the names in `letters`, else those of the variables that hold them, else a, b, …, x27, …. `options`
/// names the semigroup where there are several. Every state is its own output and there is no start, so that nothing is
/// merged or dropped: the automaton stands for the transformations alone. With `accepting := […]` it is an acceptor,
/// with `outputs := ["…", …]` a Moore machine of these, and `initial := n` names the initial state, otherwise the
/// first.
Draft read_gap(std::string_view text, std::string_view where, const LanguageOptions& options = {});

}  // namespace krohn
