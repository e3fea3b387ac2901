#include "krohn/automata/operations/nfa_operations.h"

#include <doctest/doctest.h>

#include "krohn/automata/operations/nfa_parts.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/error.h"
#include "tests/automata/small_languages.h"

using namespace krohn;

namespace {

constexpr std::size_t kLength = 4;  ///< of the words that are compared
constexpr std::size_t kLonger = 9;  ///< of those that a word is a part of: what stands beside it has at most 4 letters

/// Some words of `whole`, cut to what `parts` makes of each.
WordSet parts_of(const WordSet& whole, std::size_t most, const std::function<void(const Word&, WordSet&)>& parts) {
  WordSet found;
  for (const Word& word : whole) parts(word, found);
  std::erase_if(found, [&](const Word& word) { return word.size() > most; });
  return found;
}

void check_unary(const Nfa& nfa) {
  // At most three states: whatever can be continued at all can be within two letters.
  const WordSet longer = words_of(nfa, 7), shorter = words_of(nfa, kLength);
  const auto in = [&](const Word& word) { return shorter.contains(word); };
  CHECK(words_of(reverse(nfa), kLength) == where(2, kLength, [&](Word word) {
          std::reverse(word.begin(), word.end());
          return in(word);
        }));
  CHECK(words_of(prefixes(nfa), kLength) == parts_of(longer, kLength, [](const Word& word, WordSet& found) {
          for (std::size_t end = 0; end <= word.size(); ++end) found.insert(cut(word, 0, end));
        }));
  CHECK(words_of(suffixes(nfa), kLength) == parts_of(longer, kLength, [](const Word& word, WordSet& found) {
          for (std::size_t begin = 0; begin <= word.size(); ++begin) found.insert(cut(word, begin, word.size()));
        }));
  CHECK(words_of(factors(nfa), 3) == parts_of(longer, 3, [](const Word& word, WordSet& found) {
          for (std::size_t begin = 0; begin <= word.size(); ++begin)
            for (std::size_t end = begin; end <= word.size(); ++end) found.insert(cut(word, begin, end));
        }));
  CHECK(words_of(subwords(nfa), 1) == parts_of(longer, 1, [](const Word& word, WordSet& found) {
          found.insert(Word{});
          for (const Letter letter : word) found.insert(Word{letter});
        }));
  const std::function<bool(const Word&)> is_power = [&](const Word& word) {
    if (word.empty()) return true;
    for (std::size_t end = 1; end <= word.size(); ++end)
      if (in(cut(word, 0, end)) && is_power(cut(word, end, word.size()))) return true;
    return false;
  };
  CHECK(words_of(star(nfa), kLength) == where(2, kLength, is_power));
  CHECK(words_of(plus(nfa), kLength) ==
        where(2, kLength, [&](const Word& word) { return word.empty() ? in(word) : is_power(word); }));
}

void check_binary(const Nfa& a, const Nfa& b) {
  const WordSet in_a = words_of(a, kLength), in_b = words_of(b, kLength);
  CHECK(words_of(union_of(a, b), kLength) ==
        where(2, kLength, [&](const Word& word) { return in_a.contains(word) || in_b.contains(word); }));
  CHECK(words_of(intersection_of(a, b), kLength) ==
        where(2, kLength, [&](const Word& word) { return in_a.contains(word) && in_b.contains(word); }));
  CHECK(words_of(concatenation(a, b), kLength) == where(2, kLength, [&](const Word& word) {
          for (std::size_t at = 0; at <= word.size(); ++at)
            if (in_a.contains(cut(word, 0, at)) && in_b.contains(cut(word, at, word.size()))) return true;
          return false;
        }));
  CHECK(words_of(shuffle(a, b), kLength) == where(2, kLength, [&](const Word& word) {
          for (std::uint32_t mask = 0; mask < (1U << word.size()); ++mask) {
            Word left, right;
            for (std::size_t i = 0; i < word.size(); ++i) ((mask >> i & 1U) != 0 ? left : right).push_back(word[i]);
            if (in_a.contains(left) && in_b.contains(right)) return true;
          }
          return false;
        }));
}

/// Two states each: a pair of them is reached within three letters.
void check_quotients(const Nfa& a, const Nfa& b) {
  constexpr std::size_t kRest = 2, kGone = 3;
  const WordSet whole = words_of(a, kRest + kGone), gone = words_of(b, kGone);
  const auto is_left = [&](const Word& rest) {
    return std::any_of(gone.begin(), gone.end(), [&](const Word& word) { return whole.contains(joined(word, rest)); });
  };
  const auto is_right = [&](const Word& rest) {
    return std::any_of(gone.begin(), gone.end(), [&](const Word& word) { return whole.contains(joined(rest, word)); });
  };
  CHECK(words_of(left_quotient(a, b), kRest) == where(2, kRest, is_left));
  CHECK(words_of(right_quotient(a, b), kRest) == where(2, kRest, is_right));
}

}  // namespace

TEST_CASE("operations on all acceptors of at most two states, word by word") {
  std::vector<Nfa> all;
  for (const State states : {1U, 2U})
    for (const Dfa& dfa : all_acceptors(states, 2)) all.push_back(to_nfa(dfa));
  REQUIRE(all.size() == 2 + 64);
  for (const Nfa& a : all) {
    check_unary(a);
    for (const Nfa& b : all) {
      check_binary(a, b);
      check_quotients(a, b);
    }
  }
}

TEST_CASE("operations on random nondeterministic automata with moves that read nothing") {
  Dice dice(11);
  for (int i = 0; i < 400; ++i) {
    CAPTURE(i);
    const Nfa a = random_nfa(dice, 1 + dice.below(3), 2, dice.below(7), dice.below(3));
    const Nfa b = random_nfa(dice, 1 + dice.below(3), 2, dice.below(7), dice.below(3));
    check_unary(a);
    check_binary(a, b);
    const Nfa small_a = random_nfa(dice, 2, 2, dice.below(5), dice.below(2));
    check_quotients(small_a, random_nfa(dice, 2, 2, dice.below(5), dice.below(2)));
  }
}

TEST_CASE("the operations on deterministic automata agree with those on nondeterministic ones") {
  Dice dice(12);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const Dfa a = random_acceptor(dice, 1 + dice.below(4), 2), b = random_acceptor(dice, 1 + dice.below(4), 2);
    const Nfa in_a = to_nfa(a), in_b = to_nfa(b);
    const auto minimal = [](const Nfa& nfa) { return minimal_of(nfa, 100'000); };
    CHECK(minimal(union_of(in_a, in_b)) == union_of(a, b));
    CHECK(minimal(intersection_of(in_a, in_b)) == intersection_of(a, b));
    CHECK(minimal(concatenation(in_a, in_b)) == concatenation(a, b));
    CHECK(minimal(star(in_a)) == star(a));
    CHECK(minimal(plus(in_a)) == plus(a));
    CHECK(minimal(reverse(in_a)) == reverse(a));
    CHECK(minimal(left_quotient(in_a, in_b)) == left_quotient(a, b));
    CHECK(minimal(right_quotient(in_a, in_b)) == right_quotient(a, b));
  }
}

TEST_CASE("images and preimages under maps of letters, word by word") {
  const std::vector<std::vector<Word>> maps{{{0}, {1}}, {{1}, {0}},   {{0, 1}, {0}}, {{}, {1}},
                                            {{}, {}},   {{0, 0}, {}}, {{0}, {0}}};
  const auto mapped = [](const Word& word, const std::vector<Word>& images) {
    Word image;
    for (const Letter letter : word) image = joined(image, images[letter]);
    return image;
  };
  Dice dice(13);
  std::vector<Nfa> all;
  for (const Dfa& dfa : all_acceptors(2, 2)) all.push_back(to_nfa(dfa));
  for (int i = 0; i < 60; ++i) all.push_back(random_nfa(dice, 2, 2, dice.below(6), dice.below(2)));
  for (const Nfa& nfa : all)
    for (const auto& images : maps) {
      // Erased letters stand between, before and behind: at most one each per state that is left.
      const WordSet words = words_of(nfa, 8);
      CHECK(words_of(homomorphic_image(nfa, {first_letters(2), images}), 2) ==
            parts_of(words, 2, [&](const Word& word, WordSet& found) { found.insert(mapped(word, images)); }));
      CHECK(words_of(homomorphic_preimage(nfa, first_letters(2), images), kLength) ==
            where(2, kLength, [&](const Word& word) { return words.contains(mapped(word, images)); }));
    }
}

TEST_CASE("projection strikes out letters, and only letters that are there can be kept") {
  const Nfa nfa = to_nfa(all_acceptors(2, 2)[37]);
  const Nfa kept = projection(nfa, Alphabet::of_characters("b"));
  CHECK(kept.alphabet() == Alphabet::of_characters("b"));
  CHECK_THROWS_AS(projection(nfa, Alphabet::of_characters("bc")), InputError);
  CHECK_THROWS_AS(homomorphic_image(nfa, {Alphabet::of_characters("x"), {{0}}}), InputError);
  CHECK_THROWS_AS(homomorphic_image(nfa, {Alphabet::of_characters("x"), {{0}, {1}}}), InputError);
}

TEST_CASE("operands over different letters are read over all of them") {
  const Dfa a = Dfa::acceptor(Alphabet::of_characters("a"), {0}, 0, {true});
  const Dfa c = Dfa::acceptor(Alphabet::of_characters("c"), {0}, 0, {true});
  CHECK(minimal_of(union_of(to_nfa(a), to_nfa(c)), 100) == union_of(a, c));
  CHECK(minimal_of(concatenation(to_nfa(a), to_nfa(c)), 100) == concatenation(a, c));
  CHECK(intersection_of(to_nfa(a), to_nfa(c)).accepts_word(Word{}));
  CHECK_FALSE(intersection_of(to_nfa(a), to_nfa(c)).accepts_word(Word{0}));
}

TEST_CASE("pairs of states stop at the limit, and not one earlier") {
  Dice dice(14);
  const Nfa a = random_nfa(dice, 6, 2, 20, 0), b = random_nfa(dice, 6, 2, 20, 0);
  const std::uint64_t pairs = intersection_of(a, b).states();
  REQUIRE(pairs > 3);
  CHECK_NOTHROW(intersection_of(a, b, pairs));
  CHECK_THROWS_AS(intersection_of(a, b, pairs - 1), LimitError);
}
