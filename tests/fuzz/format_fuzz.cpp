// Any bytes as a file of one format: they are refused with an error of ours, or the automaton survives JSON, which
// holds every automaton, and what the format's writer does not refuse is read again as the same one. KROHN_FUZZED is
// the format; there is a target for each (CMakeLists.txt).
#include <cstdio>
#include <cstdlib>

#include "krohn/automata/formats/formats.h"
#include "only_errors.h"

namespace krohn::fuzz {
namespace {

/// Few states, so that the fuzzer spends its time on the text and not on subsets.
constexpr DeterminiseOptions kFewStates{1000};

Dfa of(const Draft& draft) { return to_dfa(draft, "input", kFewStates); }

/// Ends the process when what was written is not read as the same automaton.
void require_equal(const Dfa& written, const Dfa& read, const std::string& text) {
  if (written == read) return;
  std::fprintf(stderr, "the round trip changed the automaton; it was written as\n%s\n", text.c_str());
  std::abort();
}

void survive_json(const Dfa& dfa) {
  const std::string text = write_json(dfa);
  require_equal(dfa, to_dfa(read_json(text, "again"), "again"), text);
}

}  // namespace

/// AT&T text, optionally followed by a NUL and a symbol table.
void att(std::string_view input) {
  const std::size_t split = input.find('\0');
  AttSymbols symbols;
  if (split != std::string_view::npos) symbols = read_symbol_table(input.substr(split + 1), "symbols");
  const Dfa dfa = of(read_att(input.substr(0, split), "input", split == std::string_view::npos ? nullptr : &symbols));
  survive_json(dfa);
  const std::string text = write_att(dfa);
  const AttSymbols again = read_symbol_table(write_symbol_table(dfa.alphabet()), "symbols again");
  require_equal(dfa, to_dfa(read_att(text, "again", &again), "again"), text);
}

void dot(std::string_view input) {
  for (const bool mealy_as_labels : {false, true})
    only_errors([&] {
      const auto machine = read_dot(input, "input", LanguageOptions{.mealy_as_labels = mealy_as_labels});
      const auto* mealy = std::get_if<Mealy>(&machine);
      const Dfa dfa = mealy != nullptr ? to_moore(*mealy) : of(std::get<Draft>(machine));
      survive_json(dfa);
      const std::string text = write_dot(dfa);
      require_equal(dfa, to_dfa(std::get<Draft>(read_dot(text, "again")), "again"), text);
    });
}

void gap(std::string_view input) {
  const Dfa dfa = of(read_gap(input, "input"));
  if (dfa.has_start()) survive_json(dfa);
  const std::string text = write_gap(dfa);
  require_equal(dfa, to_dfa(read_gap(text, "again"), "again"), text);
}

void jff(std::string_view input) {
  const Dfa dfa = of(read_jff(input, "input"));
  survive_json(dfa);
  const std::string text = write_jff(dfa);
  require_equal(dfa, to_dfa(read_jff(text, "again"), "again"), text);
}

void json(std::string_view input) { survive_json(of(read_json(input, "input"))); }

/// The subset automaton agrees with the nondeterministic one on all short words.
void mata(std::string_view input) {
  const Draft draft = read_mata(input, "input");
  const Dfa dfa = of(draft);
  survive_json(dfa);
  const Nfa nfa = to_nfa(draft, "input");
  if (dfa.letters() == 0 || dfa.letters() > 3) return;
  std::vector<Word> words{{}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (nfa.accepts_word(words[i]) != dfa.accepts(dfa.run(words[i]))) std::abort();
    for (Letter letter = 0; letter < dfa.letters() && words[i].size() < 3; ++letter) {
      words.push_back(words[i]);
      words.back().push_back(letter);
    }
  }
}

}  // namespace krohn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  krohn::fuzz::only_errors([&] { krohn::fuzz::KROHN_FUZZED(krohn::fuzz::as_text(data, size)); });
  return 0;
}
