// simulate/prove/pairs/network_reader.h — a network in one arithmetic as a machine that reads letters
// (simulate/run/letter_reader.h): what the search for long failing words asks of any model.
#pragma once

#include <memory>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/form.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// The network letter after letter, snaps included. It answers with the state of the readout, or, where `outputs` gives
/// an output for each of these states, with that; with kNoAnswer where there is none. The margin is how much farther
/// the second nearest codeword is than the nearest, squared, least over the layers; 0 where that would cost more than
/// the letter itself. Used by one thread at a time; views the network, which must outlive it. The arithmetic is not
/// `exact`.
std::unique_ptr<LetterReader> network_reader(const Network& network, ArithmeticName arithmetic, Form form,
                                             std::vector<Output> outputs = {});

/// Every state of the network's automaton is asked for.
TrackedAutomaton every_state(const Dfa& automaton);

}  // namespace krohn
