#include "krohn/automata/formats/format_hoa.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/product.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// The step in which the proposition holds alone; with `letter` past the last, the one in which none does.
std::string step(Letter letter, Letter letters) {
  std::string text;
  for (Letter other = 0; other < letters; ++other)
    text += fmt::format("{}{}{}", other == 0 ? "" : "&", other == letter ? "" : "!", other);
  return letters == 0 ? "t" : text;
}

}  // namespace

std::string write_hoa(const Dfa& dfa) {
  require_acceptor(dfa, "HOA");
  const State ended = dfa.states();
  std::string text = fmt::format(
      "HOA: v1\nname: \"finite words, each followed by steps without a letter\"\nStates: {}\nStart: {}\nAP: {}",
      std::uint64_t{ended} + 1, dfa.initial(), dfa.letters());
  for (const Symbol& symbol : dfa.alphabet().symbols()) {
    if (std::any_of(symbol.name.begin(), symbol.name.end(),
                    [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }))
      throw InputError(fmt::format("HOA cannot hold the letter {}; write DOT or JSON instead", in_quotes(symbol.name)));
    text += " \"" + symbol.name + "\"";
  }
  text +=
      "\nacc-name: Buchi\nAcceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels state-acc "
      "deterministic\n--BODY--\n";
  for (State state = 0; state < dfa.states(); ++state) {
    fmt::format_to(std::back_inserter(text), "State: {}\n", state);
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      fmt::format_to(std::back_inserter(text), "[{}] {}\n", step(letter, dfa.letters()), dfa.next(state, letter));
    if (dfa.accepts(state))
      fmt::format_to(std::back_inserter(text), "[{}] {}\n", step(dfa.letters(), dfa.letters()), ended);
  }
  fmt::format_to(std::back_inserter(text), "State: {} {{0}}\n[{}] {}\n--END--\n", ended,
                 step(dfa.letters(), dfa.letters()), ended);
  return text;
}

}  // namespace krohn
