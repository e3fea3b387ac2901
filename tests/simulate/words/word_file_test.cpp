#include "krohn/simulate/words/word_file.h"

#include <doctest/doctest.h>

#include <sstream>

#include "krohn/groups/error.h"

using namespace krohn;

namespace {

/// The word, read `piece` letters at a time, as parse_word's inverse writes it.
std::string word_of(const std::string& text, const Alphabet& alphabet, std::size_t piece) {
  std::istringstream stream(text);
  WordFile file(stream, "words.txt", alphabet);
  std::vector<Letter> letters(piece);
  Word word;
  REQUIRE(file.next_word());
  while (const std::size_t count = file.read(letters))
    word.insert(word.end(), letters.begin(), letters.begin() + static_cast<std::ptrdiff_t>(count));
  CHECK_FALSE(file.next_word());
  return alphabet.format_word(word);
}

}  // namespace

TEST_CASE("a file is one word") {
  const Alphabet characters = Alphabet::of_characters("abé");
  const Alphabet names = Alphabet::from_names(std::vector<std::string>{"(1 2)", "(1 2 3)", "SYN"});
  struct Fact {
    const char* text;
    Alphabet alphabet;
    const char* word;
  };
  const std::vector<Fact> facts{
      {"", characters, ""},
      {"ab\né\n", characters, "abé"},
      {"ab\r\né\r\n", characters, "abé"},
      {"é", characters, "é"},
      {"(1 2)(1 2)", Alphabet::from_names(std::vector<std::string>{"(1 2)(1 2)"}), "(1 2)(1 2)"},
      {"(1 2)\n\"SYN\"\n", names, "(1 2) SYN"},
  };
  for (const Fact& fact : facts)
    for (const std::size_t piece : {1, 3, 100}) {
      CAPTURE(fact.text);
      CHECK(word_of(fact.text, fact.alphabet, piece) == fact.word);
    }
}

TEST_CASE("words longer than a block are what parse_word reads at once") {
  const Alphabet characters = Alphabet::of_characters("aé∀");
  const Alphabet names = Alphabet::from_names(std::vector<std::string>{"(1 2)", "x, y", "z"});
  std::string text, list;
  for (int i = 0; i < 70'000; ++i) {
    text += i % 3 == 0 ? "a" : i % 7 == 0 ? "∀" : "é";
    list += i % 3 == 0 ? "(1 2) " : i % 7 == 0 ? "\"x, y\"," : "z\n";
  }
  for (const std::size_t piece : {1, 4096}) {
    CHECK(word_of(text, characters, piece) == text);
    CHECK(word_of(list, names, piece) == names.format_word(names.parse_word(list)));
  }
}

TEST_CASE("faults in word files name the place") {
  const Alphabet alphabet = Alphabet::of_characters("ab");
  CHECK_THROWS_WITH_AS(word_of("ab\nac\n", alphabet, 8), doctest::Contains("words.txt: character 4 of the word, \"c\""),
                       InputError);
  CHECK_THROWS_WITH_AS(word_of("ab\xff", alphabet, 8), doctest::Contains("words.txt"), InputError);
  const Alphabet names = Alphabet::from_names(std::vector<std::string>{"SYN", "ACK"});
  CHECK_THROWS_WITH_AS(word_of("SYN \"ACK", names, 8), doctest::Contains("not closed"), InputError);
  CHECK_THROWS_WITH_AS(word_of("(" + std::string(3 << 20, 'x'), names, 8), doctest::Contains("left open"), InputError);
  CHECK_THROWS_AS(WordFile("/nonexistent/words.txt", alphabet), SystemError);
}
