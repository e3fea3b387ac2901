#include "krohn/automata/families/random_automata.h"

#include <fmt/format.h>

#include "krohn/groups/error.h"
#include "krohn/groups/permutations/random_permutation.h"
#include "krohn/groups/random.h"

namespace krohn {

std::vector<std::string> letter_names(std::uint64_t count) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count; ++i)
    names.push_back(count <= 26 ? std::string(1, static_cast<char>('a' + i)) : fmt::format("a{}", i + 1));
  return names;
}

Dfa random_automaton(std::uint64_t m, std::uint64_t letters, std::uint64_t seed, const TableLimit& limit) {
  check_table_size(fmt::format("random:m={},letters={}", m, letters), m, letters, limit);
  Random random(seed);
  std::vector<bool> accepting(m);
  for (std::uint64_t q = 0; q < m; ++q) accepting[q] = random.below(2) == 1;
  return tabulate_acceptor(
      Alphabet::from_names(letter_names(letters)), m, 0, [&](State, Letter) { return random.below(m); },
      [&](State q) { return accepting[q]; });
}

Dfa random_state_machine(std::uint64_t m, std::uint64_t seed, std::optional<std::uint64_t> initial,
                         const TableLimit& limit) {
  check_table_size(fmt::format("rsm:m={}", m), m + 1, m, limit);
  if (initial && *initial >= m)
    throw InputError(fmt::format("rsm:m={}: initial={} is not a state; states are 0 … {}", m, *initial, m - 1));
  Random random(seed);
  std::vector<Permutation> rows;
  for (std::uint64_t q = 0; q < m; ++q) rows.push_back(random_permutation(static_cast<Point>(m), random));
  const auto next = [&](State q, Letter letter) { return q == m ? letter : rows[q][letter]; };
  std::vector<std::string> outputs = numerals(m);
  const Alphabet alphabet = Alphabet::from_names(outputs);
  if (initial)
    return tabulate(
        alphabet, m, static_cast<State>(*initial), next, [](State q) { return q; }, std::move(outputs));
  outputs.push_back("start");
  return tabulate(
      alphabet, m + 1, static_cast<State>(m), next, [](State q) { return q; }, std::move(outputs));
}

Dfa random_permutation_automaton(std::uint64_t m, std::uint64_t letters, std::uint64_t seed, const TableLimit& limit) {
  check_table_size(fmt::format("permutations:m={},letters={}", m, letters), m, letters, limit);
  Random random(seed);
  std::vector<Permutation> columns;
  for (std::uint64_t letter = 0; letter < letters; ++letter)
    columns.push_back(random_permutation(static_cast<Point>(m), random));
  return tabulate(
      Alphabet::from_names(letter_names(letters)), m, 0, [&](State q, Letter letter) { return columns[letter][q]; },
      [](State q) { return q; }, numerals(m));
}

}  // namespace krohn
