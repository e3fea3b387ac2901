#include "krohn/automata/dfa/shown_word.h"

#include <doctest/doctest.h>

#include <random>

using namespace krohn;

namespace {

/// The word that a text of powers stands for, read by its own grammar: parts with blanks between them, each a base
/// with an exponent or without; a base is in quotes, in brackets, or letters; within it, quotes hold one name, or
/// characters where the alphabet has nothing else.
class PowersReader {
 public:
  PowersReader(const Alphabet& alphabet, std::string text) : alphabet_(alphabet), text_(std::move(text)) {}

  Word read() {
    Word word;
    while (at_ < text_.size()) {
      if (text_[at_] == ' ') {
        ++at_;
        continue;
      }
      const Word base = read_base();
      std::size_t times = 1;
      if (at_ < text_.size() && text_[at_] == '^') {
        std::size_t digits = 0;
        times = std::stoul(text_.substr(at_ + 1), &digits);
        at_ += 1 + digits;
      }
      for (std::size_t i = 0; i < times; ++i) word.insert(word.end(), base.begin(), base.end());
    }
    return word;
  }

 private:
  Word read_base() {
    if (text_[at_] != '(') return read_letters();
    ++at_;
    Word word;
    for (; text_[at_] != ')'; at_ += text_[at_] == ' ' ? 1 : 0) {
      const Word letters = read_letters();
      word.insert(word.end(), letters.begin(), letters.end());
    }
    ++at_;
    return word;
  }

  Word read_letters() {
    std::string name;
    if (text_[at_] == '"') {
      for (++at_; text_[at_] != '"'; ++at_) name += text_[at_] == '\\' ? text_[++at_] : text_[at_];
      ++at_;
    } else {
      while (at_ < text_.size() && text_.find_first_of(" ^)", at_) != at_) name += text_[at_++];
    }
    return alphabet_.is_characterwise() ? alphabet_.parse_word(name) : Word{alphabet_.find(name).value()};
  }

  const Alphabet& alphabet_;
  std::string text_;
  std::size_t at_ = 0;
};

Word joined(Word first, const Word& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

Word repeated(const Word& base, std::size_t times) {
  Word word;
  for (std::size_t i = 0; i < times; ++i) word.insert(word.end(), base.begin(), base.end());
  return word;
}

}  // namespace

TEST_CASE("parts that repeat are powers") {
  struct Fact {
    const char *word, *shown;
  };
  const Alphabet letters = Alphabet::of_characters("ab01 (");
  for (const auto& [word, shown] : {Fact{"", ""},
                                    {"aaaaaaaa", "aaaaaaaa"},
                                    {"aaaaaaaaa", "a^9"},
                                    {"100000000000", "1 0^11"},
                                    {"bbbbbbbbbbbabbabbbbabbabbabbabbabb", "b^11 abba b^4 (abb)^5"},
                                    {"abababababa", "(ab)^5 a"},
                                    {"abaababbabba", "abaababbabba"},
                                    {"((((((((((a", "\"(\"^10 a"},
                                    {"a a a a a a", "\"a \"^5 a"},
                                    {"a b(a b(a b(a b(b", "\"a b(\"^4 b"},
                                    {"abaababbbabba", "abaababbbabba"}}) {
    CAPTURE(word);
    CHECK(in_powers(letters, letters.parse_word(word)) == shown);
  }
  const std::vector<std::string> names{"SYN", "ACK", "(1 2)", "()", "a^2", "a,b", "\"", "\\"};
  const Alphabet tokens = Alphabet::from_names(names);
  CHECK(in_powers(tokens, repeated({0}, 20)) == "SYN^20");
  CHECK(in_powers(tokens, repeated({0, 1}, 20)) == "(SYN ACK)^20");
  CHECK(in_powers(tokens, repeated({2, 0}, 9)) == "(\"(1 2)\" SYN)^9");
  CHECK(in_powers(tokens, Word{2, 3, 3, 2}) == tokens.format_word(Word{2, 3, 3, 2}));
}

TEST_CASE("no two words are shown alike, and the whole word is there") {
  std::mt19937 random(5);
  const std::vector<std::string> names{"SYN", "ACK", "(1 2)", "()",  "a^2", "a,b", "\"",
                                       "\\",  "1",   "2",     "x y", "(",   "^"};
  for (const Alphabet& alphabet :
       {Alphabet::of_characters("ab"), Alphabet::of_characters("a^2( )\"\\1"), Alphabet::from_names(names)})
    for (int i = 0; i < 400; ++i) {
      Word word;
      while (word.size() <= 8) {
        Word base;
        for (auto length = 1 + random() % 4; length > 0; --length)
          base.push_back(static_cast<Letter>(random() % alphabet.size()));
        for (auto times = 1 + random() % 6; times > 0; --times) word.insert(word.end(), base.begin(), base.end());
      }
      const std::string shown = in_powers(alphabet, word);
      CAPTURE(shown);
      if (shown != alphabet.format_word(word)) CHECK(PowersReader(alphabet, shown).read() == word);
    }
}

TEST_CASE("in a sentence a word has its length, and is cut where it says so") {
  const Alphabet letters = Alphabet::of_characters("ab");
  CHECK(quoted_word(letters, {}) == "the empty word");
  CHECK(quoted_word(letters, Word{0}) == "\"a\" (1 letter)");
  CHECK(quoted_word(letters, repeated({0, 1}, 1000)) == "(ab)^1000 (2,000 letters)");
  std::mt19937 random(6);
  Word word;
  while (word.size() < 3000) word.push_back(random() % 2);
  const std::string shown = quoted_word(letters, word);
  CHECK(shown.size() < 280);
  CHECK(shown.ends_with("…\" (3,000 letters)"));
  const std::string early = quoted_word(letters, joined(repeated({0}, 500), word));
  CHECK(early.starts_with("a^50"));
  CHECK(early.ends_with(" … (3,500 letters)"));
  CHECK(in_powers(letters, word).find("…") == std::string::npos);
}

TEST_CASE("the empty word is no factor") {
  const Alphabet letters = Alphabet::of_characters("ab");
  const Word none, a{0}, ab{0, 1}, many = repeated({0}, 9);
  CHECK(quoted_letters(letters, none) == "ε");
  CHECK(quoted_letters(letters, ab) == "\"ab\"");
  CHECK(product_of_words(letters, {{none}, {ab, true}, {none}}) == "\"ab\"ⁿ");
  CHECK(product_of_words(letters, {{a}, {ab, true}, {ab}}) == "\"a\" \"ab\"ⁿ \"ab\"");
  CHECK(product_of_words(letters, {{many, true}, {a}}) == "(a^9)ⁿ \"a\"");
  CHECK(product_of_words(letters, {{none}, {none, true}}) == "ε");
}
