// tests/network_campaign.h — one automaton at a time: every construction that the planner calls possible is built, read
// on all words of a length beside the automaton's table, and proved. Faults come back as text.
#pragma once

#include "krohn/constructions/build/planner.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "tests/algebra_campaign.h"

namespace krohn {

/// The network's state after every prefix of every word of this length, in fp64.
inline void check_words(const Dfa& dfa, const Network& network, std::size_t length, Tally& tally) {
  const auto evaluator = make_evaluator(network, Precision::kFp64);
  std::vector<Letter> word(length, 0);
  if (evaluator->current() != dfa.initial()) tally.fault(dfa, network.provenance.construction + " starts wrong");
  if (dfa.letters() == 0) return;
  for (bool done = false; !done;) {
    evaluator->reset();
    State state = dfa.initial();
    for (std::size_t t = 0; t < length; ++t) {
      state = dfa.next(state, word[t]);
      ++tally.steps;
      if (evaluator->step(word[t]) == state) continue;
      std::string letters;
      for (std::size_t i = 0; i <= t; ++i) letters += dfa.alphabet().name(word[i]);
      tally.fault(dfa, network.provenance.construction + " is wrong on \"" + letters + "\"");
      return;
    }
    done = true;
    for (std::size_t i = length; i-- > 0 && done;) {
      word[i] = word[i] + 1 == dfa.letters() ? 0 : word[i] + 1;
      done = word[i] == 0;
    }
  }
}

/// A network that calls itself exact in fp64, or in the precision or integers that it is made for, must be proved for
/// all lengths there; what rounds, for a thousand letters of fp64 at least.
inline void check_proof(const Dfa& dfa, const Network& network, const PlanRow& row, Tally& tally) {
  const bool exact =
      row.wraps_in || std::find(row.exact_in.begin(), row.exact_in.end(), Precision::kFp64) != row.exact_in.end();
  const bool locked = !exact && !row.locked_in.empty();
  CertifyOptions options{.arithmetic = locked ? row.locked_in.front() : Precision::kFp64};
  if (row.wraps_in) options.arithmetic = ArithmeticName::parse(to_string(*row.wraps_in));
  options.max_pairs = 2000;
  options.long_letters = 0;  // a thousand letters are enough: no million of longer ones where the bound ends soon after
  const Certificate certificate = certify(network, options);
  const bool proved =
      certificate.is<Proved>() || (!exact && !locked && certificate.is<ProvedUpTo>() && certificate.length() >= 1000);
  if (!proved)
    tally.fault(dfa, fmt::format("{} in {}{}: {}", row.construction, to_string(options.arithmetic),
                                 exact || locked ? ", exact" : "", to_string(certificate.claim)));
}

/// The default, then every row of the plan. `max_words` bounds the words of one length that are read.
inline void check_networks(const Dfa& dfa, std::size_t max_words, Tally& tally) {
  std::size_t length = 1;
  for (std::size_t words = dfa.letters(); words * dfa.letters() <= max_words && length < 12; words *= dfa.letters())
    ++length;
  ++tally.automata;
  check_words(dfa, build(dfa, {}), length, tally);
  for (const PlanRow& row : plan(dfa, {})) {
    if (!row.possible) {
      if (row.reason.empty()) tally.fault(dfa, row.construction + " is refused without a reason");
      ++tally.refused;
      continue;
    }
    ++tally.networks;
    BuildOptions wishes{.construction = row.construction, .integers = row.wraps_in};
    try {
      const Network network = build(dfa, wishes);
      if (!row.wraps_in) check_words(dfa, network, length, tally);
      check_proof(dfa, network, row, tally);
    } catch (const Error& error) {
      tally.fault(dfa, row.construction + ": " + error.what());
    }
  }
}

/// The states of a permutation group's points, read by these letters in this order.
inline Dfa on_points(const std::vector<Permutation>& letters) {
  std::vector<State> table;
  for (Point point = 0; point < letters.front().degree(); ++point)
    for (const Permutation& letter : letters) table.push_back(letter[point]);
  return of_table(letters.front().degree(), static_cast<Letter>(letters.size()), std::move(table));
}

/// Several generating sets of a transitive group, each in an order in which early letters tell little: as given and
/// backwards, behind an element that fixes the start without being the identity, behind the identity, and random ones.
inline std::vector<std::vector<Permutation>> generating_sets(const std::vector<Permutation>& generators,
                                                             std::mt19937& random) {
  std::vector<Permutation> elements = generators;
  for (int i = 0; i < 60; ++i)
    elements.push_back(elements[random() % elements.size()] * elements[random() % elements.size()]);
  std::vector<std::vector<Permutation>> sets{generators, {generators.rbegin(), generators.rend()}};
  for (const Permutation& element : elements)
    if (element[0] == 0 && !element.is_identity()) {
      std::vector<Permutation> set{element};
      set.insert(set.end(), generators.begin(), generators.end());
      sets.push_back(set);
      std::rotate(set.begin() + 1, set.begin() + 2, set.end());
      sets.push_back(set);
      break;
    }
  sets.push_back({Permutation::identity(generators.front().degree())});
  sets.back().insert(sets.back().end(), generators.rbegin(), generators.rend());
  sets.push_back({elements[random() % elements.size()], elements[random() % elements.size()]});
  sets.back().insert(sets.back().end(), generators.begin(), generators.end());
  return sets;
}

}  // namespace krohn
