#include "constructions/architectures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "groups/series.h"

namespace krohn {
namespace {

class Table {
 public:
  Table(const Dfa& automaton, const Algebra& algebra, std::span<const Plan> plan)
      : automaton_(automaton), algebra_(algebra), plan_(plan) {}

  std::vector<Architecture> rows() const {
    return {by_verdict("diagonal, A in [0, 1]", "aperiodic",
                       "star-free = aperiodic (Sarrof et al. 2024; rounding is monotone, so it holds in IEEE too)",
                       "diagonal-unit-interval"),
            position_signal(),
            by_verdict("diagonal, A in [-1, 1]", "2-groups only",
                       "Krohn–Rhodes into Z_2 and resets; the rounding argument gives the converse", "diagonal-signed"),
            by_verdict("complex diagonal, |A| in {0, 1}", "solvable groups",
                       "Krohn–Rhodes into Z_p and resets, in exact arithmetic; no IEEE converse is known",
                       "diagonal-unit-circle"),
            orthogonal_blocks(),
            one_layer(1, "one generalized Householder per token, one layer"),
            one_layer(std::nullopt, "products of k generalized Householders, one layer"),
            cascade()};
  }

 private:
  const Plan* planned(const std::string& construction) const {
    const auto found =
        std::find_if(plan_.begin(), plan_.end(), [&](const Plan& row) { return row.construction == construction; });
    return found == plan_.end() ? nullptr : &*found;
  }

  /// The construction when its row is possible; otherwise a remark says why it is not at hand.
  void show_by(Architecture& row, const std::string& construction) const {
    const Plan* plan = planned(construction);
    if (plan != nullptr && plan->possible) {
      row.construction = construction;
    } else if (plan != nullptr) {
      row.reason = fmt::format("not built: {}", plan->reason);
    }
  }

  Architecture by_verdict(std::string family, std::string_view property, std::string theorem,
                          const std::string& construction) const {
    const Verdict& verdict = algebra_.verdict(property);
    Architecture row{std::move(family), verdict.answer, std::move(theorem), {}, verdict.witness};
    if (verdict.answer == Answer::kYes) show_by(row, construction);
    return row;
  }

  Architecture position_signal() const {
    Architecture row = by_verdict("diagonal, A in [0, 1], with a position signal", "quasi-aperiodic",
                                  "quasi-aperiodic stamp (literature)", "diagonal-unit-interval");
    if (row.answer == Answer::kYes && row.construction.empty())
      row.reason = fmt::format("stable at words of {} letters; krohn has no construction with a position signal",
                               algebra_.stability_index);
    return row;
  }

  /// The only non-abelian simple group among the finite subgroups of O(3) is A_5.
  Architecture orthogonal_blocks() const {
    Architecture row{"3×3 orthogonal blocks", Answer::kYes, "finite subgroups of O(3) (argument)", {}, {}};
    for (const MaximalSubgroup& group : algebra_.groups) {
      if (group.solvable) continue;
      const DClass& box = algebra_.green.d_classes()[group.d_class];
      const Integer core = order(derived_series(box.group).back());
      if (core == 60) continue;  // a perfect group of order 60 is A_5
      // A perfect group whose composition factors are solvable ones and copies of A_5 has an order that 60 divides.
      row.answer = core % 60 != 0 ? Answer::kNo : Answer::kUnknown;
      row.reason = fmt::format("{} has a perfect subgroup of order {}", group.name, core.str());
      if (row.answer == Answer::kNo) return row;
    }
    if (row.answer != Answer::kYes) return row;
    const Plan* orthogonal = planned("orthogonal");
    if (orthogonal != nullptr && orthogonal->possible && orthogonal->state_numbers <= 3) {
      row.construction = "orthogonal";
    } else if (algebra_.verdict("solvable groups").answer == Answer::kYes) {
      show_by(row, "diagonal-unit-circle");
    } else {
      row.reason = "not built: a cascade with A_5 layers in 3 dimensions";
    }
    return row;
  }

  /// The row of one layer with the fewest reflections per token.
  const Plan* fewest_reflections() const {
    const Plan* best = nullptr;
    for (const Plan& row : plan_) {
      const bool counts = row.possible && row.layers == 1 && row.reflections >= 0;
      if (counts && (best == nullptr || row.reflections < best->reflections)) best = &row;
    }
    return best;
  }

  Architecture one_layer(std::optional<std::int64_t> limit, std::string family) const {
    Architecture row{std::move(family), Answer::kUnknown, "Grazzi Thm. 3", {}, {}};
    const Verdict& group = algebra_.verdict("group");
    if (group.answer == Answer::kNo) {
      row.reason = fmt::format("Theorem 3 speaks of group automata, and {}", group.witness);
      return row;
    }
    const Plan* best = fewest_reflections();
    if (best != nullptr && (!limit || best->reflections <= *limit)) {
      row.answer = Answer::kYes;
      row.construction = best->construction;
      row.reason = fmt::format("k = {}", best->reflections);
      return row;
    }
    for (Letter letter = 0; limit == 1 && letter < automaton_.letters(); ++letter) {
      const std::uint64_t letter_order = automaton_.letter_map(letter).to_permutation().order();
      if (letter_order <= 2) continue;
      row.answer = Answer::kNo;
      row.reason = fmt::format("\"{}\" has order {}, and a reflection has order 2", automaton_.alphabet().name(letter),
                               letter_order);
      return row;
    }
    row.reason = best == nullptr ? "no representation was found within the limits"
                                 : fmt::format("the least that was found is {} per token", best->reflections);
    return row;
  }

  Architecture cascade() const {
    Architecture row{"products of generalized Householders, any depth", Answer::kYes, "Grazzi Thm. 4", {}, {}};
    show_by(row, "cascade-holonomy-reflections");
    if (row.construction.empty()) show_by(row, "cascade-chain-reflections");
    return row;
  }

  const Dfa& automaton_;
  const Algebra& algebra_;
  std::span<const Plan> plan_;
};

}  // namespace

std::vector<Architecture> architectures(const Dfa& automaton, const Algebra& algebra, std::span<const Plan> plan) {
  return Table(automaton, algebra, plan).rows();
}

}  // namespace krohn
