// automata/dfa/tabulate.h — automata given by formulas: a transition function and an output function, tabulated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// The largest tables that automata by formula may have.
struct TableLimit {
  std::uint64_t max_states = 10'000'000;
  std::uint64_t max_entries = std::uint64_t{1} << 28;  ///< states · letters; 4 bytes each
};

/// Throws LimitError, naming `what` and the limit that it meets. Call it with exact sizes before anything is allocated.
void check_table_size(std::string_view what, std::uint64_t states, std::uint64_t letters, const TableLimit& limit);

/// base^exponent, or UINT64_MAX when it does not fit: for sizes that are then checked.
std::uint64_t saturating_power(std::uint64_t base, std::uint64_t exponent);
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);

/// "0", "1", …, "count − 1".
std::vector<std::string> numerals(std::uint64_t count);

/// The Moore machine with δ(q, letter) = next(q, letter) and output(q), an index of `output_names`.
template <class Next, class OutputOf>
Dfa tabulate(Alphabet alphabet, std::uint64_t states, State initial, Next next, OutputOf output,
             std::vector<std::string> output_names) {
  const Letter letters = alphabet.size();
  std::vector<State> table;
  std::vector<Output> outputs;
  table.reserve(states * letters);
  outputs.reserve(states);
  for (State q = 0; q < states; ++q) {
    for (Letter letter = 0; letter < letters; ++letter) table.push_back(static_cast<State>(next(q, letter)));
    outputs.push_back(static_cast<Output>(output(q)));
  }
  return Dfa::moore(std::move(alphabet), std::move(table), initial, std::move(outputs), std::move(output_names));
}

/// The acceptor with δ(q, letter) = next(q, letter) that accepts the states where `accepts(q)`.
template <class Next, class Accepts>
Dfa tabulate_acceptor(Alphabet alphabet, std::uint64_t states, State initial, Next next, Accepts accepts) {
  return tabulate(std::move(alphabet), states, initial, next, [&](State q) { return accepts(q) ? 1 : 0; },
                  {"reject", "accept"});
}

}  // namespace krohn
