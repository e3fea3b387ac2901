// Temporal formulas against their definition, position by position, on every short word.

#include "krohn/automata/temporal/temporal.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/regex/regex.h"
#include "krohn/groups/error.h"

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
    const bool is_past = std::string("YZOHS").find(o) != std::string::npos;
    const bool is_binary = std::string("& | -> <-> U W M R S").find(o) != std::string::npos;
    return std::make_shared<Formula>(o, part(!is_past), is_binary ? part(!is_past) : nullptr);
  }

 private:
  std::mt19937 random_;
};

/// Every word of up to `longest` letters; the letters of `meaning` are these valuations.
void compare(const Part& formula, const Dfa& dfa, const std::vector<unsigned>& meaning, int longest, bool at_the_end) {
  std::vector<Word> words{{}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word word = words[i];
    Valued valued;
    for (const Letter letter : word) valued.push_back(meaning[letter]);
    const int at = at_the_end && !word.empty() ? static_cast<int>(word.size()) - 1 : 0;
    CAPTURE(dfa.alphabet().format_word(word));
    REQUIRE(dfa.accepts(dfa.run(word)) == holds(formula, valued, at));
    if (static_cast<int>(word.size()) == longest) continue;
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      words.push_back(word);
      words.back().push_back(letter);
    }
  }
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
    compare(formula, read({}), {1, 2}, 6, !has_future);
    TemporalOptions valuations;
    valuations.propositions = Propositions::kValuations;
    compare(formula, read(valuations), {0, 1, 2, 3}, 4, !has_future);
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
    TemporalOptions options;
    options.alphabet = Alphabet::of_characters("ab");
    CHECK_FALSE(distinguishing_word(ltlf_automaton(fact.formula, options), parse_regex(fact.regex)));
  }
  CHECK_FALSE(distinguishing_word(load_language("pltl:a & Y b"), load_language("regex:(a|b)*ba")));
  LanguageOptions valuations;
  valuations.alphabet = "valuations";
  CHECK(load_language("ltlf:G(a -> F b)", valuations).letters() == 4);
  // In whatever order a formula names them.
  CHECK(load_language("ltlf:b & a", valuations) == load_language("ltlf:a & b", valuations));
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
  TemporalOptions options;
  options.alphabet = Alphabet::of_characters("ab");
  CHECK_THROWS_WITH_AS(ltlf_automaton("F c", options), doctest::Contains("no letter"), InputError);
  options.max_states = 5;
  CHECK_THROWS_AS(ltlf_automaton("X X X X X X X X a", options), LimitError);
  std::string deep(3000, '!');
  CHECK_THROWS_WITH_AS(ltlf_automaton(deep + "a"), doctest::Contains("nested"), InputError);
  std::string many = "p0";
  for (int i = 1; i < 11; ++i) many += " & p" + std::to_string(i);
  options.propositions = Propositions::kValuations;
  CHECK_THROWS_WITH_AS(ltlf_automaton(many, options), doctest::Contains("valuations"), InputError);
}

TEST_CASE("a named character is a letter of its own, out of a class") {
  const auto over = [](const char* alphabet) {
    LanguageOptions options;
    options.alphabet = alphabet;
    return options;
  };
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
  for (const char* formula : {"Fa", "GFa -> FGb", "X p & Xp1"}) CHECK_THROWS_AS(ltlf_automaton(formula), InputError);
  for (const char* formula : {"\"Fa\"", "Grant", "Fail", "F Grant", "a", "Xp1x"})
    CHECK_NOTHROW(ltlf_automaton(formula));
}
