#include "krohn/automata/formats/formats.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

Dfa read(const std::string& text) { return to_dfa(read_mata(text, "f.mata"), "f.mata"); }

std::string error_of(const std::string& text) {
  return test::error_of([&] { read(text); });
}

std::vector<std::string> letters(const Dfa& dfa) {
  std::vector<std::string> names;
  for (const Symbol& symbol : dfa.alphabet().symbols()) names.push_back(symbol.name);
  return names;
}

using Strings = std::vector<std::string>;

// --- A reference for the classes: every valuation, one by one

bool evaluate(const MataFormula& formula, std::uint32_t valuation, std::uint32_t variables) {
  std::vector<bool> stack;
  for (const MataFormula::Step& step : formula.steps) {
    if (step.kind == MataFormula::kName) {
      stack.push_back((valuation >> (variables - 1 - step.name) & 1) != 0);
    } else if (step.kind == MataFormula::kTrue || step.kind == MataFormula::kFalse) {
      stack.push_back(step.kind == MataFormula::kTrue);
    } else if (step.kind == MataFormula::kNot) {
      stack.back() = !stack.back();
    } else {
      const bool right = stack.back();
      stack.pop_back();
      stack.back() = step.kind == MataFormula::kAnd ? stack.back() && right : stack.back() || right;
    }
  }
  return stack.back();
}

MataFormula random_formula(std::mt19937& random, std::uint32_t variables, int size) {
  MataFormula formula;
  int depth = 0;
  for (int i = 0; i < size || depth != 1; ++i) {
    const auto kind = random() % (i < size ? 6 : 2);
    if (depth >= 2 && (kind < 2 || i >= size)) {
      formula.steps.push_back({kind == 0 ? MataFormula::kAnd : MataFormula::kOr, 0});
      --depth;
    } else if (depth >= 1 && kind == 2) {
      formula.steps.push_back({MataFormula::kNot, 0});
    } else if (kind == 3 && random() % 8 == 0) {
      formula.steps.push_back({random() % 2 == 0 ? MataFormula::kTrue : MataFormula::kFalse, 0});
      ++depth;
    } else {
      formula.steps.push_back({MataFormula::kName, static_cast<std::uint32_t>(random() % variables)});
      ++depth;
    }
  }
  return formula;
}

/// A pattern over 0, 1 and - matches a valuation, most significant bit first.
bool matches(const std::string& name, std::uint32_t valuation, std::uint32_t variables) {
  for (std::uint32_t i = 0; i < variables; ++i)
    if (name[i] != '-' && (name[i] == '1') != ((valuation >> (variables - 1 - i) & 1) != 0)) return false;
  return true;
}

}  // namespace

TEST_CASE("the classes of bit formulas agree with the enumeration of all valuations") {
  std::mt19937 random(31);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const auto variables = static_cast<std::uint32_t>(1 + random() % 7);
    std::vector<MataFormula> formulas;
    const auto count = 1 + random() % 9;
    for (std::size_t i = 0; i < count; ++i)
      formulas.push_back(random_formula(random, variables, 1 + static_cast<int>(random() % 12)));
    const MataClasses classes = distinguish(formulas, variables, "f.mata");
    std::map<std::set<std::size_t>, std::vector<std::uint32_t>> expected;  // signature ↦ valuations
    for (std::uint32_t valuation = 0; valuation < (1u << variables); ++valuation) {
      std::set<std::size_t> signature;
      for (std::size_t i = 0; i < formulas.size(); ++i)
        if (evaluate(formulas[i], valuation, variables)) signature.insert(i);
      if (!signature.empty()) expected[signature].push_back(valuation);
    }
    REQUIRE(classes.names.size() == expected.size());
    std::vector<std::set<std::size_t>> signatures(classes.names.size());
    for (std::size_t i = 0; i < formulas.size(); ++i)
      for (const Letter letter : classes.classes_of[i]) signatures[letter].insert(i);
    for (std::size_t letter = 0; letter < classes.names.size(); ++letter) {
      const std::string& name = classes.names[letter];
      CAPTURE(name);
      REQUIRE(expected.contains(signatures[letter]));
      const auto& members = expected[signatures[letter]];
      std::vector<std::uint32_t> named;
      for (std::uint32_t valuation = 0; valuation < (1u << variables); ++valuation)
        if (matches(name, valuation, variables)) named.push_back(valuation);
      CHECK(named.front() == members.front());
      CHECK((named == members) == (name.size() == variables));  // longer names end in "|…"
      CHECK(std::includes(members.begin(), members.end(), named.begin(), named.end()));
    }
  }
}

TEST_CASE("a thousand disjoint cubes over 64 bits are a thousand classes") {
  std::vector<MataFormula> formulas;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    MataFormula formula;
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      formula.steps.push_back({MataFormula::kName, bit});
      if ((i * 2654435761u >> (bit % 32) & 1) == 0) formula.steps.push_back({MataFormula::kNot, 0});
      if (bit > 0) formula.steps.push_back({MataFormula::kAnd, 0});
    }
    formulas.push_back(std::move(formula));
  }
  const MataClasses classes = distinguish(formulas, 64, "f.mata");
  CHECK(classes.names.size() == 1000);
  for (const auto& letters : classes.classes_of) CHECK(letters.size() == 1);
  CHECK_THROWS_AS(distinguish(formulas, 513, "f.mata"), LimitError);
}

TEST_CASE("%Epsilon says which names are the empty word, and comes first") {
  const auto file = [](const std::string& lines, const std::string& after = "") {
    return "@NFA-explicit\n" + lines + "%Initial p\n%Final q\np a p\np <eps> q\n" + after;
  };
  const std::string alphabet = "%Alphabet-enum a <eps>\n";
  CHECK(letters(read(file("%Epsilon\n" + alphabet))) == Strings{"a", "<eps>"});
  CHECK_FALSE(accepts(read(file("%Epsilon\n")), {}));
  CHECK(accepts(read(file("")), {}));
  CHECK(accepts(read(file("%Epsilon <eps>\n")), {}));
  CHECK(letters(read(file("%Epsilon a\n"))) == Strings{"<eps>"});
  for (const std::string& lines : {alphabet, "%Epsilon <eps>\n" + alphabet})
    CHECK(test::contains(error_of(file(lines)), "\"<eps>\" is declared as a symbol, and is a name of the empty word"));
  CHECK(error_of(file("", "%Epsilon\n")).find("f.mata:6:1: %Epsilon comes before the transitions") == 0);
  CHECK(test::contains(error_of("@NFA-explicit\n%Initial p\n%Final p\np a|<eps> p\n"),
                       "the empty word is no part of a formula"));
}

TEST_CASE("explicit automata: lists, formulas, strings, ε, comments and joined lines") {
  const Dfa dfa = read(
      "# a comment\n@NFA-explicit\n%Alphabet-auto\n%States-enum p \"q \\\" r\" s\n%Initial p \"q \\\" r\" # two\n"
      "%Final s\n%Epsilon eps\np a \\\n s\n\"q \\\" r\" \"b c\" s\ns eps p\n");
  CHECK(letters(dfa) == Strings{"a", "b c"});
  CHECK_FALSE(accepts(dfa, {}));
  CHECK(accepts(dfa, {0}));
  CHECK(accepts(dfa, {1, 0}));
  CHECK_FALSE(accepts(dfa, {0, 1}));
  const Dfa formulas =
      read("@NFA-explicit\n%Alphabet-enum a b c d\n%Initial p\n%Final p\np (!a & !(b|c)) p\np b|c q\nq \\true p\n");
  CHECK(letters(formulas) == Strings{"a", "b", "c", "d"});
  CHECK(accepts(formulas, {3, 3, 1, 0, 2, 2}));
  CHECK_FALSE(accepts(formulas, {0}));
  CHECK_FALSE(accepts(formulas, {1}));
}

TEST_CASE("formulas over states") {
  struct Fact {
    const char *final, *accepting;
  };
  for (const Fact& fact : {Fact{"p", "p"},
                           {"p q", "pq"},
                           {"p | r", "pr"},
                           {"!p & !r", "qs"},
                           {"!p & !q & !r & !s", ""},
                           {"\\true", "pqrs"},
                           {"\\false", ""},
                           {"!(p | q)", "rs"},
                           {"!!p", "p"},
                           {"p & q", ""},
                           {"(!p & !q) | p", "prs"},
                           {"!p & (q | p)", "q"},
                           {"", ""}}) {
    CAPTURE(fact.final);
    const Dfa dfa = read(std::string("@NFA-explicit\n%Initial p\n%Final ") + fact.final + "\np a q\nq a r\nr a s\n");
    std::string found;
    const Word word(3, 0);
    for (std::size_t length = 0; length < 4; ++length)
      if (accepts(dfa, Word(length, 0))) found += "pqrs"[length];
    CHECK(found == fact.accepting);
  }
}

TEST_CASE("bits: letters are classes, named most significant bit first") {
  const Dfa dfa = read("@NFA-bits\n%Initial q0\n%Final q1\nq0 (a10 & !a2) q1\nq1 (a2&a10|!a2&a10) q1\nq1 \\false q0\n");
  CHECK(letters(dfa) == Strings{"10", "11"});
  CHECK(accepts(dfa, {0, 1, 0}));
  CHECK_FALSE(accepts(dfa, {1}));
  CHECK(letters(read("@NFA-bits\n%Initial q\n%Final q\nq \\true q\n")) == Strings{"true"});
  CHECK(letters(read("@NFA-bits\n%Initial q\n%Final q\nq (a0 & !a0) q\n")).empty());
  CHECK(letters(read("@NFA-bits\n%Initial q\nq (a0 & !a1 | !a0 & a1) q\n")) == Strings{"01|…"});
  CHECK(letters(read("@NFA-bits\n%Initial q\nq a1 q\nq !a0 q\n")) == Strings{"00", "10", "11"});
}

TEST_CASE("what is wrong is said with line and column") {
  struct Fact {
    std::string text, message;
  };
  const std::string head = "@NFA-explicit\n%Initial p\n";
  for (const Fact& fact : {
           Fact{"", "f.mata: the file is empty"},
           {"# nothing\n", "f.mata: nothing but comments"},
           {"p a q\n", "f.mata:1:1: \"p\" is not a section"},
           {"@AFA-bits\n", "f.mata:1:1: an alternating automaton"},
           {"@NFA-intervals\n", "f.mata:1:1: \"@NFA-intervals\" is not a section"},
           {"@NFA-explicit\np a q\n", "f.mata: no initial state"},
           {head + "@NFA-explicit\n", "f.mata:3:1: a second section"},
           {head + "%Frobnicate x\n", "f.mata:3:1: the key \"%Frobnicate\" is not known"},
           {head + "p a\n", "f.mata:3:3: a transition is: state formula state"},
           {head + "p a b q\n", "f.mata:3:5: an operator & or | is expected here"},
           {head + "p (a q\n", "f.mata:3:3: this bracket is not closed"},
           {head + "p a) q\n", "f.mata:3:4: this bracket was not opened"},
           {head + "p a & q\n", "f.mata:3:5: the formula ends where a name is expected"},
           {head + "p a & & b q\n", "f.mata:3:7: a name, \\true, \\false, ! or ( is expected here"},
           {head + "p () q\n", "f.mata:3:4: a name"},
           {head + "& a q\n", "f.mata:3:1: a name is expected, not \"&\""},
           {head + "p \"a\n q\n", "f.mata:3:3: this string is not closed"},
           {head + "p \"\" q\n", "f.mata:3:3: an empty name"},
           {"@NFA-explicit\n%States-enum p\n%Initial p\np a q\n", "f.mata:4:5: the state \"q\" is not declared"},
           {"@NFA-explicit\n%Alphabet-enum a\n%Initial p\np b p\n", "f.mata:4:3: the symbol \"b\" is not declared"},
           {"@NFA-bits\n%Alphabet-enum a0\n%Initial p\np a1 p\n", "f.mata:4:3: the bit \"a1\" is not declared"},
           {head + "p \xE9 q\n", "f.mata:3:3: byte 0xE9 is not valid UTF-8"},
           {head + "p " + std::string(1'000'000, '(') + " q\n", "f.mata:3:10003: brackets nested deeper"},
       }) {
    CAPTURE(fact.text.substr(0, 200));
    const std::string error = error_of(fact.text);
    CHECK_MESSAGE(test::contains(error, fact.message), error);
  }
}

TEST_CASE("many brackets, a million negations and a long conjunction take linear time and no recursion") {
  const std::size_t deep = 1'000'000;
  const auto nested = [](std::size_t depth) {
    return "@NFA-bits\n%Initial p\n%Final p\np " + std::string(depth, '(') + "a0" + std::string(depth, ')') + " p\n";
  };
  CHECK(read(nested(10'000)).letters() == 1);
  CHECK(error_of(nested(10'001)).starts_with("f.mata:4:10003: brackets nested deeper than 10000 levels"));
  CHECK(read("@NFA-bits\n%Initial p\n%Final p\np " + std::string(deep, '!') + "a0 p\n").letters() == 1);
  std::string final = "%Final !s0";
  for (int i = 1; i < 100'000; ++i) final += " & !s" + std::to_string(i);
  CHECK(read("@NFA-explicit\n%Initial s0\n" + final + "\ns0 a p\n").states() >= 3);
  std::string lines = "@NFA-explicit\n";  // every line is all states but one
  for (int i = 0; i < 20'000; ++i) lines += "%Final !s" + std::to_string(i) + "\n";
  CHECK_THROWS_AS(read(lines + "%Initial s0\n"), LimitError);
}
