// Every class of every small automaton, against the definitions by brute force.

#include "krohn/automata/classes/class_tests.h"
#include "krohn/automata/classes/classes.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/time_limit.h"
#include "tests/algebra_campaign.h"
#include "tests/automata/classes/class_brute_force.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

const ClassVerdict& named(const std::vector<ClassVerdict>& classes, std::string_view name) {
  for (const ClassVerdict& verdict : classes)
    if (verdict.name == name) return verdict;
  FAIL("no class " << name);
  return classes.front();
}

/// The definition for a given k, of which every greater k follows.
using OfOrder = std::function<bool(const Dfa&, std::size_t)>;

/// The verdict has the least k for which the definition holds, or says no and none up to `most` does.
void check_order(const Dfa& dfa, const ClassVerdict& verdict, std::size_t least, std::size_t most, const OfOrder& holds,
                 Tally& tally) {
  ++tally.verdicts;
  std::size_t k = least;
  while (k <= most && !holds(dfa, k)) ++k;
  const std::string expected = k > most ? "no" : fmt::format("yes, k = {}", k);
  const std::string found = verdict.parameters.empty()
                                ? to_string(verdict.answer)
                                : fmt::format("{}, k = {}", to_string(verdict.answer), verdict.parameters[0].second);
  if (expected != found) tally.fault(dfa, fmt::format("{}: {} instead of {}", verdict.name, found, expected));
  if ((verdict.answer == Answer::kNo) == verdict.witness.empty()) tally.fault(dfa, verdict.name + ": no witness");
}

/// On some tier.
OfOrder tiered(OfOrder holds) {
  return [holds = std::move(holds)](const Dfa& dfa, std::size_t k) {
    for (std::uint32_t tier = 0; tier < 1U << dfa.letters(); ++tier)
      if (brute::is_of_tier(dfa, tier) && holds(brute::restricted(dfa, tier), k)) return true;
    return false;
  };
}

OfOrder of_complement(OfOrder holds) {
  return [holds = std::move(holds)](const Dfa& dfa, std::size_t k) { return holds(brute::complement_of(dfa), k); };
}

bool locally_testable(const Dfa& dfa, std::size_t k) { return *brute::is_threshold_testable(dfa, k, 1); }

/// A language is defined by its forbidden factors, and by no fewer of them.
void check_factors(const Dfa& dfa, const ClassVerdict& verdict, Tally& tally) {
  if (verdict.answer != Answer::kYes) return;
  for (Letter a = 0; a < dfa.letters(); ++a)
    for (Letter b = 0; b < a; ++b)
      if (dfa.letter_map(a) == dfa.letter_map(b)) return;  // one of them stands for both
  const std::size_t k = verdict.parameters.at(0).second;
  const std::set<Word> permitted = brute::permitted_factors(dfa, k);
  std::set<std::string> expected;
  const auto text = [&](const Word& word) {
    Word inner;
    for (const Letter letter : word)
      if (letter < dfa.letters()) inner.push_back(letter);
    return fmt::format("{}{}{}", word.front() == dfa.letters() ? "⋊" : "", dfa.alphabet().format_word(inner),
                       word.back() == dfa.letters() + 1 ? "⋉" : "");
  };
  for (const Word& word : short_words(dfa.letters() + 2, k)) {
    if (word.empty() || permitted.contains(word)) continue;
    bool shaped = word.size() > 1, minimal = true;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (word[i] == dfa.letters() && i != 0) shaped = false;
      if (word[i] == dfa.letters() + 1 && i + 1 != word.size()) shaped = false;
    }
    if (word.size() == 1) shaped = word[0] < dfa.letters() || (permitted.empty() && word[0] == dfa.letters());
    for (const Word& factor : brute::factors(word, k))
      if (factor != word && !permitted.contains(factor)) minimal = false;
    if (permitted.empty() && word[0] != dfa.letters()) shaped = false;
    if (shaped && minimal) expected.insert(text(word));
  }
  const std::set<std::string> found(verdict.data.words.begin(), verdict.data.words.end());
  ++tally.verdicts;
  if (found != expected || verdict.data.count != found.size() || !verdict.data.complete)
    tally.fault(dfa,
                fmt::format("forbidden factors {} instead of {}", fmt::join(found, " "), fmt::join(expected, " ")));
}

void check_thresholds(const Dfa& dfa, const ClassVerdict& verdict, Tally& tally) {
  ++tally.verdicts;
  if (verdict.answer == Answer::kUnknown) tally.fault(dfa, verdict.name + " is open");
  if (verdict.answer == Answer::kNo) {
    for (const auto& [k, t] : {std::pair<std::size_t, std::size_t>{1, 3}, {2, 3}, {3, 2}})
      if (*brute::is_threshold_testable(dfa, k, t))
        tally.fault(dfa, fmt::format("{}: no, but k = {}, t = {}", verdict.name, k, t));
    return;
  }
  if (verdict.parameters.size() != 2) return tally.fault(dfa, verdict.name + " has no parameters: " + verdict.remark);
  const std::size_t k = verdict.parameters[0].second, t = verdict.parameters[1].second;
  if (!*brute::is_threshold_testable(dfa, k, t)) tally.fault(dfa, verdict.name + " does not hold");
  if (t > 1 && *brute::is_threshold_testable(dfa, k, t - 1)) tally.fault(dfa, verdict.name + ": t is not least");
  if (k > 1 && *brute::is_threshold_testable(dfa, k - 1, t)) tally.fault(dfa, verdict.name + ": k is not least");
}

/// Every greater k follows, but how long sequences have to be is not known.
void check_width(const Dfa& dfa, const ClassVerdict& verdict, Tally& tally) {
  ++tally.verdicts;
  const auto holds = [&](std::size_t k, std::size_t most) {
    std::size_t n = 1;
    while (n <= most && !brute::is_dot_depth_one(dfa, k, n)) ++n;
    return n <= most;
  };
  if (verdict.answer != Answer::kYes) {
    if (holds(1, 3) || holds(2, 2)) tally.fault(dfa, "PLT: no, but sequences decide");
    return;
  }
  const std::size_t k = verdict.parameters.at(0).second;
  if (!holds(k, 3)) tally.fault(dfa, fmt::format("PLT_{} does not hold", k));
  if (k > 1 && holds(k - 1, 2)) tally.fault(dfa, fmt::format("PLT_{} holds", k - 1));
}

void check_classes(const Dfa& dfa, Tally& tally) {
  const auto classes = language_classes(dfa, analyse(dfa), {.max_elements = 20'000, .most_listed = 100});
  const std::size_t n = dfa.states(), local = n * (n - 1) / 2 + 2;
  check_order(dfa, named(classes, "definite"), 0, local, brute::is_definite, tally);
  check_order(dfa, named(classes, "reverse definite"), 0, n, brute::is_reverse_definite, tally);
  check_order(dfa, named(classes, "SL"), 1, local, brute::is_strictly_local, tally);
  check_order(dfa, named(classes, "coSL"), 1, local, of_complement(brute::is_strictly_local), tally);
  check_order(dfa, named(classes, "TSL"), 1, local, tiered(brute::is_strictly_local), tally);
  check_order(dfa, named(classes, "TcoSL"), 1, local, of_complement(tiered(brute::is_strictly_local)), tally);
  check_order(dfa, named(classes, "SP"), 1, n, brute::is_strictly_piecewise, tally);
  check_order(dfa, named(classes, "coSP"), 1, n, of_complement(brute::is_strictly_piecewise), tally);
  check_order(dfa, named(classes, "PT"), 1, n, brute::is_piecewise_testable, tally);
  check_order(dfa, named(classes, "LT"), 1, (n * n - n) / 2 + 1, locally_testable, tally);
  check_order(dfa, named(classes, "TLT"), 1, (n * n - n) / 2 + 1, tiered(locally_testable), tally);
  check_thresholds(dfa, named(classes, "LTT"), tally);
  check_width(dfa, named(classes, "PLT"), tally);
  check_factors(dfa, named(classes, "SL"), tally);
}

}  // namespace

TEST_CASE("classes of every language of at most three states over two letters, two over three, four over one") {
  Tally tally;
  const auto check = [&](const Dfa& dfa) {
    // No class depends on which of two letters is the first.
    if (dfa.letters() == 2 && dfa.letter_map(1) < dfa.letter_map(0)) return;
    for (std::uint32_t set = 0; set < 1U << dfa.states(); ++set)
      if (const Dfa minimal = minimise(accepting(dfa, set)); minimal == accepting(dfa, set))
        check_classes(minimal, tally);
  };
  for (State n = 1; n <= 3; ++n) for_all_tables(n, 2, check);
  for (State n = 1; n <= 2; ++n) for_all_tables(n, 3, check);
  for (State n = 1; n <= 4; ++n) for_all_tables(n, 1, check);
  CHECK_MESSAGE(tally.wrong.empty(), tally.wrong.size() << " wrong: " << tally.faults());
  MESSAGE(tally.verdicts << " verdicts");
}

// Verdicts on classes that two algorithms reach, by both, on random automata and on real ones.

namespace {

/// Targets not below their state, but for one in four: few cycles, so that few have groups.
Dfa mostly_forward(Dice& dice, State states, Letter letters) {
  std::vector<State> table;
  for (State state = 0; state < states; ++state)
    for (Letter letter = 0; letter < letters; ++letter)
      table.push_back(dice.below(4) == 0 ? dice.below(states) : state + dice.below(states - state));
  std::vector<bool> accepting;
  for (State state = 0; state < states; ++state) accepting.push_back(dice.below(2) == 0);
  return Dfa::acceptor(first_letters(letters), std::move(table), 0, accepting);
}

/// Knast's identity by its definition, over all elements.
bool is_of_dot_depth_one(const brute::Monoid& monoid, const std::vector<std::size_t>& idempotents) {
  for (const std::size_t e : idempotents)
    for (const std::size_t f : idempotents) {
      const auto there = [&](std::size_t x) { return monoid.product(monoid.product(e, x), f); };
      const auto back = [&](std::size_t x) { return monoid.product(monoid.product(f, x), e); };
      for (std::size_t p = 0; p < monoid.size(); ++p)
        for (std::size_t q = 0; q < monoid.size(); ++q) {
          const std::size_t left = monoid.omega(monoid.product(there(p), back(q)));
          for (std::size_t r = 0; r < monoid.size(); ++r)
            for (std::size_t s = 0; s < monoid.size(); ++s) {
              const std::size_t right = monoid.omega(monoid.product(there(r), back(s)));
              const std::size_t middle = monoid.product(there(p), back(s));
              if (monoid.product(monoid.product(left, middle), right) != monoid.product(left, right)) return false;
            }
        }
    }
  return true;
}

bool idempotents_share_r_class(const brute::Monoid& monoid) {
  for (std::size_t e = 0; e < monoid.size(); ++e)
    for (std::size_t f = 0; f < e; ++f)
      if (monoid.is_idempotent(e) && monoid.is_idempotent(f) && monoid.product(e, f) == f && monoid.product(f, e) == e)
        return true;
  return false;
}

/// The idempotents of the words that are not empty; in an aperiodic semigroup the identity is one of them only where a
/// letter is the identity.
std::vector<std::size_t> idempotents_of(const Dfa& dfa, const brute::Monoid& monoid) {
  bool has_one = false;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) has_one |= dfa.letter_map(letter).is_identity();
  std::vector<std::size_t> found;
  for (std::size_t e = 0; e < monoid.size(); ++e) {
    bool is_one = true;
    for (std::size_t x = 0; x < monoid.size(); ++x) is_one &= monoid.product(e, x) == x;
    if (monoid.is_idempotent(e) && (has_one || !is_one)) found.push_back(e);
  }
  return found;
}

struct Seen {
  std::uint64_t locally = 0, thresholds = 0, thresholds_found = 0, piecewise = 0, depth_one = 0;
};

void check(const Dfa& dfa, Tally& tally, Seen& seen) {
  ++tally.automata;
  const auto differ = [&](const char* what) { tally.fault(dfa, what); };
  AlgebraOptions few{.max_elements = 300};
  few.green.max_r_classes = 1000;
  const Algebra algebra = analyse_within_limits(dfa, few);
  if (!algebra.green || algebra.size > 300) {
    ++tally.skipped;
    return;
  }
  const auto classes = language_classes(dfa, algebra);
  const Dfa reduced = reduce(dfa).dfa;
  const SyntacticSemigroup semigroup(reduced, 300);
  const bool aperiodic = algebra.verdict("aperiodic").answer == Answer::kYes;
  if (semigroup.is_aperiodic() != aperiodic) differ("SF");
  const bool local = !local_violation(reduced);
  if (local != (algebra.verdict("locally testable").answer == Answer::kYes)) differ("LT: by the local verdicts");
  if (!piecewise_violation(reduced) != (algebra.verdict("J-trivial").answer == Answer::kYes)) differ("PT");
  for (const ClassVerdict& verdict : classes) {
    ++tally.verdicts;
    if (verdict.answer == Answer::kUnknown) differ("a class is open");
    if ((verdict.answer == Answer::kNo) == verdict.witness.empty()) differ("a no without a witness");
  }
  const auto monoid = brute::Monoid::of(dfa, 300);
  if (merging_inside_component(dfa).empty() == idempotents_share_r_class(*monoid)) differ("R∞");
  if (const ClassVerdict& row = named(classes, "LT"); row.answer == Answer::kYes) {
    ++seen.locally;
    const std::uint64_t k = row.parameters.at(0).second;
    if (brute::is_threshold_testable(reduced, k, 1, 5'000) == false) differ("LT_k does not hold");
    if (k > 1 && brute::is_threshold_testable(reduced, k - 1, 1, 5'000) == true) differ("LT_{k-1} holds");
    if (k > reduced.states() * (reduced.states() - 1) / 2 + 1) differ("k is past Trahtman's bound");
  }
  if (const ClassVerdict& row = named(classes, "PT"); row.answer == Answer::kYes) {
    ++seen.piecewise;
    const std::uint64_t k = row.parameters.at(0).second;
    if (k > std::max<std::uint64_t>(automaton_depth(reduced), 1)) differ("k is past the depth");
    if (reduced.letters() <= 2 && k <= 3) {
      if (!brute::is_piecewise_testable(reduced, k)) differ("PT_k does not hold");
      if (k > 1 && brute::is_piecewise_testable(reduced, k - 1)) differ("PT_{k-1} holds");
    }
  }
  const bool thresholds = named(classes, "LTT").answer == Answer::kYes;
  seen.thresholds += thresholds;
  seen.depth_one += named(classes, "PLT").answer == Answer::kYes;
  if (!thresholds)
    for (const auto& [k, t] : {std::pair<std::uint64_t, std::uint64_t>{1, 4}, {2, 2}})
      if (brute::is_threshold_testable(reduced, k, t, 1'000) == true) differ("LTT: no, but its signatures decide");
  if (const ClassVerdict& row = named(classes, "LTT"); thresholds && row.parameters.size() == 2) {
    const std::uint64_t k = row.parameters[0].second, t = row.parameters[1].second;
    if (brute::is_threshold_testable(reduced, k, t, 5'000) == false) differ("LTT_{k,t} does not hold");
    if (t > 1 && brute::is_threshold_testable(reduced, k, t - 1, 5'000) == true) differ("LTT: t is not least");
    if (t > 1 && k > 1 && brute::is_threshold_testable(reduced, k - 1, t + 1, 5'000) == true)
      differ("LTT: k is not least");
    ++seen.thresholds_found;
  }
  if (monoid->size() <= 7 && (aperiodic && is_of_dot_depth_one(*monoid, idempotents_of(dfa, *monoid))) !=
                                 (named(classes, "PLT").answer == Answer::kYes))
    differ("PLT by its identity");
}

}  // namespace

TEST_CASE("ten thousand random automata: classes on the automaton and on the semigroup") {
  Tally tally;
  Seen seen;
  Dice dice(2026);
  for (int drawn = 0; drawn < 10'000; ++drawn) {
    const State states = 3 + dice.below(3);
    const Letter letters = 2 + dice.below(2);
    check(minimise(drawn % 5 == 0 ? random_acceptor(dice, states, letters) : mostly_forward(dice, states, letters)),
          tally, seen);
  }
  CHECK_MESSAGE(tally.wrong.empty(), tally.wrong.size() << " wrong: " << tally.faults());
  MESSAGE(tally.verdicts << " verdicts; " << seen.locally << " LT, " << seen.thresholds << " LTT, " << seen.piecewise
                         << " PT, " << seen.depth_one << " PLT, " << tally.skipped << " skipped");
  CHECK(seen.locally > 1000);
  CHECK(seen.thresholds > seen.locally);
  CHECK(seen.thresholds_found == seen.thresholds);
  CHECK(seen.depth_one > seen.thresholds);
  CHECK(tally.skipped < 1000);
}

TEST_CASE("MLRegTest's languages lie in the class of their name, with its k") {
  for (const auto& entry : std::filesystem::directory_iterator(KROHN_TEST_DATA "/mlregtest")) {
    if (entry.path().extension() != ".att") continue;
    const std::string file = entry.path().filename().string();  // 04.04.SL.4.1.3.att
    CAPTURE(file);
    const Dfa dfa = minimise(
        load_language(entry.path().string(), LanguageOptions{.symbols = KROHN_TEST_DATA "/mlregtest/alph4.txt"}));
    std::string name = file.substr(6, file.find('.', 6) - 6);
    const std::uint64_t k = std::stoull(file.substr(7 + name.size(), 1));
    const auto classes = language_classes(dfa, analyse(dfa));
    if (name == "Reg") {
      CHECK(named(classes, "SF").answer == Answer::kNo);
      continue;
    }
    if (name == "Zp") name = "Z_p";
    const ClassVerdict& verdict = named(classes, name);
    CHECK(verdict.answer == Answer::kYes);
    if (name != "SF" && !verdict.parameters.empty()) CHECK(verdict.parameters[0].second == k);
    if (name == "SL" || name == "SP" || name == "LT" || name == "PT") CHECK(verdict.parameters.size() == 1);
  }
}

TEST_CASE("parameters at their bounds") {
  struct Fact {
    const char* regex;
    const char* name;
    std::uint64_t k;
  };
  // A factor of k letters is forbidden, and no shorter one would do; and so on.
  for (const auto& [regex, name, k] :
       {Fact{"~(.*aa.*)", "SL", 2}, Fact{"~(.*aba.*)", "SL", 3}, Fact{"~(.*abba.*)", "SL", 4},
        Fact{".*abba.*", "coSL", 4}, Fact{"~(.*a.*b.*)", "SP", 2}, Fact{"~(.*a.*b.*a.*)", "SP", 3},
        Fact{".*a.*b.*a.*b.*", "coSP", 4}, Fact{".*a.*b.*a.*", "PT", 3}, Fact{"(.*ab.*)&~(.*bb.*)", "LT", 2},
        Fact{"(.*aab.*)&~(.*bb.*)", "LT", 3}, Fact{"~(.*a.*a.*)", "LTT", 1},
        Fact{"(.*aa.*bb.*)&~(.*bb.*aa.*)", "PLT", 2}, Fact{"b.*|(ab)*", "PLT", 2}, Fact{".*abb", "definite", 3},
        Fact{"abb.*", "reverse definite", 3}}) {
    CAPTURE(regex);
    CAPTURE(name);
    const Dfa dfa = minimise(load_language(std::string("regex:") + regex, LanguageOptions{.alphabet = "ab"}));
    const ClassVerdict verdict = named(language_classes(dfa, analyse(dfa)), name);
    REQUIRE(verdict.answer == Answer::kYes);
    CHECK(verdict.parameters.at(0).second == k);
  }
}

TEST_CASE("a width is found among 999 elements, and past two million products it is open") {
  const auto has_width_one = [](const std::string& length) {
    const Dfa dfa = minimise(load_language("regex:a{" + length + "}", {}));
    return is_dot_depth_one_of_width(SyntacticSemigroup(dfa, 1000), 1);
  };
  CHECK(has_width_one("997"));
  CHECK_THROWS_WITH_AS(has_width_one("998"), doctest::Contains("more than 2000000 products"), LimitError);
}

TEST_CASE("a tier: letters that mean nothing may stand between those that count") {
  const Dfa dfa = minimise(load_language("regex:c*(ac*bc*)*", LanguageOptions{.alphabet = "abc"}));
  const auto classes = language_classes(dfa, analyse(dfa));
  CHECK(named(classes, "SL").answer == Answer::kNo);
  const ClassVerdict tsl = named(classes, "TSL");
  REQUIRE(tsl.answer == Answer::kYes);
  CHECK(*tsl.tier == std::vector<Letter>{0, 1});
  CHECK(tsl.data.words == std::vector<std::string>{"aa", "a⋉", "bb", "⋊b"});
  CHECK(name_with_parameters(tsl) == "TSL_2");
}

TEST_CASE("a limit leaves one answer open and not the others") {
  const LanguageOptions options{.alphabet = "ab"};
  const ClassOptions limits{.max_elements = 1};
  AlgebraOptions none{.green = {.max_r_classes = 0}};
  // The factor aa occurs once at most: not locally testable, and the semigroup would say that thresholds decide.
  const Dfa once = minimise(load_language("regex:~(.*aaa.*|.*aa.*aa.*)", options));
  const auto classes = language_classes(once, analyse_within_limits(once, none), limits);
  for (const char* name : {"SL", "LT", "SP", "PT", "definite"}) CHECK(named(classes, name).answer == Answer::kNo);
  for (const char* name : {"LTT", "PLT", "SF"}) CHECK(named(classes, name).answer == Answer::kUnknown);
  CHECK(test::contains(named(classes, "SF").remark, "--max-elements"));
  const ClassVerdict decided = named(language_classes(once, analyse(once)), "LTT");
  CHECK(name_with_parameters(decided) == "LTT_{2,2}");
  // Star-freeness follows from a class that needs no monoid.
  const Dfa ending = minimise(load_language("regex:.*abb", options));
  Algebra algebra = analyse_within_limits(ending, none);
  CHECK(algebra.verdict("aperiodic").answer == Answer::kYes);  // definite
  const Dfa local = minimise(load_language("regex:~(.*aa.*)", options));
  algebra = analyse_within_limits(local, none);
  CHECK(algebra.verdict("aperiodic").answer == Answer::kUnknown);
  const auto known = language_classes(local, algebra, limits);
  CHECK(named(known, "SF").remark == "follows from TPLT");
  CHECK(named(known, "LT").answer == Answer::kYes);
  CHECK(named(known, "LT").parameters.empty());
  complete(algebra, known);
  CHECK(algebra.verdict("aperiodic").answer == Answer::kYes);
  CHECK(algebra.verdict("locally testable").answer == Answer::kYes);
  const TimeLimit over(1e-9, "--time 1e-9");
  const auto hurried = language_classes(local, algebra, limits);
  CHECK(named(hurried, "SL").answer == Answer::kUnknown);
  CHECK(test::contains(named(hurried, "SL").remark, "--time"));
  CHECK(named(hurried, "SF").answer == Answer::kYes);
}
