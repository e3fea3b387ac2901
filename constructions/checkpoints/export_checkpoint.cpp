#include "krohn/constructions/checkpoints/export_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <vector>

#include "krohn/automata/cascades/cascade.h"
#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/checkpoints/checkpoint_writer.h"
#include "krohn/groups/base/error.h"

namespace krohn {

std::vector<Letter> state_walk(const Dfa& automaton) {
  const Letter letters = automaton.letters();
  std::vector<Letter> walk(automaton.states(), 0);
  std::vector<bool> is_met(automaton.states(), false), has_letter(automaton.states(), false);
  const auto ways_on = [&](State state) {
    Letter ways = 0;
    for (Letter letter = 0; letter < letters; ++letter) ways += is_met[automaton.next(state, letter)] ? 0u : 1u;
    return ways;
  };
  // From `state` on until no new state follows; there any letter that leads elsewhere has to do.
  const auto go_from = [&](State state) {
    while (!has_letter[state]) {
      has_letter[state] = is_met[state] = true;
      std::optional<Letter> best, moving;
      for (Letter letter = 0; letter < letters; ++letter) {
        const State next = automaton.next(state, letter);
        if (next != state && !moving) moving = letter;
        if (is_met[next]) continue;
        if (!best || ways_on(next) < ways_on(automaton.next(state, *best))) best = letter;
      }
      walk[state] = best ? *best : moving.value_or(0);
      state = automaton.next(state, walk[state]);
    }
  };
  if (letters == 0) return walk;
  go_from(automaton.initial());
  for (State state = 0; state < automaton.states(); ++state) go_from(state);
  return walk;
}

namespace {

std::optional<PointSteps> group_steps(const Dfa& automaton, const TrackedStates& tracked) {
  const BasedAction action = best_based_action(automaton, tracked);
  PointSteps steps{action.degree(), action.columns, action.column_of, action.images, {}, 0, 0};
  for (const Permutation& letter : action.letters) {
    const auto cycles = letter.cycles();
    if (cycles.size() > 1 || (cycles.size() == 1 && cycles[0].size() != 2)) return std::nullopt;
    steps.steps.push_back(cycles.empty() ? PointStep{} : PointStep{PointStep::Kind::kSwap, cycles[0][0], cycles[0][1]});
  }
  // The component of base point 0: its points are numbered one after the other.
  Point first = 0;
  for (const Point degree : action.degrees) {
    if (!action.images.empty() && action.images[0][0] < first + degree) {
      steps.first_component = degree;
      break;
    }
    first += degree;
  }
  steps.first_point = first;
  return steps;
}

}  // namespace

bool is_flip_flop(const TrackedStates& tracked) {
  return std::ranges::all_of(
      tracked.maps, [](const Transformation& map) { return map.is_identity() || map.constant_image().has_value(); });
}

std::optional<PointStep> step_of(const Transformation& map) {
  using Kind = PointStep::Kind;
  std::vector<Point> moved;
  for (Point point = 0; point < map.degree(); ++point)
    if (map[point] != point) moved.push_back(point);
  if (moved.empty()) return PointStep{};
  if (const auto constant = map.constant_image()) return PointStep{Kind::kReset, 0, *constant};
  if (moved.size() == 1) return PointStep{Kind::kMerge, moved[0], map[moved[0]]};
  if (moved.size() == 2 && map[moved[0]] == moved[1] && map[moved[1]] == moved[0])
    return PointStep{Kind::kSwap, moved[0], moved[1]};
  return std::nullopt;
}

std::optional<PointSteps> point_steps(const Dfa& automaton, const TrackedStates& tracked, bool can_merge) {
  if (is_group(tracked))
    if (auto steps = group_steps(automaton, tracked)) return steps;
  PointSteps steps{tracked.count(), 1, {0}, {}, {}, 0, tracked.count()};
  for (Label label = 0; label < tracked.count(); ++label) steps.images.push_back({label});
  for (const Transformation& map : tracked.maps) {
    const auto step = step_of(map);
    if (!step || (step->kind == PointStep::Kind::kMerge && !can_merge)) return std::nullopt;
    steps.steps.push_back(*step);
  }
  return steps;
}

namespace {

using Family = CheckpointConfig::Family;

constexpr float kWrittenByDelta = 64;
constexpr float kRead = 1;

/// For every output token, the (head, value coordinate) pairs whose sum is its logit.
using Reads = std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

/// One layer that sees nothing but the token, which is the only active coordinate. What head h reads goes to coordinate
/// tokens + h·V of the hidden vector, beside the token.
CheckpointWriter one_layer_writer(CheckpointConfig config, std::uint32_t inputs, const Reads& reads) {
  config.layers = 1;
  config.begin_token = inputs - 1;
  config.vocabulary = inputs + static_cast<std::uint32_t>(reads.size());
  config.hidden_size = least_power_of_4(inputs + config.heads * config.value_dim);
  config.intermediate_size = config.hidden_size;
  CheckpointWriter writer(config, 1);
  for (std::uint32_t token = 0; token < inputs; ++token) writer.set_embedding(token, token);
  for (std::uint32_t head = 0; head < config.heads; ++head)
    for (std::uint32_t v = 0; v < config.value_dim; ++v)
      writer.set_output(0, head, v, inputs + head * config.value_dim + v, kRead);
  for (std::uint32_t label = 0; label < reads.size(); ++label)
    for (const auto& [head, v] : reads[label]) writer.set_logit(inputs + label, inputs + head * config.value_dim + v);
  return writer;
}

/// After every token the head reads this row of its state.
void always_read(CheckpointWriter& writer, std::uint32_t inputs, std::uint32_t head, std::uint32_t row) {
  for (std::uint32_t token = 0; token < inputs; ++token) writer.set_query(0, token, head, row);
}

/// One row, whose value is the one-hot code of the state: a reset overwrites it, the identity has no key.
Checkpoint flip_flop_checkpoint(const Dfa& automaton, const TrackedStates& tracked, Family family) {
  CheckpointConfig config = config_of(family);
  const Letter letters = automaton.letters();
  // A power of two of key coordinates, and as many values, so that the library's ratios expand_k and expand_v are
  // exact.
  config.value_dim = std::bit_ceil(tracked.count());
  config.key_dim = family == Family::kDeltaNet ? 1 : config.value_dim;
  Reads reads;
  for (Label label = 0; label < tracked.count(); ++label) reads.push_back({{0, label}});
  CheckpointWriter writer = one_layer_writer(config, letters + 1, reads);
  const auto overwrite = [&](std::uint32_t token, Label label) {
    writer.set_key(0, token, 0, 0, 0);
    writer.set_value(0, token, 0, label, kWrittenByDelta);
  };
  for (Letter letter = 0; letter < letters; ++letter) {
    const Transformation& map = tracked.maps[tracked.action_of[letter]];
    if (!map.is_identity() || tracked.count() == 1) overwrite(letter, map[0]);
  }
  overwrite(letters, 0);
  always_read(writer, letters + 1, 0, 0);
  return with_automaton(writer.finish(), automaton, tracked);
}

/// How the group's action is laid out over heads: head (column, point) reads whether the column has a base point there.
struct Layout {
  BasedAction action;
  std::vector<std::vector<Transposition>> swaps;    ///< per action of the letters
  std::vector<std::vector<Point>> starting_points;  ///< per column
  std::size_t most_swaps = 0, most_starting_points = 0;
  std::uint32_t heads() const { return action.columns * action.degree(); }
  std::uint32_t head(std::uint32_t column, Point point) const { return column * action.degree() + point; }
};

Layout layout_of(const Dfa& automaton, const TrackedStates& tracked) {
  Layout layout{best_based_action(automaton, tracked), {}, {}, 0, 0};
  for (const Permutation& letter : layout.action.letters) {
    layout.swaps.push_back(transpositions_of(letter));
    layout.most_swaps = std::max(layout.most_swaps, layout.swaps.back().size());
  }
  layout.starting_points.resize(layout.action.columns);
  for (std::size_t base = 0; base < layout.action.column_of.size(); ++base)
    layout.starting_points[layout.action.column_of[base]].push_back(layout.action.images[0][base]);
  for (const auto& points : layout.starting_points)
    layout.most_starting_points = std::max(layout.most_starting_points, points.size());
  return layout;
}

Reads reads_of(const Layout& layout, Label labels) {
  Reads reads(labels);
  for (Label label = 0; label < labels; ++label)
    for (std::size_t base = 0; base < layout.action.column_of.size(); ++base)
      reads[label].push_back({layout.head(layout.action.column_of[base], layout.action.images[label][base]), 0});
  return reads;
}

Checkpoint group_checkpoint(const Dfa& automaton, const TrackedStates& tracked, const Layout& layout, Family family) {
  const Point n = layout.action.degree();
  const auto starts = static_cast<std::uint32_t>(layout.most_starting_points);
  const Letter letters = automaton.letters();
  CheckpointConfig config = config_of(family);
  config.heads = layout.heads();
  config.key_dim = key_dim_for_points(family, n, starts);
  // expand_v is a ratio to the key's coordinates there.
  if (family == Family::kGatedDeltaProduct) config.key_dim = std::bit_ceil(config.key_dim);
  require_key_dim(config.key_dim, n);
  config.householders = householders_for_points(family, layout.most_swaps, starts);
  CheckpointWriter writer = one_layer_writer(config, letters + 1, reads_of(layout, tracked.count()));
  for (std::uint32_t head = 0; head < config.heads; ++head) {
    always_read(writer, letters + 1, head, head % n);
    for (Letter letter = 0; letter < letters; ++letter)
      write_swaps(writer, 0, letter, head, n, layout.swaps[tracked.action_of[letter]]);
    write_start(writer, 0, letters, head, n, layout.starting_points[head / n], kWrittenByDelta);
  }
  return with_automaton(writer.finish(), automaton, tracked);
}

}  // namespace

Checkpoint delta_net_checkpoint(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  if (is_flip_flop(tracked)) return flip_flop_checkpoint(automaton, tracked, Family::kDeltaNet);
  if (!is_group(tracked)) return cascade_checkpoint(automaton, Family::kDeltaNet);
  const Layout layout = layout_of(automaton, tracked);
  if (layout.most_swaps > 1) return cascade_checkpoint(automaton, Family::kDeltaNet);
  return group_checkpoint(automaton, tracked, layout, Family::kDeltaNet);
}

Checkpoint gated_delta_product_checkpoint(const Dfa& automaton) {
  const TrackedStates tracked = tracked_states(automaton);
  if (is_flip_flop(tracked)) return flip_flop_checkpoint(automaton, tracked, Family::kGatedDeltaProduct);
  if (!is_group(tracked)) return cascade_checkpoint(automaton, Family::kGatedDeltaProduct);
  return group_checkpoint(automaton, tracked, layout_of(automaton, tracked), Family::kGatedDeltaProduct);
}

namespace {

using Family = CheckpointFamily;
using Kind = PointStep::Kind;

/// Values: their square leaves nothing of the norm's ε after division by the key's entries and √K.
constexpr float kWritten = 1 << 14;
constexpr std::uint32_t kMaxKeyDim = 256;

/// A number that a head reads, which becomes a coordinate of the hidden vector.
struct Slot {
  std::uint32_t head = 0, value = 0;
};

/// A model of one layer without the weights of its heads.
struct Plan {
  std::vector<Slot> slots;
  std::vector<std::vector<std::size_t>> reads;  ///< label ↦ the slots that are not zero in that state
  std::vector<std::size_t> one_of;              ///< slots of which exactly one is not zero in every state
  bool has_signs = false;                       ///< readings may be negative
};

/// One layer that sees the token, which is the only active coordinate before the mixer. Behind the tokens stand a
/// coordinate for every slot and as many more as make the active ones a power of 4: they repeat `one_of`.
class OneLayer {
 public:
  OneLayer(const Dfa& automaton, const TrackedStates& tracked, CheckpointConfig config, const Plan& plan)
      : automaton_(automaton),
        tracked_(tracked),
        plan_(plan),
        bases_(static_cast<std::uint32_t>(plan.reads.front().size())),
        active_(least_power_of_4(1 + bases_)),
        writer_(sized(config), 1, active_) {
    embed();
    read_slots();
    if (plan.has_signs) forget_signs();
    for (Label label = 0; label < tracked.count(); ++label)
      for (const std::size_t slot : plan.reads[label]) writer_.set_logit(state_token(label), coordinate(slot));
  }

  CheckpointWriter& writer() { return writer_; }
  std::uint32_t begin() const { return automaton_.letters(); }

  /// With every token the head reads this row of its state.
  void always_read(std::uint32_t head, std::uint32_t row) {
    for (std::uint32_t input = 0; input <= begin(); ++input) writer_.set_query(0, input, head, row);
  }

  /// With this input the row of the head's state becomes the value, whatever it was.
  void overwrite(std::uint32_t input, std::uint32_t row, std::uint32_t value) {
    writer_.set_key(0, input, 0, 0, row);
    writer_.set_value(0, input, 0, value, kWritten);
    if (!writer_.config().negative_eigenvalues) writer_.reflect(0, input, 0, 0);
  }

  Checkpoint finish() {
    Checkpoint checkpoint = with_automaton(writer_.finish(), automaton_, tracked_);
    checkpoint.tokens.as_input = walk_;
    return checkpoint;
  }

 private:
  CheckpointConfig sized(CheckpointConfig config) const {
    const std::uint32_t units = plan_.has_signs ? extra() + static_cast<std::uint32_t>(plan_.slots.size()) : 1;
    config.layers = 1;
    config.begin_token = automaton_.letters();
    config.vocabulary = automaton_.letters() + 1 + tracked_.count();
    config.hidden_size =
        least_power_of_4(automaton_.letters() + 1 + static_cast<std::uint32_t>(plan_.slots.size()) + extra());
    config.intermediate_size = (units + 15) / 16 * 16;
    config.convolution_taps = traits_of(config.family).is_hybrid ? 4 : 0;
    return config;
  }
  std::uint32_t extra() const { return active_ - 1 - bases_; }
  std::uint32_t coordinate(std::size_t slot) const {
    return automaton_.letters() + 1 + static_cast<std::uint32_t>(slot);
  }
  std::uint32_t extra_coordinate(std::uint32_t i) const { return coordinate(plan_.slots.size()) + i; }
  std::uint32_t state_token(Label label) const { return automaton_.letters() + 1 + label; }

  void embed() {
    for (std::uint32_t token = 0; token <= begin(); ++token) writer_.set_embedding(token, token);
    walk_ = state_walk(automaton_);
    for (Label label = 0; label < tracked_.count() && automaton_.letters() > 0; ++label)
      writer_.set_embedding(state_token(label), walk_[tracked_.states[label]]);
  }

  void read_slots() {
    std::vector<std::uint32_t> tokens(begin() + 1);
    std::iota(tokens.begin(), tokens.end(), 0u);
    writer_.open_gates(0, tokens);
    const float unit = writer_.unit_output();
    for (std::size_t slot = 0; slot < plan_.slots.size(); ++slot)
      writer_.set_output(0, plan_.slots[slot].head, plan_.slots[slot].value, coordinate(slot), unit);
    for (const std::size_t slot : plan_.one_of)
      for (std::uint32_t i = 0; i < extra(); ++i)
        writer_.set_output(0, plan_.slots[slot].head, plan_.slots[slot].value, extra_coordinate(i), unit);
  }

  /// Adds a unit for every coordinate that may be negative.
  void forget_signs() {
    std::vector<std::uint32_t> always(begin() + 1);
    std::iota(always.begin(), always.end(), 0u);
    // The extra coordinates follow those of the slots.
    for (std::size_t slot = 0; slot < plan_.slots.size() + extra(); ++slot)
      writer_.forget_sign(0, coordinate(slot), always);
  }

  const Dfa& automaton_;
  const TrackedStates& tracked_;
  const Plan& plan_;
  std::uint32_t bases_, active_;
  CheckpointWriter writer_;
  std::vector<Letter> walk_;
};

/// One row, whose value is the one-hot code of the state: a reset overwrites it, the identity has no key.
Checkpoint gated_flip_flop_checkpoint(const Dfa& automaton, const TrackedStates& tracked, Family family) {
  CheckpointConfig config = config_of(family);
  // Powers of 4, so that queries times 1/√K and the norm of one value among V are exact.
  config.key_dim = config.value_dim = least_power_of_4(tracked.count());
  require_key_dim(config.key_dim, tracked.count());
  Plan plan;
  for (Label label = 0; label < tracked.count(); ++label) {
    plan.slots.push_back({0, label});
    plan.reads.push_back({label});
    plan.one_of.push_back(label);
  }
  OneLayer layer(automaton, tracked, config, plan);
  for (Letter letter = 0; letter < automaton.letters(); ++letter) {
    const Transformation& map = tracked.maps[tracked.action_of[letter]];
    if (!map.is_identity()) layer.overwrite(letter, 0, map[0]);
  }
  layer.overwrite(layer.begin(), 0, 0);
  if (config.gate_lower_bound == 0) layer.writer().empty(0, layer.begin());
  layer.always_read(0, 0);
  return layer.finish();
}

/// The starting points of each column.
std::vector<std::vector<Point>> starts_of(const PointSteps& steps) {
  std::vector<std::vector<Point>> starts(steps.columns);
  for (std::size_t base = 0; base < steps.column_of.size(); ++base)
    starts[steps.column_of[base]].push_back(steps.images[0][base]);
  return starts;
}

/// Head (column, point) reads whether the column has a base point there.
Checkpoint point_checkpoint(const Dfa& automaton, const TrackedStates& tracked, const PointSteps& steps,
                            Family family) {
  const Point n = steps.points;
  const auto starts = starts_of(steps);
  std::size_t most_starts = 1;
  for (const auto& points : starts) most_starts = std::max(most_starts, points.size());
  CheckpointConfig config = config_of(family);
  config.heads = steps.columns * n;
  const std::uint32_t needed = key_dim_for_points(family, n, static_cast<std::uint32_t>(most_starts));
  require_key_dim(needed, n);
  config.key_dim = least_power_of_4(needed);
  config.value_dim = 1;
  Plan plan;
  plan.has_signs = true;
  for (std::uint32_t head = 0; head < config.heads; ++head) plan.slots.push_back({head, 0});
  for (Label label = 0; label < tracked.count(); ++label) {
    plan.reads.emplace_back();
    for (std::size_t base = 0; base < steps.column_of.size(); ++base)
      plan.reads.back().push_back(std::size_t{steps.column_of[base]} * n + steps.images[label][base]);
  }
  for (Point point = 0; point < steps.first_component; ++point)
    plan.one_of.push_back(std::size_t{steps.column_of[0]} * n + steps.first_point + point);
  OneLayer layer(automaton, tracked, config, plan);
  CheckpointWriter& writer = layer.writer();
  for (std::uint32_t head = 0; head < config.heads; ++head) {
    layer.always_read(head, head % n);
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      const PointStep& step = steps.steps[tracked.action_of[letter]];
      const Transposition pair{step.first, step.second};
      if (step.kind == Kind::kSwap || step.kind == Kind::kMerge) write_swaps(writer, 0, letter, head, n, {&pair, 1});
      if (step.kind == Kind::kMerge) write_erasure(writer, 0, letter, head, n, step.second, false);
      if (step.kind == Kind::kReset) write_start(writer, 0, letter, head, n, {&step.second, 1}, kWritten);
    }
    write_start(writer, 0, layer.begin(), head, n, starts[head / n], kWritten);
  }
  writer.empty(0, layer.begin());
  for (Letter letter = 0; letter < automaton.letters(); ++letter)
    if (steps.steps[tracked.action_of[letter]].kind == Kind::kReset) writer.empty(0, letter);
  return layer.finish();
}

/// Throws InputError naming a word that permutes states, if a short one does, where there is no reflection to follow
/// it.
void require_no_cycle(const Dfa& automaton, Family family) {
  const std::string cycle = early_cycle(with_table(automaton, breadth_first(automaton)));
  if (cycle.empty()) return;
  throw InputError(fmt::format(
      "{}, and no stack of {} layers follows that: they take S to diag(α)(I − β k kᵀ) S + β k vᵀ with α and β at most "
      "1, so that over the reals a word that is read again and again changes ever less (docs/MATH.md §4, Steps without "
      "reflections; for parity Grazzi et al., Theorem 1). Take a target whose β reaches 2: olmo-hybrid, fla-kda or "
      "fla-gated-deltaproduct",
      cycle, traits_of(family).model_type));
}

}  // namespace

Checkpoint gated_checkpoint(const Dfa& automaton, Family family) {
  const FamilyTraits& traits = traits_of(family);
  const TrackedStates tracked = tracked_states(automaton);
  if (is_flip_flop(tracked) && tracked.count() <= kMaxKeyDim)
    return gated_flip_flop_checkpoint(automaton, tracked, family);
  if (!traits.can_reflect) require_no_cycle(automaton, family);
  if (traits.can_reflect)
    if (const auto steps = point_steps(automaton, tracked, traits.channel_gates))
      return point_checkpoint(automaton, tracked, *steps, family);
  return cascade_checkpoint(automaton, family);
}

// Cascades in the layers of flash-linear-attention: constructions/checkpoints/export_checkpoint.h.

namespace {

using Term = CheckpointWriter::Term;

/// A_5 is the largest simple group whose regular action still fits a head's key.
constexpr std::uint64_t kLargestSimple = 60;
/// Each is a unit of an MLP, with more than a hundred weights.
constexpr std::uint64_t kMaxEntries = 1'000'000;
constexpr std::uint32_t kActive = 4;
constexpr std::uint32_t kHead = 0, kRow = 0;

/// Which coordinate of the hidden vector says what. All layers of the cascade share them: four are active at a time.
class Coordinates {
 public:
  explicit Coordinates(const Cascade& cascade) {
    for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
      const CascadeLayer& layer = cascade.layers[k];
      contexts_ = std::max(contexts_, static_cast<std::uint32_t>(layer.wiring.action_of.size()));
      width_ = std::max(width_, layer.width);
      for (const Context node : cascade.readout.next[k])
        if (node != kNoContext) nodes_ = std::max(nodes_, node + 1);
    }
  }
  std::uint32_t width() const { return width_; }
  std::uint32_t contexts() const { return contexts_; }
  std::uint32_t nodes() const { return nodes_; }  ///< exactly one of them is active at a time

  std::uint32_t context(Context context) const { return context; }
  std::uint32_t begin() const { return contexts_; }  ///< the context of the token that begins words
  std::uint32_t node(Context node) const { return contexts_ + 1 + node; }
  std::uint32_t after(Label label) const { return contexts_ + 1 + nodes_ + label; }
  std::uint32_t before(Label label) const { return after(width_) + label; }
  std::uint32_t nothing_before() const { return before(width_); }
  std::uint32_t place_of_after() const { return nothing_before() + 1; }  ///< active while no label stands there
  std::uint32_t place_of_before() const { return nothing_before() + 2; }
  std::uint32_t count() const { return nothing_before() + 3; }

 private:
  std::uint32_t contexts_ = 0, nodes_ = 1, width_ = 1;
};

/// The labels that the action swaps, one after another.
std::vector<std::vector<Transposition>> swaps_of_actions(const CascadeLayer& layer) {
  std::vector<std::vector<Transposition>> swaps;
  for (const Transformation& action : layer.actions) swaps.push_back(transpositions_of(action.to_permutation()));
  return swaps;
}

std::size_t most_swaps(const CascadeLayer& layer) {
  std::size_t most = 0;
  if (is_reset_layer(layer)) return most;
  for (const auto& swaps : swaps_of_actions(layer)) most = std::max(most, swaps.size());
  return most;
}

/// Gated DeltaProduct applies many swaps a token, the others that reflect at all, one.
Cascade cascade_for(const Dfa& automaton, const TrackedStates& tracked, Family family) {
  const Cascade holonomy = holonomy_decomposition(automaton);
  const auto primes = [&] { return prime_cascade(holonomy, {.largest_simple = kLargestSimple}); };
  if (family == Family::kGatedDeltaProduct || !traits_of(family).can_reflect) return primes();
  std::vector<Cascade> cascades;
  try {
    cascades.push_back(primes());
  } catch (const Error&) {
    // A simple factor is too large.
  }
  cascades.push_back(is_group(tracked) ? column_cascade(automaton, tracked, best_based_action(automaton, tracked))
                                       : holonomy);
  std::vector<const Cascade*> candidates;
  for (const Cascade& cascade : cascades) candidates.push_back(&cascade);
  return smallest_swap_cascade(candidates, {.max_entries = kMaxEntries});
}

class CascadeExport {
 public:
  CascadeExport(const Dfa& automaton, Family family)
      : automaton_(automaton),
        tracked_(tracked_states(automaton)),
        cascade_(cascade_for(automaton, tracked_, family)),
        at_(cascade_),
        writer_(config(family), kActive) {}

  Checkpoint run() {
    embed();
    for (std::uint32_t own = 0; own < writer_.config().layers; ++own) writer_.open_gates(own, all_nodes());
    for (std::size_t k = 0; k < cascade_.layers.size(); ++k) {
      const CascadeLayer& layer = cascade_.layers[k];
      const auto own = static_cast<std::uint32_t>(2 * k);
      if (is_reset_layer(layer))
        write_resets(own, k);
      else
        write_group(own, k);
      look_node_up(own, k);
      if (k + 1 == cascade_.layers.size()) break;
      remember(own + 1);
      look_context_up(own + 1, k);
    }
    for (Label label = 0; label < tracked_.count(); ++label)
      writer_.set_logit(automaton_.letters() + 1 + label, at_.node(tracked_.states[label]));
    return with_automaton(writer_.finish(), automaton_, tracked_);
  }

 private:
  CheckpointConfig config(Family family) const {
    CheckpointConfig config = config_of(family);
    config.layers = static_cast<std::uint32_t>(2 * cascade_.layers.size() - 1);
    config.begin_token = automaton_.letters();
    config.vocabulary = automaton_.letters() + 1 + tracked_.count();
    config.convolution_taps = 2;
    config.hidden_size = least_power_of_4(at_.count());
    config.intermediate_size = most_units(config);
    std::uint32_t coordinates = 1;
    for (std::size_t k = 0; k < cascade_.layers.size(); ++k)
      if (!is_reset_layer(cascade_.layers[k])) make_room(config, k, coordinates);
    // Powers of 4, so that queries times 1/√K and the norm of one value among V are exact.
    config.key_dim = least_power_of_4(coordinates);
    config.value_dim = least_power_of_4(at_.width() + 1);
    if (traits_of(family).is_kimi) config.key_dim = config.value_dim = std::max(config.key_dim, config.value_dim);
    require_key_dim(config.key_dim, at_.width());
    return config;
  }

  /// Letters of layer k, said as people count.
  static std::string layer_text(const CascadeLayer& layer, std::size_t k) {
    return fmt::format("layer {} of the automaton's cascade, a group {} on {} labels,", k + 1, layer.component,
                       layer.width);
  }

  void make_room(CheckpointConfig& config, std::size_t k, std::uint32_t& coordinates) const {
    const CascadeLayer& layer = cascade_.layers[k];
    const std::size_t most = most_swaps(layer);
    if (!traits_of(config.family).can_reflect)
      throw InputError(fmt::format(
          "{} takes reflections, and {} layers have none: their β is at most 1; take the target olmo-hybrid or "
          "fla-gated-deltaproduct",
          layer_text(layer, k), traits_of(config.family).model_type));
    coordinates = std::max(coordinates, key_dim_for_points(config.family, layer.width, 1));
    config.householders = std::max(config.householders, householders_for_points(config.family, most, 1));
    config.heads = std::max(config.heads, layer.width + (changes_signs(config) ? 1 : 0));
  }

  /// True if a swap takes a label to the negative of the other: where it is one reflection with a key that is not
  /// negative.
  static bool changes_signs(const CheckpointConfig& config) {
    return config.silu_keys && config.family != Family::kGatedDeltaProduct;
  }

  /// The units of the largest look-up, rounded up to whole blocks of 16.
  std::uint32_t most_units(const CheckpointConfig& config) const {
    std::size_t most = 1;
    for (std::size_t k = 0; k < cascade_.layers.size(); ++k) {
      const CascadeLayer& layer = cascade_.layers[k];
      const bool has_signs = changes_signs(config) && !is_reset_layer(layer);
      const std::size_t nodes = cascade_.readout.next[k].size();
      most = std::max({most, has_signs ? 2 * nodes + layer.width : nodes, layer.wiring.next.size() + 1});
    }
    return static_cast<std::uint32_t>((most + 15) / 16 * 16);
  }

  void embed() {
    for (std::uint32_t token = 0; token <= automaton_.letters(); ++token) {
      writer_.set_embedding(token, token < automaton_.letters() ? at_.context(token) : at_.begin());
      for (const std::uint32_t constant : {at_.node(0), at_.place_of_after(), at_.place_of_before()})
        writer_.set_embedding(token, constant);
    }
  }

  /// Contexts of layer k: letters, or what the layer below hands on.
  std::uint32_t contexts(std::size_t k) const {
    return static_cast<std::uint32_t>(cascade_.layers[k].wiring.action_of.size());
  }
  const Transformation& action(std::size_t k, Context context) const {
    return cascade_.layers[k].actions[cascade_.layers[k].wiring.action_of[context]];
  }

  /// Makes the head's reading the coordinate, in place of a constant.
  void give_out(std::uint32_t own, std::uint32_t head, std::uint32_t value, std::uint32_t coordinate,
                std::uint32_t place) {
    writer_.set_output(own, head, value, coordinate, writer_.unit_output());
    writer_.set_output(own, head, value, place, -writer_.unit_output());
  }

  /// β is 1 with this input, also where it is not doubled.
  void write_all(std::uint32_t own, std::uint32_t input) {
    if (!writer_.config().negative_eigenvalues) writer_.reflect(own, input, 0, kHead);
  }

  /// One row, whose value is the one-hot code of the label: a constant overwrites it, the identity has no key.
  void write_resets(std::uint32_t own, std::size_t k) {
    const CascadeLayer& layer = cascade_.layers[k];
    const auto overwrite = [&](std::uint32_t input, Label label) {
      writer_.set_key(own, input, 0, kHead, kRow);
      writer_.set_value(own, input, kHead, label, kWritten);
      write_all(own, input);
    };
    for (Context context = 0; context < contexts(k); ++context)
      if (const auto constant = action(k, context).constant_image()) overwrite(at_.context(context), *constant);
    overwrite(at_.begin(), cascade_.initial[k]);
    writer_.set_query(own, at_.place_of_after(), kHead, kRow);
    for (Label label = 0; label < layer.width; ++label)
      give_out(own, kHead, label, at_.after(label), at_.place_of_after());
  }

  /// One column, permuted by reflections; a head for each label reads whether it is there. Where that may be negative,
  /// a further head reads what no letter changes, to take the constant away.
  void write_group(std::uint32_t own, std::size_t k) {
    const CascadeLayer& layer = cascade_.layers[k];
    const auto swaps = swaps_of_actions(layer);
    const Point start = cascade_.initial[k];
    for (Label label = 0; label < layer.width; ++label) {
      for (Context context = 0; context < contexts(k); ++context)
        write_swaps(writer_, own, at_.context(context), label, layer.width, swaps[layer.wiring.action_of[context]]);
      write_start(writer_, own, at_.begin(), label, layer.width, {&start, 1}, kWritten);
      writer_.set_query(own, at_.place_of_after(), label, label);
      if (changes_signs(writer_.config()))
        writer_.set_output(own, label, 0, at_.after(label), writer_.unit_output());
      else
        give_out(own, label, 0, at_.after(label), at_.place_of_after());
    }
    if (!changes_signs(writer_.config())) return;
    write_start(writer_, own, at_.begin(), layer.width, layer.width, {&start, 1}, kWritten);
    writer_.set_query(own, at_.place_of_after(), layer.width, start);
    writer_.set_output(own, layer.width, 0, at_.place_of_after(), -writer_.unit_output());
  }

  /// The node of the readout, by the node so far and the label after the token.
  void look_node_up(std::uint32_t own, std::size_t k) {
    const CascadeLayer& layer = cascade_.layers[k];
    const Label width = layer.width;
    const bool has_signs = changes_signs(writer_.config()) && !is_reset_layer(layer);
    const std::vector<Context>& next = cascade_.readout.next[k];
    const std::vector<std::uint32_t> always = has_signs ? all_nodes() : labels(width, &Coordinates::after);
    for (std::size_t entry = 0; entry < next.size(); ++entry) {
      if (next[entry] == kNoContext) continue;
      const auto node = static_cast<Context>(entry / width);
      const auto label = static_cast<Label>(entry % width);
      const std::vector<Term> change{{at_.node(node), -1}, {at_.node(next[entry]), 1}};
      if (!has_signs) {
        writer_.add_unit(own, both(at_.node(node), label, width, &Coordinates::after), always, change);
        continue;
      }
      for (const float sign : {1.f, -1.f}) writer_.add_unit(own, both(at_.node(node), label, sign), always, change);
    }
    for (Label label = 0; label < width && has_signs; ++label) writer_.forget_sign(own, at_.after(label), always);
  }

  /// The label one token ago.
  void remember(std::uint32_t own) {
    const std::uint32_t constant = at_.place_of_before();
    writer_.set_key(own, constant, 0, kHead, kRow);
    write_all(own, constant);
    writer_.set_query(own, constant, kHead, kRow);
    for (Label label = 0; label < at_.width(); ++label) {
      writer_.set_value(own, at_.after(label), kHead, label, kWritten);
      writer_.delay_value(own, kHead, label);
      give_out(own, kHead, label, at_.before(label), constant);
    }
    writer_.set_value(own, at_.begin(), kHead, at_.width(), kWritten);
    give_out(own, kHead, at_.width(), at_.nothing_before(), constant);
  }

  /// The context of the next layer, by this one's and the label before the token; labels make room.
  void look_context_up(std::uint32_t own, std::size_t k) {
    const CascadeLayer& layer = cascade_.layers[k];
    std::vector<std::uint32_t> always = labels(at_.width(), &Coordinates::after);
    const auto change = [&](std::uint32_t before, Label after) {
      return std::vector<Term>{
          {before, -1}, {at_.after(after), -1}, {at_.place_of_before(), 1}, {at_.place_of_after(), 1}};
    };
    for (Context context = 0; context < contexts(k); ++context)
      for (Label label = 0; label < layer.width; ++label) {
        const Context next = layer.wiring.next[std::size_t{context} * layer.width + label];
        if (next == kNoContext) continue;
        std::vector<Term> changes = change(at_.before(label), action(k, context)[label]);
        changes.push_back({at_.context(context), -1});
        changes.push_back({at_.context(next), 1});
        writer_.add_unit(own, both(at_.context(context), label, layer.width, &Coordinates::before), always, changes);
      }
    const std::vector<Term> begins{{at_.begin(), 1}};
    writer_.add_unit(own, begins, always, change(at_.nothing_before(), cascade_.initial[k]));
  }

  /// 1 where both are active, 0 where one is, −1 where neither is.
  std::vector<Term> both(std::uint32_t coordinate, Label label, Label width,
                         std::uint32_t (Coordinates::*of)(Label) const) const {
    std::vector<Term> terms{{coordinate, 1}};
    for (Label other = 0; other < width; ++other)
      if (other != label) terms.push_back({(at_.*of)(other), -1});
    return terms;
  }
  /// The same for a node and a label with this sign, where a label may have either: node + sign · label − 1, which is
  /// not positive elsewhere.
  std::vector<Term> both(std::uint32_t node, Label label, float sign) const {
    std::vector<Term> terms;
    for (const std::uint32_t other : all_nodes())
      if (other != node) terms.push_back({other, -1});
    terms.push_back({at_.after(label), sign});
    return terms;
  }
  /// One of them is active.
  std::vector<std::uint32_t> all_nodes() const {
    std::vector<std::uint32_t> nodes;
    for (Context node = 0; node < at_.nodes(); ++node) nodes.push_back(at_.node(node));
    return nodes;
  }
  std::vector<std::uint32_t> labels(Label width, std::uint32_t (Coordinates::*of)(Label) const) const {
    std::vector<std::uint32_t> coordinates;
    for (Label label = 0; label < width; ++label) coordinates.push_back((at_.*of)(label));
    return coordinates;
  }

  const Dfa& automaton_;
  TrackedStates tracked_;
  Cascade cascade_;
  Coordinates at_;
  CheckpointWriter writer_;
};

}  // namespace

Checkpoint cascade_checkpoint(const Dfa& automaton, Family family) { return CascadeExport(automaton, family).run(); }

}  // namespace krohn
