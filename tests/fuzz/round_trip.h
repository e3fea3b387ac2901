// tests/fuzz/round_trip.h — what every reader of automata must do with any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "krohn/automata/formats/formats.h"
#include "krohn/groups/base/error.h"

namespace krohn::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Anything but an exception of krohn's own is a finding.
template <class Body>
void only_errors(Body body) {
  try {
    body();
  } catch (const Error&) {
  }
}

/// Ends the process when what was written is not read as the same automaton.
inline void require_equal(const Dfa& written, const Dfa& read, const std::string& text) {
  if (written == read) return;
  std::fprintf(stderr, "the round trip changed the automaton; it was written as\n%s\n", text.c_str());
  std::abort();
}

/// An automaton that a reader made must survive JSON, which holds every automaton.
inline void survive_json(const Dfa& dfa) {
  const std::string text = write_json(dfa);
  require_equal(dfa, to_dfa(read_json(text, "again"), "again"), text);
}

/// Few states, so that the fuzzer spends its time on the text and not on subsets.
inline constexpr DeterminiseOptions kFewStates{1000};

}  // namespace krohn::fuzz
