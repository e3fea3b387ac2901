#include "krohn/gpu/automata/stored_word.h"

#include "krohn/gpu/automata/symbol_table.h"

namespace krohn {

std::vector<std::uint64_t> reference_final_state_counts(const Dfa& dfa, const RandomSample& sample) {
  const SymbolTable table(dfa);
  std::vector<std::uint64_t> counts(dfa.states(), 0);
  with_entries(table.entry_size, table.entries.data(), [&](const auto* entries) {
    for (std::uint64_t word = 0; word < sample.words; ++word)
      ++counts[read_word(entries, dfa.table().data(), table.cut, random_key(sample.seed, word), sample.length,
                         dfa.initial())];
  });
  return counts;
}

}  // namespace krohn
