#include "round_trip.h"

using namespace krohn;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::only_errors([&] {
    const Dfa dfa = to_dfa(read_json(fuzz::as_text(data, size), "input"), "input", fuzz::kFewStates);
    fuzz::survive_json(dfa);
  });
  return 0;
}
