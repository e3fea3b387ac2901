#include "krohn/constructions/build/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/holonomy.h"
#include "krohn/constructions/network/exactness.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"

namespace krohn {
namespace {

constexpr std::uint64_t kIcosahedral = 60;

bool commute(const std::vector<Transformation>& maps) {
  for (std::size_t a = 0; a < maps.size(); ++a)
    for (std::size_t b = a + 1; b < maps.size(); ++b)
      for (Point point = 0; point < maps[a].degree(); ++point)
        if (maps[b][maps[a][point]] != maps[a][maps[b][point]]) return false;
  return true;
}

}  // namespace

LetterFacts::LetterFacts(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  states_ = tracked.count();
  for (const Transformation& map : tracked.maps) {
    const bool permutes = map.is_permutation(), resets = map.constant_image().has_value();
    all_permute_ = all_permute_ && permutes;
    permute_or_reset_ = permute_or_reset_ && (permutes || resets);
    hold_or_reset_ = hold_or_reset_ && (map.is_identity() || resets);
    if (permutes) orders_divide_12_ = orders_divide_12_ && 12 % map.to_permutation().order() == 0;
    if (permutes)
      reflections_ = std::max<std::uint64_t>(reflections_, map.to_permutation().reflection_length());
    else if (resets)
      reflections_ = states_;
  }
  all_commute_ = commute(tracked.maps);
}

LeastCost least_cost(CostKind kind, const LetterFacts& facts) {
  constexpr LeastCost nothing_known{}, two_layers{.layers = 2};
  const LeastCost as_on_states{.state_numbers = facts.states(),
                               .reflections = std::max<std::uint64_t>(facts.reflections(), 1)};
  switch (kind) {
    case CostKind::kGroup:
      return {.possible = facts.all_permute()};
    case CostKind::kAbelian:
      return {.possible = facts.all_permute() && facts.all_commute()};
    case CostKind::kPlane:
      return {.possible = facts.all_permute() && facts.all_commute(), .integral = facts.orders_divide_12()};
    case CostKind::kMaps:
      if (facts.all_permute()) return as_on_states;
      return {.householder = false, .state_numbers = facts.states()};
    case CostKind::kPermutations:
      return facts.all_permute() ? as_on_states : LeastCost{.possible = false};
    case CostKind::kTwoLayers:
      return {.possible = facts.all_permute() && facts.all_commute(), .layers = 2};
    case CostKind::kPermutationsResets:
      return facts.permute_or_reset() ? as_on_states : two_layers;
    case CostKind::kSwaps:
      if (facts.hold_or_reset() || (facts.all_permute() && facts.reflections() <= 1))
        return {.state_numbers = facts.states()};
      return two_layers;
    case CostKind::kPrimes: {
      const bool group = facts.all_permute() && (facts.all_commute() || facts.states() <= kIcosahedral);
      return facts.hold_or_reset() || group ? nothing_known : two_layers;
    }
    default:
      return nothing_known;
  }
}

namespace {

/// A plan looks at every row, a build at one, so only the second may spend the decomposition's own limit.
enum class Effort { kPlan, kBuild };
constexpr std::uint64_t kPlanContexts = 200'000;
constexpr std::uint64_t kPlanSwapEntries = 500'000, kBuildSwapEntries = 50'000'000;
constexpr std::uint64_t kBuildContexts = 5'000'000;
constexpr std::uint64_t kPlanMaps = 20'000;  ///< elements of the transition monoid
constexpr std::uint64_t kBuildMaps = 1'000'000;
constexpr std::uint64_t kMapNumbers = 50'000'000;  ///< elements × states
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

/// Results that several rows share, computed once.
class Workbench {
 public:
  Workbench(const Dfa& automaton, const BuildOptions& wishes, Effort effort)
      : automaton_(automaton), wishes_(wishes), effort_(effort) {}

  const Dfa& automaton() const { return automaton_; }

  /// Results that depend on the precision are made for this one.
  Precision precision() const { return wishes_.precision.value_or(Precision::kFp32); }

  WrappingIntegers integers() const { return wishes_.integers.value_or(WrappingIntegers{}); }

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

  /// For a group, the swaps are those of its smallest action, or of prime layers.
  const Cascade& swaps() {
    return swaps_([this] {
      const TrackedStates tracked = tracked_states(automaton_);
      const Cascade whole = is_group(tracked) ? column_cascade(automaton_, tracked, action()) : holonomy();
      std::vector<const Cascade*> cascades{&whole};
      try {
        cascades.push_back(&primes());
      } catch (const Error&) {
        // of a group that is not solvable, or too large: there is no other choice
      }
      return smallest_swap_cascade(cascades, {swap_entries()});
    });
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

  std::uint64_t swap_entries() const { return effort_ == Effort::kPlan ? kPlanSwapEntries : kBuildSwapEntries; }

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
  Once<Cascade> chain_, holonomy_, primes_, simples_, swaps_, positions_;
};

struct Construction {
  const char* name;
  const char* theorem;
  CostKind cost;
  Network (*build)(Workbench&);
  bool keys = false;          ///< written with keys, in the wished style
  bool only_by_name = false;  ///< never chosen unless asked for: a margin that shrinks (MATH.md §2), or not linear
  bool wraps = false;         ///< counts by integers that wrap around
};

/// Layers of prescribed eigenvalues, of the cascade that they take.
template <EigenvalueSet kSpectrum>
constexpr Construction diagonal(const char* name) {
  const auto build = [](Workbench& w) {
    const Cascade& cascade = kSpectrum == EigenvalueSet::kPosition ? w.positions()
                             : kSpectrum == EigenvalueSet::kBlocks ? w.simples()
                                                                   : w.primes();
    return diagonal_cascade_network(w.automaton(), cascade, kSpectrum, w.precision(), w.integers());
  };
  return {name, "Krohn–Rhodes", CostKind::kPrimes, build, false, false, kSpectrum == EigenvalueSet::kWrapping};
}

constexpr std::array kConstructions{
    Construction{"parity-scalar", "Grazzi Thm. 3", CostKind::kAbelian,
                 [](Workbench& w) { return build_parity_scalar(w.automaton()); }},
    Construction{"real-diagonal", "Ebrahimi §2", CostKind::kAbelian,
                 [](Workbench& w) { return build_real_diagonal(w.automaton()); }},
    Construction{"permutation", "Grazzi Thm. 3", CostKind::kPermutations,
                 [](Workbench& w) { return build_permutation(w.automaton()); }},
    Construction{"permutation-base", "Grazzi Thm. 3", CostKind::kGroup,
                 [](Workbench& w) { return build_permutation_base(w.automaton(), w.action(), {}); }},
    Construction{"permutation-reflections", "Grazzi Thm. 3", CostKind::kPermutations,
                 [](Workbench& w) { return build_permutation(w.automaton(), w.keys()); }, true},
    Construction{"permutation-base-reflections", "Grazzi Thm. 3", CostKind::kGroup,
                 [](Workbench& w) { return build_permutation_base(w.automaton(), w.action(), w.keys()); }, true},
    Construction{"permutation-vector", "Grazzi Thm. 3", CostKind::kGroup,
                 [](Workbench& w) { return build_permutation_vector(w.automaton(), w.action(), w.wished_keys()); },
                 true, true},
    Construction{"signed-permutation", "negacyclic shift", CostKind::kAbelian,
                 [](Workbench& w) { return build_signed_permutation(w.automaton()); }},
    Construction{"rotation", "Grazzi Thm. 3", CostKind::kAbelian,
                 [](Workbench& w) { return build_rotation(w.automaton()); }},
    Construction{"rotation-primary", "Grazzi Thm. 3", CostKind::kAbelian,
                 [](Workbench& w) { return build_rotation_primary(w.automaton()); }},
    Construction{"r2", "Ebrahimi App. A.2", CostKind::kAbelian, [](Workbench& w) { return build_r2(w.automaton()); }},
    Construction{"rotation-locked", "search, MATH.md §5", CostKind::kPlane,
                 [](Workbench& w) { return build_rotation_locked(w.automaton(), w.precision()); }},
    Construction{"rotation-grid", "search, MATH.md §5", CostKind::kPlane,
                 [](Workbench& w) { return build_rotation_grid(w.automaton(), w.precision()); }},
    Construction{"rotation-snapped", "Grazzi Thm. 3; MATH.md §5", CostKind::kAbelian,
                 [](Workbench& w) { return build_rotation_snapped(w.automaton(), w.precision()); }, false, true},
    Construction{"two-layer-reflections", "Grazzi Thm. 6", CostKind::kTwoLayers,
                 [](Workbench& w) { return build_two_layer_reflections(w.automaton()); }},
    Construction{"orthogonal", "MATH.md §6", CostKind::kGroup,
                 [](Workbench& w) { return build_orthogonal(w.automaton()); }},
    Construction{"integral-cyclotomic", "cyclotomic companions", CostKind::kAbelian,
                 [](Workbench& w) { return build_integral_cyclotomic(w.automaton()); }},
    Construction{"integral-standard", "standard representation", CostKind::kGroup,
                 [](Workbench& w) { return build_integral_standard(w.automaton(), w.action()); }},
    Construction{"one-hot", "Grazzi App. A.2", CostKind::kMaps,
                 [](Workbench& w) { return build_one_hot(w.automaton()); }},
    Construction{"registers", "MATH.md §4", CostKind::kAny, [](Workbench& w) { return build_registers(w.automaton()); },
                 false, true},
    Construction{"block-diagonal", "Hartmanis & Stearns", CostKind::kAny,
                 [](Workbench& w) { return build_block_diagonal(w.automaton()); }},
    Construction{"bilinear", "Ebrahimi Prop. 2.2", CostKind::kMaps,
                 [](Workbench& w) { return build_bilinear(w.automaton()); }},
    Construction{"factored", "Ebrahimi §2.2.1", CostKind::kMaps,
                 [](Workbench& w) { return build_factored(w.automaton()); }},
    Construction{"cascade-chain", "Grazzi Thm. 4", CostKind::kPermutationsResets,
                 [](Workbench& w) { return cascade_network(w.automaton(), w.chain()); }},
    Construction{"cascade-chain-reflections", "Grazzi Thm. 4", CostKind::kPermutationsResets,
                 [](Workbench& w) { return cascade_network(w.automaton(), w.chain(), {w.keys().keys}); }, true},
    Construction{"cascade-holonomy", "Krohn–Rhodes", CostKind::kPermutationsResets,
                 [](Workbench& w) { return cascade_network(w.automaton(), w.holonomy()); }},
    Construction{"cascade-holonomy-reflections", "Krohn–Rhodes", CostKind::kPermutationsResets,
                 [](Workbench& w) { return cascade_network(w.automaton(), w.holonomy(), {w.keys().keys}); }, true},
    Construction{
        "cascade-single-reflections", "MATH.md §3", CostKind::kSwaps,
        [](Workbench& w) {
          Network network = cascade_network(w.automaton(), w.swaps(), {w.keys().keys, /*resets_in_rows=*/true});
          network.provenance.theorem = "MATH.md §3, one reflection a token";
          return network;
        },
        true},
    diagonal<EigenvalueSet::kUnitInterval>("diagonal-unit-interval"),
    diagonal<EigenvalueSet::kPosition>("diagonal-position"),
    diagonal<EigenvalueSet::kSigned>("diagonal-signed"),
    Construction{"wrapping-cells", "MATH.md §4", CostKind::kAny,
                 [](Workbench& w) { return build_wrapping_cells(w.automaton(), w.integers()); }, false, false, true},
    diagonal<EigenvalueSet::kWrapping>("diagonal-wrapping"),
    diagonal<EigenvalueSet::kUnitCircle>("diagonal-unit-circle"),
    diagonal<EigenvalueSet::kCyclic>("cascade-primes"),
    diagonal<EigenvalueSet::kBlocks>("orthogonal-blocks"),
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
  if (!row.wraps_in) {
    row.exact_in = exact_precisions(network);
    row.locked_in = locked_precisions(network);
  }
  row.margin = std::numeric_limits<double>::infinity();
  row.reflections = 0;
  for (const Layer& layer : network.layers) {
    row.margin = std::min(row.margin, least_codeword_distance(layer));
    const std::int64_t most = reflections_of_layer(layer);
    row.reflections = row.reflections < 0 || most < 0 || row.wraps_in ? -1 : std::max(row.reflections, most);
  }
}

bool is_row_exact(const PlanRow& row, const BuildOptions& wishes) {
  if (row.wraps_in) return row.wraps_in == wishes.integers;
  if (!wishes.precision) return row.exact_in.size() == 4;
  const auto holds = [&](const std::vector<Precision>& precisions) {
    return std::find(precisions.begin(), precisions.end(), *wishes.precision) != precisions.end();
  };
  return holds(row.exact_in) || holds(row.locked_in);
}

/// Why a possible row does not fit the wishes; empty when it does.
std::string misfit(const PlanRow& row, const BuildOptions& wishes) {
  if (row.wraps_in && wishes.integers != row.wraps_in)
    return fmt::format("it counts by wrapping around; take --precision {}", to_string(*row.wraps_in));
  if (wishes.exact && !is_row_exact(row, wishes))
    return fmt::format("it is not bit-exact in {}",
                       wishes.precision ? to_string(*wishes.precision) : "every precision");
  if (wishes.keys && !find_construction(row.construction)->keys) return "it is not written with keys";
  if (wishes.max_dimension && row.state_numbers > *wishes.max_dimension)
    return fmt::format("it takes {} state numbers, and --max-dimension is {}", row.state_numbers,
                       *wishes.max_dimension);
  if (wishes.max_reflections && row.reflections < 0) return "it has no Householder form, and --max-reflections is set";
  if (wishes.max_reflections && row.reflections > *wishes.max_reflections)
    return fmt::format("it takes {} per token, and --max-reflections is {}", counted(row.reflections, "reflection"),
                       *wishes.max_reflections);
  return {};
}

/// Not exact, layers, no Householder form, work per token, state numbers: the rule of planner.h, least first. The
/// table's order decides what is left.
using Preference = std::tuple<bool, std::uint32_t, bool, std::uint64_t, std::uint64_t>;
Preference preference(const PlanRow& row, const BuildOptions& wishes) {
  const std::uint64_t updates = static_cast<std::uint64_t>(std::max<std::int64_t>(row.reflections, 1));
  return {!is_row_exact(row, wishes), row.layers, row.reflections < 0, row.state_numbers * updates, row.state_numbers};
}

/// The network under the table's own names.
Network build_named(const Construction& construction, Workbench& workbench) {
  Network network = construction.build(workbench);
  network.provenance.construction = construction.name;
  return network;
}

PlanRow row_of(const Construction& construction, const Workbench& workbench) {
  PlanRow row;
  if (construction.wraps) row.wraps_in = workbench.integers();
  row.construction = construction.name;
  row.theorem = construction.theorem;
  return row;
}

/// The rows that are built and the best network so far.
class Table {
 public:
  Table(const Dfa& automaton, const BuildOptions& wishes, RowVisitor visit)
      : wishes_(wishes),
        wished_(wished_construction(wishes)),
        visit_(std::move(visit)),
        automaton_(automaton),
        workbench_(automaton, wishes, Effort::kPlan) {
    if (!automaton.has_start())
      throw InputError("a network begins in one state, and a transformation semigroup in any; choose an initial one");
  }

  const std::optional<std::string>& wished() const { return wished_; }
  bool has_chosen() const { return choice_.network.has_value(); }

  void add_all() {
    for (const Construction& construction : kConstructions) add(construction);
  }

  /// PlanRows that cannot win are left out; but when none wins, the reasons of all are wanted.
  void add_needed() {
    const LetterFacts facts(automaton_);
    std::vector<const Construction*> left_out;
    for (const Construction& construction : kConstructions) {
      if (may_win(construction, facts))
        add(construction);
      else
        left_out.push_back(&construction);
    }
    if (has_chosen()) return;
    for (const Construction* construction : left_out) add(*construction);
    std::ranges::sort(choice_.rows, {}, [](const PlanRow& row) { return find_construction(row.construction); });
  }

  /// The row that the user names, with the effort of a single one. Throws what building it throws.
  void add_wished() {
    const Construction& construction = *find_construction(*wished_);
    Workbench workbench(automaton_, wishes_, Effort::kBuild);
    PlanRow row = row_of(construction, workbench);
    Network network = [&] {
      try {
        return build_named(construction, workbench);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{} is impossible: {}", *wished_, error.what()));
      }
    }();
    measure(row, network);
    if (const std::string reason = misfit(row, wishes_); !reason.empty())
      throw InputError(fmt::format("{} does not fit: {}", *wished_, reason));
    std::erase_if(choice_.rows, [&](const PlanRow& planned) { return planned.construction == *wished_; });
    const auto place = std::ranges::find_if(
        choice_.rows, [&](const PlanRow& planned) { return find_construction(planned.construction) > &construction; });
    const auto inserted = choice_.rows.insert(place, std::move(row));
    chosen_ = static_cast<std::size_t>(inserted - choice_.rows.begin());
    choice_.network = std::move(network);
  }

  [[noreturn]] void throw_nothing_fits() const {
    std::string reasons;
    for (const PlanRow& row : choice_.rows)
      if (row.possible && !misfit(row, wishes_).empty())
        reasons += fmt::format("\n  {}: {}", row.construction, misfit(row, wishes_));
    for (const PlanRow& row : choice_.rows)
      if (row.met_limit)
        reasons += fmt::format("\n  not decided, {}: {}; --construction {} tries longer", row.construction, row.reason,
                               row.construction);
    throw InputError(fmt::format("no construction fits the wishes; those that are possible at all:{}", reasons));
  }

  Choice take() && {
    if (chosen_) choice_.rows[*chosen_].chosen = true;
    return std::move(choice_);
  }

 private:
  bool may_win(const Construction& construction, const LetterFacts& facts) const {
    if (construction.only_by_name || (wishes_.keys && !construction.keys) || (construction.wraps && !wishes_.integers))
      return false;
    const LeastCost cost = least_cost(construction.cost, facts);
    if (!cost.possible) return false;
    const bool inexact = !cost.integral && !wishes_.precision;
    const Preference at_best{inexact, cost.layers, !cost.householder, cost.state_numbers * cost.reflections,
                             cost.state_numbers};
    return !chosen_ || at_best < preference(choice_.rows[*chosen_], wishes_);
  }

  bool may_be_chosen(const Construction& construction, const PlanRow& row) const {
    if (wished_ ? *wished_ != construction.name : construction.only_by_name) return false;
    if (!misfit(row, wishes_).empty()) return false;
    return !chosen_ || preference(row, wishes_) < preference(choice_.rows[*chosen_], wishes_);
  }

  std::optional<Network> measured(const Construction& construction, PlanRow& row) {
    try {
      Network network = build_named(construction, workbench_);
      measure(row, network);
      return network;
    } catch (const InputError& error) {
      row.reason = error.what();
    } catch (const LimitError& error) {
      row.reason = error.what();
      row.met_limit = true;
    }
    return std::nullopt;
  }

  void add(const Construction& construction) {
    PlanRow& row = choice_.rows.emplace_back(row_of(construction, workbench_));
    std::optional<Network> network = measured(construction, row);
    if (!network) return;
    if (visit_) visit_(row, *network);
    if (!may_be_chosen(construction, row)) return;
    chosen_ = choice_.rows.size() - 1;
    choice_.network = std::move(network);
  }

  const BuildOptions& wishes_;
  std::optional<std::string> wished_;
  RowVisitor visit_;
  const Dfa& automaton_;
  Workbench workbench_;
  Choice choice_;
  std::optional<std::size_t> chosen_;
};

}  // namespace

std::vector<std::string> construction_names() {
  std::vector<std::string> names;
  for (const Construction& construction : kConstructions) names.emplace_back(construction.name);
  return names;
}

const PlanRow* Choice::chosen() const {
  const auto row = std::ranges::find_if(rows, &PlanRow::chosen);
  return row == rows.end() ? nullptr : &*row;
}

Choice choose(const Dfa& automaton, const BuildOptions& wishes, PlanRows rows) {
  const FloatEnvironment environment;
  Table table(automaton, wishes, {});
  if (rows == PlanRows::kAll)
    table.add_all();
  else if (!table.wished())
    table.add_needed();
  try {
    if (!table.has_chosen() && table.wished()) table.add_wished();
    if (!table.has_chosen()) table.throw_nothing_fits();
  } catch (const Error&) {
    Choice choice = std::move(table).take();
    choice.failure = std::current_exception();
    return choice;
  }
  return std::move(table).take();
}

std::vector<PlanRow> plan(const Dfa& automaton, const BuildOptions& wishes, const RowVisitor& visit) {
  const FloatEnvironment environment;
  Table table(automaton, wishes, visit);
  table.add_all();
  return std::move(table).take().rows;
}

Network build(const Dfa& automaton, const BuildOptions& wishes) {
  Choice choice = choose(automaton, wishes, PlanRows::kNeeded);
  if (choice.failure) std::rethrow_exception(choice.failure);
  return std::move(*choice.network);
}

}  // namespace krohn
