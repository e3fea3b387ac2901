// simulate/many/ranked_words.h — one long word cut over the ranks of a job: each makes and reads its own share, and
// what the shares do to all states is composed in their order.
#pragma once

#include "krohn/simulate/many/ranks.h"
#include "krohn/simulate/run/run_dfa.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// Where letters [first, first + length) of the word lead from `from`. Collective, with the same arguments on every
/// rank: Runner::run, word for word. Shares whose maps cannot be had about as fast as one state is run (Runner::effect)
/// are read by rank 0 alone. Sent: a map of the automaton's states over each step of MPI_Exscan, and 8 bytes.
State run_on_ranks(Ranks& ranks, const Runner& runner, const RandomWord& word, std::uint64_t first,
                   std::uint64_t length, State from);

}  // namespace krohn
