#include "krohn/automata/classes/edge_classes.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/classes/piecewise_testable.h"
#include "krohn/automata/classes/state_pairs.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/partial_verdicts.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

void require(bool holds, const char* name) {
  if (!holds) throw Error(fmt::format("the witness against \"{}\" failed its check; please report this", name));
}

/// A state that comes again though some word leaves it for good or for another.
std::string lasting_doubt(const Dfa& dfa, State state, Letter first, Letter away) {
  const State next = dfa.next(state, first);
  Word loop = word_between(dfa, next, state);
  loop.insert(loop.begin(), first);
  const Word to = word_between(dfa, dfa.initial(), state),
             tells = telling_word(dfa, state, dfa.next(state, away)).value();
  Word with{away};
  with.insert(with.end(), tells.begin(), tells.end());
  require(dfa.run(loop, state) == state, "reverse definite");
  require(dfa.accepts(dfa.run(tells, state)) != dfa.accepts(dfa.run(with, state)), "reverse definite");
  return fmt::format("for every n, after {} the ends {} and {} have different answers",
                     product_of_words(dfa.alphabet(), {{to}, {loop, true}}), quoted_letters(dfa.alphabet(), tells),
                     quoted_letters(dfa.alphabet(), with));
}

}  // namespace

ClassOrder definite_order(const Dfa& dfa) {
  const PairPaths paths = pair_paths(dfa, std::vector<bool>(dfa.states(), true));
  if (!paths.cycle) return {paths.has_pairs ? paths.longest + 1 : 0, {}};
  const auto& [p, q, x] = *paths.cycle;
  const Word to_p = word_between(dfa, dfa.initial(), p), to_q = word_between(dfa, dfa.initial(), q),
             tells = telling_word(dfa, p, q).value();
  require(dfa.run(x, p) == p && dfa.run(x, q) == q, "definite");
  require(dfa.accepts(dfa.run(tells, p)) != dfa.accepts(dfa.run(tells, q)), "definite");
  return {std::nullopt, fmt::format("for every n, {} and {} have different answers",
                                    product_of_words(dfa.alphabet(), {{to_p}, {x, true}, {tells}}),
                                    product_of_words(dfa.alphabet(), {{to_q}, {x, true}, {tells}}))};
}

ClassOrder reverse_definite_order(const Dfa& dfa) {
  const Components components = strongly_connected_components(dfa);
  const auto moving_letter = [&](State state) -> std::optional<Letter> {
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      if (dfa.next(state, letter) != state) return letter;
    return std::nullopt;
  };
  for (State state = 0; state < dfa.states(); ++state) {
    const std::optional<Letter> away = moving_letter(state);
    for (Letter letter = 0; letter < dfa.letters() && away; ++letter)
      if (components.of[dfa.next(state, letter)] == components.of[state])
        return {std::nullopt, lasting_doubt(dfa, state, letter, *away)};
  }
  return {automaton_depth(dfa), {}};
}

std::optional<std::string> endless(const Dfa& dfa) {
  std::string words = endless_words(dfa);
  return words.empty() ? std::nullopt : std::optional(std::move(words));
}

}  // namespace krohn
