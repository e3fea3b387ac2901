// Minimises random and de Bruijn automata beside OpenFst's fst::Minimize, each in a process of its own.

#include <functional>
#include <string>

#include "krohn/automata/operations/minimise.h"
#include "krohn/simulate/words/random_letters.h"
#include "tools/bench/measure.h"

namespace {

using namespace krohn;
using namespace krohn::bench;

/// An automaton as two functions, so that each contender holds it only in its own form.
struct Automaton {
  State states;
  Letter letters;
  std::function<State(State, Letter)> target;
  std::function<bool(State)> accepts;
};

Automaton random_automaton(State states, Letter letters) {
  const std::uint64_t key = random_key(1, states);
  return {states, letters,
          [=](State state, Letter letter) {
            std::uint64_t fraction = random_block(key, std::uint64_t{state} * (letters + 1) + letter);
            return next_letter(fraction, states);
          },
          [=](State state) { return (random_block(key, std::uint64_t{state} * (letters + 1) + letters) & 1) != 0; }};
}

/// The last `bits` letters; accepts when the oldest of them is b.
Automaton de_bruijn(unsigned bits) {
  const State states = State{1} << bits;
  return {states, 2, [=](State state, Letter letter) { return (2 * state + letter) % states; },
          [=](State state) { return state >= states / 2; }};
}

/// A ring whose accepting states spell a random word: everything is told apart, and slowly.
Automaton random_ring(State states) {
  const std::uint64_t key = random_key(2, states);
  return {states, 1, [=](State state, Letter) { return (state + 1) % states; },
          [=](State state) { return (random_block(key, state) & 1) != 0; }};
}

Work minimise_ours(const Automaton& automaton) {
  std::vector<std::string> names;
  for (Letter letter = 0; letter < automaton.letters; ++letter)
    names.push_back(std::string(1, static_cast<char>('a' + letter)));
  std::vector<State> table;
  table.reserve(std::size_t{automaton.states} * automaton.letters);
  std::vector<bool> accepting;
  for (State state = 0; state < automaton.states; ++state) {
    for (Letter letter = 0; letter < automaton.letters; ++letter) table.push_back(automaton.target(state, letter));
    accepting.push_back(automaton.accepts(state));
  }
  const Dfa dfa = Dfa::acceptor(Alphabet::from_names(names), std::move(table), 0, accepting);
  State states = 0;
  const double seconds = seconds_of([&] { states = minimise(dfa).states(); });
  return {seconds, states};
}

void add(const std::string& name, const Automaton& automaton) {
  register_pair(
      name, [=] { return minimise_ours(automaton); },
      [=] { return openfst_minimise(automaton.states, automaton.letters, 0, automaton.target, automaton.accepts); });
}

}  // namespace

int main(int argc, char** argv) {
  add("minimise/random/100000x2", random_automaton(100'000, 2));
  add("minimise/random/1000000x2", random_automaton(1'000'000, 2));
  add("minimise/random/1000000x8", random_automaton(1'000'000, 8));
  add("minimise/de_bruijn/1048576x2", de_bruijn(20));
  add("minimise/random_ring/1000000x1", random_ring(1'000'000));
  return run_and_compare(argc, argv, "OpenFst");
}
