#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/formats/format_mata.h"
#include "krohn/automata/operations/product.h"

namespace krohn {
namespace {

/// The name as the format has it: in quotes unless it is a plain word.
std::string mata_name(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (plain) return name;
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string write_mata(const Dfa& dfa) {
  require_acceptor(dfa, "mata");
  std::vector<std::string> letters;
  for (const Symbol& symbol : dfa.alphabet().symbols()) letters.push_back(mata_name(symbol.name));
  // Where a letter is called as the empty word elsewhere, the file says that none of its names is that.
  const bool doubtful = std::ranges::any_of(dfa.alphabet().symbols(), EpsilonNames::may_be_no_letter, &Symbol::name);
  std::string text = fmt::format("@NFA-explicit\n{}%Alphabet-enum {}\n%States-enum", doubtful ? "%Epsilon\n" : "",
                                 fmt::join(letters, " "));
  for (State state = 0; state < dfa.states(); ++state) fmt::format_to(std::back_inserter(text), " q{}", state);
  fmt::format_to(std::back_inserter(text), "\n%Initial q{}\n%Final", dfa.initial());
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) fmt::format_to(std::back_inserter(text), " q{}", state);
  text += '\n';
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      fmt::format_to(std::back_inserter(text), "q{} {} q{}\n", state, letters[letter], dfa.next(state, letter));
  return text;
}

}  // namespace krohn
