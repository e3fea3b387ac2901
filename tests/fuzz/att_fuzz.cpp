// The input is AT&T text, optionally followed by a NUL and a symbol table.
#include "krohn/automata/formats/formats.h"

#include "round_trip.h"

using namespace krohn;

namespace {

void read_again(const Dfa& dfa) {
  const std::string text = write_att(dfa);  // refuses what it cannot hold
  const AttSymbols symbols = read_symbol_table(write_symbol_table(dfa.alphabet()), "symbols again");
  fuzz::require_equal(dfa, to_dfa(read_att(text, "again", &symbols), "again"), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::as_text(data, size);
  const std::size_t split = input.find('\0');
  fuzz::only_errors([&] {
    AttSymbols symbols;
    if (split != std::string_view::npos) symbols = read_symbol_table(input.substr(split + 1), "symbols");
    const Draft draft = read_att(input.substr(0, split), "input", split == std::string_view::npos ? nullptr : &symbols);
    const Dfa dfa = to_dfa(draft, "input", fuzz::kFewStates);
    fuzz::survive_json(dfa);
    read_again(dfa);
  });
  return 0;
}
