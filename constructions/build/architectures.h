// constructions/build/architectures.h — which recurrent architecture can hold an automaton at every length (MATH.md
// §4).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/monoid/algebra.h"
#include "krohn/constructions/build/planner.h"

namespace krohn {

/// One family of linear recurrent networks, with its answer for one automaton.
struct Architecture {
  std::string family;  ///< "diagonal, A in [0, 1]"
  Answer answer = Answer::kUnknown;
  std::string theorem;       ///< the theorem or search that decides it, and the kind of that claim
  std::string construction;  ///< with kYes: what `build` takes; empty when no construction of krohn shows it
  /// With kYes: the construction that shows it bit for bit: `construction` itself, or where that rounds one with the
  /// same eigenvalues (complex diagonal), in larger blocks (3×3), or with more reflections.
  std::string exact;
  std::string reason;  ///< with kNo: the obstruction and its witness; otherwise a remark
  /// With kYes, once somebody who can prove it has: how the networks of `construction` and `exact` were proved.
  std::string checked{};
  std::string arithmetic = "fp64";  ///< that `construction` is to be proved in
};

/// Integers that a diagonal model may compute in, by what its groups are then (MATH.md §4, Integers).
struct IntegerKind {
  std::string_view family, name;  ///< "diagonal, integers that wrap around", "wrapping"
  std::string_view property;      ///< a verdict's: of the languages that such a model holds
  std::string_view construction;  ///< shows it, in `arithmetic`
  std::string_view arithmetic;
  bool wraps;
};
inline constexpr std::array<IntegerKind, 3> kIntegerKinds{
    {{"diagonal, integers that wrap around", "wrapping", "2-groups only", "diagonal-wrapping", "u8", true},
     {"diagonal, unsigned integers that saturate", "unsigned saturating", "aperiodic", "diagonal-unit-interval",
      "u8-saturating", false},
     {"diagonal, signed integers that saturate", "signed saturating", "2-groups only", "diagonal-signed",
      "i8-saturating", false}}};

/// The table of MATH.md §4 for one automaton: its algebra decides, its plan says which construction shows a yes. Depth
/// is not bounded unless the family says so.
std::vector<Architecture> architectures(const Dfa& automaton, const Algebra& algebra, std::span<const PlanRow> plan);

}  // namespace krohn
