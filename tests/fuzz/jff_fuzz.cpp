#include "krohn/automata/formats/formats.h"

#include "round_trip.h"

using namespace krohn;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::only_errors([&] {
    const Dfa dfa = to_dfa(read_jff(fuzz::as_text(data, size), "input"), "input", fuzz::kFewStates);
    fuzz::survive_json(dfa);
    const std::string text = write_jff(dfa);  // refuses what XML cannot hold
    fuzz::require_equal(dfa, to_dfa(read_jff(text, "again"), "again"), text);
  });
  return 0;
}
