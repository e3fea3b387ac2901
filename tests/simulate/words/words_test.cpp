#include "krohn/simulate/words/random_letters.h"
#include "krohn/simulate/words/word.h"
#include "tests/testing.h"

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

TEST_CASE("a random word is one word, whichever slices it is made of") {
  for (const Letter letters : {1U, 2U, 3U, 5U, 10U, 256U, 65'537U, 4'000'000'000U}) {
    CAPTURE(letters);
    const RandomWord word(letters, 42, 7);
    const Word whole = word.slice(0, 1000);
    for (const std::uint64_t first : {0, 1, 31, 32, 33, 500, 999})
      for (const std::uint64_t length : {0, 1, 2, 40, 1000}) {
        const std::uint64_t end = std::min<std::uint64_t>(1000, first + length);
        const Word slice = word.slice(first, end - first);
        CHECK(std::equal(slice.begin(), slice.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
      }
    for (const std::uint64_t position : {0, 63, 64, 999}) CHECK(word.at(position) == whole[position]);
    for (const Letter letter : whole) REQUIRE(letter < letters);
  }
}

TEST_CASE("far slices of a word of 10^12 letters cost no more than near ones") {
  const RandomWord word(6, 1);
  const Word far = word.slice(999'999'999'000ULL, 1000);
  CHECK(std::set<Letter>(far.begin(), far.end()).size() == 6);
  CHECK(far.back() == word.at(999'999'999'999ULL));
}

TEST_CASE("seeds and streams give different words, the same ones the same") {
  std::set<Word> words;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (std::uint64_t stream = 0; stream < 20; ++stream) words.insert(RandomWord(4, seed, stream).slice(0, 64));
  CHECK(words.size() == 400);
  CHECK(RandomWord(4, 3, 5).slice(10, 64) == RandomWord(4, 3, 5).slice(10, 64));
}

TEST_CASE("letters and pairs of letters are uniform") {
  // χ² with k − 1 degrees of freedom lies within 6 standard deviations of its mean; the seed is fixed.
  constexpr std::uint64_t kLength = 1 << 20;
  for (const Letter letters : {2U, 3U, 5U, 26U}) {
    CAPTURE(letters);
    const Word word = RandomWord(letters, 2024).slice(0, kLength);
    std::vector<double> single(letters), pairs(std::size_t{letters} * letters);
    for (std::size_t t = 0; t < word.size(); ++t) {
      ++single[word[t]];
      if (t % 2 == 1) ++pairs[std::size_t{word[t - 1]} * letters + word[t]];
    }
    for (const auto& [counts, trials] : {std::pair{single, double(kLength)}, std::pair{pairs, double(kLength) / 2}}) {
      const double expected = trials / static_cast<double>(counts.size());
      double chi_squared = 0;
      for (const double count : counts) chi_squared += (count - expected) * (count - expected) / expected;
      const double freedom = static_cast<double>(counts.size()) - 1;
      CHECK(std::fabs(chi_squared - freedom) < 6 * std::sqrt(2 * freedom));
    }
  }
}

TEST_CASE("a word's letters are the digits of its blocks' fractions, and a byte's combinations a power") {
  for (Letter letters = 1; letters <= 1000; ++letters) {
    std::uint64_t power = 1;
    for (std::uint32_t i = 0; i < letters_per_byte(letters); ++i) power *= letters;
    REQUIRE(combinations_per_byte(letters) == power);
    REQUIRE(power <= 256);
    REQUIRE((letters == 1 || power * letters > 256 || letters > 256));
    const RandomWord word(letters, 3, 5);
    Word expected;
    for (std::uint64_t block = 0; block < 3; ++block) {
      std::uint64_t fraction = random_fraction(word.key(), block, letters);
      for (std::uint32_t i = 0; i < word.letters_per_block(); ++i) expected.push_back(next_letter(fraction, letters));
    }
    REQUIRE(word.slice(0, expected.size()) == expected);
  }
}

TEST_CASE("a random word needs letters") { CHECK_THROWS_AS(RandomWord(0, 1), InputError); }
