#include "krohn/automata/monoid/algebra.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "tests/automata/bestiary.h"

using namespace krohn;

namespace {

/// Every definition written out over all elements of the monoid, as plainly as it stands in a textbook.
class Definitions {
 public:
  explicit Definitions(const Dfa& dfa) : letters_(letter_maps(dfa)), one_(Transformation::identity(dfa.states())) {
    std::vector<Transformation> open{one_};
    monoid_.insert(one_);
    while (!open.empty()) {
      const Transformation x = open.back();
      open.pop_back();
      for (const Transformation& a : letters_) {
        semigroup_.insert(x * a);
        if (monoid_.insert(x * a).second) open.push_back(x * a);
      }
    }
  }

  std::size_t size() const { return monoid_.size(); }

  bool holds(const std::string& property) const {
    if (property == "group") return all(monoid_, [](const auto& x) { return x.is_permutation(); });
    if (property == "aperiodic") return all(monoid_, [&](const auto& x) { return period(x) == 1; });
    if (property == "2-groups only")
      return all(monoid_, [&](const auto& x) { return (period(x) & (period(x) - 1)) == 0; });
    if (property == "commutative") return pairs(monoid_, [](const auto& x, const auto& y) { return x * y == y * x; });
    if (property == "R-trivial") return trivial([&](const auto& x) { return multiples(x, true, false); });
    if (property == "L-trivial") return trivial([&](const auto& x) { return multiples(x, false, true); });
    if (property == "J-trivial") return trivial([&](const auto& x) { return multiples(x, true, true); });
    if (property == "DA")  // (xy)^ω x (xy)^ω = (xy)^ω
      return pairs(monoid_, [&](const auto& x, const auto& y) {
        const Transformation e = omega(x * y);
        return e * x * e == e;
      });
    if (property == "locally testable")
      return local([&](const auto& e, const auto& x, const auto& y) {
        return e * x * e * x * e == e * x * e && e * x * e * y * e == e * y * e * x * e;
      });
    if (property == "definite") return local([](const auto& e, const auto& x, const auto&) { return x * e == e; });
    if (property == "reverse definite")
      return local([](const auto& e, const auto& x, const auto&) { return e * x == e; });
    if (property == "generalised definite")
      return local([](const auto& e, const auto& x, const auto&) { return e * x * e == e; });
    if (property == "nilpotent")
      return local([](const auto& e, const auto& x, const auto&) { return e * x == e && x * e == e; });
    if (property == "quasi-aperiodic") return quasi_aperiodic();
    FAIL("no definition of " << property);
    return false;
  }

  /// Whether two words are different elements of one class of Green's relation R, L or J.
  bool related(const Word& x, const Word& y, char relation) const {
    const Transformation f = map(x), g = map(y);
    const bool right = relation != 'L', left = relation != 'R';
    return f != g && multiples(f, right, left) == multiples(g, right, left);
  }

 private:
  using Set = std::set<Transformation>;

  Transformation map(const Word& word) const {
    Transformation result = one_;
    for (const Letter letter : word) result = result * letters_[letter];
    return result;
  }

  template <class Test>
  static bool all(const Set& set, Test test) {
    return std::all_of(set.begin(), set.end(), test);
  }
  template <class Test>
  static bool pairs(const Set& set, Test test) {
    return all(set, [&](const auto& x) { return all(set, [&](const auto& y) { return test(x, y); }); });
  }
  template <class Test>
  bool local(Test test) const {
    return all(semigroup_, [&](const auto& e) {
      return e * e != e || pairs(semigroup_, [&](const auto& x, const auto& y) { return test(e, x, y); });
    });
  }
  Transformation omega(const Transformation& x) const {
    Transformation power = x;
    while (power * power != power) power = power * x;
    return power;
  }
  std::uint64_t period(const Transformation& x) const {
    const Transformation e = omega(x);
    std::uint64_t k = 1;
    for (Transformation power = e * x; power != e; power = power * x) ++k;
    return k;
  }
  Set multiples(const Transformation& x, bool right, bool left) const {
    Set result;
    for (const Transformation& m : monoid_)
      for (const Transformation& n : monoid_) {
        if ((!left && m != one_) || (!right && n != one_)) continue;
        result.insert(m * x * n);
      }
    return result;
  }
  template <class Ideal>
  bool trivial(Ideal ideal) const {
    std::set<Set> ideals;
    for (const Transformation& x : monoid_) ideals.insert(ideal(x));
    return ideals.size() == monoid_.size();
  }
  bool quasi_aperiodic() const {
    std::vector<Set> powers{Set(letters_.begin(), letters_.end())};
    const auto next = [&](const Set& set) {
      Set longer;
      for (const Transformation& x : set)
        for (const Transformation& a : letters_) longer.insert(x * a);
      return longer;
    };
    for (std::size_t s = 1;; ++s) {
      while (powers.size() < 2 * s) powers.push_back(next(powers.back()));
      if (powers[s - 1] == powers[2 * s - 1]) return all(powers[s - 1], [&](const auto& x) { return period(x) == 1; });
    }
  }

  std::vector<Transformation> letters_;
  Transformation one_;
  Set monoid_, semigroup_;
};

Answer answer(const Dfa& dfa, std::string_view property) { return analyse(dfa).verdict(property).answer; }

Dfa permutations(const Maps& maps) { return automaton(maps, static_cast<State>(maps.front().size())); }

}  // namespace

TEST_CASE("every verdict agrees with its definition, and every no has a witness") {
  std::mt19937 random(61);
  int compared = 0;
  for (int round = 0; round < 700; ++round) {
    CAPTURE(round);
    const State n = 1 + static_cast<State>(random() % 4);
    const Dfa dfa = random_automaton(random, n, 1 + static_cast<Letter>(random() % 2));
    const Definitions definitions(dfa);
    if (definitions.size() > 24) continue;
    ++compared;
    const Algebra algebra = analyse(dfa);
    REQUIRE(algebra.size == definitions.size());
    for (const Verdict& verdict : algebra.verdicts) {
      if (verdict.property == "solvable groups") continue;  // all of them, on four states
      if (verdict.property == "finite") continue;           // not about the monoid alone
      CAPTURE(verdict.property);
      CAPTURE(verdict.witness);
      REQUIRE(verdict.answer == (definitions.holds(verdict.property) ? Answer::kYes : Answer::kNo));
      REQUIRE((verdict.answer == Answer::kNo) == !verdict.witness.empty());
    }
  }
  CHECK(compared > 300);
}

TEST_CASE("the witness against R-, L- and J-trivial is a pair of words that the relation holds for") {
  std::mt19937 random(67);
  std::map<std::string, int> checked;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const Dfa dfa = random_automaton(random, 2 + static_cast<State>(random() % 3), 1 + random() % 2);
    const Definitions definitions(dfa);
    if (definitions.size() > 24) continue;
    for (const Verdict& verdict : analyse(dfa).verdicts) {
      CHECK_FALSE(verdict.meaning.empty());
      const std::string& property = verdict.property;
      if (verdict.answer != Answer::kNo || property.size() != 9 || property.substr(1) != "-trivial") continue;
      CAPTURE(verdict.witness);
      const std::size_t middle = verdict.witness.find(std::string(" ") + property[0] + " ");
      REQUIRE(middle != std::string::npos);
      const auto word = [&](const std::string& text) {
        return text == "the empty word" ? Word{} : dfa.alphabet().parse_word(text.substr(1, text.size() - 2));
      };
      REQUIRE(definitions.related(word(verdict.witness.substr(0, middle)), word(verdict.witness.substr(middle + 3)),
                                  property[0]));
      ++checked[property];
    }
  }
  CHECK(checked["R-trivial"] > 30);
  CHECK(checked["L-trivial"] > 30);
  CHECK(checked["J-trivial"] > 30);
}

TEST_CASE("Tomita: 1, 2, 4, 7 star-free; 3, 5 two-groups; 6 solvable; 3 quasi-aperiodic, 5 not") {
  struct Fact {
    Answer aperiodic, two_groups, quasi;
  };
  const Answer yes = Answer::kYes, no = Answer::kNo;
  const Fact facts[] = {{yes, yes, yes}, {yes, yes, yes}, {no, yes, yes}, {yes, yes, yes},
                        {no, yes, no},   {no, no, no},    {yes, yes, yes}};
  for (std::size_t i = 0; i < std::size(facts); ++i) {
    CAPTURE(kTomita[i].language);
    const Dfa dfa = automaton(kTomita[i].maps, static_cast<State>(kTomita[i].maps[0].size()));
    CHECK(answer(dfa, "aperiodic") == facts[i].aperiodic);
    CHECK(answer(dfa, "2-groups only") == facts[i].two_groups);
    CHECK(answer(dfa, "solvable groups") == yes);
    CHECK(answer(dfa, "quasi-aperiodic") == facts[i].quasi);
  }
}

TEST_CASE("even length is quasi-aperiodic, parity is not") {
  const Dfa even_length = permutations({{1, 0}, {1, 0}}), parity = permutations({{0, 1}, {1, 0}});
  CHECK(answer(even_length, "quasi-aperiodic") == Answer::kYes);
  CHECK(answer(parity, "quasi-aperiodic") == Answer::kNo);
  CHECK(answer(even_length, "aperiodic") == Answer::kNo);
}

TEST_CASE("groups: S_3 and S_4 solvable, A_5 and S_5 not; modular arithmetic has Z_4 and Z_5") {
  CHECK(answer(permutations({{1, 2, 0}, {1, 0, 2}}), "solvable groups") == Answer::kYes);
  CHECK(answer(permutations({{1, 2, 3, 0}, {1, 0, 2, 3}}), "solvable groups") == Answer::kYes);
  CHECK(answer(permutations({{1, 2, 3, 4, 0}, {1, 0, 2, 3, 4}}), "solvable groups") == Answer::kNo);
  CHECK(answer(permutations({{1, 2, 0, 3, 4}, {0, 1, 3, 4, 2}}), "solvable groups") == Answer::kNo);
  const Algebra arithmetic = analyse(modular_arithmetic(5));
  std::set<std::string> names;
  for (const MaximalSubgroup& group : arithmetic.groups) names.insert(group.name);
  CHECK(arithmetic.verdict("solvable groups").answer == Answer::kYes);
  CHECK(
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return name == "Z_4" || name == "Z_5"; }));
}

TEST_CASE("a monoid past the limit leaves local properties unknown and says so") {
  AlgebraOptions options;
  options.max_elements = 100;
  const Algebra algebra = analyse(full_transformation_monoid(5), options);
  CHECK(algebra.size == 3125);
  CHECK(algebra.verdict("aperiodic").answer == Answer::kNo);
  const Verdict& local = algebra.verdict("locally testable");
  CHECK(local.answer == Answer::kUnknown);
  CHECK(local.witness.find("--max-elements") != std::string::npos);
}

TEST_CASE("MLRegTest: the classes of the files come out") {
  const std::string folder = KROHN_TEST_DATA "/mlregtest";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".att") continue;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    LanguageOptions options;
    options.symbols = folder + "/alph4.txt";
    const Algebra algebra = analyse(minimise(load_language(entry.path().string(), options)));
    const auto field = [&](int number) {  // alphabet.tier.CLASS.k.j.i
      std::istringstream fields(name);
      std::string text;
      for (int i = 0; i <= number; ++i) std::getline(fields, text, '.');
      return text;
    };
    const std::string cls = field(2);
    const Answer aperiodic = algebra.verdict("aperiodic").answer;
    if (cls == "Zp") {
      CHECK(std::any_of(algebra.groups.begin(), algebra.groups.end(),
                        [&](const MaximalSubgroup& group) { return group.name == "Z_" + field(3); }));
    } else if (cls == "Reg") {
      CHECK(aperiodic == Answer::kNo);
    } else {
      CHECK(aperiodic == Answer::kYes);
    }
    if (cls == "LT") CHECK(algebra.verdict("locally testable").answer == Answer::kYes);
    if (cls == "PT") CHECK(algebra.verdict("J-trivial").answer == Answer::kYes);
    ++files;
  }
  CHECK(files == 11);
}

TEST_CASE("finite languages, and a loop against the others") {
  const auto finite = [](const char* language) { return analyse(load_language(language)).verdict("finite"); };
  CHECK(finite("regex:ab|ba?").answer == Answer::kYes);
  CHECK(finite("regex:[]").answer == Answer::kYes);
  CHECK(finite("regex:ab*a").answer == Answer::kNo);
  CHECK(finite("regex:ab*a").witness == "\"a\", then \"b\" any number of times, then \"a\"");
}
