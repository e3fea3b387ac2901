#include "krohn/constructions/checkpoints/export_checkpoint.h"

#include <algorithm>
#include <bit>

#include "krohn/constructions/actions/based_action.h"
#include "krohn/constructions/actions/tracked_states.h"
#include "krohn/constructions/checkpoints/checkpoint_writer.h"
#include "krohn/constructions/checkpoints/letter_steps.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

using Family = CheckpointConfig::Family;

constexpr float kWritten = 64;
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
    writer.set_value(0, token, 0, label, kWritten);
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
    write_start(writer, 0, letters, head, n, layout.starting_points[head / n], kWritten);
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

}  // namespace krohn
