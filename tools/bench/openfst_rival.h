// tools/bench/openfst_rival.h — the same work done by OpenFst, behind an interface that keeps its headers to one file.
#pragma once

#include <cstdint>
#include <functional>

namespace krohn::bench {

/// OpenFst's time for its part of the work, and the states of its trimmed result.
struct RivalResult {
  double seconds = 0;
  std::uint64_t states = 0;
};

/// False when the benchmarks were built without OpenFst; then the functions below must not be called.
bool has_openfst();

/// fst::Minimize on a StdVectorFst acceptor. The automaton comes state by state, so that no other copy of it exists:
/// target(state, letter) is called in row-major order, accepts(state) after the letters of each state.
RivalResult openfst_minimise(std::uint32_t states, std::uint32_t letters, std::uint32_t initial,
                             const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& target,
                             const std::function<bool(std::uint32_t)>& accepts);

/// fst::Determinize, then fst::Minimize, on the obvious automaton without ε-moves of (a|b)*a(a|b){count}.
RivalResult openfst_letter_from_end(std::uint32_t count);

}  // namespace krohn::bench
