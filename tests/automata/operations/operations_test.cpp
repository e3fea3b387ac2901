#include "krohn/automata/operations/operations.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "tests/automata/random_automata.h"
#include "tests/automata/reference_minimise.h"
#include "tests/automata/small_languages.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// The subset construction as textbooks have it, on sets of states, without any reduction.
Dfa reference_determinise(const Nfa& nfa) {
  using Set = std::set<State>;
  const auto close = [&](Set set) {
    std::vector<State> queue(set.begin(), set.end());
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const Nfa::Arc& arc : nfa.arcs(queue[i]))
        if (arc.letter == kEpsilon && set.insert(arc.target).second) queue.push_back(arc.target);
    return set;
  };
  std::map<Set, State> numbers;
  std::vector<Set> sets;
  std::vector<State> table;
  std::vector<bool> accepting;
  const auto number_of = [&](const Set& set) {
    const auto [found, added] = numbers.emplace(set, static_cast<State>(sets.size()));
    if (added) {
      sets.push_back(set);
      accepting.push_back(std::any_of(set.begin(), set.end(), [&](State state) { return nfa.accepts(state); }));
    }
    return found->second;
  };
  number_of(close(Set(nfa.initial().begin(), nfa.initial().end())));
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (Letter letter = 0; letter < nfa.alphabet().size(); ++letter) {
      Set reached;
      for (const State state : Set(sets[i]))
        for (const Nfa::Arc& arc : nfa.arcs(state))
          if (arc.letter == letter) reached.insert(arc.target);
      table.push_back(number_of(close(reached)));
    }
  return Dfa::acceptor(nfa.alphabet(), table, 0, accepting);
}

/// Words whose k-th letter from the end is a: k + 1 states here, 2^k after determinising.
Nfa kth_from_the_end(State k) {
  Nfa nfa(Alphabet::of_characters("ab"));
  for (State state = 0; state <= k; ++state) nfa.add_state(state == k);
  nfa.add_initial(0);
  nfa.add_arc(0, 0, 0);
  nfa.add_arc(0, 1, 0);
  nfa.add_arc(0, 0, 1);
  for (State state = 1; state < k; ++state)
    for (const Letter letter : {0U, 1U}) nfa.add_arc(state, letter, state + 1);
  return nfa;
}

bool is_breadth_first(const Dfa& dfa) {
  State next = 1;
  for (const State target : dfa.table()) {
    if (target > next) return false;
    if (target == next) ++next;
  }
  return dfa.initial() == 0 && next == dfa.states();
}

}  // namespace

TEST_CASE("subsets accept what the nondeterministic automaton accepts") {
  Dice dice(1);
  for (int round = 0; round < 300; ++round) {
    const State states = 1 + dice.below(9);
    const Nfa nfa = random_nfa(dice, states, 2, 2 * states, states / 2);
    const Dfa dfa = determinise(nfa);
    CHECK(is_breadth_first(dfa));
    for (const Word& word : short_words(2, 6)) CHECK(dfa.accepts(dfa.run(word)) == nfa.accepts_word(word));
  }
}

TEST_CASE("both sizes agree with the textbook, and never have more states") {
  Dice dice(2);
  for (int round = 0; round < 60; ++round) {
    const State states = round % 2 == 0 ? 20 + dice.below(20) : 150 + dice.below(150);
    const Nfa nfa = random_nfa(dice, states, 1 + dice.below(8), states, states / 4);
    CAPTURE(round);
    const Dfa dfa = determinise(nfa), reference = reference_determinise(nfa);
    CHECK(dfa.states() <= reference.states());
    CHECK(is_breadth_first(dfa));
    CHECK(reference_minimise(dfa) == reference_minimise(reference));
  }
}

TEST_CASE("one word and many words give the same table") {
  // 70 states that read letters but are never reached push the automaton over the edge of one word.
  for (const State k : {1U, 5U, 12U}) {
    Nfa padded = kth_from_the_end(k);
    for (int i = 0; i < 70; ++i) {
      const State state = padded.add_state();
      padded.add_arc(state, 0, k);
    }
    const Dfa small = determinise(kth_from_the_end(k));
    CHECK(small.states() == (State{1} << k));
    CHECK(determinise(padded) == small);
  }
}

TEST_CASE("degenerate automata") {
  Nfa none(Alphabet::of_characters("ab"));
  CHECK(determinise(none).states() == 1);
  CHECK_FALSE(determinise(none).accepts(0));
  Nfa no_letters{Alphabet()};
  no_letters.add_initial(no_letters.add_state(true));
  CHECK(determinise(no_letters).states() == 1);
  CHECK(determinise(no_letters).accepts(0));
  Nfa cycle(Alphabet::of_characters("a"));  // ε-cycle
  for (int i = 0; i < 3; ++i) cycle.add_state(i == 2);
  for (State i = 0; i < 3; ++i) cycle.add_epsilon(i, (i + 1) % 3);
  cycle.add_initial(0);
  CHECK(determinise(cycle).states() == 2);
  CHECK(determinise(cycle).accepts(0));
}

TEST_CASE("the limit is stated, and lets through exactly what it says") {
  CHECK(determinise(kth_from_the_end(10), {.max_states = 1024}).states() == 1024);
  CHECK_THROWS_WITH_AS(determinise(kth_from_the_end(10), {.max_states = 1023}),
                       "the subset construction passed 1,023 states; raise the limit with --max-states", LimitError);
  CHECK_THROWS_AS(determinise(kth_from_the_end(100), {.max_states = 5000}), LimitError);
}

TEST_CASE("a chain of 10^5 optional steps does not take quadratic memory") {
  Nfa nfa(Alphabet::of_characters("a"));
  constexpr State kLength = 100'000;
  for (State state = 0; state <= kLength; ++state) nfa.add_state(state == kLength);
  nfa.add_initial(0);
  for (State state = 0; state < kLength; ++state) nfa.add_epsilon(state, state + 1);
  nfa.add_arc(kLength, 0, 0);
  const Dfa dfa = determinise(nfa);
  CHECK(dfa.states() == 1);
  CHECK(dfa.accepts(0));
}

namespace {

/// The same automaton under a random renumbering of its states.
Dfa shuffled(Dice& dice, const Dfa& dfa) {
  std::vector<State> to(dfa.states());
  std::iota(to.begin(), to.end(), State{0});
  std::shuffle(to.begin(), to.end(), dice.engine());
  std::vector<State> table(dfa.table().size());
  std::vector<Output> outputs(dfa.states());
  for (State state = 0; state < dfa.states(); ++state) {
    outputs[to[state]] = dfa.output(state);
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      table[std::size_t{to[state]} * dfa.letters() + letter] = to[dfa.next(state, letter)];
  }
  return Dfa::moore(dfa.alphabet(), std::move(table), to[dfa.initial()], std::move(outputs),
                    {dfa.output_names().begin(), dfa.output_names().end()});
}

/// Every state twice, each copy with targets among both copies at random: the same language, twice the states.
Dfa doubled(Dice& dice, const Dfa& dfa) {
  std::vector<State> table;
  std::vector<Output> outputs;
  for (State state = 0; state < 2 * dfa.states(); ++state) {
    outputs.push_back(dfa.output(state / 2));
    for (const State target : dfa.row(state / 2)) table.push_back(2 * target + dice.below(2));
  }
  return Dfa::moore(dfa.alphabet(), std::move(table), 2 * dfa.initial(), std::move(outputs),
                    {dfa.output_names().begin(), dfa.output_names().end()});
}

/// Counts a's and accepts at every multiple of `period` in a ring of `states`, so `period` states are minimal.
Dfa ring(State states, State period) {
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < states; ++state) {
    table.push_back((state + 1) % states);
    accepting.push_back(state % period == 0);
  }
  return Dfa::acceptor(first_letters(1), std::move(table), 0, accepting);
}

/// A ring whose accepting states spell the Fibonacci word of length `states`: the inputs that cost Hopcroft's algorithm
/// n log n (Castiglione, Restivo, Sciortino 2008).
Dfa fibonacci_ring(int order) {
  std::string shorter = "b", word = "a";
  for (int i = 0; i < order; ++i) shorter = std::exchange(word, word + shorter);
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < word.size(); ++state) {
    table.push_back((state + 1) % static_cast<State>(word.size()));
    accepting.push_back(word[state] == 'a');
  }
  return Dfa::acceptor(first_letters(1), std::move(table), 0, accepting);
}

/// The last `bits` letters; accepts when the oldest of them is b.
Dfa de_bruijn(int bits) {
  const State states = State{1} << bits;
  std::vector<State> table;
  std::vector<bool> accepting;
  for (State state = 0; state < states; ++state) {
    table.push_back(2 * state % states);
    table.push_back((2 * state + 1) % states);
    accepting.push_back(state >= states / 2);
  }
  return Dfa::acceptor(first_letters(2), std::move(table), 0, accepting);
}

/// A line of a's with one accepting state at its end: as slow for Moore's rounds as can be.
Dfa line(State states) {
  std::vector<State> table;
  std::vector<bool> accepting(states, false);
  for (State state = 0; state < states; ++state) table.push_back(std::min(state + 1, states - 1));
  accepting[states - 2] = true;
  return Dfa::acceptor(first_letters(1), std::move(table), 0, accepting);
}

}  // namespace

TEST_CASE("known automata minimise to known sizes") {
  struct Fact {
    const char* name;
    Dfa dfa;
    State states;
  };
  for (const Fact& fact : {Fact{"ring 12, period 4", ring(12, 4), 4}, Fact{"ring 12, period 12", ring(12, 12), 12},
                           Fact{"ring 7, period 1", ring(7, 1), 1}, Fact{"line 1000", line(1000), 1000},
                           Fact{"Fibonacci ring", fibonacci_ring(12), 377}, Fact{"de Bruijn", de_bruijn(10), 1024}}) {
    CAPTURE(fact.name);
    const Dfa minimal = minimise(fact.dfa);
    CHECK(minimal.states() == fact.states);
    CHECK(minimal == reference_minimise(fact.dfa));
  }
}

TEST_CASE("degenerate automata") {
  const Dfa no_letters = Dfa::acceptor(Alphabet(), {}, 1, {false, true});
  CHECK(minimise(no_letters).states() == 1);
  CHECK(minimise(no_letters).accepts(0));
  for (const bool accepting : {false, true}) {
    const Dfa constant = Dfa::acceptor(first_letters(2), {1, 1, 0, 1}, 0, {accepting, accepting});
    CHECK(minimise(constant) == Dfa::acceptor(first_letters(2), {0, 0}, 0, {accepting}));
  }
}

TEST_CASE("acceptors and Moore machines with up to four outputs agree with the reference") {
  Dice dice(1);
  const auto check = [](const Dfa& dfa) { REQUIRE(minimise(dfa) == reference_minimise(dfa)); };
  for (int round = 0; round < 6000; ++round)
    check(random_acceptor(dice, 1 + dice.below(14), 1 + dice.below(3), 1 + dice.below(4)));
  for (int round = 0; round < 3000; ++round)
    check(random_moore(dice, 1 + dice.below(200), dice.below(5), 1 + dice.below(4), 1 + dice.below(50)));
}

TEST_CASE("renumbering and doubling states changes nothing, minimising twice neither") {
  Dice dice(3);
  for (int round = 0; round < 500; ++round) {
    const Dfa dfa = random_moore(dice, 1 + dice.below(60), 1 + dice.below(3), 2, 1 + dice.below(4));
    const Dfa minimal = minimise(dfa);
    CAPTURE(round);
    REQUIRE(minimise(shuffled(dice, dfa)) == minimal);
    REQUIRE(minimise(doubled(dice, shuffled(dice, dfa))) == minimal);
    REQUIRE(minimise(minimal) == minimal);
    REQUIRE(canonical(shuffled(dice, minimal)) == minimal);
  }
}

TEST_CASE("Hopcroft's refinement alone reaches what the rounds reach") {
  Dice dice(4);
  for (int round = 0; round < 1000; ++round) {
    const Dfa dfa = random_moore(dice, 1 + dice.below(100), 1 + dice.below(3), 1 + dice.below(4), 1 + dice.below(30));
    Partition by_hopcroft = partition_by_output(dfa.outputs());
    Partition by_rounds = by_hopcroft;
    refine_by_hopcroft(dfa.table(), dfa.letters(), by_hopcroft);
    CAPTURE(round);
    REQUIRE(is_congruence(dfa.table(), dfa.letters(), by_hopcroft));
    if (!refine_by_rounds(dfa.table(), dfa.letters(), by_rounds))
      refine_by_hopcroft(dfa.table(), dfa.letters(), by_rounds);
    REQUIRE(by_rounds.classes.size() == by_hopcroft.classes.size());
    for (State state = 0; state < dfa.states(); ++state)
      REQUIRE(by_rounds.class_of[by_hopcroft.members(by_hopcroft.class_of[state])[0]] == by_rounds.class_of[state]);
  }
}

TEST_CASE("slow inputs for rounds are handed to Hopcroft and finish") {
  Partition partition = partition_by_output(line(5000).outputs());
  CHECK_FALSE(refine_by_rounds(line(5000).table(), 1, partition));
  CHECK(minimise(line(300'000)).states() == 300'000);
  CHECK(minimise(fibonacci_ring(24)).states() == 121'393);
  CHECK(minimise(ring(300'000, 3)).states() == 3);
}

TEST_CASE("canonical drops unreachable states and keeps names with their states") {
  const Dfa dfa = Dfa::acceptor(first_letters(2), {2, 0, 1, 1, 0, 2}, 2, {true, false, false})
                      .with_state_names({"one", "unreachable", "start"});
  const Dfa result = canonical(dfa);
  CHECK(result == Dfa::acceptor(first_letters(2), {1, 0, 0, 1}, 0, {false, true}));
  REQUIRE(result.states() == 2);
  CHECK(result.state_name(0) == "start");
  CHECK(result.state_name(1) == "one");
}

namespace {

constexpr std::size_t kLength = 4;  ///< of the words that are compared

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

TEST_CASE("pairs of states stop at the limit, and not one earlier") {
  Dice dice(14);
  const Nfa a = random_nfa(dice, 6, 2, 20, 0), b = random_nfa(dice, 6, 2, 20, 0);
  const std::uint64_t pairs = intersection_of(a, b).states();
  REQUIRE(pairs > 3);
  CHECK_NOTHROW(intersection_of(a, b, pairs));
  CHECK_THROWS_AS(intersection_of(a, b, pairs - 1), LimitError);
}

namespace {

Dfa nothing(Letter letters) {
  return Dfa::acceptor(first_letters(letters), std::vector<State>(letters, 0), 0, {false});
}
Dfa everything(Letter letters) { return complement(nothing(letters)); }
Dfa empty_word(Letter letters) {
  return Dfa::acceptor(first_letters(letters), std::vector<State>(2 * letters, 1), 0, {true, false});
}

}  // namespace

TEST_CASE("Boolean operations agree with the words") {
  Dice dice(1);
  for (int round = 0; round < 300; ++round) {
    const Letter letters = 1 + dice.below(3);
    const Dfa a = random_acceptor(dice, 1 + dice.below(8), letters, 1 + dice.below(2));
    const Dfa b = random_acceptor(dice, 1 + dice.below(8), letters, 1 + dice.below(2));
    const Dfa either = union_of(a, b), both = intersection_of(a, b), left = difference_of(a, b);
    const Dfa one = symmetric_difference_of(a, b), none = complement(either);
    CAPTURE(round);
    for (int i = 0; i < 60; ++i) {
      const Word word = random_word(dice, letters, 20);
      const bool in_a = accepts(a, word), in_b = accepts(b, word);
      REQUIRE(accepts(either, word) == (in_a || in_b));
      REQUIRE(accepts(both, word) == (in_a && in_b));
      REQUIRE(accepts(left, word) == (in_a && !in_b));
      REQUIRE(accepts(one, word) == (in_a != in_b));
      REQUIRE(accepts(none, word) == !(in_a || in_b));
    }
  }
}

TEST_CASE("laws of Boolean algebra hold as identity of canonical automata") {
  Dice dice(2);
  for (int round = 0; round < 400; ++round) {
    const Letter letters = dice.below(4);
    const Dfa a = random_acceptor(dice, 1 + dice.below(7), letters),
              b = random_acceptor(dice, 1 + dice.below(7), letters);
    const Dfa c = random_acceptor(dice, 1 + dice.below(4), letters);
    CAPTURE(round);
    REQUIRE(complement(union_of(a, b)) == intersection_of(complement(a), complement(b)));
    REQUIRE(complement(intersection_of(a, b)) == union_of(complement(a), complement(b)));
    REQUIRE(complement(complement(a)) == minimise(a));
    REQUIRE(difference_of(a, b) == intersection_of(a, complement(b)));
    REQUIRE(symmetric_difference_of(a, b) == union_of(difference_of(a, b), difference_of(b, a)));
    REQUIRE(intersection_of(a, union_of(b, c)) == union_of(intersection_of(a, b), intersection_of(a, c)));
    REQUIRE(union_of(a, nothing(letters)) == minimise(a));
    REQUIRE(intersection_of(a, everything(letters)) == minimise(a));
    REQUIRE(is_empty(difference_of(a, a)));
    REQUIRE(is_universal(union_of(a, complement(a))));
  }
}

TEST_CASE("operands over different alphabets are read over the common refinement") {
  const Dfa only_a = Dfa::acceptor(first_letters(1), {1, 2, 2}, 0, {false, true, false});  // {a} over {a}
  const Dfa b_words = Dfa::acceptor(Alphabet::of_characters("b"), {0}, 0, {true});         // b*
  const Nfa a = to_nfa(only_a), b = to_nfa(b_words);
  const Dfa either = union_of(only_a, b_words);
  REQUIRE(either.alphabet() == first_letters(2));
  CHECK(minimal_of(union_of(a, b), 100) == either);
  const auto are_b = [](const Word& word, std::ptrdiff_t first) {
    return std::all_of(word.begin() + first, word.end(), [](Letter letter) { return letter == 1; });
  };
  for (const Word& word : short_words(2, 5)) {
    CHECK(accepts(either, word) == (word == Word{0} || are_b(word, 0)));
    CHECK(concatenation(a, b).accepts_word(word) == (!word.empty() && word[0] == 0 && are_b(word, 1)));
    CHECK(accepts(extend_alphabet(b_words, first_letters(1)), word) ==
          std::all_of(word.begin(), word.end(), [](Letter letter) { return letter == 0; }));  // b comes first there
  }
  CHECK(is_empty(minimal_of(intersection_of(plus(a), plus(b)), 100)));
  CHECK(minimal_of(left_quotient(union_of(a, b), a), 100) == extend_alphabet(empty_word(1), first_letters(2)));
  const Dfa product = minimal_of(concatenation(a, b), 100);
  CHECK(minimal_of(right_quotient(concatenation(a, b), b), 100) == product);
  CHECK(is_universal(complement(nothing(1))));
  CHECK_FALSE(is_universal(extend_alphabet(everything(1), first_letters(2))));
}

namespace {

/// The length of a shortest word on which the outputs differ, by all pairs of states.
std::optional<std::size_t> shortest_difference(const Dfa& a, const Dfa& b) {
  std::vector<std::pair<State, State>> pairs{{a.initial(), b.initial()}};
  std::set<std::pair<State, State>> seen{pairs[0]};
  for (std::size_t length = 0; !pairs.empty(); ++length) {
    std::vector<std::pair<State, State>> next;
    for (const auto& [p, q] : pairs) {
      if (a.output_names()[a.output(p)] != b.output_names()[b.output(q)]) return length;
      for (Letter letter = 0; letter < a.letters(); ++letter)
        if (const std::pair to(a.next(p, letter), b.next(q, letter)); seen.insert(to).second) next.push_back(to);
    }
    pairs = std::move(next);
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a distinguishing word is a shortest one") {
  Dice dice(6);
  for (int round = 0; round < 3000; ++round) {
    const Letter letters = dice.below(4);
    const Output outputs = 1 + dice.below(4);
    const Dfa a = random_moore(dice, 1 + dice.below(12), letters, outputs, 1 + dice.below(4));
    Dfa b = random_moore(dice, 1 + dice.below(12), letters, outputs, 1 + dice.below(4));
    if (dice.below(2) == 0) b = canonical(minimise(a));
    CAPTURE(round);
    const auto word = distinguishing_word(a, b);
    const std::optional<std::size_t> least = shortest_difference(a, b);
    REQUIRE(word.has_value() == least.has_value());
    REQUIRE(equivalent(a, b) == (minimise(a) == minimise(b)));
    REQUIRE(equivalent(a, b) == !word.has_value());
    if (word) {
      REQUIRE(word->size() == *least);
      REQUIRE(a.output(a.run(*word)) != b.output(b.run(*word)));
    }
  }
}

TEST_CASE("outputs are compared by name") {
  const Dfa a = Dfa::moore(first_letters(1), {1, 0}, 0, {0, 1}, {"red", "green"});
  const Dfa b = Dfa::moore(first_letters(1), {1, 0}, 0, {2, 1}, {"blue", "green", "red"});
  CHECK(equivalent(a, b));
  const Dfa c = Dfa::moore(first_letters(1), {1, 1}, 0, {2, 1}, {"blue", "green", "red"});
  CHECK(distinguishing_word(a, c) == Word{0, 0});
}

TEST_CASE("emptiness, universality, finiteness and shortest words agree with short words") {
  Dice dice(8);
  for (int round = 0; round < 500; ++round) {
    const State states = 1 + dice.below(4);
    const Dfa dfa = random_acceptor(dice, states, 2, 1 + dice.below(3));
    std::optional<Word> least;
    bool all = true, some_long = false;
    for (const Word& word : short_words(2, 7)) {  // n … 2n − 1 letters decide finiteness
      const bool accepted = accepts(dfa, word);
      if (accepted && !least) least = word;
      all &= accepted;
      some_long |= accepted && word.size() >= states;
    }
    CAPTURE(round);
    REQUIRE(shortest_accepted_word(dfa) == least);
    REQUIRE(is_empty(dfa) == !least.has_value());
    REQUIRE(is_universal(dfa) == all);
    REQUIRE(is_finite(dfa) == !some_long);
  }
}

TEST_CASE("empty alphabets, empty languages, one state") {
  const Dfa yes = everything(0), no = nothing(0);
  CHECK(is_universal(yes));
  CHECK(is_finite(yes));
  CHECK(is_empty(no));
  CHECK(shortest_accepted_word(yes) == Word{});
  CHECK(union_of(yes, no) == yes);
  const auto minimal = [](const Nfa& nfa) { return minimal_of(nfa, 100); };
  CHECK(minimal(star(to_nfa(no))) == yes);
  CHECK(minimal(plus(to_nfa(no))) == no);
  CHECK(minimal(concatenation(to_nfa(yes), to_nfa(no))) == no);
  CHECK(minimal(reverse(to_nfa(yes))) == yes);
  CHECK(minimal(left_quotient(to_nfa(yes), to_nfa(yes))) == yes);
  CHECK(distinguishing_word(yes, no) == Word{});
  CHECK(minimal(star(to_nfa(nothing(2)))) == empty_word(2));
  CHECK(union_of(yes, nothing(2)) == empty_word(2));  // the empty word is in both worlds
}

TEST_CASE("what is no acceptor, too large, or over other letters is refused") {
  Dice dice(9);
  const Dfa machine = random_moore(dice, 4, 2, 3), acceptor = random_acceptor(dice, 4, 2);
  CHECK_THROWS_AS(union_of(machine, acceptor), InputError);
  CHECK_THROWS_AS(union_of(acceptor, machine), InputError);
  CHECK_THROWS_AS(complement(machine), InputError);
  CHECK_THROWS_AS(is_empty(machine), InputError);
  CHECK_THROWS_AS(distinguishing_word(machine, random_acceptor(dice, 3, 3)), InputError);
  const Dfa large = random_acceptor(dice, 200, 2), larger = random_acceptor(dice, 200, 2);
  CHECK_THROWS_AS(union_of(large, larger, 1000), LimitError);
}
