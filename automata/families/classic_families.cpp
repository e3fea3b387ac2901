#include "krohn/automata/families/classic_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// Rows {on 0, on 1}, the accepting states as a set; state 0 is initial.
struct SmallAcceptor {
  std::vector<std::array<State, 2>> rows;
  std::vector<bool> accepting;
};

Dfa build(const SmallAcceptor& machine) {
  std::vector<State> table;
  for (const auto& row : machine.rows) table.insert(table.end(), row.begin(), row.end());
  return Dfa::acceptor(Alphabet::of_characters("01"), std::move(table), 0, machine.accepting);
}

/// Letters 2t and 2t+1 open and close kind t.
std::vector<std::string> bracket_names(std::uint64_t types) {
  static constexpr std::array<const char*, 8> kCharacters{"(", ")", "[", "]", "{", "}", "<", ">"};
  std::vector<std::string> names;
  for (std::uint64_t type = 0; type < types; ++type)
    for (std::uint64_t side = 0; side < 2; ++side)
      names.push_back(type < 4 ? kCharacters[2 * type + side] : fmt::format("{}{}", side ? "close" : "open", type + 1));
  return names;
}

}  // namespace

Dfa tomita(std::uint64_t index) {
  switch (index) {
    case 1:
      return build({{{1, 0}, {1, 1}}, {true, false}});
    case 2:
      return build({{{2, 1}, {0, 2}, {2, 2}}, {true, false, false}});
    // 0: no odd run of 1s yet; 1: inside one; afterwards 2: an odd number of 0s in this run, 3: an even number; 4:
    // refuted.
    case 3:
      return build({{{0, 1}, {2, 0}, {3, 4}, {2, 3}, {4, 4}}, {true, true, false, true, false}});
    case 4:
      return build({{{1, 0}, {2, 0}, {3, 0}, {3, 3}}, {true, true, true, false}});
    case 5:
      return build({{{1, 2}, {0, 3}, {3, 0}, {2, 1}}, {true, false, false, false}});
    case 6:
      return build({{{1, 2}, {2, 0}, {0, 1}}, {true, false, false}});
    case 7:
      return build({{{0, 1}, {2, 1}, {2, 3}, {4, 3}, {4, 4}}, {true, true, true, true, false}});
    default:
      throw InputError(fmt::format("tomita{}: Tomita's languages are tomita1 … tomita7", index));
  }
}

Dfa even_pair(std::uint64_t m, const TableLimit& limit) {
  check_table_size(fmt::format("evenpair{}", m), 2 * m + 1, m, limit);
  // 0: nothing read; 1 + 2f + e: the first letter is f, and e says whether the last one equals it.
  return tabulate_acceptor(
      Alphabet::from_names(numerals(m)), 2 * m + 1, 0,
      [](State q, Letter letter) {
        const State first = q == 0 ? letter : (q - 1) / 2;
        return 1 + 2 * first + (letter == first ? 1 : 0);
      },
      [](State q) { return q > 0 && (q - 1) % 2 == 1; });
}

Dfa bounded_dyck(std::uint64_t types, std::uint64_t depth, const TableLimit& limit) {
  // Stacks in base-`types` bijective numeration: 0 is empty, pushing t makes types·s + t + 1. The sink comes last.
  const std::string name = fmt::format("dyck:types={},depth={}", types, depth);
  std::uint64_t stacks = 0;
  for (std::uint64_t level = 0; level <= depth && stacks <= limit.max_states; ++level)
    stacks += std::min(saturating_power(types, level), limit.max_states);
  check_table_size(name, stacks + 1, 2 * types, limit);
  const std::uint64_t sink = stacks;
  return tabulate_acceptor(
      Alphabet::from_names(bracket_names(types)), stacks + 1, 0,
      [&](State q, Letter letter) -> std::uint64_t {
        const std::uint64_t type = letter / 2;
        if (q == sink) return sink;
        if (letter % 2 == 0) return types * q + type + 1 < stacks ? types * q + type + 1 : sink;
        return q > 0 && (q - 1) % types == type ? (q - 1) / types : sink;
      },
      [](State q) { return q == 0; });
}

}  // namespace krohn
