// Temporal formulas against their definition, position by position, on every short word.

#include "krohn/automata/syntax/temporal.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/regex.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// A formula as the test writes and reads it: by what its operators say, none by another.
struct Formula {
  std::string operation;  ///< "a", "b", "true", "false" or an operator
  std::shared_ptr<Formula> first, second;
};
using Part = std::shared_ptr<Formula>;

std::string text_of(const Part& f) {
  if (!f->first) return f->operation;
  if (!f->second) return f->operation + "(" + text_of(f->first) + ")";
  return "(" + text_of(f->first) + " " + f->operation + " " + text_of(f->second) + ")";
}

/// Letters are sets of propositions: bit 0 is a, bit 1 is b.
using Valued = std::vector<unsigned>;

bool holds(const Part& f, const Valued& word, int at) {
  const int end = static_cast<int>(word.size());
  const std::string& o = f->operation;
  const auto first = [&](int i) { return holds(f->first, word, i); };
  const auto second = [&](int i) { return holds(f->second, word, i); };
  const auto until = [&](auto hold, auto come) {
    for (int i = at; i < end; ++i) {
      if (come(i)) return true;
      if (!hold(i)) return false;
    }
    return false;
  };
  const auto always = [&](auto hold) {
    for (int i = at; i < end; ++i)
      if (!hold(i)) return false;
    return true;
  };
  const bool nowhere = word.empty();
  if (o == "true") return true;
  if (o == "false") return false;
  if (o == "a") return !nowhere && (word[at] & 1) != 0;
  if (o == "b") return !nowhere && (word[at] & 2) != 0;
  if (o == "!") return !first(at);
  if (o == "&") return first(at) && second(at);
  if (o == "|") return first(at) || second(at);
  if (o == "->") return !first(at) || second(at);
  if (o == "<->") return first(at) == second(at);
  if (o == "X") return !nowhere && at + 1 < end && first(at + 1);
  if (o == "N") return nowhere || at + 1 == end || first(at + 1);
  if (o == "F") return until([](int) { return true; }, first);
  if (o == "G") return always(first);
  if (o == "U") return until(first, second);
  if (o == "W") return until(first, second) || always(first);
  if (o == "M") return until(second, [&](int i) { return first(i) && second(i); });
  if (o == "R") return until(second, [&](int i) { return first(i) && second(i); }) || always(second);
  if (o == "Y") return !nowhere && at > 0 && first(at - 1);
  if (o == "Z") return nowhere || at == 0 || first(at - 1);
  if (o == "O" || o == "H") {
    for (int i = 0; i <= at && !nowhere; ++i)
      if (first(i) == (o == "O")) return o == "O";
    return o == "H";
  }
  REQUIRE(o == "S");
  for (int i = at; i >= 0 && !nowhere; --i) {
    if (second(i)) return true;
    if (!first(i)) return false;
  }
  return false;
}

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  std::string one_of(const std::vector<std::string>& texts) { return texts[random_() % texts.size()]; }

  Part formula(int depth, bool future, bool past) {
    const auto part = [&](bool may_be_future) { return formula(depth - 1, future && may_be_future, past); };
    if (depth == 0) return std::make_shared<Formula>(one_of({"a", "b", "a", "b", "true", "false"}));
    std::vector<std::string> operators{"!", "&", "|", "->", "<->", "a", "b"};
    for (const char* o : {"X", "N", "F", "G", "U", "W", "M", "R"})
      if (future) operators.emplace_back(o);
    for (const char* o : {"Y", "Z", "O", "H", "S"})
      if (past) operators.emplace_back(o);
    const std::string o = one_of(operators);
    if (o == "a" || o == "b") return std::make_shared<Formula>(o);
    const bool is_past = test::contains(std::string("YZOHS"), o);
    const bool is_binary = test::contains(std::string("& | -> <-> U W M R S"), o);
    return std::make_shared<Formula>(o, part(!is_past), is_binary ? part(!is_past) : nullptr);
  }

 private:
  std::mt19937 random_;
};

/// A letter, and a valuation for which it stands.
struct Meaning {
  Letter letter;
  unsigned valuation;
};

/// Returns the four valuations of a and b; what the alphabet does not name makes no difference.
std::vector<Meaning> valuations_in(const Alphabet& alphabet) {
  std::vector<Meaning> meanings;
  for (const unsigned valuation : {0U, 1U, 2U, 3U})
    for (const unsigned named : {3U, 2U, 1U, 0U}) {
      const char* name = std::array{"{}", "{a}", "{b}", "{b,a}"}[valuation & named];
      const std::optional<Letter> letter = alphabet.find(name);
      if (!letter) continue;
      meanings.push_back({*letter, valuation});
      break;
    }
  REQUIRE(meanings.size() == 4);
  return meanings;
}

/// Every word of up to `longest` of these letters.
void compare(const Part& formula, const Dfa& dfa, const std::vector<Meaning>& meanings, int longest, bool at_the_end) {
  std::vector<std::pair<Word, Valued>> words(1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto [word, valued] = words[i];
    const int at = at_the_end && !word.empty() ? static_cast<int>(word.size()) - 1 : 0;
    CAPTURE(dfa.alphabet().format_word(word));
    REQUIRE(dfa.accepts(dfa.run(word)) == holds(formula, valued, at));
    if (static_cast<int>(word.size()) == longest) continue;
    for (const Meaning& meaning : meanings) {
      words.push_back({word, valued});
      words.back().first.push_back(meaning.letter);
      words.back().second.push_back(meaning.valuation);
    }
  }
}

/// True if no two letters do the same to all states.
bool tells_letters_apart(const Dfa& dfa) {
  std::set<std::vector<State>> columns;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    std::vector<State> column;
    for (State state = 0; state < dfa.states(); ++state) column.push_back(dfa.next(state, letter));
    columns.insert(column);
  }
  return columns.size() == dfa.letters();
}

/// With a and b named, in this order, without a change of the meaning.
std::string naming_both(const Part& f) { return "(a | b | true) & " + text_of(f); }

}  // namespace

TEST_CASE("random formulas, of the future, of the past and of both, mean on every short word what they say") {
  Dice dice(1);
  for (int round = 0; round < 3000; ++round) {
    const int kind = round % 3;
    const Part formula = dice.formula(1 + round % 4, kind != 1, kind != 0);
    const std::string text = naming_both(formula);
    CAPTURE(text);
    const bool has_future = kind != 1;
    const auto read = [&](const TemporalOptions& options) {
      return has_future ? ltlf_automaton(text, options) : past_ltl_automaton(text, options);
    };
    compare(formula, read({}), {{0, 1}, {1, 2}}, 6, !has_future);
    const Dfa dfa = read(TemporalOptions{.propositions = Propositions::kValuations});
    compare(formula, dfa, valuations_in(dfa.alphabet()), 4, !has_future);
    CHECK(minimise(dfa) == dfa);
    CHECK(tells_letters_apart(dfa));
  }
}

TEST_CASE("formulas that people write") {
  struct Fact {
    const char *formula, *regex;
  };
  for (const Fact& fact :
       {Fact{"G(a -> F b)", "(a*b)*"}, Fact{"F a", "b*a(a|b)*"}, Fact{"a U b", "a*b(a|b)*"},
        Fact{"G(a -> X b)", "(b|ab)*"}, Fact{"G(a -> N b)", "(b|ab)*a?"}, Fact{"X X !X true", "(a|b)(a|b)(a|b)"},
        Fact{"(a | b) & X a", "(a|b)a(a|b)*"}, Fact{"G((!Y true) -> a) & F b", "aa*b(a|b)*"}}) {
    CAPTURE(fact.formula);
    CHECK_FALSE(
        distinguishing_word(ltlf_automaton(fact.formula, TemporalOptions{.alphabet = Alphabet::of_characters("ab")}),
                            parse_regex(fact.regex)));
  }
  CHECK_FALSE(distinguishing_word(load_language("pltl:a & Y b"), load_language("regex:(a|b)*ba")));
  LanguageOptions valuations;
  valuations.alphabet = "valuations";
  const auto letters = [&](const char* formula) { return to_string(load_language(formula, valuations).alphabet()); };
  CHECK(letters("ltlf:G(a -> F b)") == "{!a&!b, a&!b, b}");
  CHECK(letters("ltlf:a U b & F a") == "{{}, {a}, {b}, {a,b}}");
  CHECK(letters("ltlf:F (a | \"b c\")") == "{!a&!\"b c\", a|\"b c\"}");
  CHECK(letters("pltl:O (a & !a)") == "{true}");
  // In whatever order a formula names them, and whatever else.
  CHECK(load_language("ltlf:b & a", valuations) == load_language("ltlf:a & b & (c | !c)", valuations));
  CHECK(load_language("ltlf:G(\"(1 2)\" -> F \"(2 3)\")").alphabet().name(0) == "(1 2)");
  CHECK_FALSE(distinguishing_word(load_language("expr:\"ltlf:F a\""), load_language("ltlf:F a")));
}

TEST_CASE("mistakes are said with their column, and limits are met") {
  struct Fact {
    const char *formula, *says;
  };
  for (const Fact& fact : {Fact{"", "missing here, at the end"}, Fact{"a &", "ltlf:4"}, Fact{"(a", "not closed"},
                           Fact{"a b", "nothing can follow here"}, Fact{"a U", "missing"}, Fact{"& a", "before \"&\""},
                           Fact{"O F a", "past operator"}, Fact{"\"a", "not closed"}, Fact{"\"\"", "has a name"},
                           Fact{"a % b", "means nothing"}, Fact{"true", "names no letter"}, Fact{"a)", "follow"}}) {
    CAPTURE(fact.formula);
    CHECK_THROWS_WITH_AS(ltlf_automaton(fact.formula), doctest::Contains(fact.says), InputError);
  }
  CHECK_THROWS_WITH_AS(past_ltl_automaton("F a"), doctest::Contains("ltlf: takes them"), InputError);
  TemporalOptions options{.alphabet = Alphabet::of_characters("ab")};
  CHECK_THROWS_WITH_AS(ltlf_automaton("F c", options), doctest::Contains("no letter"), InputError);
  options.max_states = 5;
  CHECK_THROWS_AS(ltlf_automaton("X X X X X X X X a", options), LimitError);
  std::string deep(3000, '!');
  CHECK_THROWS_WITH_AS(ltlf_automaton(deep + "a"), doctest::Contains("nested"), InputError);
  std::string wide = "true", wider = "true";
  for (int i = 0; i < 5'001; ++i) wide += fmt::format(" & G p{}", i);
  for (int i = 0; i < 100'000; ++i) wider += " & a";
  CHECK_THROWS_WITH_AS(ltlf_automaton(wide), doctest::Contains("10000 propositions"), LimitError);
  CHECK(ltlf_automaton(wider).states() == 2);
  options = {};
  options.propositions = Propositions::kValuations;
  std::string obeyed = "true";
  for (int i = 0; i < 9; ++i) obeyed += fmt::format(" & G(p{} -> N q{})", i, i);
  CHECK_THROWS_WITH_AS(ltlf_automaton(obeyed, options), doctest::Contains("classes of valuations"), LimitError);
}

TEST_CASE("formulas of many propositions") {
  const TemporalOptions options{.propositions = Propositions::kValuations};
  std::string all = "p0", obeyed = "true", each = "true";
  for (int i = 1; i < 30; ++i) all += fmt::format(" & p{}", i);
  for (int i = 0; i < 5; ++i) obeyed += fmt::format(" & G(p{} -> N q{})", i, i);
  for (int i = 0; i < 10; ++i) each += fmt::format(" & G(X p{} -> p{}) & G F X p{}", i + 10, i, i + 10);
  const Dfa now = ltlf_automaton(all, options);
  CHECK(now.states() == 3);
  CHECK(now.letters() == 2);
  CHECK(ltlf_automaton("G(" + all + ")", options).states() == 2);
  // Any five of the q may be owed, or a debt was not paid: every valuation does something else.
  const Dfa debts = ltlf_automaton(obeyed, options);
  CHECK(debts.states() == 33);
  CHECK(debts.letters() == 1024);
  CHECK(debts.alphabet().name(0) == "{}");
  // At the last position nothing can be next: no word but the empty one, which no order of steps may hide.
  CHECK(ltlf_automaton(each, options).states() == 2);
}

TEST_CASE("an automaton without its letters leads where the automaton does") {
  const TemporalOptions options{.propositions = Propositions::kValuations};
  std::string obeyed = "F a";
  for (int i = 0; i < 4; ++i) obeyed += fmt::format(" & G(p{} -> N q{})", i, i);
  const Dfa dfa = ltlf_automaton(obeyed, options);
  const auto with_letters = automaton_over_valuations(obeyed, false, dfa.letters(), options);
  REQUIRE(std::holds_alternative<Dfa>(with_letters));
  CHECK(equivalent(std::get<Dfa>(with_letters), dfa));
  const auto without = automaton_over_valuations(obeyed, false, dfa.letters() - 1, options);
  const ValuedGraph* const valued = std::get_if<ValuedGraph>(&without);
  REQUIRE(valued != nullptr);
  CHECK(valued->propositions.size() == 9);
  CHECK(valued->graph.states() == dfa.states());
  std::vector<std::optional<State>> same(dfa.states());  // by state of the graph
  std::vector<State> queue{valued->graph.initial()};
  same[queue.front()] = dfa.initial();
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const State here = queue[i], there = *same[here];
    CHECK(valued->graph.accepts(here) == dfa.accepts(there));
    std::set<State> targets(dfa.row(there).begin(), dfa.row(there).end());
    std::size_t successors = 0;
    for (State next = 0; next < valued->graph.states(); ++next) {
      const auto valuation = valued->valuation(here, next);
      CHECK(valuation.has_value() == (std::ranges::count(valued->graph.row(here), next) > 0));
      if (!valuation) continue;
      ++successors;
      const State expected = dfa.next(there, dfa.alphabet().find(*valuation).value());
      if (!same[next]) queue.push_back(next);
      if (!same[next]) same[next] = expected;
      CHECK(same[next] == expected);
    }
    CHECK(successors == targets.size());
  }
  CHECK(queue.size() == dfa.states());
}

TEST_CASE("languages over different propositions are compared over all of them") {
  LanguageOptions options{.alphabet = "valuations"};
  const auto read = [&](const std::string& text) { return load_language("ltlf:" + text, options); };
  CHECK_FALSE(distinguishing_word(read("F a"), read("F (a | (b & !b))")));
  CHECK_FALSE(distinguishing_word(read("F a | G !a"), read("true")));
  const auto told = distinguishing_word(read("F a"), read("F (a | (b & c))"));
  REQUIRE(told);
  CHECK(refine(read("F a").alphabet(), read("F (a | (b & c))").alphabet()).merged.format_word(*told) == "!a&b&c");
  Dice dice(2);
  int equal = 0;
  for (int round = 0; round < 1000; ++round) {
    const Part first = dice.formula(1 + round % 3, true, false), second = dice.formula(1 + round % 3, true, true);
    CAPTURE(text_of(first));
    CAPTURE(text_of(second));
    const Dfa a = read(text_of(first)), b = read(text_of(second));
    const auto word = distinguishing_word(a, b);
    const AlphabetRefinement common = refine(a.alphabet(), b.alphabet());
    Word in_a, in_b;
    for (const Letter letter : word.value_or(Word{})) {
      in_a.push_back(*common.in_a[letter]);
      in_b.push_back(*common.in_b[letter]);
    }
    CHECK((a.accepts(a.run(in_a)) != b.accepts(b.run(in_b))) == word.has_value());
    if (!word) compare(first, b, valuations_in(b.alphabet()), 4, false);
    equal += word ? 0 : 1;
  }
  CHECK(equal > 30);
}

TEST_CASE("a named character is a letter of its own, out of a class") {
  const auto over = [](const char* alphabet) { return LanguageOptions{.alphabet = alphabet}; };
  for (const char* alphabet : {"unicode", "a-z", "ab", "bytes"}) {
    CAPTURE(alphabet);
    const LanguageOptions options = over(alphabet);
    CHECK_FALSE(distinguishing_word(load_language("ltlf:F a", options), load_language("regex:.*a.*", options)));
    CHECK_FALSE(distinguishing_word(load_language("pltl:a S b", options), load_language("regex:.*ba*", options)));
    CHECK_FALSE(distinguishing_word(load_language("ltlf:a & b", options), load_language("regex:[]", options)));
  }
  CHECK_THROWS_AS(load_language("ltlf:F \"SYN\"", over("unicode")), InputError);
}

TEST_CASE("operators that stick to a name are refused, not read as a name") {
  for (const char* formula : {"Fa", "GFa -> FGb", "X p & Xp1"})
    CHECK_THROWS_WITH_AS(ltlf_automaton(formula), doctest::Contains("write blanks behind its operators"), InputError);
  for (const char* formula : {"\"Fa\"", "Grant", "Fail", "F Grant", "a", "Xp1x"})
    CHECK_NOTHROW(ltlf_automaton(formula));
}
