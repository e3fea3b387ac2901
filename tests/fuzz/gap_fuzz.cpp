#include "krohn/automata/formats/formats.h"

#include "round_trip.h"

using namespace krohn;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::only_errors([&] {
    const Dfa dfa = to_dfa(read_gap(fuzz::as_text(data, size), "input"), "input", fuzz::kFewStates);
    if (dfa.has_start()) fuzz::survive_json(dfa);
    const std::string text = write_gap(dfa);
    fuzz::require_equal(dfa, to_dfa(read_gap(text, "again"), "again"), text);
  });
  return 0;
}
