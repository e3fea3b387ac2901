// automata/families/counting_families.h — automata that count: sums, counters, parity.
#pragma once

#include "krohn/automata/dfa/tabulate.h"

namespace krohn {

/// Words over {0, 1} with an odd number of ones: output 1 (accept) is the parity 1 of Grazzi §4.1. Two states.
Dfa parity();

/// Sum(m) of Fan §4.1, modular addition of Ebrahimi B.1: letters and outputs 0 … m−1, the output is the sum of the
/// letters modulo m. m states, 1 ≤ m.
Dfa sum_modulo(std::uint64_t m, const TableLimit& limit = {});

/// (1^m)* over {1}: modular counting of Grazzi, Theorem 2. m states.
Dfa modular_counter(std::uint64_t m, const TableLimit& limit = {});

/// A counter over {+, −} that stays within 0 … m−1; the output is the count. m states, aperiodic.
Dfa saturating_counter(std::uint64_t m, const TableLimit& limit = {});

}  // namespace krohn
