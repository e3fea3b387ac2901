#include "krohn/constructions/checkpoints/gated_checkpoint.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "krohn/constructions/checkpoints/checkpoint_writer.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/checkpoints/letter_steps.h"
#include "krohn/constructions/checkpoints/state_walk.h"
#include "krohn/groups/error.h"

namespace krohn {
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

/// What a model of one layer is made of, but for the weights of its heads.
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
    // The norm makes √V of the only value, the gate a multiple of it.
    const float unit =
        CheckpointWriter::kActive / writer_.open_gate() / std::sqrt(static_cast<float>(writer_.config().value_dim));
    for (std::size_t slot = 0; slot < plan_.slots.size(); ++slot)
      writer_.set_output(0, plan_.slots[slot].head, plan_.slots[slot].value, coordinate(slot), unit);
    for (const std::size_t slot : plan_.one_of)
      for (std::uint32_t i = 0; i < extra(); ++i)
        writer_.set_output(0, plan_.slots[slot].head, plan_.slots[slot].value, extra_coordinate(i), unit);
  }

  /// A unit for every coordinate that may be negative: it adds twice its size where it is.
  void forget_signs() {
    std::vector<std::uint32_t> always(begin() + 1), signed_ones;
    std::iota(always.begin(), always.end(), 0u);
    for (std::size_t slot = 0; slot < plan_.slots.size(); ++slot) signed_ones.push_back(coordinate(slot));
    for (std::uint32_t i = 0; i < extra(); ++i) signed_ones.push_back(extra_coordinate(i));
    for (const std::uint32_t coordinate : signed_ones) {
      const CheckpointWriter::Term negative{coordinate, -1}, twice{coordinate, 2};
      writer_.add_unit(0, {&negative, 1}, always, {&twice, 1});
    }
  }

  const Dfa& automaton_;
  const TrackedStates& tracked_;
  const Plan& plan_;
  std::uint32_t bases_, active_;
  CheckpointWriter writer_;
  std::vector<Letter> walk_;
};

/// One row, whose value is the one-hot code of the state: a reset overwrites it, the identity has no key.
Checkpoint flip_flop_checkpoint(const Dfa& automaton, const TrackedStates& tracked, Family family) {
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
  layer.writer().empty(0, layer.begin());
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

}  // namespace

Checkpoint gated_checkpoint(const Dfa& automaton, Family family) {
  const FamilyTraits& traits = traits_of(family);
  const TrackedStates tracked = tracked_states(automaton);
  if (is_flip_flop(tracked) && tracked.count() <= kMaxKeyDim) return flip_flop_checkpoint(automaton, tracked, family);
  if (traits.can_reflect)
    if (const auto steps = point_steps(automaton, tracked, traits.channel_gates))
      return point_checkpoint(automaton, tracked, *steps, family);
  return cascade_checkpoint(automaton, family);
}

}  // namespace krohn
