// constructions/planner.h — which constructions an automaton admits, what each costs, and which to take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "automata/dfa.h"
#include "constructions/network.h"

namespace krohn {

enum class Precision : std::uint8_t { kFp64, kFp32, kFp16, kBf16 };
/// "fp64", "fp32", "fp16", "bf16".
std::string to_string(Precision precision);
/// Throws InputError listing the names.
Precision parse_precision(std::string_view name);

/// How the reflections of a permutation are written (MATH.md §5).
enum class KeyStyle : std::uint8_t {
  kUnit,          ///< (e_i − e_j)/√2, β = 2: the paper's; not exact
  kUnnormalised,  ///< e_i − e_j, β = 1: exact in every precision
  kDoubled,       ///< ½(e_i − e_j + e_{n+i} − e_{n+j}), β = 2: exact even when a framework L2-normalises the key
};

/// What the user asks for. Everything unset is left to the planner.
struct Wishes {
  std::optional<std::string> construction;
  std::optional<Precision> precision;          ///< must be exact in this precision when `exact`
  std::optional<KeyStyle> keys;
  std::optional<std::int64_t> max_reflections; ///< per token and layer
  std::optional<std::uint64_t> max_dimension;  ///< Σ n·d
  bool exact = false;                          ///< only bit-exact constructions
};

/// One row of the planner's table.
struct Plan {
  std::string construction;
  std::string theorem;
  bool possible = false;
  std::string reason;                       ///< why not, or what limits it; empty when possible without remark
  std::uint32_t layers = 0;
  std::uint64_t state_numbers = 0;
  std::int64_t reflections = -1;            ///< most per token in any layer; −1: no GH form
  std::vector<std::size_t> alphabet_sizes;
  std::vector<Precision> exact_in;          ///< bit-exact for words of every length
  double margin = 0;                        ///< least distance of two codewords, least over layers
  bool chosen = false;
};

/// The names that `Wishes::construction` takes, in the order of the table.
std::vector<std::string> construction_names();

/// All constructions, possible or not, with their cost; exactly one row is `chosen` when any fits the wishes.
std::vector<Plan> plan(const Dfa& automaton, const Wishes& wishes);

/// Builds the chosen row (or the one that `wishes.construction` names). Throws InputError with the reason when nothing
/// fits, LimitError when a stated limit was met.
Network build(const Dfa& automaton, const Wishes& wishes);

}  // namespace krohn
