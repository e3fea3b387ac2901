#include "krohn/constructions/build/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <tuple>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/cascades/position_cascade.h"
#include "krohn/automata/cascades/prime_cascade.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/exactness/exactness.h"
#include "krohn/constructions/exactness/locked_precisions.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"

namespace krohn {
namespace {

/// A plan looks at every row, a build at one, so only the second may spend the decomposition's own limit.
enum class Effort { kPlan, kBuild };
constexpr std::uint64_t kPlanContexts = 200'000;
constexpr std::uint64_t kBuildContexts = 5'000'000;
constexpr std::uint64_t kPlanMaps = 20'000;  ///< elements of the transition monoid
constexpr std::uint64_t kBuildMaps = 1'000'000;
constexpr std::uint64_t kMapNumbers = 50'000'000;  ///< elements × states
constexpr std::uint64_t kIcosahedral = 60;         ///< the only simple group in O(3) that is not abelian is A_5
constexpr double kPlanSetWork = 1e9;  ///< image sets² × machine words of a set, for the tiles of the skeleton
constexpr std::uint64_t kPlanContextNumbers = 50'000'000;  ///< contexts × states

/// A value that is made when first asked for. What making it threw, a limit that was met, is remembered like a value.
template <class Value>
class Once {
 public:
  template <class Make>
  const Value& operator()(Make make) {
    if (failure_) std::rethrow_exception(failure_);
    try {
      if (!value_) value_ = make();
    } catch (const Error&) {
      failure_ = std::current_exception();
      throw;
    }
    return *value_;
  }

 private:
  std::optional<Value> value_;
  std::exception_ptr failure_;
};

/// What several rows share, computed once.
class Workbench {
 public:
  Workbench(const Dfa& automaton, const BuildOptions& wishes, Effort effort)
      : automaton_(automaton), wishes_(wishes), effort_(effort) {}

  const Dfa& automaton() const { return automaton_; }

  /// What is made for one precision is made for this one.
  Precision precision() const { return wishes_.precision.value_or(Precision::kFp32); }

  PermutationOptions wished_keys() const { return {wishes_.keys}; }
  PermutationOptions keys() const { return {wishes_.keys.value_or(KeyStyle::kUnnormalised)}; }

  const BasedAction& action() {
    return action_([this] { return best_based_action(automaton_, tracked_states(automaton_)); });
  }

  const Cascade& holonomy() {
    return holonomy_([this] { return holonomy_decomposition(automaton_, holonomy_options()); });
  }

  /// The holonomy cascade in prime cyclic layers; the chain would bring groups that the automaton has not.
  const Cascade& primes() {
    return primes_([this] { return prime_cascade(holonomy(), {prime_contexts(), 0}); });
  }

  /// The same with A_5 among the primes.
  const Cascade& simples() {
    return simples_([this] { return prime_cascade(holonomy(), {prime_contexts(), kIcosahedral}); });
  }

  const Cascade& positions() {
    return positions_([this] { return position_cascade(automaton_, position_options()); });
  }

  const Cascade& chain() {
    return chain_([this] { return chain_decomposition(automaton_, chain_options()); });
  }

 private:
  ChainOptions chain_options() const {
    ChainOptions options;
    if (effort_ == Effort::kPlan)
      options.max_contexts = std::min(kPlanContexts, kPlanContextNumbers / automaton_.states() + 1);
    return options;
  }

  std::uint64_t prime_contexts() const { return effort_ == Effort::kPlan ? kPlanContexts : kBuildContexts; }

  PositionCascadeOptions position_options() const {
    const std::uint64_t maps = effort_ == Effort::kPlan ? kPlanMaps : kBuildMaps;
    return {std::min(maps, kMapNumbers / automaton_.states() + 1), holonomy_options()};
  }

  HolonomyOptions holonomy_options() const {
    HolonomyOptions options;
    if (effort_ == Effort::kPlan) {
      options.max_sets = static_cast<std::uint64_t>(std::sqrt(kPlanSetWork / (1 + automaton_.states() / 32)));
      options.max_contexts = kPlanContexts;
    }
    return options;
  }

  const Dfa& automaton_;
  const BuildOptions& wishes_;
  Effort effort_;
  Once<BasedAction> action_;
  Once<Cascade> chain_, holonomy_, primes_, simples_, positions_;
};

struct Construction {
  const char* name;
  const char* theorem;
  Network (*build)(Workbench&);
  bool keys = false;          ///< written with keys, in the wished style
  bool only_by_name = false;  ///< never chosen unless asked for: a margin that shrinks (MATH.md §2), or not linear
};

constexpr std::array kConstructions{
    Construction{"parity-scalar", "Grazzi Thm. 3", [](Workbench& w) { return build_parity_scalar(w.automaton()); }},
    Construction{"real-diagonal", "Ebrahimi §2", [](Workbench& w) { return build_real_diagonal(w.automaton()); }},
    Construction{"permutation", "Grazzi Thm. 3", [](Workbench& w) { return build_permutation(w.automaton()); }},
    Construction{"permutation-base", "Grazzi Thm. 3",
                 [](Workbench& w) { return build_permutation_base(w.automaton(), w.action(), {}); }},
    Construction{"permutation-reflections", "Grazzi Thm. 3",
                 [](Workbench& w) { return build_permutation(w.automaton(), w.keys()); }, true},
    Construction{"permutation-base-reflections", "Grazzi Thm. 3",
                 [](Workbench& w) { return build_permutation_base(w.automaton(), w.action(), w.keys()); }, true},
    Construction{"permutation-vector", "Grazzi Thm. 3",
                 [](Workbench& w) { return build_permutation_vector(w.automaton(), w.action(), w.wished_keys()); },
                 true, true},
    Construction{"signed-permutation", "negacyclic shift",
                 [](Workbench& w) { return build_signed_permutation(w.automaton()); }},
    Construction{"rotation", "Grazzi Thm. 3", [](Workbench& w) { return build_rotation(w.automaton()); }},
    Construction{"rotation-primary", "Grazzi Thm. 3",
                 [](Workbench& w) { return build_rotation_primary(w.automaton()); }},
    Construction{"r2", "Ebrahimi App. A.2", [](Workbench& w) { return build_r2(w.automaton()); }},
    Construction{"rotation-locked", "search, MATH.md §5",
                 [](Workbench& w) { return build_rotation_locked(w.automaton(), w.precision()); }},
    Construction{"rotation-grid", "search, MATH.md §5",
                 [](Workbench& w) { return build_rotation_grid(w.automaton(), w.precision()); }},
    Construction{"rotation-snapped", "Grazzi Thm. 3; MATH.md §5",
                 [](Workbench& w) { return build_rotation_snapped(w.automaton(), w.precision()); }, false, true},
    Construction{"two-layer-reflections", "Grazzi Thm. 6",
                 [](Workbench& w) { return build_two_layer_reflections(w.automaton()); }},
    Construction{"orthogonal", "MATH.md §6", [](Workbench& w) { return build_orthogonal(w.automaton()); }},
    Construction{"integral-cyclotomic", "cyclotomic companions",
                 [](Workbench& w) { return build_integral_cyclotomic(w.automaton()); }},
    Construction{"integral-standard", "standard representation",
                 [](Workbench& w) { return build_integral_standard(w.automaton(), w.action()); }},
    Construction{"one-hot", "Grazzi App. A.2", [](Workbench& w) { return build_one_hot(w.automaton()); }},
    Construction{"block-diagonal", "Hartmanis & Stearns",
                 [](Workbench& w) { return build_block_diagonal(w.automaton()); }},
    Construction{"bilinear", "Ebrahimi Prop. 2.2", [](Workbench& w) { return build_bilinear(w.automaton()); }},
    Construction{"factored", "Ebrahimi §2.3", [](Workbench& w) { return build_factored(w.automaton()); }},
    Construction{"cascade-chain", "Grazzi Thm. 4",
                 [](Workbench& w) { return cascade_network(w.automaton(), w.chain()); }},
    Construction{"cascade-chain-reflections", "Grazzi Thm. 4",
                 [](Workbench& w) { return cascade_network(w.automaton(), w.chain(), {w.keys().keys}); }, true},
    Construction{"cascade-holonomy", "Krohn–Rhodes",
                 [](Workbench& w) { return cascade_network(w.automaton(), w.holonomy()); }},
    Construction{"cascade-holonomy-reflections", "Krohn–Rhodes",
                 [](Workbench& w) { return cascade_network(w.automaton(), w.holonomy(), {w.keys().keys}); }, true},
    Construction{
        "diagonal-unit-interval", "Krohn–Rhodes",
        [](Workbench& w) { return diagonal_cascade_network(w.automaton(), w.primes(), EigenvalueSet::kUnitInterval); }},
    Construction{
        "diagonal-position", "Krohn–Rhodes",
        [](Workbench& w) { return diagonal_cascade_network(w.automaton(), w.positions(), EigenvalueSet::kPosition); }},
    Construction{
        "diagonal-signed", "Krohn–Rhodes",
        [](Workbench& w) { return diagonal_cascade_network(w.automaton(), w.primes(), EigenvalueSet::kSigned); }},
    Construction{"diagonal-unit-circle", "Krohn–Rhodes",
                 [](Workbench& w) {
                   return diagonal_cascade_network(w.automaton(), w.primes(), EigenvalueSet::kUnitCircle,
                                                   w.precision());
                 }},
    Construction{
        "cascade-primes", "Krohn–Rhodes",
        [](Workbench& w) { return diagonal_cascade_network(w.automaton(), w.primes(), EigenvalueSet::kCyclic); }},
    Construction{"orthogonal-blocks", "Krohn–Rhodes",
                 [](Workbench& w) {
                   return diagonal_cascade_network(w.automaton(), w.simples(), EigenvalueSet::kBlocks, w.precision());
                 }},
};

const Construction* find_construction(const std::string& name) {
  const auto* found = std::find_if(kConstructions.begin(), kConstructions.end(),
                                   [&](const Construction& construction) { return name == construction.name; });
  return found == kConstructions.end() ? nullptr : found;
}

/// The row that the user names: with keys, "permutation" means its form by reflections.
std::optional<std::string> wished_construction(const BuildOptions& wishes) {
  if (!wishes.construction) return std::nullopt;
  const std::string with_keys = *wishes.construction + "-reflections";
  if (wishes.keys && find_construction(with_keys) != nullptr) return with_keys;
  if (find_construction(*wishes.construction) == nullptr)
    throw InputError(fmt::format("unknown construction \"{}\"; use {}", *wishes.construction,
                                 fmt::join(construction_names(), ", ")));
  return wishes.construction;
}

void measure(PlanRow& row, const Network& network) {
  const NetworkSize size = size_of(network);
  row.possible = true;
  row.reason = network.provenance.note;
  row.layers = size.layers;
  row.state_numbers = size.state_numbers;
  row.alphabet_sizes = size.alphabet_sizes;
  row.snap_every = network.snap_every;
  row.exact_in = exact_precisions(network);
  row.locked_in = locked_precisions(network);
  row.margin = std::numeric_limits<double>::infinity();
  row.reflections = 0;
  for (const Layer& layer : network.layers) {
    row.margin = std::min(row.margin, least_codeword_distance(layer));
    const std::int64_t most = reflections_of_layer(layer);
    row.reflections = row.reflections < 0 || most < 0 ? -1 : std::max(row.reflections, most);
  }
}

bool is_exact(const PlanRow& row, const BuildOptions& wishes) {
  if (!wishes.precision) return row.exact_in.size() == 4;
  const auto holds = [&](const std::vector<Precision>& precisions) {
    return std::find(precisions.begin(), precisions.end(), *wishes.precision) != precisions.end();
  };
  return holds(row.exact_in) || holds(row.locked_in);
}

/// Why a possible row does not fit the wishes; empty when it does.
std::string misfit(const PlanRow& row, const BuildOptions& wishes) {
  if (wishes.exact && !is_exact(row, wishes))
    return fmt::format("it is not bit-exact in {}",
                       wishes.precision ? to_string(*wishes.precision) : "every precision");
  if (wishes.keys && !find_construction(row.construction)->keys) return "it is not written with keys";
  if (wishes.max_dimension && row.state_numbers > *wishes.max_dimension)
    return fmt::format("it takes {} state numbers, and --max-dimension is {}", row.state_numbers,
                       *wishes.max_dimension);
  if (wishes.max_reflections && row.reflections < 0) return "it has no Householder form, and --max-reflections is set";
  if (wishes.max_reflections && row.reflections > *wishes.max_reflections)
    return fmt::format("it takes {} reflections per token, and --max-reflections is {}", row.reflections,
                       *wishes.max_reflections);
  return {};
}

/// The rule of planner.h, least first; the table's order decides what is left.
auto preference(const PlanRow& row, const BuildOptions& wishes) {
  const std::uint64_t updates = static_cast<std::uint64_t>(std::max<std::int64_t>(row.reflections, 1));
  return std::tuple{!is_exact(row, wishes), row.layers, row.reflections < 0, row.state_numbers * updates,
                    row.state_numbers};
}

struct Choice {
  std::vector<PlanRow> rows;
  std::optional<std::size_t> chosen;
  std::optional<Network> network;
};

/// The network under the table's own names.
Network build_named(const Construction& construction, Workbench& workbench) {
  Network network = construction.build(workbench);
  network.provenance.construction = construction.name;
  return network;
}

std::optional<Network> try_build(const Construction& construction, Workbench& workbench, PlanRow& row) {
  try {
    Network network = build_named(construction, workbench);
    measure(row, network);
    return network;
  } catch (const InputError& error) {
    row.reason = error.what();
  } catch (const LimitError& error) {
    row.reason = error.what();
  }
  return std::nullopt;
}

/// Builds every row, one at a time, and keeps the best network so far.
Choice choose(const Dfa& automaton, const BuildOptions& wishes, Effort effort) {
  const auto wished = wished_construction(wishes);
  Workbench workbench(automaton, wishes, effort);
  Choice choice;
  for (const Construction& construction : kConstructions) {
    PlanRow& row = choice.rows.emplace_back();
    row.construction = construction.name;
    row.theorem = construction.theorem;
    std::optional<Network> network = try_build(construction, workbench, row);
    const bool eligible = wished ? *wished == construction.name : !construction.only_by_name;
    if (!network || !eligible || !misfit(row, wishes).empty()) continue;
    if (choice.chosen && preference(row, wishes) >= preference(choice.rows[*choice.chosen], wishes)) continue;
    choice.chosen = choice.rows.size() - 1;
    choice.network = std::move(network);
  }
  if (choice.chosen) choice.rows[*choice.chosen].chosen = true;
  return choice;
}

Network build_wished(const Dfa& automaton, const BuildOptions& wishes, const std::string& name) {
  const Construction* construction = find_construction(name);
  Workbench workbench(automaton, wishes, Effort::kBuild);
  Network network = [&] {
    try {
      return build_named(*construction, workbench);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{} is impossible: {}", name, error.what()));
    }
  }();
  PlanRow row;
  row.construction = name;
  measure(row, network);
  if (const std::string reason = misfit(row, wishes); !reason.empty())
    throw InputError(fmt::format("{} does not fit: {}", name, reason));
  return network;
}

[[noreturn]] void throw_nothing_fits(const std::vector<PlanRow>& rows, const BuildOptions& wishes) {
  std::string reasons;
  for (const PlanRow& row : rows)
    if (row.possible && !misfit(row, wishes).empty())
      reasons += fmt::format("\n  {}: {}", row.construction, misfit(row, wishes));
  throw InputError(fmt::format("no construction fits the wishes; those that are possible at all:{}", reasons));
}

}  // namespace

std::vector<std::string> construction_names() {
  std::vector<std::string> names;
  for (const Construction& construction : kConstructions) names.emplace_back(construction.name);
  return names;
}

std::vector<PlanRow> plan(const Dfa& automaton, const BuildOptions& wishes) {
  const FloatEnvironment environment;
  return choose(automaton, wishes, Effort::kPlan).rows;
}

Network build(const Dfa& automaton, const BuildOptions& wishes) {
  const FloatEnvironment environment;
  if (const auto wished = wished_construction(wishes)) return build_wished(automaton, wishes, *wished);
  Choice choice = choose(automaton, wishes, Effort::kPlan);
  if (!choice.network) throw_nothing_fits(choice.rows, wishes);
  return std::move(*choice.network);
}

}  // namespace krohn
