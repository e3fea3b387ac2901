// tests/algebra_campaign.h — one automaton at a time against brute force: verdicts, and the groups of its cascades.
// Faults come back as text, so that tests and the soak share the campaign.
#pragma once

#include <fmt/format.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/monoid/algebra.h"
#include "tests/automata/bestiary.h"
#include "tests/brute_force.h"

namespace krohn {

/// "[1,2,0],[0,0,1] from 0", letters as lists of images.
inline std::string described(const Dfa& dfa) {
  std::string text;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    text += letter == 0 ? "[" : ",[";
    for (State state = 0; state < dfa.states(); ++state)
      text += (state == 0 ? "" : ",") + std::to_string(dfa.next(state, letter));
    text += "]";
  }
  text += fmt::format(" from {}", dfa.initial());
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.is_acceptor() && dfa.accepts(state)) text += fmt::format(", {} accepts", state);
  return text;
}

struct Tally {
  std::uint64_t automata = 0, verdicts = 0, cascades = 0, groups = 0, networks = 0, refused = 0, steps = 0, skipped = 0;
  std::vector<std::string> wrong;

  void fault(const Dfa& dfa, const std::string& what) { wrong.push_back(described(dfa) + ": " + what); }
  /// The first few faults, a line each.
  std::string faults() const {
    return fmt::format("{}", fmt::join(std::span(wrong).first(std::min<std::size_t>(wrong.size(), 10)), "\n"));
  }
};

inline Dfa accepting(const Dfa& dfa, std::uint32_t set) {
  std::vector<bool> accepts;
  for (State state = 0; state < dfa.states(); ++state) accepts.push_back((set >> state & 1U) != 0);
  return Dfa::acceptor(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, dfa.initial(), accepts);
}

/// `dfa` must have no unreachable state.
inline void check_verdicts(const Dfa& dfa, Tally& tally, std::size_t max_elements = 600) {
  const auto monoid = brute::Monoid::of(dfa, max_elements);
  if (!monoid) {
    ++tally.skipped;
    return;
  }
  const Algebra algebra = analyse(dfa);
  if (algebra.size != monoid->size()) tally.fault(dfa, "monoid of " + algebra.size.str() + " elements");
  auto expected = monoid->properties();
  if (dfa.is_acceptor()) expected["finite"] = brute::is_finite(dfa);
  for (const Verdict& verdict : algebra.verdicts) {
    ++tally.verdicts;
    if (verdict.answer != (expected.at(verdict.property) ? Answer::kYes : Answer::kNo))
      tally.fault(dfa, verdict.property + ": " + to_string(verdict.answer));
    const bool has_witness = verdict.answer == Answer::kNo || verdict.property == "synchronising";
    if (has_witness == verdict.witness.empty()) tally.fault(dfa, verdict.property + ": no witness");
  }
  if (algebra.verdicts.size() != expected.size()) tally.fault(dfa, "some verdicts are missing");
  AlgebraOptions few;
  few.green.max_r_classes = 0;  // what is known without the monoid must be right as well
  for (const Verdict& verdict : analyse_within_limits(dfa, few).verdicts) {
    if (verdict.answer == Answer::kUnknown) continue;
    ++tally.verdicts;
    if (verdict.answer != (expected.at(verdict.property) ? Answer::kYes : Answer::kNo))
      tally.fault(dfa, "without the monoid, " + verdict.property + ": " + to_string(verdict.answer));
  }
}

/// Every label of every layer along all words of `length` letters, by the tables of the cascade.
inline void check_labels(const Dfa& dfa, const Cascade& cascade, std::size_t length, Tally& tally) {
  std::vector<std::pair<std::vector<Label>, State>> reached{{cascade.initial, dfa.initial()}};
  std::set<std::vector<Label>> known{cascade.initial};
  for (std::size_t i = 0; i < reached.size() && i < length; ++i)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      std::vector<Label> labels = reached[i].first;
      step(cascade, letter, labels);
      const State state = dfa.next(reached[i].second, letter);
      ++tally.steps;
      if (decode(cascade, labels) != state) tally.fault(dfa, cascade.method + " reaches another state");
      if (known.insert(labels).second) reached.emplace_back(std::move(labels), state);
    }
}

/// Chain and holonomy emulate, and the group of every layer of holonomy divides a group of the monoid as far as orders
/// and solvability show.
inline void check_cascades(const Dfa& dfa, Tally& tally, std::size_t max_elements = 500) {
  const Cascade holonomy = holonomy_decomposition(dfa), chain = chain_decomposition(dfa);
  for (const Cascade* cascade : {&holonomy, &chain}) {
    ++tally.cascades;
    const EmulationResult result = check_emulation(*cascade, dfa);
    if (!result.holds) tally.fault(dfa, cascade->method + ": " + result.counterexample);
    check_labels(dfa, *cascade, 2000, tally);
  }
  const auto monoid = brute::Monoid::of(dfa, max_elements);
  if (!monoid) {
    ++tally.skipped;
    return;
  }
  const auto groups = monoid->groups();
  for (const CascadeLayer& layer : holonomy.layers) {
    std::vector<brute::Map> bijections;
    for (const Transformation& action : layer.actions)
      if (action.is_permutation()) bijections.emplace_back(action.images().begin(), action.images().end());
    const auto group = brute::products(bijections, 10'000);
    if (bijections.empty() || group->size() == 1) continue;
    ++tally.groups;
    const bool solvable = brute::is_solvable(*group);
    const bool divides = std::any_of(groups.begin(), groups.end(), [&](const std::set<brute::Map>& larger) {
      return larger.size() % group->size() == 0 && (solvable || !brute::is_solvable(larger));
    });
    if (!divides) tally.fault(dfa, "a layer has the group " + layer.component);
  }
}

}  // namespace krohn
