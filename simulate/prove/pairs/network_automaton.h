// simulate/prove/pairs/network_automaton.h — the finite automaton that a network is, when its reachable states are
// finitely many: found by evaluation alone, and then as fast to run as any automaton.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/form.h"

namespace krohn {

struct NetworkAutomatonOptions {
  std::uint64_t max_states = std::uint64_t{1} << 20;
  std::uint64_t max_transitions = std::uint64_t{1} << 24;  ///< states · letters, each one evaluated letter
  std::function<void(std::uint64_t)> progress;             ///< transitions so far; may throw Interrupted
};

/// The states that words lead the network to under the stated arithmetic, letter after letter: all numbers of all
/// layers bit for bit (−0 as +0), the labels that they showed and, of a network that snaps, the letters since it last
/// did. A state's transitions are what one step of the
/// network does to it, so the machine and the network agree on every word, letter by letter, whatever the automaton in
/// the network's file says: that is read nowhere. Output q < n: the readout gives state q of the automaton with n
/// states; output n: it gives none. Nothing when a limit is met. O(states · letters · cost of one step).
std::optional<Dfa> network_automaton(const Network& network, ArithmeticName arithmetic, Form form,
                                     const NetworkAutomatonOptions& options = {});

}  // namespace krohn
