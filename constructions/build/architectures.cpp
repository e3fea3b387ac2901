#include "krohn/constructions/build/architectures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "krohn/groups/base/error.h"
#include "krohn/groups/structure/composition.h"

namespace krohn {
namespace {

constexpr std::size_t kEveryPrecision = 4;

/// Before a reason that rounding might get around.
const std::string kExactly = "in exact arithmetic: ";

class Table {
 public:
  Table(const Dfa& automaton, const Algebra& algebra, std::span<const PlanRow> plan)
      : automaton_(automaton), algebra_(algebra), plan_(plan) {}

  std::vector<Architecture> rows() const {
    return {by_verdict("diagonal, A in [0, 1]", "aperiodic",
                       "star-free = aperiodic (Sarrof et al. 2024), in any rounding (MATH.md §4, Monotone steps)",
                       "diagonal-unit-interval"),
            position_signal(),
            by_verdict("diagonal, A in [-1, 1]", "2-groups only",
                       "Krohn–Rhodes into Z_2 and resets; no other in any rounding (MATH.md §4, Monotone steps)",
                       "diagonal-signed"),
            in_integers(kIntegerKinds[0]),
            in_integers(kIntegerKinds[1]),
            in_integers(kIntegerKinds[2]),
            unit_circle(),
            orthogonal_blocks(),
            one_layer(1, "one generalized Householder per token, one layer, finitely many values"),
            one_layer(std::nullopt, "products of k generalized Householders, one layer, finitely many values"),
            cascade()};
  }

 private:
  const PlanRow* planned(const std::string& construction) const {
    const auto found =
        std::find_if(plan_.begin(), plan_.end(), [&](const PlanRow& row) { return row.construction == construction; });
    return found == plan_.end() ? nullptr : &*found;
  }

  /// The construction when its row is possible; otherwise a remark says why it is not at hand.
  void show_by(Architecture& row, const std::string& construction) const {
    const PlanRow* plan = planned(construction);
    if (plan != nullptr && plan->possible) {
      row.construction = construction;
      if (is_exact(*plan)) row.exact = construction;
    } else if (plan != nullptr) {
      row.reason = fmt::format("not built: {}", plan->reason);
    }
  }

  Architecture by_verdict(std::string family, std::string_view property, std::string theorem,
                          const std::string& construction) const {
    const Verdict& verdict = algebra_.verdict(property);
    Architecture row{std::move(family), verdict.answer, std::move(theorem), {}, {}, verdict.witness};
    if (verdict.answer == Answer::kYes) show_by(row, construction);
    if (verdict.answer == Answer::kNo) row.reason = "in any rounding: " + row.reason;
    return row;
  }

  Architecture in_integers(const IntegerKind& kind) const {
    Architecture row = by_verdict(std::string(kind.family), kind.property,
                                  "any weights and layers (MATH.md §4, Integers)", std::string(kind.construction));
    row.arithmetic = kind.arithmetic;
    if (row.answer == Answer::kYes) row.exact = row.construction;
    if (row.answer == Answer::kNo) row.reason = "with any weights: " + algebra_.verdict(kind.property).witness;
    return row;
  }

  Architecture position_signal() const {
    Architecture row =
        by_verdict("diagonal, A in [0, 1], with a position signal", "quasi-aperiodic",
                   "quasi-aperiodic stamp, in any rounding (MATH.md §4, Monotone steps)", "diagonal-unit-interval");
    if (row.answer != Answer::kYes || !row.construction.empty()) return row;
    show_by(row, "diagonal-position");
    if (!row.construction.empty())
      row.reason = fmt::format("a counter of positions first; stable at words of {}",
                               counted(algebra_.stability_index, "letter"));
    return row;
  }

  Architecture unit_circle() const {
    Architecture row = by_verdict("complex diagonal, |A| in {0, 1}", "solvable groups",
                                  "Krohn–Rhodes into Z_p and resets, in exact arithmetic; no IEEE converse is known",
                                  "diagonal-unit-circle");
    if (row.answer == Answer::kNo) row.reason = kExactly + algebra_.verdict("solvable groups").witness;
    if (!row.construction.empty()) name_exact(row, "cascade-primes", "with the same eigenvalues");
    return row;
  }

  static bool is_exact(const PlanRow& row) { return row.possible && row.exact_in.size() == kEveryPrecision; }

  /// Names the bit-exact companion of a construction whose turns round.
  void name_exact(Architecture& row, const std::string& companion, const char* how) const {
    const PlanRow* exact = planned(companion);
    if (!row.exact.empty() || exact == nullptr || !is_exact(*exact)) return;
    row.exact = companion;
    std::string known;
    for (const auto precision : planned(row.construction)->exact_in)
      known += (known.empty() ? "bit-exact in " : " ") + to_string(precision);
    row.reason = fmt::format("{}; in every precision {}: {}", known.empty() ? "rounds" : known, how, companion);
  }

  /// The simple groups in O(3) are the cyclic ones and A_5; a cascade of blocks has the simple divisors of its blocks.
  Architecture orthogonal_blocks() const {
    Architecture row{"3×3 orthogonal blocks", Answer::kYes, "finite subgroups of O(3) (argument)", {}, {}, {}};
    for (const MaximalSubgroup& group : algebra_.groups) {
      if (group.solvable) continue;
      try {
        for (const CompositionFactor& factor :
             composition_factors(algebra_.green.value().d_classes()[group.d_class].group)) {
          if (factor.name.starts_with("Z_") || factor.name == "A_5") continue;
          row.answer = Answer::kNo;
          row.reason = fmt::format("{}{} has the composition factor {}, which is not in O(3)", kExactly, group.name,
                                   factor.name);
          return row;
        }
      } catch (const LimitError& error) {
        row.answer = Answer::kUnknown;
        row.reason = fmt::format("{}: {}", group.name, error.what());
      }
    }
    if (!algebra_.green.has_value() && algebra_.verdict("solvable groups").answer != Answer::kYes) {
      row.answer = Answer::kUnknown;
      row.reason = algebra_.limit;
    }
    if (row.answer == Answer::kYes) show_blocks(row);
    return row;
  }

  void show_blocks(Architecture& row) const {
    const PlanRow* orthogonal = planned("orthogonal");
    const bool one_layer = orthogonal != nullptr && orthogonal->possible && orthogonal->state_numbers <= 3;
    show_by(row, one_layer ? "orthogonal" : "orthogonal-blocks");
    if (!row.construction.empty()) name_exact(row, "cascade-holonomy", "in larger blocks");
  }

  /// The row of one layer with the fewest reflections per token, among all or those that are bit-exact.
  const PlanRow* fewest_reflections(bool exact) const {
    const PlanRow* best = nullptr;
    for (const PlanRow& row : plan_) {
      const bool counts = row.possible && row.layers == 1 && row.reflections >= 0 && (!exact || is_exact(row));
      if (counts && (best == nullptr || row.reflections < best->reflections)) best = &row;
    }
    return best;
  }

  std::string no_registers() const {
    const PlanRow* registers = planned("registers");
    return registers == nullptr ? "registers were not tried" : registers->reason;
  }

  Architecture one_layer(std::optional<std::int64_t> limit, std::string family) const {
    Architecture row{std::move(family), Answer::kUnknown, "Grazzi Thm. 3", {}, {}, {}};
    const Verdict& group = algebra_.verdict("group");
    if (const Verdict& bar = algebra_.verdict("right regular idempotents"); bar.answer == Answer::kNo) {
      row.answer = Answer::kNo;
      row.theorem =
          "one layer of contractions with finitely many values, in exact arithmetic: efe = fe for idempotents (MATH.md "
          "§4)";
      row.reason = kExactly + bar.witness;
      return row;
    }
    const PlanRow* best = fewest_reflections(false);
    if (group.answer == Answer::kNo) {
      row.theorem = "registers (MATH.md §4)";
      if (best == nullptr)
        row.reason = fmt::format("Theorem 3 speaks of group automata, and {}; {}", group.witness, no_registers());
      else if (limit && best->reflections > *limit)
        row.reason = fmt::format("the least that was found is {} per token: {}", best->reflections, best->construction);
      if (!row.reason.empty()) return row;
    }
    if (best != nullptr && (!limit || best->reflections <= *limit)) {
      row.answer = Answer::kYes;
      row.construction = best->construction;
      row.reason = fmt::format("k = {}", best->reflections);
      const PlanRow* exact = fewest_reflections(true);
      if (exact == nullptr || (limit && exact->reflections > *limit)) return row;
      row.exact = exact->construction;
      if (row.exact != row.construction)
        row.reason += fmt::format("; bit-exact with k = {}: {}", exact->reflections, row.exact);
      return row;
    }
    for (Letter letter = 0; limit == 1 && letter < automaton_.letters(); ++letter) {
      const std::uint64_t letter_order = automaton_.letter_map(letter).to_permutation().order();
      if (letter_order <= 2) continue;
      row.answer = Answer::kNo;
      row.theorem =
          "a generalized Householder that permutes finitely many values is a reflection, in exact arithmetic (MATH.md "
          "§4)";
      row.reason = fmt::format("{}\"{}\" has order {}, and a reflection has order 2", kExactly,
                               automaton_.alphabet().name(letter), letter_order);
      return row;
    }
    row.reason = best == nullptr ? "no representation was found within the limits"
                                 : fmt::format("the least that was found is {} per token", best->reflections);
    return row;
  }

  /// One reflection per token is enough; the cascade that does with it has more layers.
  Architecture cascade() const {
    Architecture row{"products of generalized Householders, any depth", Answer::kYes, "Grazzi Thm. 4", {}, {}, {}};
    const PlanRow *few = planned("cascade-holonomy-reflections"), *one = planned("cascade-single-reflections");
    if (few != nullptr && few->reflections > 1 && one != nullptr && one->possible) {
      row.theorem = "one reflection a token (MATH.md §3)";
      show_by(row, "cascade-single-reflections");
      row.reason = "k = 1";
      return row;
    }
    show_by(row, "cascade-holonomy-reflections");
    if (row.construction.empty()) show_by(row, "cascade-chain-reflections");
    return row;
  }

  const Dfa& automaton_;
  const Algebra& algebra_;
  std::span<const PlanRow> plan_;
};

}  // namespace

std::vector<Architecture> architectures(const Dfa& automaton, const Algebra& algebra, std::span<const PlanRow> plan) {
  return Table(automaton, algebra, plan).rows();
}

}  // namespace krohn
