// simulate/run/tracks.h — stretches of words run side by side through one kernel, until all of them end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "krohn/simulate/run/state_maps.h"
#include "krohn/simulate/run/stride_table.h"
#include "krohn/simulate/run/symbol_source.h"

namespace krohn {

/// Symbols [first, end) of word `word` are still to be read; `value` is what the symbols before them led to.
template <class Value>
struct Track {
  std::size_t word;
  std::uint64_t first, end;
  Value value;
};

// A kernel advances kWidth values by as many symbols of its type each, or one value alone.

/// A track is a state.
template <class SymbolType>
struct StateKernel {
  using Symbol = SymbolType;
  using Value = State;
  static constexpr std::size_t kWidth = kStreams;
  const StrideTable& table;

  void run(const std::array<const Symbol*, kWidth>& symbols, std::size_t count,
           std::array<State, kWidth>& states) const {
    table.run(symbols, count, states);
  }
  void run_alone(std::span<const Symbol> symbols, State& state) const { state = table.run(symbols, state); }
};

/// A track is what its bytes do to every state.
struct MapKernel {
  using Symbol = std::uint8_t;
  using Value = StateMap;
  static constexpr std::size_t kWidth = StateMapTable::kParts;
  const StateMapTable& table;

  void run(const StateMapTable::Parts& bytes, std::size_t count, StateMapTable::Maps& maps) const {
    table.compose(bytes, count, maps);
  }
  /// As four tracks that do the same: the tables' instruction has no narrower form.
  void run_alone(std::span<const std::uint8_t> bytes, StateMap& map) const {
    StateMapTable::Parts parts;
    StateMapTable::Maps maps;
    parts.fill(bytes.data());
    maps.fill(map);
    table.compose(parts, bytes.size(), maps);
    map = maps[0];
  }
};

/// The most symbols that are fetched at once: whole bytes.
template <class View>
std::uint64_t symbols_at_once(const View& view) {
  return kSymbolBuffer / view.unit() * view.unit();
}

template <class Kernel, class View>
void run_alone(const Kernel& kernel, const View& view, Track<typename Kernel::Value>& track) {
  std::array<typename Kernel::Symbol, kSymbolBuffer> buffer;
  while (track.first < track.end) {
    const std::span symbols(buffer.data(), std::min(symbols_at_once(view), track.end - track.first));
    view.fetch(track.word, track.first, symbols);
    kernel.run_alone(symbols, track.value);
    track.first += symbols.size();
  }
}

/// Advances up to kWidth tracks by `length` symbols each. Missing tracks are copies of the first one.
template <class Kernel, class View>
void run_abreast(const Kernel& kernel, const View& view, std::span<Track<typename Kernel::Value>* const> tracks,
                 std::uint64_t length) {
  using Symbol = typename Kernel::Symbol;
  std::array<std::array<Symbol, kSymbolBuffer>, Kernel::kWidth> buffers;
  std::array<const Symbol*, Kernel::kWidth> symbols;
  std::array<typename Kernel::Value, Kernel::kWidth> values;
  for (std::size_t i = 0; i < Kernel::kWidth; ++i) {
    symbols[i] = buffers[i < tracks.size() ? i : 0].data();
    values[i] = tracks[i < tracks.size() ? i : 0]->value;
  }
  for (std::uint64_t done = 0; done < length; done += symbols_at_once(view)) {
    const auto count = static_cast<std::size_t>(std::min(symbols_at_once(view), length - done));
    for (std::size_t i = 0; i < tracks.size(); ++i)
      view.fetch(tracks[i]->word, tracks[i]->first + done, std::span(buffers[i].data(), count));
    kernel.run(symbols, count, values);
  }
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    tracks[i]->first += length;
    tracks[i]->value = values[i];
  }
}

/// Runs at most kWidth tracks to their ends: side by side while at least half as many are left, then one by one.
template <class Kernel, class View>
void run_group(const Kernel& kernel, const View& view, std::span<Track<typename Kernel::Value>> tracks) {
  std::vector<Track<typename Kernel::Value>*> left;
  for (auto& track : tracks) left.push_back(&track);
  const auto has_ended = [](const auto* track) { return track->first >= track->end; };
  for (std::erase_if(left, has_ended); left.size() >= Kernel::kWidth / 2; std::erase_if(left, has_ended)) {
    std::uint64_t common = UINT64_MAX;
    for (const auto* track : left) common = std::min(common, track->end - track->first);
    run_abreast(kernel, view, left, common);
  }
  for (auto* track : left) run_alone(kernel, view, *track);
}

/// Runs all tracks to their ends, groups of neighbours on `threads` threads.
template <class Kernel, class View>
void run_tracks(const Kernel& kernel, const View& view, std::span<Track<typename Kernel::Value>> tracks,
                unsigned threads) {
  const std::size_t groups = (tracks.size() + Kernel::kWidth - 1) / Kernel::kWidth;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads))
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = group * Kernel::kWidth;
    run_group(kernel, view, tracks.subspan(first, std::min(Kernel::kWidth, tracks.size() - first)));
  }
}

}  // namespace krohn
