// Any bytes as a regular expression, with small limits: it is refused with an error of ours, or its automaton agrees
// with the reference on short words, is minimal, and its letters read and write words.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/automata/syntax/regex_syntax.h"
#include "krohn/groups/base/error.h"
#include "tests/automata/reference_matches.h"

using namespace krohn;

namespace {

void require(bool holds, const char* what, std::string_view expression) {
  if (holds) return;
  std::cerr << what << ": " << expression << '\n';
  std::abort();
}

/// The first byte chooses an alphabet, or none.
std::optional<Alphabet> alphabet_of(std::uint8_t choice) {
  switch (choice % 5) {
    case 0:
      return parse_alphabet("ab");
    case 1:
      return parse_alphabet("unicode");
    case 2:
      return parse_alphabet("a SYN \"x y\" (1");
    default:
      return std::nullopt;
  }
}

/// Some short words: all of up to two letters when there are few, and longer ones by a fixed rule.
std::vector<Word> short_words(Letter letters) {
  std::vector<Word> words{{}};
  const Letter few = std::min(letters, Letter{6});
  for (Letter a = 0; a < few; ++a) {
    words.push_back({a});
    for (Letter b = 0; b < few; ++b) {
      words.push_back({a, b});
      words.push_back({a, b, a, b, b});
      words.push_back({a, a, b, (a + b) % letters, letters - 1});
    }
  }
  return words;
}

void check(std::string_view expression, const RegexOptions& options) {
  const Dfa dfa = parse_regex(expression, options);
  const RegexTree tree = parse_regex_syntax(expression, options.alphabet, options.max_expression_size);
  const RegexLetters letters = letters_of(tree, options.alphabet);
  require(letters.alphabet == dfa.alphabet(), "another alphabet", expression);
  require(minimise(dfa) == dfa, "not minimal or not canonical", expression);
  for (const Word& word : short_words(dfa.letters())) {
    require(dfa.accepts(dfa.run(word)) == reference_matches(tree, letters, word), "another language", expression);
    require(dfa.alphabet().parse_word(dfa.alphabet().format_word(word)) == word, "word does not round trip",
            expression);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view expression(reinterpret_cast<const char*>(data) + 1, size - 1);
  RegexOptions options{.alphabet = alphabet_of(data[0]), .max_states = 300, .max_expression_size = 300};
  try {
    check(expression, options);
  } catch (const InputError&) {
  } catch (const LimitError&) {
  }
  return 0;
}
