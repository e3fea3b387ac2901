#include "tools/bench/measure.h"

#ifdef KROHN_HAS_OPENFST
#include <fst/fstlib.h>

#include <ctime>

namespace krohn::bench {
namespace {

/// Processor seconds, as for krohn itself.
double seconds_since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

void add_arc(fst::StdVectorFst& automaton, std::uint32_t source, std::uint32_t letter, std::uint32_t target) {
  const int label = static_cast<int>(letter) + 1;  // 0 is ε
  automaton.AddArc(static_cast<int>(source),
                   fst::StdArc(label, label, fst::TropicalWeight::One(), static_cast<int>(target)));
}

}  // namespace

bool has_openfst() { return true; }

Work openfst_minimise(std::uint32_t states, std::uint32_t letters, std::uint32_t initial,
                      const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& target,
                      const std::function<bool(std::uint32_t)>& accepts) {
  fst::StdVectorFst automaton;
  automaton.ReserveStates(static_cast<int>(states));
  for (std::uint32_t state = 0; state < states; ++state) automaton.AddState();
  automaton.SetStart(static_cast<int>(initial));
  for (std::uint32_t state = 0; state < states; ++state) {
    automaton.ReserveArcs(static_cast<int>(state), letters);
    for (std::uint32_t letter = 0; letter < letters; ++letter) add_arc(automaton, state, letter, target(state, letter));
    if (accepts(state)) automaton.SetFinal(static_cast<int>(state), fst::TropicalWeight::One());
  }
  const std::clock_t start = std::clock();
  fst::Minimize(&automaton);
  return {seconds_since(start), static_cast<std::uint64_t>(automaton.NumStates())};
}

Work openfst_letter_from_end(std::uint32_t count) {
  fst::StdVectorFst automaton;
  for (std::uint32_t state = 0; state < count + 2; ++state) automaton.AddState();
  automaton.SetStart(0);
  add_arc(automaton, 0, 0, 0);
  add_arc(automaton, 0, 1, 0);
  add_arc(automaton, 0, 0, 1);
  for (std::uint32_t state = 1; state <= count; ++state)
    for (std::uint32_t letter = 0; letter < 2; ++letter) add_arc(automaton, state, letter, state + 1);
  automaton.SetFinal(static_cast<int>(count) + 1, fst::TropicalWeight::One());
  const std::clock_t start = std::clock();
  fst::StdVectorFst deterministic;
  fst::Determinize(automaton, &deterministic);
  fst::Minimize(&deterministic);
  return {seconds_since(start), static_cast<std::uint64_t>(deterministic.NumStates())};
}

}  // namespace krohn::bench
#else
#include <stdexcept>

namespace krohn::bench {

bool has_openfst() { return false; }

Work openfst_minimise(std::uint32_t, std::uint32_t, std::uint32_t,
                      const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>&,
                      const std::function<bool(std::uint32_t)>&) {
  throw std::logic_error("built without OpenFst");
}

Work openfst_letter_from_end(std::uint32_t) { throw std::logic_error("built without OpenFst"); }

}  // namespace krohn::bench
#endif
