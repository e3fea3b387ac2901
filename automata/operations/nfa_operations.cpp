#include "krohn/automata/operations/nfa_operations.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"

namespace krohn {

Dfa minimal_of(const Nfa& nfa, std::uint64_t max_states) {
  DeterminiseOptions options;
  options.max_states = max_states;
  return minimise(determinise(nfa, options));
}

namespace {

/// Adds the states and arcs of `part`, over the same alphabet, and returns the number of its first state. None is
/// initial.
State add_states(Nfa& nfa, const Nfa& part) {
  const State first = nfa.states();
  for (State state = 0; state < part.states(); ++state) nfa.add_state(part.accepts(state));
  for (State state = 0; state < part.states(); ++state)
    for (const Nfa::Arc& arc : part.arcs(state)) nfa.add_arc(first + state, arc.letter, first + arc.target);
  return first;
}

/// Both operands over their common alphabet.
struct Operands {
  Nfa a, b;
};

Operands over_common_alphabet(const Nfa& a, const Nfa& b) {
  if (a.alphabet() == b.alphabet()) return {a, b};
  const AlphabetRefinement common = refine(a.alphabet(), b.alphabet());
  return {read_over(a, common.merged, common.in_a), read_over(b, common.merged, common.in_b)};
}

/// The states that `start` reaches along arcs for which `takes` holds.
template <class Takes>
std::vector<bool> closure(const Nfa& nfa, const std::vector<State>& start, Takes takes) {
  std::vector<bool> reached(nfa.states(), false);
  std::vector<State> queue;
  const auto reach = [&](State state) {
    if (!reached[state]) queue.push_back(state);
    reached[state] = true;
  };
  for (const State state : start) reach(state);
  while (!queue.empty()) {
    const State state = queue.back();
    queue.pop_back();
    for (const Nfa::Arc& arc : nfa.arcs(state))
      if (takes(arc)) reach(arc.target);
  }
  return reached;
}

bool takes_any(const Nfa::Arc&) { return true; }

/// Goes through the pairs of states that words reach: `found` is given each once, by its number, and `move` every arc
/// between numbers. `moves_apart`: a letter is read by one of the two (shuffle), not by both together (intersection).
template <class Found, class Move>
void for_pairs(const Nfa& a, const Nfa& b, PairSearch search, bool moves_apart, Found found, Move move) {
  const auto visit = [&](StatePair pair) {
    const PairSearch::Index fresh = search.size(), number = search.visit(pair);
    if (number == fresh) found(pair);
    return number;
  };
  for (const State in_a : a.initial())
    for (const State in_b : b.initial()) visit({in_a, in_b});
  for (PairSearch::Index i = 0; i < search.size(); ++i) {
    const StatePair pair = search[i];
    for (const Nfa::Arc& arc : a.arcs(pair.a)) {
      if (moves_apart || arc.letter == kEpsilon) {
        move(i, arc.letter, visit({arc.target, pair.b}));
        continue;
      }
      for (const Nfa::Arc& other : b.arcs(pair.b))
        if (other.letter == arc.letter) move(i, arc.letter, visit({arc.target, other.target}));
    }
    for (const Nfa::Arc& arc : b.arcs(pair.b))
      if (moves_apart || arc.letter == kEpsilon) move(i, arc.letter, visit({pair.a, arc.target}));
  }
}

/// The automaton that has a state for every pair, with the same number.
Nfa product_of(const Nfa& a, const Nfa& b, PairSearch search, bool moves_apart) {
  Nfa nfa(a.alphabet());
  for_pairs(
      a, b, std::move(search), moves_apart,
      [&](StatePair pair) { nfa.add_state(a.accepts(pair.a) && b.accepts(pair.b)); },
      [&](State from, Letter letter, State to) { nfa.add_arc(from, letter, to); });
  for (State state = 0; state < a.initial().size() * b.initial().size(); ++state) nfa.add_initial(state);
  return nfa;
}

/// Adds a state from which ε-moves lead to the marked ones of the first `states`, and makes it initial.
void start_at(Nfa& nfa, const std::vector<bool>& marked) {
  const State start = nfa.add_state();
  for (State state = 0; state < marked.size(); ++state)
    if (marked[state]) nfa.add_epsilon(start, state);
  nfa.add_initial(start);
}

Nfa without_initial(const Nfa& nfa) {
  Nfa copy(nfa.alphabet());
  add_states(copy, nfa);
  return copy;
}

void require_images(const std::vector<Word>& images, Letter sources, const Alphabet& target) {
  if (images.size() != sources)
    throw InputError(fmt::format("{} for {}", counted(images.size(), "image"), counted(sources, "letter")));
  for (std::size_t letter = 0; letter < images.size(); ++letter)
    for (const Letter image : images[letter])
      if (image >= target.size())
        throw InputError(fmt::format("the image of letter {} has letter {}, but its alphabet is {}", letter, image,
                                     to_string(target)));
}

}  // namespace

std::vector<bool> reachable_states(const Nfa& nfa) {
  return closure(nfa, {nfa.initial().begin(), nfa.initial().end()}, takes_any);
}

std::vector<bool> coaccessible_states(const Nfa& nfa) { return reachable_states(reverse(nfa)); }

Nfa read_over(const Nfa& nfa, const Alphabet& merged, const std::vector<std::optional<Letter>>& letters) {
  std::vector<std::vector<Letter>> parts(nfa.alphabet().size());
  for (Letter letter = 0; letter < letters.size(); ++letter)
    if (letters[letter]) parts[*letters[letter]].push_back(letter);
  Nfa result(merged);
  for (State state = 0; state < nfa.states(); ++state) result.add_state(nfa.accepts(state));
  for (State state = 0; state < nfa.states(); ++state)
    for (const Nfa::Arc& arc : nfa.arcs(state)) {
      if (arc.letter == kEpsilon) {
        result.add_epsilon(state, arc.target);
        continue;
      }
      for (const Letter part : parts[arc.letter]) result.add_arc(state, part, arc.target);
    }
  for (const State state : nfa.initial()) result.add_initial(state);
  return result;
}

Nfa union_of(const Nfa& a, const Nfa& b) {
  const auto [left, right] = over_common_alphabet(a, b);
  Nfa nfa = left;
  const State first = add_states(nfa, right);
  for (const State state : right.initial()) nfa.add_initial(first + state);
  return nfa;
}

Nfa intersection_of(const Nfa& a, const Nfa& b, std::uint64_t max_states) {
  const auto [left, right] = over_common_alphabet(a, b);
  return product_of(left, right, {"intersection", max_states}, /*moves_apart=*/false);
}

Nfa shuffle(const Nfa& a, const Nfa& b, std::uint64_t max_states) {
  const auto [left, right] = over_common_alphabet(a, b);
  return product_of(left, right, {"shuffle", max_states}, /*moves_apart=*/true);
}

Nfa concatenation(const Nfa& a, const Nfa& b) {
  const auto [left, right] = over_common_alphabet(a, b);
  Nfa nfa = left;
  const State first = add_states(nfa, right), gate = nfa.add_state();
  for (const State state : right.initial()) nfa.add_epsilon(gate, first + state);
  for (State state = 0; state < left.states(); ++state)
    if (left.accepts(state)) {
      nfa.set_accepting(state, false);
      nfa.add_epsilon(state, gate);
    }
  return nfa;
}

Nfa plus(const Nfa& nfa) {
  Nfa result = nfa;
  const State gate = result.add_state();
  for (const State state : nfa.initial()) result.add_epsilon(gate, state);
  for (State state = 0; state < nfa.states(); ++state)
    if (nfa.accepts(state)) result.add_epsilon(state, gate);
  return result;
}

Nfa star(const Nfa& nfa) {
  Nfa result = plus(nfa);
  result.add_initial(result.add_state(true));  // a state of its own: the start may be met again without accepting
  return result;
}

Nfa reverse(const Nfa& nfa) {
  Nfa result(nfa.alphabet());
  for (State state = 0; state < nfa.states(); ++state) result.add_state();
  for (State state = 0; state < nfa.states(); ++state)
    for (const Nfa::Arc& arc : nfa.arcs(state)) result.add_arc(arc.target, arc.letter, state);
  for (const State state : nfa.initial()) result.set_accepting(state);
  for (State state = 0; state < nfa.states(); ++state)
    if (nfa.accepts(state)) result.add_initial(state);
  return result;
}

Nfa prefixes(const Nfa& nfa) {
  Nfa result = nfa;
  const std::vector<bool> useful = coaccessible_states(nfa);
  for (State state = 0; state < nfa.states(); ++state) result.set_accepting(state, useful[state]);
  return result;
}

Nfa suffixes(const Nfa& nfa) {
  Nfa result = without_initial(nfa);
  start_at(result, reachable_states(nfa));
  return result;
}

Nfa factors(const Nfa& nfa) { return prefixes(suffixes(nfa)); }

Nfa subwords(const Nfa& nfa) {
  Nfa result = nfa;
  for (State state = 0; state < nfa.states(); ++state)
    for (const Nfa::Arc& arc : nfa.arcs(state))
      if (arc.letter != kEpsilon) result.add_epsilon(state, arc.target);
  return result;
}

Nfa left_quotient(const Nfa& language, const Nfa& prefixes, std::uint64_t max_states) {
  const auto [whole, begun] = over_common_alphabet(language, prefixes);
  std::vector<bool> reached(whole.states(), false);
  for_pairs(
      whole, begun, {"the quotient", max_states}, /*moves_apart=*/false,
      [&](StatePair pair) { reached[pair.a] = reached[pair.a] || begun.accepts(pair.b); }, [](State, Letter, State) {});
  Nfa result = without_initial(whole);
  start_at(result, reached);
  return result;
}

Nfa right_quotient(const Nfa& language, const Nfa& suffixes, std::uint64_t max_states) {
  return reverse(left_quotient(reverse(language), reverse(suffixes), max_states));
}

Nfa homomorphic_image(const Nfa& nfa, const Homomorphism& map) {
  require_images(map.images, nfa.alphabet().size(), map.target);
  Nfa result(map.target);
  for (State state = 0; state < nfa.states(); ++state) result.add_state(nfa.accepts(state));
  for (State state = 0; state < nfa.states(); ++state)
    for (const Nfa::Arc& arc : nfa.arcs(state)) {
      if (arc.letter == kEpsilon || map.images[arc.letter].empty()) {
        result.add_epsilon(state, arc.target);
        continue;
      }
      const Word& image = map.images[arc.letter];
      State here = state;
      for (std::size_t i = 0; i + 1 < image.size(); ++i) {
        const State next = result.add_state();
        result.add_arc(here, image[i], next);
        here = next;
      }
      result.add_arc(here, image.back(), arc.target);
    }
  for (const State state : nfa.initial()) result.add_initial(state);
  return result;
}

Nfa homomorphic_preimage(const Nfa& nfa, const Alphabet& source, const std::vector<Word>& images) {
  require_images(images, source.size(), nfa.alphabet());
  Nfa result(source);
  for (State state = 0; state < nfa.states(); ++state) result.add_state(nfa.accepts(state));
  for (State state = 0; state < nfa.states(); ++state) {
    for (Letter letter = 0; letter < source.size(); ++letter) {
      std::vector<State> here{state};
      for (const Letter read : images[letter]) {
        const std::vector<bool> before = closure(nfa, here, [](const Nfa::Arc& arc) { return arc.letter == kEpsilon; });
        std::vector<bool> after(nfa.states(), false);
        for (State at = 0; at < nfa.states(); ++at)
          if (before[at])
            for (const Nfa::Arc& arc : nfa.arcs(at))
              if (arc.letter == read) after[arc.target] = true;
        here.clear();
        for (State at = 0; at < nfa.states(); ++at)
          if (after[at]) here.push_back(at);
      }
      for (const State target : here) result.add_arc(state, letter, target);
    }
    for (const Nfa::Arc& arc : nfa.arcs(state))
      if (arc.letter == kEpsilon) result.add_epsilon(state, arc.target);
  }
  for (const State state : nfa.initial()) result.add_initial(state);
  return result;
}

Nfa projection(const Nfa& nfa, const Alphabet& kept) {
  const AlphabetRefinement common = refine(nfa.alphabet(), kept);
  const Nfa split = read_over(nfa, common.merged, common.in_a);
  std::vector<Symbol> symbols;
  Homomorphism map;
  for (Letter letter = 0; letter < common.merged.size(); ++letter) {
    map.images.emplace_back();
    if (!common.in_b[letter]) continue;
    if (!common.in_a[letter])
      throw InputError(fmt::format("the letter {} to keep is not in the alphabet {}",
                                   in_quotes(common.merged.name(letter)), to_string(nfa.alphabet())));
    map.images.back().push_back(static_cast<Letter>(symbols.size()));
    symbols.push_back(common.merged[letter]);
  }
  map.target = Alphabet::from_symbols(std::move(symbols));
  return homomorphic_image(split, map);
}

}  // namespace krohn
