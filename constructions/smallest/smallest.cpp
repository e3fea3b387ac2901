#include "krohn/constructions/smallest/smallest.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/monoid/complexity.h"
#include "krohn/automata/monoid/crossing_idempotents.h"
#include "krohn/constructions/smallest/finite_values_check.h"
#include "krohn/constructions/smallest/letter_bounds.h"
#include "krohn/constructions/smallest/plan_sizes.h"
#include "krohn/groups/error.h"
#include "krohn/groups/representations/least_representation.h"

namespace krohn {
namespace {

constexpr const char* kNumbers = "numbers of state";
constexpr const char* kReflections = "reflections per letter";
constexpr const char* kLinear = "one layer, no inputs added, read linearly";
constexpr const char* kAffine = "one layer, read linearly";
constexpr const char* kFinite = "one layer, finitely many values, read in any way";
constexpr const char* kRepresentation = "one layer, a matrix for each element of the group";
constexpr const char* kCascade = "cascade of permutations and resets";

class Bounds {
 public:
  Bounds(const Dfa& automaton, std::span<const std::uint32_t> shown)
      : automaton_(automaton), shown_(shown), plans_(plan_sizes(automaton, shown)) {}

  Smallest take() {
    attempt("the rank of the Hankel matrix", [this] { add_rank(); });
    add_one_hot();
    attempt("the transition monoid", [this] { add_monoid(); });
    if (automaton_.is_permutation_automaton()) attempt("the characters of the group", [this] { add_representation(); });
    attempt("reflections", [this] { add_reflections(); });
    attempt("cascades", [this] { add_cascades(); });
    check();
    return std::move(result_);
  }

 private:
  void attempt(const std::string& what, const std::function<void()>& add) {
    try {
      add();
    } catch (const LimitError& error) {
      result_.limits.push_back(fmt::format("{}: {}", what, error.what()));
    }
  }

  SizeBound& add(const char* counted, std::string model, LeastNumber least) {
    result_.bounds.push_back({counted, std::move(model), least.value, std::move(least.because), {}, {}});
    return result_.bounds.back();
  }

  static void offer(SizeBound& bound, std::uint64_t count, const std::string& construction) {
    if (bound.built && *bound.built <= count) return;
    bound.built = count;
    bound.construction = construction;
  }

  template <class Fits>
  void offer_numbers(SizeBound& bound, Fits fits) {
    for (const PlanSize& plan : plans_)
      if (plan.layers == 1 && plan.has_finitely_many_values && fits(plan))
        offer(bound, plan.numbers, plan.construction);
  }

  void offer_reflections(SizeBound& bound) {
    for (const PlanSize& plan : plans_)
      if (plan.layers == 1 && plan.has_finitely_many_values && plan.reflections >= 0)
        offer(bound, static_cast<std::uint64_t>(plan.reflections), plan.construction);
  }

  void add_rank() {
    const HankelRank rank = hankel_rank(automaton_, shown_);
    if (!holds(automaton_, shown_, rank)) throw Error("a minor of the Hankel matrix is 0; please report this");
    SizeBound& linear =
        add(kNumbers, kLinear, {rank.rank, fmt::format("the Hankel matrix has rank {} over the rationals", rank.rank)});
    offer_numbers(linear, [](const PlanSize& plan) { return plan.reads_linearly && !plan.adds_inputs; });
    SizeBound& affine =
        add(kNumbers, kAffine, {rank.rank - 1, fmt::format("the rank {} counts the constant 1", rank.rank)});
    offer_numbers(affine, [](const PlanSize& plan) { return plan.reads_affinely; });
    result_.rank = rank;
  }

  void add_one_hot() {
    SizeBound& bound =
        add(kNumbers, "one layer, a unit vector for each state",
            {automaton_.states(), fmt::format("there {} {} state{}", automaton_.states() == 1 ? "is" : "are",
                                              automaton_.states(), automaton_.states() == 1 ? "" : "s")});
    for (const PlanSize& plan : plans_)
      if (plan.construction == "one-hot") offer(bound, plan.numbers, plan.construction);
  }

  void add_monoid() {
    const GreenStructure green = GreenStructure::of(letter_maps(automaton_), automaton_.states());
    const FiniteValuesBound finite = finite_values_bound(automaton_, green);
    // What its words do not show is not claimed.
    const bool is_checked = holds(automaton_, finite);
    if (!is_checked)
      result_.limits.push_back(finite.chain.empty()
                                   ? "no words for the idempotents below each other were found within the limits, so "
                                     "that nothing is said of finitely many values"
                                   : "the group at the end of the idempotents is too large for its check, so that "
                                     "nothing is said of finitely many values");
    const std::uint64_t steps = finite.numbers - finite.group_dimension;
    std::string because;
    if (steps > 0) because = fmt::format("idempotents below each other: {}", steps + 1);
    if (finite.group_dimension > 0)
      because += fmt::format("{}the group {} needs {}{}", steps > 0 ? "; " : "", finite.group_name,
                             finite.group_dimension, finite.group_dimension == 4 ? " at least" : "");
    if (because.empty()) because = "nothing is to be told apart";
    if (is_checked) {
      offer_numbers(add(kNumbers, kFinite, {finite.numbers, because}), [](const PlanSize&) { return true; });
      result_.finite_values = finite;
    }
    DivisorBounds divisors = divisor_bounds(automaton_, green);
    widest_labels_ = divisors.labels;
    diagonal_ = divisors.diagonal;
    SizeBound& widest =
        add("numbers of the widest layer", "any number of layers, finitely many values", std::move(divisors.numbers));
    for (const PlanSize& plan : plans_)
      if (plan.has_finitely_many_values) offer(widest, plan.widest_numbers, plan.construction);
    const ComplexityBounds complexity = complexity_bounds(green, automaton_.states());
    group_layers_ = {complexity.lower, fmt::format("Krohn–Rhodes complexity: {}", complexity.lower_by)};
    if (complexity.upper == 0) add_resets();
  }

  void add_resets() {
    const auto layers = layers_of_resets(automaton_);
    if (!layers) return;
    SizeBound& bound = add("layers", "diagonal matrices in [0, 1], finitely many values", *layers);
    for (const PlanSize& plan : plans_)
      if (plan.is_in_unit_interval && plan.has_finitely_many_values) offer(bound, plan.layers, plan.construction);
  }

  void add_representation() {
    std::vector<Permutation> letters;
    for (Letter letter = 0; letter < automaton_.letters(); ++letter)
      letters.push_back(automaton_.letter_map(letter).to_permutation());
    const CharacterTable table = CharacterTable::of(PermutationGroup::from_generators(automaton_.states(), letters));
    const LeastRepresentation least = least_faithful_dimension(table);
    const auto because = [](const LeastRepresentation& representation) {
      return fmt::format("characters: real parts of dimension {}", fmt::join(representation.blocks, " + "));
    };
    offer_numbers(add(kNumbers, kRepresentation, {least.value, because(least)}), [](const PlanSize&) { return true; });
    const LeastRepresentation fewest = least_reflections(table, letters);
    offer_reflections(add(kReflections, kRepresentation, {fewest.value, because(fewest)}));
  }

  void add_reflections() {
    constexpr std::uint64_t kMostElements = 20'000;
    SizeBound& bound = add(kReflections, kFinite, reflections_of_any_layer(automaton_));
    if (const CrossingSearch search = crossing_idempotents(automaton_, kMostElements); search.found) {
      bound.is_impossible = true;
      bound.because = to_string(*search.found, automaton_);
    } else {
      offer_reflections(bound);
    }
  }

  void add_cascades() {
    if (!widest_labels_) return;
    std::vector<Cascade> cascades;
    for (const auto& decompose : {std::function([this] { return holonomy_decomposition(automaton_); }),
                                  std::function([this] { return chain_decomposition(automaton_); })})
      attempt("a decomposition", [&] { cascades.push_back(decompose()); });
    SizeBound& labels = add("labels of the widest layer", kCascade, *widest_labels_);
    for (const PlanSize& plan : plans_)
      if (plan.construction.starts_with("cascade-")) offer(labels, plan.widest_labels, plan.construction);
    SizeBound& groups = add("layers with groups", kCascade, *group_layers_);
    for (const Cascade& cascade : cascades) offer(groups, layers_with_groups(cascade), "cascade-" + cascade.method);
    if (!diagonal_) return;
    SizeBound& diagonal = add("layers", "diagonal complex matrices, finitely many values", *diagonal_);
    // Turns that are written for one format have as many layers as exact ones.
    for (const PlanSize& plan : plans_)
      if ((plan.is_diagonal && plan.has_finitely_many_values) || plan.construction == "diagonal-unit-circle")
        offer(diagonal, plan.layers, plan.construction);
  }

  static std::uint64_t layers_with_groups(const Cascade& cascade) {
    return static_cast<std::uint64_t>(std::ranges::count_if(cascade.layers, [](const CascadeLayer& layer) {
      return std::ranges::any_of(layer.actions,
                                 [](const Transformation& a) { return a.is_permutation() && !a.is_identity(); });
    }));
  }

  void check() const {
    for (const SizeBound& bound : result_.bounds)
      if (bound.built && *bound.built < bound.at_least)
        throw Error(fmt::format("{} ({}): {} builds {}, but {} are proved to be needed; please report this",
                                bound.counted, bound.model, bound.construction, *bound.built, bound.at_least));
  }

  const Dfa& automaton_;
  std::span<const std::uint32_t> shown_;
  std::vector<PlanSize> plans_;
  Smallest result_;
  std::optional<LeastNumber> widest_labels_, group_layers_, diagonal_;
};

}  // namespace

Smallest smallest(const Dfa& automaton, std::span<const std::uint32_t> shown) {
  return Bounds(automaton, shown).take();
}

}  // namespace krohn
