#include "constructions/export_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "constructions/based_action.h"
#include "constructions/tensor_values.h"
#include "constructions/tracked_states.h"
#include "groups/error.h"

namespace krohn {
namespace {

/// Keys before normalisation: a power of two, so large that ε = 10⁻⁶ vanishes beside its square and SiLU beside itself.
constexpr float kRaw = 64;
/// sigmoid(32) is 1 in fp32 and bf16, sigmoid(0) is ½: with negative eigenvalues β = 2 and β = 1.
constexpr float kReflect = 32, kWrite = 0;
/// Embeddings: a power of two whose square leaves nothing of ε.
constexpr float kEmbedding = 1024;
/// What the library's chunk kernels take for one head's key.
constexpr std::uint32_t kMaxKeyDim = 256;

std::uint32_t least_power_of_4(std::uint32_t least) {
  std::uint32_t power = 1;
  while (power < least) power *= 4;
  return power;
}

/// Fills the tensors of a one-layer model whose layer sees nothing but the token. A token's hidden vector has one
/// active coordinate, so that RMSNorm makes √d of it: exact, d being a power of 4. What head h reads goes to coordinate
/// tokens + h·V of the hidden vector, beside the token.
class OneLayerWriter {
 public:
  OneLayerWriter(CheckpointConfig config, std::uint32_t input_tokens) : config_(std::move(config)) {
    inputs_ = input_tokens;
    config_.layers = 1;
    config_.begin_token = input_tokens - 1;
    config_.hidden_size = least_power_of_4(inputs_ + config_.heads * config_.value_dim);
    config_.intermediate_size = config_.hidden_size;
    scale_ = std::sqrt(static_cast<float>(config_.hidden_size));
    const CheckpointConfig& c = config_;
    query_.assign(std::size_t{c.heads} * c.key_dim * c.hidden_size, 0);
    key_.assign(query_.size() * c.householders, 0);
    value_.assign(std::size_t{c.householders} * c.heads * c.value_dim * c.hidden_size, 0);
    beta_.assign(std::size_t{c.householders} * c.heads * c.hidden_size, 0);
  }

  void set_key(std::uint32_t token, std::uint32_t householder, std::uint32_t head, std::uint32_t coordinate,
               float sign = 1) {
    const std::size_t row = (std::size_t{householder} * config_.heads + head) * config_.key_dim + coordinate;
    key_[row * config_.hidden_size + token] = sign * kRaw / scale_;
  }
  void set_beta(std::uint32_t token, std::uint32_t householder, std::uint32_t head, float logit) {
    beta_[(std::size_t{householder} * config_.heads + head) * config_.hidden_size + token] = logit / scale_;
  }
  void set_value(std::uint32_t token, std::uint32_t head, std::uint32_t coordinate) {
    value_[(std::size_t{head} * config_.value_dim + coordinate) * config_.hidden_size + token] = kRaw / scale_;
  }
  /// After every token the head reads this row of its state.
  void set_query(std::uint32_t head, std::uint32_t coordinate) {
    const std::size_t row = std::size_t{head} * config_.key_dim + coordinate;
    for (std::uint32_t token = 0; token < inputs_; ++token) query_[row * config_.hidden_size + token] = kRaw / scale_;
  }

  /// `reads[l]` lists, for output token l, the (head, value coordinate) pairs whose sum is its logit.
  Checkpoint finish(const std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>& reads) {
    const std::uint64_t d = config_.hidden_size, h = config_.heads, v = config_.value_dim;
    config_.vocabulary = inputs_ + static_cast<std::uint32_t>(reads.size());
    std::vector<float> embeddings(config_.vocabulary * d, 0), output(d * h * v, 0), head(config_.vocabulary * d, 0);
    for (std::uint32_t token = 0; token < inputs_; ++token) embeddings[token * d + token] = kEmbedding;
    for (std::uint64_t read = 0; read < h * v; ++read) output[(inputs_ + read) * h * v + read] = 1;
    for (std::size_t label = 0; label < reads.size(); ++label)
      for (const auto& [reader, coordinate] : reads[label])
        head[(inputs_ + label) * d + inputs_ + reader * v + coordinate] = kRaw;
    Checkpoint checkpoint;
    checkpoint.config = config_;
    const auto add = [&](const std::string& name, const std::vector<float>& values, Shape shape) {
      checkpoint.tensors.tensors.emplace(name, make_tensor(values, std::move(shape)));
    };
    const std::string layer = "model.layers.0.";
    add("model.embeddings.weight", embeddings, {config_.vocabulary, d});
    add(layer + "attn_norm.weight", ones(d), {d});
    add(layer + "attn.q_proj.weight", query_, {h * config_.key_dim, d});
    add(layer + "attn.k_proj.weight", key_, {config_.householders * h * config_.key_dim, d});
    add(layer + "attn.v_proj.weight", value_, {config_.householders * h * v, d});
    add(layer + "attn.b_proj.weight", beta_, {config_.householders * h, d});
    add(layer + "attn.o_norm.weight", ones(v), {v});
    add(layer + "attn.o_proj.weight", output, {d, h * v});
    add(layer + "mlp_norm.weight", ones(d), {d});
    const std::vector<float> nothing(config_.intermediate_size * d, 0);
    add(layer + "mlp.gate_proj.weight", nothing, {config_.intermediate_size, d});
    add(layer + "mlp.up_proj.weight", nothing, {config_.intermediate_size, d});
    add(layer + "mlp.down_proj.weight", nothing, {d, config_.intermediate_size});
    add("model.norm.weight", ones(d), {d});
    add("lm_head.weight", head, {config_.vocabulary, d});
    return checkpoint;
  }

 private:
  static std::vector<float> ones(std::uint64_t count) { return std::vector<float>(count, 1); }

  CheckpointConfig config_;
  std::uint32_t inputs_;
  float scale_;
  std::vector<float> query_, key_, value_, beta_;
};

CheckpointConfig config_of(CheckpointConfig::Family family) {
  CheckpointConfig config;
  config.family = family;
  config.silu_keys = family == CheckpointConfig::Family::kGatedDeltaProduct;
  return config;
}

/// Token i is letter i; then comes the token that begins words; then a token per tracked state.
Checkpoint with_automaton(Checkpoint checkpoint, const Dfa& automaton, const TrackedStates& tracked) {
  checkpoint.automaton = automaton;
  TokenTable& tokens = checkpoint.tokens;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) tokens.of_letter.push_back(letter);
  tokens.begin = automaton.letters();
  tokens.of_state.assign(automaton.states(), TokenTable::kNone);
  for (Label label = 0; label < tracked.count(); ++label)
    tokens.of_state[tracked.states[label]] = automaton.letters() + 1 + label;
  return checkpoint;
}

bool is_constant(const Transformation& map) {
  return std::ranges::all_of(map.images(), [&](Point image) { return image == map.images()[0]; });
}

bool is_identity(const Transformation& map) {
  for (Point point = 0; point < map.degree(); ++point)
    if (map[point] != point) return false;
  return true;
}

bool is_flip_flop(const TrackedStates& tracked) {
  return std::ranges::all_of(tracked.maps,
                             [](const Transformation& map) { return is_identity(map) || is_constant(map); });
}

/// One row, whose value is the one-hot code of the state: a reset overwrites it, the identity has no key.
Checkpoint flip_flop_checkpoint(const Dfa& automaton, const TrackedStates& tracked, CheckpointConfig::Family family) {
  CheckpointConfig config = config_of(family);
  const Letter letters = automaton.letters();
  // A power of two of key coordinates, and as many values, so that the library's ratios expand_k and expand_v are
  // exact.
  config.value_dim = std::bit_ceil(tracked.count());
  config.key_dim = family == CheckpointConfig::Family::kDeltaNet ? 1 : config.value_dim;
  OneLayerWriter writer(config, letters + 1);
  const auto overwrite = [&](std::uint32_t token, Label label) {
    writer.set_key(token, 0, 0, 0);
    writer.set_beta(token, 0, 0, kWrite);
    writer.set_value(token, 0, label);
  };
  for (Letter letter = 0; letter < letters; ++letter) {
    const Transformation& map = tracked.maps[tracked.action_of[letter]];
    if (!is_identity(map) || tracked.count() == 1) overwrite(letter, map[0]);
  }
  overwrite(letters, 0);
  writer.set_query(0, 0);
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> reads;
  for (Label label = 0; label < tracked.count(); ++label) reads.push_back({{0, label}});
  return with_automaton(writer.finish(reads), automaton, tracked);
}

struct Swap {
  Point first, second;
};

/// n − c swaps, first to last: (a_0 a_1), (a_0 a_2), … of each cycle.
std::vector<Swap> swaps_of(const Permutation& permutation) {
  std::vector<Swap> swaps;
  for (const auto& cycle : permutation.cycles())
    for (std::size_t i = 1; i < cycle.size(); ++i) swaps.push_back({cycle[0], cycle[i]});
  return swaps;
}

/// How the group's action is laid out over heads: head (column, point) reads whether the column has a base point there.
struct Layout {
  BasedAction action;
  std::vector<std::vector<Swap>> swaps;             ///< per action of the letters
  std::vector<std::vector<Point>> starting_points;  ///< per column
  std::size_t most_swaps = 0, most_starting_points = 0;
  std::uint32_t heads() const { return action.columns * action.degree(); }
  std::uint32_t head(std::uint32_t column, Point point) const { return column * action.degree() + point; }
};

Layout layout_of(const Dfa& automaton, const TrackedStates& tracked) {
  Layout layout{best_based_action(automaton, tracked), {}, {}, 0, 0};
  for (const Permutation& letter : layout.action.letters) {
    layout.swaps.push_back(swaps_of(letter));
    layout.most_swaps = std::max(layout.most_swaps, layout.swaps.back().size());
  }
  layout.starting_points.resize(layout.action.columns);
  for (std::size_t base = 0; base < layout.action.column_of.size(); ++base)
    layout.starting_points[layout.action.column_of[base]].push_back(layout.action.images[0][base]);
  for (const auto& points : layout.starting_points)
    layout.most_starting_points = std::max(layout.most_starting_points, points.size());
  return layout;
}

std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> reads_of(const Layout& layout, Label labels) {
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> reads(labels);
  for (Label label = 0; label < labels; ++label)
    for (std::size_t base = 0; base < layout.action.column_of.size(); ++base)
      reads[label].push_back({layout.head(layout.action.column_of[base], layout.action.images[label][base]), 0});
  return reads;
}

void require_key_dim(std::uint64_t key_dim, Point points) {
  if (key_dim > kMaxKeyDim)
    throw LimitError(
        fmt::format("a head's key would have {} coordinates for {} points, and the library's kernels take "
                    "{}; the other targets of `krohn compile` have no such limit",
                    key_dim, points, kMaxKeyDim));
}

/// The first letter whose action is more than one swap.
void require_single_swaps(const Dfa& automaton, const TrackedStates& tracked, const Layout& layout) {
  for (std::size_t action = 0; action < layout.swaps.size(); ++action)
    if (layout.swaps[action].size() > 1)
      throw InputError(fmt::format(
          "letter \"{}\" takes {} reflections on the {} points of the smallest action found, and a DeltaNet layer "
          "applies one per token; take the target fla-gated-deltaproduct, or generators that are transpositions",
          automaton.alphabet().name(tracked.letter_of[action]), layout.swaps[action].size(), layout.action.degree()));
}

/// Writes every column's starting points with one key of 4^j equal entries: the points' own, and spare coordinates.
void write_doubled_start(OneLayerWriter& writer, const Layout& layout, std::uint32_t token) {
  const Point n = layout.action.degree();
  for (std::uint32_t column = 0; column < layout.action.columns; ++column)
    for (Point row = 0; row < n; ++row) {
      const std::uint32_t head = layout.head(column, row);
      const auto& points = layout.starting_points[column];
      for (const Point point : points) {
        writer.set_key(token, 0, head, point);
        writer.set_key(token, 0, head, n + point);
      }
      const auto active = static_cast<std::uint32_t>(2 * points.size());
      for (std::uint32_t spare = 0; spare < least_power_of_4(active) - active; ++spare)
        writer.set_key(token, 0, head, 2 * n + spare);
      writer.set_beta(token, 0, head, kWrite);
      writer.set_value(token, head, 0);
    }
}

/// The signed start: one write of a_i, c_i, a pair of spare coordinates per point and more spares up to 4^j equal
/// entries, then for every point a reflection that turns its spare pair into −b_i, −d_i.
void write_signed_start(OneLayerWriter& writer, const Layout& layout, std::uint32_t token) {
  const Point n = layout.action.degree();
  for (std::uint32_t head = 0; head < layout.heads(); ++head) {
    const auto& points = layout.starting_points[head / n];
    const auto count = static_cast<std::uint32_t>(points.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      writer.set_key(token, 0, head, points[i]);
      writer.set_key(token, 0, head, 2 * n + points[i]);
    }
    for (std::uint32_t spare = 0; spare < least_power_of_4(4 * count) - 2 * count; ++spare)
      writer.set_key(token, 0, head, 4 * n + spare);
    writer.set_beta(token, 0, head, kWrite);
    writer.set_value(token, head, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const std::uint32_t coordinate : {n + points[i], 3 * n + points[i], 4 * n + 2 * i, 4 * n + 2 * i + 1})
        writer.set_key(token, 1 + i, head, coordinate);
      writer.set_beta(token, 1 + i, head, kReflect);
    }
  }
}

}  // namespace

Checkpoint delta_net_checkpoint(const Dfa& automaton) {
  constexpr auto kFamily = CheckpointConfig::Family::kDeltaNet;
  const TrackedStates tracked = tracked_states(automaton);
  if (is_flip_flop(tracked)) return flip_flop_checkpoint(automaton, tracked, kFamily);
  const Layout layout = layout_of(automaton, tracked);
  require_single_swaps(automaton, tracked, layout);
  const Point n = layout.action.degree();
  const auto active = static_cast<std::uint32_t>(2 * layout.most_starting_points);
  CheckpointConfig config = config_of(kFamily);
  config.heads = layout.heads();
  config.key_dim = 2 * n + least_power_of_4(active) - 2;
  require_key_dim(config.key_dim, n);
  OneLayerWriter writer(config, automaton.letters() + 1);
  for (std::uint32_t head = 0; head < config.heads; ++head) {
    writer.set_query(head, head % n);
    for (Letter letter = 0; letter < automaton.letters(); ++letter)
      for (const Swap& swap : layout.swaps[tracked.action_of[letter]]) {
        writer.set_key(letter, 0, head, swap.first);
        writer.set_key(letter, 0, head, n + swap.first);
        writer.set_key(letter, 0, head, swap.second, -1);
        writer.set_key(letter, 0, head, n + swap.second, -1);
        writer.set_beta(letter, 0, head, kReflect);
      }
  }
  write_doubled_start(writer, layout, automaton.letters());
  return with_automaton(writer.finish(reads_of(layout, tracked.count())), automaton, tracked);
}

Checkpoint gated_delta_product_checkpoint(const Dfa& automaton) {
  constexpr auto kFamily = CheckpointConfig::Family::kGatedDeltaProduct;
  const TrackedStates tracked = tracked_states(automaton);
  if (is_flip_flop(tracked)) return flip_flop_checkpoint(automaton, tracked, kFamily);
  const Layout layout = layout_of(automaton, tracked);
  const Point n = layout.action.degree();
  const auto points = static_cast<std::uint32_t>(layout.most_starting_points);
  CheckpointConfig config = config_of(kFamily);
  config.heads = layout.heads();
  config.key_dim = std::bit_ceil(4 * n + least_power_of_4(4 * points) - 2);
  require_key_dim(config.key_dim, n);
  config.householders = std::max(1 + points, static_cast<std::uint32_t>(2 * layout.most_swaps));
  OneLayerWriter writer(config, automaton.letters() + 1);
  for (std::uint32_t head = 0; head < config.heads; ++head) {
    writer.set_query(head, head % n);
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      std::uint32_t householder = 0;
      const auto reflect = [&](Point first, Point second) {
        for (const std::uint32_t coordinate : {first, n + second, 2 * n + first, 3 * n + second})
          writer.set_key(letter, householder, head, coordinate);
        writer.set_beta(letter, householder++, head, kReflect);
      };
      for (const Swap& swap : layout.swaps[tracked.action_of[letter]]) {
        reflect(swap.first, swap.second);
        reflect(swap.second, swap.first);
      }
    }
  }
  write_signed_start(writer, layout, automaton.letters());
  return with_automaton(writer.finish(reads_of(layout, tracked.count())), automaton, tracked);
}

}  // namespace krohn
