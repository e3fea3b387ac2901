// Integers that wrap around and that saturate: cells against all cells of two and of three bits, and the answers about
// every number of layers against machines of all weights, in arithmetic of the tests' own.

#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/architectures.h"
#include "krohn/constructions/build/builders.h"
#include "tests/automata/bestiary.h"
#include "tests/brute_force.h"
#include "tests/constructions/sample_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// The integers of few bits, as ints.
struct Tiny {
  int bits;
  bool is_signed, saturates;

  int least() const { return is_signed ? -(1 << (bits - 1)) : 0; }
  int end() const { return least() + (1 << bits); }
  int fit(int exact) const {
    if (saturates) return std::clamp(exact, least(), end() - 1);
    while (exact < least()) exact += 1 << bits;
    while (exact >= end()) exact -= 1 << bits;
    return exact;
  }
  int step(int a, int b, int h) const { return fit(fit(a * h) + b); }
};

constexpr Tiny kWraps2{2, false, false}, kWraps3{3, false, false}, kUnsigned{2, false, true}, kSigned{2, true, true};

/// The automaton of the states that words reach, each showing itself, by breadth first.
template <class Memory, class Step>
Dfa machine_of(const Memory& start, Letter letters, const Step& step) {
  std::map<Memory, State> number{{start, 0}};
  std::vector<Memory> reached{start};
  std::vector<State> table;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (Letter letter = 0; letter < letters; ++letter) {
      const Memory to = step(reached[i], letter);
      const auto [place, fresh] = number.emplace(to, static_cast<State>(reached.size()));
      if (fresh) reached.push_back(to);
      table.push_back(place->second);
    }
  std::vector<Output> outputs(reached.size());
  std::iota(outputs.begin(), outputs.end(), 0U);
  std::vector<std::string> names;
  for (const Output output : outputs) names.push_back(std::to_string(output));
  return Dfa::moore(numbered_letters(letters), table, 0, outputs, names);
}

/// What the machine's states stand for: a state of the automaton each, or nothing.
bool stands_for(const Dfa& machine, const Dfa& automaton) {
  std::vector<State> of(machine.states(), UINT32_MAX);
  of[0] = automaton.initial();
  for (State state = 0; state < machine.states(); ++state)  // numbered breadth first
    for (Letter letter = 0; letter < machine.letters(); ++letter) {
      State& there = of[machine.next(state, letter)];
      const State wanted = automaton.next(of[state], letter);
      if (there == UINT32_MAX) there = wanted;
      if (there != wanted) return false;
    }
  return true;
}

/// Every machine of one cell and two letters, from every start.
template <class Use>
void for_all_cells(const Tiny& in, Use use) {
  for (int code = 0; code < 1 << 5 * in.bits; ++code) {
    std::array<int, 5> weights;
    for (int i = 0; i < 5; ++i) weights[i] = in.least() + (code >> i * in.bits & ((1 << in.bits) - 1));
    use(machine_of(weights[4], 2,
                   [&](int h, Letter letter) { return in.step(weights[2 * letter], weights[2 * letter + 1], h); }));
  }
}

Dfa of_states(State states, const std::vector<State>& table) {
  return machine_of(State{0}, static_cast<Letter>(table.size() / states),
                    [&](State q, Letter letter) { return table[q * (table.size() / states) + letter]; });
}

/// The answer about any number of layers, which needs no plan.
Answer answer(const Dfa& automaton, const std::string& family) {
  for (const Architecture& row : architectures(automaton, analyse(automaton), {}))
    if (row.family == family) return row.answer;
  FAIL("no row " << family);
  return Answer::kUnknown;
}

const std::string kWrapping = "diagonal, integers that wrap around";
const std::string kUnsignedSaturating = "diagonal, unsigned integers that saturate";
const std::string kSignedSaturating = "diagonal, signed integers that saturate";

/// Runs words of up to six letters beside the automaton, in the integers of the type.
void check_words(const Dfa& automaton, const Network& network, const WrappingIntegers& integers) {
  const Layer& layer = network.layers[0];
  std::vector<std::pair<Eigen::MatrixXd, State>> now{{layer.initial, automaton.initial()}};
  for (int length = 0; length <= 6; ++length) {
    std::vector<std::pair<Eigen::MatrixXd, State>> next;
    for (const auto& [h, state] : now) {
      const auto code = std::ranges::find(layer.decoder.codewords, h);
      REQUIRE(code != layer.decoder.codewords.end());
      REQUIRE(network.readout.next[0][static_cast<std::size_t>(code - layer.decoder.codewords.begin())] == state);
      for (Letter letter = 0; letter < automaton.letters(); ++letter) {
        const Transition& step = layer.transitions[layer.wiring.action_of[letter]];
        Eigen::MatrixXd to = h;
        for (Eigen::Index i = 0; i < h.rows(); ++i) {
          const auto a =
              static_cast<std::int64_t>(std::get<DiagonalMatrix>(step.a).values[static_cast<std::size_t>(i)]);
          const std::int64_t exact = a * static_cast<std::int64_t>(h(i)) + static_cast<std::int64_t>(step.b(i));
          to(i) = integers(static_cast<std::uint64_t>(exact));
        }
        next.emplace_back(to, automaton.next(state, letter));
      }
    }
    now = std::move(next);
  }
}

}  // namespace

TEST_CASE("the search for a cell finds one exactly where some cell of all holds the automaton") {
  for (const Tiny& in : {kWraps2, kWraps3}) {
    std::set<std::vector<State>> machines;
    for_all_cells(in, [&](const Dfa& machine) { machines.insert({machine.table().begin(), machine.table().end()}); });
    int held = 0, refused = 0;
    for (State states = 1; states <= 3; ++states)
      for_all_tables(states, 2, [&](const Dfa& given) {
        const Dfa automaton = canonical(given);
        if (automaton.states() != states) return;
        const bool holds = std::ranges::any_of(machines, [&](const std::vector<State>& table) {
          return stands_for(of_states(static_cast<State>(table.size() / 2), table), automaton);
        });
        StepBudget budget{100'000'000};
        const auto cell = wrapping_cell(letter_maps(automaton), static_cast<unsigned>(in.bits), budget);
        REQUIRE(cell.has_value() == holds);
        ++(holds ? held : refused);
        if (!cell) return;
        REQUIRE(cell->bits <= static_cast<unsigned>(in.bits));
        const std::uint32_t mask = (1U << cell->bits) - 1;
        const Dfa found = machine_of(0U, 2, [&](std::uint32_t h, Letter letter) {
          return (cell->steps[letter].first * h + cell->steps[letter].second) & mask;
        });
        REQUIRE(stands_for(found, automaton));
      });
    CHECK(held > 20);
    CHECK(refused > 20);
  }
}

TEST_CASE("what some machine of few bits holds is never answered with no, and a no is a group that none holds") {
  struct Fact {
    const Tiny& in;
    const std::string& family;
  };
  for (const auto& [in, family] : {Fact{kWraps2, kWrapping}, Fact{kWraps3, kWrapping},
                                   Fact{kUnsigned, kUnsignedSaturating}, Fact{kSigned, kSignedSaturating}}) {
    CAPTURE(family);
    std::set<std::vector<State>> machines;
    for_all_cells(in, [&](const Dfa& machine) { machines.insert({machine.table().begin(), machine.table().end()}); });
    for (const auto& table : machines)
      REQUIRE(answer(of_states(static_cast<State>(table.size() / 2), table), family) == Answer::kYes);
    // Two layers: the steps of the second depend on the letter and on what the first one held.
    if (in.bits > 2) continue;
    std::mt19937_64 random(11);
    std::set<std::vector<State>> cascades;
    for (int i = 0; i < 1'000; ++i) {
      std::array<int, 4 + 4 * 8> weights;
      for (int& weight : weights) weight = in.least() + static_cast<int>(random() % (1U << in.bits));
      const Dfa machine = machine_of(std::array{weights[0], weights[1]}, 2, [&](std::array<int, 2> h, Letter letter) {
        const auto below = static_cast<std::size_t>(h[0] - in.least());
        return std::array{in.step(weights[2 * letter], weights[2 * letter + 1], h[0]),
                          in.step(weights[4 + 4 * below + 2 * letter], weights[5 + 4 * below + 2 * letter], h[1])};
      });
      cascades.insert({machine.table().begin(), machine.table().end()});
    }
    for (const auto& table : cascades)
      REQUIRE(answer(of_states(static_cast<State>(table.size() / 2), table), family) == Answer::kYes);
  }
  CHECK(answer(counter(3, {1}), kWrapping) == Answer::kNo);
  CHECK(answer(counter(6, {1}), kWrapping) == Answer::kNo);
  CHECK(answer(counter(2, {1}), kUnsignedSaturating) == Answer::kNo);
  CHECK(answer(counter(3, {1}), kSignedSaturating) == Answer::kNo);
}

TEST_CASE("cells of integers of every size, with a sign and without") {
  struct Fact {
    std::string name;
    Dfa automaton;
    std::uint32_t cells;
  };
  const std::vector<Fact> facts{
      {"one state", counter(1, {0}), 1},
      {"Z_2", counter(2, {0, 1}), 1},
      {"Z_256", counter(256, {1, 127}), 1},
      {"Z_4 x Z_2 x Z_2", word_problem("Z4xZ2xZ2", "standard"), 3},
      {"D_4 on its points", point_action("D4", "standard"), 1},
      {"the last three letters", automaton_of_maps({{0, 2, 4, 6, 0, 2, 4, 6}, {1, 3, 5, 7, 1, 3, 5, 7}}), 1},
      {"parity, and the last letter", automaton_of_maps({{0, 0, 2, 2}, {3, 3, 1, 1}}), 2}};
  for (const unsigned bits : {8U, 16U, 32U})
    for (const bool is_signed : {false, true}) {
      const WrappingIntegers integers{bits, is_signed};
      CAPTURE(to_string(integers));
      for (const Fact& fact : facts) {
        CAPTURE(fact.name);
        const Network network = build_wrapping_cells(fact.automaton, integers);
        CHECK(network.layers[0].dimension == fact.cells);
        check_words(fact.automaton, network, integers);
      }
      CHECK(integers(0) == 0);
      CHECK(integers(1) == 1);
      CHECK(integers((std::uint64_t{1} << (bits - 1)) - 1) == std::ldexp(1, static_cast<int>(bits) - 1) - 1);
      CHECK(integers(std::uint64_t{1} << (bits - 1)) == std::ldexp(is_signed ? -1 : 1, static_cast<int>(bits) - 1));
      CHECK(integers(UINT64_MAX) == (is_signed ? -1 : std::ldexp(1, static_cast<int>(bits)) - 1));
    }
  CHECK(test::error_of([] { build_wrapping_cells(counter(3, {1}), {}); }).find("no cells") == 0);
  // 2^8 states are the most of one number of 8 bits.
  CHECK(build_wrapping_cells(counter(512, {1}), {16, false}).layers[0].dimension == 1);
  CHECK(test::error_of([] { build_wrapping_cells(counter(512, {1}), {8, false}); }).find("no cells") == 0);
}
