#include "krohn/automata/formats/formats.h"

#include "round_trip.h"

using namespace krohn;

namespace {

/// The subset automaton must agree with the nondeterministic one on all short words.
void compare_short_words(const Nfa& nfa, const Dfa& dfa) {
  if (dfa.letters() == 0 || dfa.letters() > 3) return;
  for (std::size_t length = 0; length <= 3; ++length) {
    Word word(length, 0);
    for (bool more = true; more;) {
      if (nfa.accepts_word(word) != dfa.accepts(dfa.run(word))) std::abort();
      more = false;
      for (Letter& letter : word) {
        letter = (letter + 1) % dfa.letters();
        if (letter != 0) {
          more = true;
          break;
        }
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::only_errors([&] {
    const Draft draft = read_mata(fuzz::as_text(data, size), "input");
    const Dfa dfa = to_dfa(draft, "input", fuzz::kFewStates);
    fuzz::survive_json(dfa);
    compare_short_words(to_nfa(draft, "input"), dfa);
  });
  return 0;
}
