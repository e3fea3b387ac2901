// Cascades in the layers of flash-linear-attention: constructions/checkpoints/export_checkpoint.h.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/cascades/prime_cascade.h"
#include "krohn/automata/cascades/swap_cascade.h"
#include "krohn/constructions/actions/column_cascade.h"
#include "krohn/constructions/build/simple_layers.h"
#include "krohn/constructions/checkpoints/checkpoint_writer.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

using Family = CheckpointConfig::Family;
using Term = CheckpointWriter::Term;

/// A_5 is the largest simple group whose regular action still fits a head's key.
constexpr std::uint64_t kLargestSimple = 60;
/// Each is a unit of an MLP, with more than a hundred weights.
constexpr std::uint64_t kMostEntries = 1'000'000;
constexpr std::uint32_t kActive = 4;
constexpr std::uint32_t kHead = 0, kRow = 0;
/// Values: their square leaves nothing of the norm's 10⁻⁶ after division by the key's entries and √K.
constexpr float kWritten = 1 << 14;

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
  return smallest_swap_cascade(candidates, {.max_entries = kMostEntries});
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
          "{} takes reflections, and {} layers have none: their β is at most 1, with which not even parity can be held "
          "(Grazzi et al., Theorem 1); take the target olmo-hybrid or fla-gated-deltaproduct",
          layer_text(layer, k), traits_of(config.family).model_type));
    coordinates = std::max(coordinates, key_dim_for_points(config.family, layer.width, 1));
    config.householders = std::max(config.householders, householders_for_points(config.family, most, 1));
    config.heads = std::max(config.heads, layer.width + (changes_signs(config) ? 1 : 0));
  }

  /// Whether a swap takes a label to the negative of the other: where it is one reflection with a key that is not
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

  /// The norm makes √V of the only value, the gate a multiple of it.
  float unit() const {
    return CheckpointWriter::kActive / writer_.open_gate() / std::sqrt(static_cast<float>(writer_.config().value_dim));
  }

  /// What the head reads becomes the coordinate, in the place of a constant.
  void give_out(std::uint32_t own, std::uint32_t head, std::uint32_t value, std::uint32_t coordinate,
                std::uint32_t place) {
    writer_.set_output(own, head, value, coordinate, unit());
    writer_.set_output(own, head, value, place, -unit());
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
        writer_.set_output(own, label, 0, at_.after(label), unit());
      else
        give_out(own, label, 0, at_.after(label), at_.place_of_after());
    }
    if (!changes_signs(writer_.config())) return;
    write_start(writer_, own, at_.begin(), layer.width, layer.width, {&start, 1}, kWritten);
    writer_.set_query(own, at_.place_of_after(), layer.width, start);
    writer_.set_output(own, layer.width, 0, at_.place_of_after(), -unit());
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
    if (has_signs) forget_signs(own, width);
  }

  /// Adds twice its size to every label that is negative.
  void forget_signs(std::uint32_t own, Label width) {
    for (Label label = 0; label < width; ++label) {
      const Term negative{at_.after(label), -1}, twice{at_.after(label), 2};
      writer_.add_unit(own, {&negative, 1}, all_nodes(), {&twice, 1});
    }
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
