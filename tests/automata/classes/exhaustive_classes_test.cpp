// Every class of every small automaton, against the definitions by brute force.

#include "krohn/automata/classes/classes.h"
#include "krohn/automata/operations/minimise.h"
#include "tests/algebra_campaign.h"
#include "tests/automata/classes/class_brute_force.h"
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
