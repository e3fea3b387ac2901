#include "krohn/automata/formats/formats.h"

#include "round_trip.h"

using namespace krohn;

namespace {

void read_again(const Dfa& dfa) {
  const std::string text = write_dot(dfa);
  fuzz::require_equal(dfa, to_dfa(std::get<Draft>(read_dot(text, "again")), "again"), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const bool mealy_as_labels : {false, true})
    fuzz::only_errors([&] {
      LanguageOptions options;
      options.mealy_as_labels = mealy_as_labels;
      const auto machine = read_dot(fuzz::as_text(data, size), "input", options);
      const auto* mealy = std::get_if<Mealy>(&machine);
      const Dfa dfa = mealy != nullptr ? to_moore(*mealy) : to_dfa(std::get<Draft>(machine), "input", fuzz::kFewStates);
      fuzz::survive_json(dfa);
      read_again(dfa);
    });
  return 0;
}
