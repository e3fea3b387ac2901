#include "krohn/simulate/words/word_file.h"

#include <doctest/doctest.h>

#include <sstream>

#include "krohn/groups/error.h"

using namespace krohn;

namespace {

/// All words, read `piece` letters at a time, as parse_word's inverse writes them.
std::vector<std::string> words_of(const std::string& text, const Alphabet& alphabet, WordLayout layout,
                                  std::size_t piece) {
  std::istringstream stream(text);
  WordFile file(stream, "words.txt", alphabet, layout);
  std::vector<std::string> words;
  std::vector<Letter> letters(piece);
  while (file.next_word()) {
    Word word;
    while (const std::size_t count = file.read(letters))
      word.insert(word.end(), letters.begin(), letters.begin() + static_cast<std::ptrdiff_t>(count));
    words.push_back(alphabet.format_word(word));
  }
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("words of a file, by lines and as one") {
  const Alphabet characters = Alphabet::of_characters("abé");
  const Alphabet names = Alphabet::from_names(std::vector<std::string>{"(1 2)", "(1 2 3)", "SYN"});
  struct Fact {
    const char* text;
    Alphabet alphabet;
    WordLayout layout;
    Words words;
  };
  const std::vector<Fact> facts{
      {"", characters, WordLayout::kLines, {}},
      {"\n", characters, WordLayout::kLines, {""}},
      {"ab\n\nbé", characters, WordLayout::kLines, {"ab", "", "bé"}},
      {"ab\r\né\r\n", characters, WordLayout::kLines, {"ab", "é"}},
      {"", characters, WordLayout::kOneWord, {""}},
      {"ab\né\n", characters, WordLayout::kOneWord, {"abé"}},
      {"é", characters, WordLayout::kOneWord, {"é"}},
      {"(1 2), SYN\n(1 2 3)\n", names, WordLayout::kLines, {"(1 2) SYN", "(1 2 3)"}},
      {"(1 2)(1 2)",
       Alphabet::from_names(std::vector<std::string>{"(1 2)(1 2)"}),
       WordLayout::kOneWord,
       {"(1 2)(1 2)"}},
      {"(1 2)\n\"SYN\"\n", names, WordLayout::kOneWord, {"(1 2) SYN"}},
  };
  for (const Fact& fact : facts)
    for (const std::size_t piece : {1, 3, 100}) {
      CAPTURE(fact.text);
      CHECK(words_of(fact.text, fact.alphabet, fact.layout, piece) == fact.words);
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
    CHECK(words_of(text, characters, WordLayout::kOneWord, piece) == Words{text});
    CHECK(words_of(text + "\na", characters, WordLayout::kLines, piece) == Words{text, "a"});
    CHECK(words_of(list, names, WordLayout::kOneWord, piece) == Words{names.format_word(names.parse_word(list))});
  }
}

TEST_CASE("a word that is not read to its end is left") {
  std::istringstream stream("aab\nb\n");
  WordFile file(stream, "words.txt", Alphabet::of_characters("ab"), WordLayout::kLines);
  Letter letter = 9;
  CHECK(file.next_word());
  CHECK(file.read({&letter, 1}) == 1);
  CHECK(letter == 0);
  CHECK(file.next_word());
  CHECK(file.read({&letter, 1}) == 1);
  CHECK(letter == 1);
  CHECK(file.read({&letter, 1}) == 0);
  CHECK_FALSE(file.next_word());
}

TEST_CASE("faults in word files name the place") {
  const Alphabet alphabet = Alphabet::of_characters("ab");
  CHECK_THROWS_WITH_AS(words_of("ab\nac\n", alphabet, WordLayout::kLines, 8),
                       doctest::Contains("words.txt:2: character 2 of the word, \"c\""), InputError);
  CHECK_THROWS_WITH_AS(words_of("ab\xff", alphabet, WordLayout::kOneWord, 8), doctest::Contains("words.txt"),
                       InputError);
  const Alphabet names = Alphabet::from_names(std::vector<std::string>{"SYN", "ACK"});
  CHECK_THROWS_WITH_AS(words_of("SYN \"ACK", names, WordLayout::kOneWord, 8), doctest::Contains("not closed"),
                       InputError);
  CHECK_THROWS_WITH_AS(words_of("(" + std::string(3 << 20, 'x'), names, WordLayout::kOneWord, 8),
                       doctest::Contains("left open"), InputError);
  CHECK_THROWS_AS(WordFile("/nonexistent/words.txt", alphabet, WordLayout::kLines), SystemError);
  CHECK(parse_word_layout("one") == WordLayout::kOneWord);
  CHECK_THROWS_AS(parse_word_layout("two"), InputError);
}
