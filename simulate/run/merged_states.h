// simulate/run/merged_states.h — where all states are after the beginning of a word, when few places are left: a long
// word of an automaton whose maps collapse can then be cut into parts. (Mytkowicz, Musuvathi, Schulte 2014 call it
// range coalescing.)
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "krohn/simulate/run/tracks.h"

namespace krohn {

/// What symbols [first, first + symbols) do: every state goes to one of `states`.
struct MergedStates {
  std::uint64_t symbols = 0;
  std::vector<State> states;
  /// Index among the states before ↦ index among those after, step by step; the first step starts from all states.
  std::vector<std::vector<State>> steps;

  /// The index in `states` of the place where `state` goes.
  State index_of(State state) const {
    for (const std::vector<State>& step : steps) state = step[state];
    return state;
  }
};

/// Advances the states, eight at a time, by symbols that all of them read.
template <class Symbol>
void advance_all(const StrideTable& table, std::span<const Symbol> symbols, std::vector<State>& states) {
  std::array<const Symbol*, kStreams> same;
  same.fill(symbols.data());
  std::size_t i = 0;
  for (; i + kStreams <= states.size(); i += kStreams) {
    StrideTable::Streams eight;
    std::copy_n(states.begin() + static_cast<std::ptrdiff_t>(i), kStreams, eight.begin());
    table.run(same, symbols.size(), eight);
    std::copy_n(eight.begin(), kStreams, states.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (; i < states.size(); ++i) states[i] = table.run(symbols, states[i]);
}

/// Keeps every state once; returns where each went. `place` has an entry per state of the automaton.
inline std::vector<State> remove_repeats(std::vector<State>& states, std::vector<State>& place) {
  constexpr State kNone = UINT32_MAX;
  std::vector<State> step;
  step.reserve(states.size());
  std::size_t kept = 0;
  for (const State state : states) {
    if (place[state] == kNone) {
      place[state] = static_cast<State>(kept);
      states[kept++] = state;
    }
    step.push_back(place[state]);
  }
  states.resize(kept);
  for (const State state : states) place[state] = kNone;
  return step;
}

/// Reads from symbol `first` of word 0 until all of `count` states have met in one place or `budget` transitions are
/// spent. Nothing when more than `most` places are left then.
template <class View>
std::optional<MergedStates> merge_states(const StrideTable& table, const View& view, State count, std::uint64_t first,
                                         std::uint64_t budget, std::size_t most) {
  constexpr std::uint64_t kBytesAtOnce = 16;
  const std::uint64_t at_once = kBytesAtOnce * view.unit();
  MergedStates merged;
  merged.states.resize(count);
  std::iota(merged.states.begin(), merged.states.end(), State{0});
  std::vector<State> place(count, UINT32_MAX);
  std::array<typename View::Symbol, kSymbolBuffer> buffer;
  const std::span symbols(buffer.data(), at_once);
  for (std::uint64_t spent = 0; merged.states.size() > 1;) {
    spent += merged.states.size() * at_once;
    if (spent > budget) break;
    view.fetch(0, first + merged.symbols, symbols);
    merged.symbols += at_once;
    advance_all(table, std::span<const typename View::Symbol>(symbols), merged.states);
    const std::size_t before = merged.states.size();
    std::vector<State> step = remove_repeats(merged.states, place);
    // Without a meeting the order is the same, and nothing needs to be kept.
    if (merged.states.size() < before) merged.steps.push_back(std::move(step));
  }
  if (merged.states.size() > most) return std::nullopt;
  return merged;
}

}  // namespace krohn
