#include "krohn/automata/families/counting_families.h"

#include <fmt/format.h>

namespace krohn {

Dfa parity() {
  return tabulate_acceptor(
      Alphabet::of_characters("01"), 2, 0, [](State q, Letter letter) { return q ^ letter; },
      [](State q) { return q == 1; });
}

Dfa sum_modulo(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("sum{}", m), m, m, limit);
  const std::vector<std::string> names = numerals(m);
  return tabulate(
      Alphabet::from_names(names), m, 0, [m](State q, Letter letter) { return (std::uint64_t{q} + letter) % m; },
      [](State q) { return q; }, names);
}

Dfa modular_counter(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("counter{}", m), m, 1, limit);
  return tabulate_acceptor(
      Alphabet::of_characters("1"), m, 0, [m](State q, Letter) { return (q + 1) % m; }, [](State q) { return q == 0; });
}

Dfa saturating_counter(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("saturating{}", m), m, 2, limit);
  return tabulate(
      Alphabet::of_characters("+-"), m, 0,
      [m](State q, Letter letter) { return letter == 0 ? (q + 1 < m ? q + 1 : q) : (q > 0 ? q - 1 : q); },
      [](State q) { return q; }, numerals(m));
}

}  // namespace krohn
