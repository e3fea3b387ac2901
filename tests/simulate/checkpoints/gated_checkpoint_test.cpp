// Layers of checkpoints, those that forget above all: the forward pass against one in double precision, exact weights
// proved, files of other libraries' names read back, and hostile ones refused.

#include <Eigen/Core>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "tests/simulate/checkpoints/random_checkpoint.h"
#include "tests/testing.h"

using namespace krohn;
using krohn::test::certify;
using krohn::test::named;
using krohn::test::random_checkpoint;
using krohn::test::Scratch;

namespace {

using Family = CheckpointFamily;
constexpr Family kGated[] = {Family::kGatedDeltaNet, Family::kKda,        Family::kGdn2,    Family::kOlmoHybrid,
                             Family::kQwen3Next,     Family::kKimiLinear, Family::kGlm5Next};

std::vector<std::vector<State>> maps_of_three() {
  std::vector<std::vector<State>> maps;
  for (State code = 0; code < 27; ++code) maps.push_back({code % 3, code / 3 % 3, code / 9});
  return maps;
}

/// Three states, each its own output.
Dfa with_letters(const std::vector<State>& a, const std::vector<State>& b) {
  std::vector<State> table;
  for (State q = 0; q < 3; ++q) table.insert(table.end(), {a[q], b[q]});
  return Dfa::moore(Alphabet::of_characters("ab"), table, 0, {0, 1, 2}, {"0", "1", "2"});
}

std::vector<float> values_of(const Tensor& tensor) {
  std::vector<float> values(tensor.elements());
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

CheckpointConfig small_config(Family family) {
  CheckpointConfig config{.family = family,
                          .hidden_size = 6,
                          .layers = 2,
                          .heads = 2,
                          .key_dim = 3,
                          .value_dim = 2,
                          .intermediate_size = 5,
                          .vocabulary = 7,
                          .convolution_taps = 3,
                          .negative_eigenvalues = traits_of(family).can_reflect,
                          .silu_keys = true,
                          .output_gate = traits_of(family).gate};
  if (family == Family::kOlmoHybrid) config.output_norm_epsilon = 1e-5;
  if (traits_of(family).is_hybrid) config.all_layers = 4, config.recurrent_layers = {0, 2};
  if (traits_of(family).is_kimi) config.value_dim = config.key_dim;
  if (family == Family::kGlm5Next) {
    config.gate_lower_bound = -1.5;
    config.streams = 3;
    config.sinkhorn_rounds = 4;
    config.swiglu_limit = 0.5;
  }
  return config;
}

CheckpointConfig bounded_config() {
  CheckpointConfig config = small_config(Family::kKda);
  config.gate_lower_bound = -1.5;
  return config;
}

CheckpointConfig plain_config(Family family, std::uint32_t heads, std::uint32_t values, std::uint32_t householders,
                              std::uint32_t taps) {
  CheckpointConfig config = small_config(family);
  config.heads = heads;
  config.value_dim = values;
  config.householders = householders;
  config.convolution_taps = taps;
  config.silu_keys = taps != 0 || householders > 1;
  config.negative_eigenvalues = taps == 0 || householders > 1;
  return config;
}

/// The whole word at once in double precision, from the formulas of the libraries' documentation. Shares nothing with
/// CheckpointModel but the tensors.
class Reference {
 public:
  explicit Reference(const Checkpoint& checkpoint) : c_(checkpoint.config) {
    for (const auto& [name, tensor] : checkpoint.tensors.tensors) weights_[name] = values_of(tensor);
  }

  std::vector<std::vector<double>> logits(const std::vector<std::uint32_t>& word) {
    Rows x;
    for (const std::uint32_t token : word) {
      const float* row = weights_.at("model.embeddings.weight").data() + token * c_.hidden_size;
      x.emplace_back(row, row + c_.hidden_size);
    }
    std::vector<Rows> streams(std::max(1u, c_.streams), x);
    for (std::uint32_t i = 0; i < c_.layers; ++i) {
      const std::string layer = "model.layers." + std::to_string(i) + ".";
      connect(layer + "attn_hc.", streams,
              [&](const Rows& from) { return mix(layer + "attn.", norm(layer + "attn_norm.weight", from)); });
      connect(layer + "mlp_hc.", streams, [&](const Rows& from) { return look_up(layer, from); });
    }
    for (std::size_t i = 1; i < streams.size(); ++i) add(streams[0], streams[i]);
    for (Row& row : streams[0])
      for (double& number : row) number /= static_cast<double>(streams.size());
    return linear("lm_head.weight", norm("model.norm.weight", streams[0]));
  }

 private:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  /// Streams as GLM-5.3-Flash mixes them, or one residual.
  template <class Block>
  void connect(const std::string& name, std::vector<Rows>& x, const Block& block) const {
    if (c_.streams == 0) return add(x[0], block(x[0]));
    const std::size_t n = x.size(), width = c_.hidden_size;
    Rows collapsed(x[0].size(), Row(width, 0));
    std::vector<Row> logits;
    for (std::size_t t = 0; t < collapsed.size(); ++t) {
      double squares = 0;
      for (const Rows& stream : x)
        for (const double number : stream[t]) squares += number * number;
      const double size = std::sqrt(squares / static_cast<double>(n * width) + c_.norm_epsilon);
      Row of((2 + n) * n, 0);
      for (std::size_t k = 0; k < of.size(); ++k) {
        for (std::size_t j = 0; j < n * width; ++j)
          of[k] += double{weights_.at(name + "fn")[k * n * width + j]} * x[j / width][t][j % width] / size;
        of[k] = of[k] * double{weights_.at(name + "scale")[std::min<std::size_t>(k / n, 2)]} +
                double{weights_.at(name + "base")[k]};
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < width; ++j) collapsed[t][j] += (sigmoid(of[i]) + c_.stream_epsilon) * x[i][t][j];
      logits.push_back(of);
    }
    const Rows answer = block(collapsed);
    const std::vector<Rows> before = x;
    for (std::size_t t = 0; t < collapsed.size(); ++t) {
      std::vector<Row> mixing(n, Row(n));
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += mixing[i][j] = std::exp(logits[t][(2 + i) * n + j]);
        for (double& number : mixing[i]) number = number / sum + c_.stream_epsilon;
      }
      for (std::uint32_t half = 1; half < 2 * c_.sinkhorn_rounds; ++half)
        for (std::size_t a = 0; a < n; ++a) {
          double sum = c_.stream_epsilon;
          for (std::size_t b = 0; b < n; ++b) sum += half % 2 == 1 ? mixing[b][a] : mixing[a][b];
          for (std::size_t b = 0; b < n; ++b) (half % 2 == 1 ? mixing[b][a] : mixing[a][b]) /= sum;
        }
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < width; ++k) {
          x[j][t][k] = 2 * sigmoid(logits[t][n + j]) * answer[t][k];
          for (std::size_t i = 0; i < n; ++i) x[j][t][k] += mixing[i][j] * before[i][t][k];
        }
    }
  }
  Rows look_up(const std::string& layer, const Rows& x) const {
    const Rows y = norm(layer + "mlp_norm.weight", x);
    Rows gate = linear(layer + "mlp.gate_proj.weight", y);
    const Rows up = linear(layer + "mlp.up_proj.weight", y);
    const double most = c_.swiglu_limit > 0 ? c_.swiglu_limit : INFINITY;
    for (std::size_t t = 0; t < gate.size(); ++t)
      for (std::size_t j = 0; j < gate[t].size(); ++j)
        gate[t][j] = silu(std::min(gate[t][j], most)) * std::clamp(up[t][j], -most, most);
    return linear(layer + "mlp.down_proj.weight", gate);
  }

  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  static double silu(double x) { return x * sigmoid(x); }
  static void add(Rows& x, const Rows& change) {
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += change[t][i];
  }
  Rows linear(const std::string& name, const Rows& x) const {
    const std::vector<float>& w = weights_.at(name);
    const std::size_t columns = x[0].size();
    Rows y(x.size(), Row(w.size() / columns, 0));
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < w.size(); ++i) y[t][i / columns] += double{w[i]} * x[t][i % columns];
    return y;
  }
  Rows norm(const std::string& name, Rows x) const {
    const std::vector<float>& w = weights_.at(name);
    const double more = traits_of(c_.family).has_centred_norms ? 1 : 0;
    for (Row& row : x) {
      double sum = 0;
      for (const double value : row) sum += value * value;
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] *= (more + double{w[i]}) / std::sqrt(sum / static_cast<double>(row.size()) + c_.norm_epsilon);
    }
    return x;
  }
  Rows convolved(const std::string& name, const Rows& x, bool activates) const {
    const std::size_t taps = c_.convolution_taps;
    Rows y = x;
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t row = 0; row < x[t].size(); ++row) {
        if (taps > 0) y[t][row] = 0;
        for (std::size_t back = 0; back < taps && back <= t; ++back)
          y[t][row] += double{weights_.at(name)[row * taps + taps - 1 - back]} * x[t - back][row];
        if (activates) y[t][row] = silu(y[t][row]);
      }
    return y;
  }
  static Row unit(const Row& row, std::size_t first, std::size_t count) {
    Row part(row.begin() + static_cast<std::ptrdiff_t>(first),
             row.begin() + static_cast<std::ptrdiff_t>(first + count));
    double sum = 0;
    for (const double value : part) sum += value * value;
    for (double& value : part) value /= std::sqrt(sum + 1e-6);
    return part;
  }
  Rows mix(const std::string& at, const Rows& a) const {
    const FamilyTraits& traits = traits_of(c_.family);
    const std::size_t heads = c_.heads, keys = c_.key_dim, values = c_.value_dim;
    const Rows q = convolved(at + "q_conv1d.weight", linear(at + "q_proj.weight", a), c_.silu_keys);
    const Rows k = convolved(at + "k_conv1d.weight", linear(at + "k_proj.weight", a), c_.silu_keys);
    const Rows v = convolved(at + "v_conv1d.weight", linear(at + "v_proj.weight", a), true);
    const Rows b = linear(at + "b_proj.weight", a);
    const Rows w = traits.channel_gates ? linear(at + "w_proj.weight", a) : Rows(a.size());
    const Rows f = traits.decay == Decay::kNone   ? Rows(a.size())
                   : traits.decay == Decay::kHead ? linear(at + "a_proj.weight", a)
                                                  : linear(at + "f_proj.1.weight", linear(at + "f_proj.0.weight", a));
    Rows g = c_.output_gate == OutputGate::kNone ? Rows(a.size())
             : traits.low_rank_gates             ? linear(at + "g_proj.1.weight", linear(at + "g_proj.0.weight", a))
                                                 : linear(at + "g_proj.weight", a);
    const double most = c_.negative_eigenvalues ? 2 : 1;
    std::vector<Rows> state(heads, Rows(keys, Row(values, 0)));
    Rows mixed(a.size());
    for (std::size_t t = 0; t < a.size(); ++t)
      for (std::size_t h = 0; h < heads; ++h) {
        Rows& s = state[h];
        const Row query = unit(q[t], h * keys, keys);
        for (std::size_t i = 0; traits.decay != Decay::kNone && i < keys; ++i) {
          const std::size_t at_gate = traits.decay == Decay::kHead ? h : h * keys + i;
          const double logit = f[t][at_gate] + double{weights_.at(at + "dt_bias")[at_gate]};
          const double rate = std::exp(double{weights_.at(at + "A_log")[h]});
          const double decay = std::exp(c_.gate_lower_bound < 0 ? c_.gate_lower_bound * sigmoid(rate * logit)
                                                                : -rate * std::log1p(std::exp(logit)));
          for (double& number : s[i]) number *= decay;
        }
        for (std::size_t from = h; from < c_.householders * heads; from += heads) {
          const Row key = unit(k[t], from * keys, keys);
          for (std::size_t j = 0; j < values; ++j) {
            double erased = 0;
            for (std::size_t i = 0; i < keys; ++i)
              erased += most * sigmoid(b[t][traits.channel_gates ? h * keys + i : from]) * key[i] * s[i][j];
            const double written = (traits.channel_gates ? sigmoid(w[t][h * values + j]) : most * sigmoid(b[t][from])) *
                                   v[t][from * values + j];
            for (std::size_t i = 0; i < keys; ++i) s[i][j] += key[i] * (written - erased);
          }
        }
        double square = 0;
        Row out(values, 0);
        for (std::size_t j = 0; j < values; ++j) {
          for (std::size_t i = 0; i < keys; ++i) out[j] += s[i][j] * query[i] / std::sqrt(double(keys));
          square += out[j] * out[j];
        }
        for (std::size_t j = 0; j < values; ++j) {
          mixed[t].push_back(out[j] / std::sqrt(square / double(values) + c_.output_norm_epsilon) *
                             double{weights_.at(at + "o_norm.weight")[j]});
          if (c_.output_gate == OutputGate::kNone) continue;
          double gate = g[t][h * values + j];
          if (traits.low_rank_gates && !traits.is_kimi)
            gate += double{weights_.at(at + "g_proj.1.bias")[h * values + j]};
          mixed[t].back() *= c_.output_gate == OutputGate::kSilu ? silu(gate) : sigmoid(gate);
        }
      }
    return linear(at + "o_proj.weight", mixed);
  }

  CheckpointConfig c_;
  std::map<std::string, std::vector<float>> weights_;
};

}  // namespace

TEST_CASE("layers compute what their formulas say, token by token and in chunks") {
  std::vector<CheckpointConfig> configs{
      plain_config(Family::kDeltaNet, 1, 3, 1, 0), plain_config(Family::kDeltaNet, 2, 3, 1, 4),
      plain_config(Family::kGatedDeltaProduct, 3, 2, 3, 0), plain_config(Family::kGatedDeltaProduct, 2, 4, 2, 2)};
  for (const Family family : kGated) configs.push_back(small_config(family));
  configs.push_back(bounded_config());
  for (const CheckpointConfig& config : configs)
    for (const std::uint32_t seed : {1u, 2u, 3u}) {
      CAPTURE(traits_of(config.family).model_type);
      CAPTURE(config.gate_lower_bound);
      CAPTURE(seed);
      const Checkpoint checkpoint = random_checkpoint(config, seed);
      const CheckpointModel model(checkpoint, Precision::kFp32);
      std::vector<std::uint32_t> word;
      for (std::uint32_t t = 0; t < 12; ++t) word.push_back((t * t + seed) % 7);
      const auto expected = Reference(checkpoint).logits(word);
      CheckpointModel::Memory memory = model.start();
      const double near = model.has_gates() ? 1e-3 : 1e-4;
      for (std::size_t t = 0; t < word.size(); ++t) {
        const auto logits = model.step(word[t], memory);
        for (std::size_t i = 0; i < logits.size(); ++i)
          CHECK(double{logits[i]} == doctest::Approx(expected[t][i]).epsilon(near).scale(1));
      }
      if (model.has_gates()) continue;
      memory = model.start();
      const auto read = [&](std::size_t first, std::size_t count) {  // one chunk behind another
        const auto logits = model.read_chunk(std::span(word).subspan(first, count), memory);
        for (std::size_t t = 0; t < count; ++t)
          for (std::size_t i = 0; i < logits[t].size(); ++i)
            CHECK(double{logits[t][i]} == doctest::Approx(expected[first + t][i]).epsilon(near).scale(1));
      };
      read(0, 5);
      read(5, 7);
    }
}

TEST_CASE("weights that the libraries keep in fp32 are not rounded where they load the others in bf16") {
  struct Fact {
    Family family;
    const char* ends;
    bool is_kept;
  };
  for (const auto& [family, ends, is_kept] : {Fact{Family::kOlmoHybrid, "A_log", true},
                                              {Family::kOlmoHybrid, "dt_bias", false},
                                              {Family::kQwen3Next, "A_log", false},
                                              {Family::kGatedDeltaNet, "A_log", true},
                                              {Family::kKda, "A_log", true},
                                              {Family::kKda, "dt_bias", true},
                                              {Family::kGdn2, "dt_bias", true},
                                              {Family::kKimiLinear, "A_log", false},
                                              {Family::kKimiLinear, "dt_bias", true},
                                              {Family::kGlm5Next, "A_log", true},
                                              {Family::kDeltaNet, "o_norm.weight", true},
                                              {Family::kKda, "o_norm.weight", false}}) {
    CAPTURE(traits_of(family).model_type);
    CAPTURE(ends);
    const bool is_plain = family == Family::kDeltaNet;
    Checkpoint checkpoint = random_checkpoint(is_plain ? plain_config(family, 2, 3, 1, 4) : small_config(family), 1);
    const auto logits = [&] {
      const CheckpointModel model(checkpoint, Precision::kBf16);
      CheckpointModel::Memory memory = model.start();
      std::vector<std::vector<float>> all;
      for (std::uint32_t t = 0; t < 60; ++t) all.push_back(model.step(t * t % 7, memory));
      return all;
    };
    const auto before = logits();
    for (auto& [name, tensor] : checkpoint.tensors.tensors) {
      if (!name.ends_with(ends)) continue;
      std::vector<float> rounded = values_of(tensor);
      for (float& value : rounded) value = static_cast<float>(Eigen::bfloat16(value));
      tensor = make_tensor(rounded, tensor.shape);
    }
    CHECK((logits() != before) == is_kept);
  }
}

TEST_CASE("a bounded gate keeps what its logits saturate for, and forgets at most to its bound") {
  // The same weights with either gate. Nothing is forgotten for a swap; "b" takes all states to one by a decay of 0.
  for (const double bound : {0.0, -5.0, -200.0}) {
    CAPTURE(bound);
    Checkpoint swaps = gated_checkpoint(named("S3", "transpositions"), Family::kKda);
    Checkpoint resets = gated_checkpoint(with_letters({1, 0, 2}, {0, 0, 0}), Family::kKda);
    swaps.config.gate_lower_bound = resets.config.gate_lower_bound = bound;
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      CHECK(certify(swaps, precision).is<Proved>());
      CHECK(certify(resets, precision).is<Proved>() == (bound != -5));  // e^-5 is no 0, and e^-200 is in fp32
    }
  }
}

TEST_CASE("groups by swaps are proved for words of every length in one layer, in fp32 and bf16") {
  for (const Family family : kGated) {
    if (!traits_of(family).can_reflect) continue;
    CAPTURE(traits_of(family).model_type);
    for (const auto& [name, generators] : {std::pair{"S3", "transpositions"}, {"S4", "transpositions"}, {"Z2", ""}}) {
      CAPTURE(name);
      const Checkpoint checkpoint = gated_checkpoint(named(name, generators), family);
      CHECK(checkpoint.config.layers == 1);
      for (const Precision precision : {Precision::kFp32, Precision::kBf16})
        CHECK(certify(checkpoint, precision).is<Proved>());
    }
  }
}

TEST_CASE("every automaton of three states and two letters that are steps is one layer, and proved") {
  // Swaps, resets and the identity for all; merges for GDN-2.
  int proved = 0, merging = 0;
  for (const auto& a : maps_of_three())
    for (const auto& b : maps_of_three()) {
      const Dfa automaton = with_letters(a, b);
      const TrackedStates tracked = tracked_states(automaton);
      if (tracked.count() < 3) continue;
      const auto moved = [&](const std::vector<State>& map) { return (map[0] != 0) + (map[1] != 1) + (map[2] != 2); };
      const auto is_step = [&](const std::vector<State>& map) {
        const bool is_constant = map[0] == map[1] && map[1] == map[2],
                   is_swap = moved(map) == 2 && map[map[0]] == 0 && map[map[1]] == 1 && map[map[2]] == 2;
        return is_constant || is_swap || moved(map) <= 1;
      };
      if (!is_step(a) || !is_step(b)) continue;
      const Checkpoint checkpoint = gated_checkpoint(automaton, Family::kGdn2);
      CHECK(checkpoint.config.layers == 1);
      CHECK(certify(checkpoint, Precision::kBf16).is<Proved>());
      ++proved;
      const bool merges = moved(a) == 1 || moved(b) == 1;
      merging += merges;
      if (merges) continue;
      const Checkpoint stock = gated_checkpoint(automaton, Family::kOlmoHybrid);
      CHECK(stock.config.layers == 1);
      CHECK(certify(stock).is<Proved>());
    }
  CHECK(proved == 42);
  CHECK(merging > 10);
}

TEST_CASE("cascades of resets, and of swaps where there are any, stand in several layers") {
  for (const Family family : kGated) {
    CAPTURE(traits_of(family).model_type);
    CHECK(certify(gated_checkpoint(minimise(named("tomita3")), Family::kOlmoHybrid)).is<Proved>());
    const Checkpoint aperiodic = gated_checkpoint(minimise(named("tomita7")), family);
    CHECK(aperiodic.config.layers > 1);
    for (const Precision precision : {Precision::kFp32, Precision::kBf16})
      CHECK(certify(aperiodic, precision).is<Proved>());
    if (traits_of(family).can_reflect) {
      for (const char* name : {"Z4", "Z3", "tomita6"})
        for (const Precision precision : {Precision::kFp32, Precision::kBf16})
          CHECK(certify(gated_checkpoint(named(name), family), precision).is<Proved>());
      continue;
    }
    for (const auto& [name, moved] :
         {std::pair{"Z2", R"("1" acts with a cycle of 2 states)"}, {"Z3", R"("1" acts with a cycle of 3 states)"}}) {
      const std::string error = test::error_of([&] { gated_checkpoint(named(name), family); });
      CHECK_MESSAGE(test::contains(error, "Theorem 1"), error);
      CHECK_MESSAGE(test::contains(error, moved), error);
    }
  }
}

TEST_CASE("every tenth automaton of three states and two letters is proved in both kinds of keys") {
  int number = 0, proved = 0;
  for (const auto& a : maps_of_three())
    for (const auto& b : maps_of_three()) {
      if (number++ % 10 != 0) continue;
      CAPTURE(number);
      const Dfa automaton = with_letters(a, b);
      for (const Family family : {Family::kOlmoHybrid, Family::kDeltaNet}) {
        const Checkpoint checkpoint =
            family == Family::kDeltaNet ? delta_net_checkpoint(automaton) : gated_checkpoint(automaton, family);
        CHECK(certify(checkpoint, number % 20 == 1 ? Precision::kFp32 : Precision::kBf16).is<Proved>());
        ++proved;
      }
    }
  CHECK(proved == 146);
}

TEST_CASE("a word may begin anywhere in a text") {
  for (const Family family : {Family::kGatedDeltaNet, Family::kKda, Family::kGdn2, Family::kOlmoHybrid}) {
    CAPTURE(traits_of(family).model_type);
    const Checkpoint checkpoint = gated_checkpoint(named("S3", "transpositions"), family);
    const CheckpointModel model(checkpoint, Precision::kBf16);
    const Dfa& automaton = *checkpoint.automaton;
    CheckpointModel::Memory memory = model.start();
    for (int again = 0; again < 4; ++again) {
      State state = automaton.initial();
      CHECK(arg_max(model.step(*checkpoint.tokens.begin, memory)) == checkpoint.tokens.of_state[state]);
      for (Letter t = 0; t < 5; ++t) {
        const Letter letter = (t + static_cast<Letter>(again)) % automaton.letters();
        state = automaton.next(state, letter);
        CHECK(arg_max(model.step(checkpoint.tokens.of_letter[letter], memory)) == checkpoint.tokens.of_state[state]);
      }
    }
  }
}

TEST_CASE("a model that reads its answers walks from state to state as tokens.json says") {
  const Checkpoint checkpoint = gated_checkpoint(named("S3", "transpositions"), Family::kOlmoHybrid);
  const CheckpointModel model(checkpoint, Precision::kFp32);
  CheckpointModel::Memory memory = model.start();
  State state = checkpoint.automaton->initial();
  std::uint32_t answer = *arg_max(model.step(*checkpoint.tokens.begin, memory));
  for (int t = 0; t < 50; ++t) {
    CHECK(answer == checkpoint.tokens.of_state[state]);
    state = checkpoint.automaton->next(state, checkpoint.tokens.as_input[state]);
    answer = *arg_max(model.step(answer, memory));
  }
}

TEST_CASE("folders are read back as they were written, and have the libraries' names") {
  const Scratch scratch("gated");
  std::vector<Checkpoint> checkpoints{delta_net_checkpoint(named("S3", "transpositions")),
                                      gated_delta_product_checkpoint(named("S3", "transpositions"))};
  for (const Family family : kGated) checkpoints.push_back(random_checkpoint(small_config(family), 7));
  for (const Checkpoint& checkpoint : checkpoints) {
    const std::string_view type = traits_of(checkpoint.config.family).model_type;
    CAPTURE(type);
    const std::string folder = (scratch / std::string(type)).string();
    save_checkpoint(checkpoint, folder);
    CHECK(is_checkpoint_folder(folder));
    const Checkpoint read = load_checkpoint(folder);
    CHECK(read.config == checkpoint.config);
    CHECK(read.tensors.tensors == checkpoint.tensors.tensors);
    CHECK(read.automaton == checkpoint.automaton);
    CHECK(read.tokens == checkpoint.tokens);
  }
  const CheckpointConfig config = small_config(Family::kQwen3Next);
  const TensorFile own = random_checkpoint(config, 8).tensors, file = with_file_names(config, own);
  CHECK(file.tensors.contains("model.layers.3.self_attn.q_proj.weight"));
  CHECK(!file.tensors.contains("model.layers.1.linear_attn.A_log"));
  // Head 1's key stands behind head 0's gate.
  const auto packed = values_of(file.tensors.at("model.layers.2.linear_attn.in_proj_qkvz.weight"));
  const auto keys = values_of(own.tensors.at("model.layers.1.attn.k_proj.weight"));
  const std::size_t d = 6, head = 3 + 3 + 2 + 2;
  CHECK(packed[(head + 3) * d] == keys[3 * d]);
}

TEST_CASE("what the library itself gives of random weights in its classes, as it saved them") {
  for (const char* name : {"kimi_linear", "glm5_next", "glm5_next-unbounded"}) {
    CAPTURE(name);
    const std::string folder = std::string(KROHN_TEST_DATA) + "/checkpoints/" + name;
    const Checkpoint checkpoint = load_checkpoint(folder);
    CHECK(checkpoint.config.has_expert_names == (std::string(name) == "kimi_linear"));
    const TensorFile golden = read_safetensors(folder + "/golden.safetensors");
    std::vector<std::int32_t> word(golden.tensors.at("word").elements());
    std::memcpy(word.data(), golden.tensors.at("word").bytes.data(), golden.tensors.at("word").bytes.size());
    for (const auto& [precision, type, near] :
         {std::tuple{Precision::kFp32, "float32", 1e-4}, {Precision::kBf16, "bfloat16", 0.04}}) {
      const CheckpointModel model(checkpoint, precision);
      const std::vector<float> wanted = values_of(golden.tensors.at(type));
      CheckpointModel::Memory memory = model.start();
      std::size_t same = 0, at = 0;
      for (const std::int32_t token : word)
        for (const float logit : model.step(static_cast<std::uint32_t>(token), memory)) {
          CHECK(double{logit} == doctest::Approx(double{wanted[at]}).epsilon(near).scale(1));
          same += logit == wanted[at++] ? 1 : 0;
        }
      CHECK(at == wanted.size());
      // Sums in another order are rounded alike more often than not.
      if (precision == Precision::kBf16) CHECK(2 * same > wanted.size());
    }
  }
}

TEST_CASE("connections of a silent layer have to be the identity, without anything added") {
  CheckpointConfig config = small_config(Family::kGlm5Next);
  TensorFile file = with_file_names(config, random_checkpoint(config, 10).tensors);
  const auto error = [&] { return test::error_of([&] { with_own_names(config, file, "here"); }); };
  CHECK(error() == "no error");
  config.stream_epsilon = 1e-6;
  CHECK(test::contains(error(), "is not the identity"));
  config.stream_epsilon = 0;
  const std::string base = "model.language_model.layers.1.hc_ffn_base";
  file.tensors.at(base).bytes[0] = std::byte{1};
  CHECK(test::contains(error(), base));
  file = with_file_names(config, random_checkpoint(config, 10).tensors);
  file.tensors.at("model.language_model.layers.3.hc_attn_fn").bytes[2] = std::byte{1};
  CHECK(test::contains(error(), "is not zero"));
  file.tensors.erase("model.language_model.layers.3.hc_attn_fn");
  CHECK(test::contains(error(), "hc_attn_fn\" of a silent attention layer is missing"));
}

TEST_CASE(
    "every automaton of three states and two letters is written by KDA with a β of at most 1, or a word permutes it") {
  int written = 0, refused = 0;
  for (const auto& a : maps_of_three())
    for (const auto& b : maps_of_three()) {
      const Dfa automaton = with_letters(a, b);
      const TrackedStates tracked = tracked_states(automaton);
      // By brute force: the maps of all words.
      std::set<std::vector<State>> maps{{0, 1, 2}};
      for (std::size_t before = 0; before != maps.size();) {
        before = maps.size();
        for (const auto& map : std::set(maps))
          for (const auto& letter : {a, b}) maps.insert({letter[map[0]], letter[map[1]], letter[map[2]]});
      }
      bool permutes = false;
      for (const auto& map : maps)
        for (const State state : tracked.states)
          permutes = permutes || (map[state] != state && (map[map[state]] == state || map[map[map[state]]] == state));
      const Family family = (written + refused) % 2 == 0 ? Family::kKimiLinear : Family::kGlm5Next;
      std::optional<Checkpoint> checkpoint;
      const std::string error = test::error_of([&] { checkpoint = gated_checkpoint(automaton, family); });
      CHECK((error == "no error") == !permutes);
      CHECK(permutes == test::contains(error, "Steps without reflections"));
      (permutes ? refused : written) += 1;
      if (checkpoint && written % 8 == 0) CHECK(certify(*checkpoint, Precision::kBf16).is<Proved>());
    }
  CHECK(written + refused == 729);
  CHECK(written > 200);
  CHECK(refused > 200);
}

TEST_CASE("attention that is not silent, and tensors that are missing or strange, are refused") {
  const CheckpointConfig config = small_config(Family::kOlmoHybrid);
  const TensorFile file = with_file_names(config, random_checkpoint(config, 9).tensors);
  const auto error_with = [&](const std::function<void(TensorFile&)>& change) {
    TensorFile changed = file;
    change(changed);
    return test::error_of([&] { require_tensors(config, with_own_names(config, changed, "here"), "here"); });
  };
  CHECK(error_with([](TensorFile&) {}) == "no error");
  const std::string output = "model.layers.1.self_attn.o_proj.weight", gate = "model.layers.3.mlp.gate_proj.weight";
  for (const std::string& name : {output, gate})
    CHECK(
        test::contains(error_with([&](TensorFile& f) { f.tensors.at(name).bytes[3] = std::byte{1}; }), "is not zero"));
  // Minus zero is zero; a norm that is infinite makes no zero of it.
  CHECK(error_with([&](TensorFile& f) { f.tensors.at(output).bytes[3] = std::byte{0x80}; }) == "no error");
  for (const float weight : {INFINITY, NAN, 0x1p127f})
    CHECK(test::contains(error_with([&](TensorFile& f) {
                           std::memcpy(f.tensors.at("model.layers.1.self_attn.q_norm.weight").bytes.data(), &weight,
                                       sizeof weight);
                         }),
                         "is not zero"));
  CHECK(test::contains(error_with([](TensorFile& f) { f.tensors.erase("model.layers.0.linear_attn.conv1d.weight"); }),
                       "is missing"));
  CHECK(test::contains(error_with([](TensorFile& f) { f.tensors.erase("model.layers.2.linear_attn.q_proj.weight"); }),
                       "is missing"));
  // Under krohn's own name the library would not find it.
  CHECK(test::contains(error_with([](TensorFile& f) {
                         auto node = f.tensors.extract("model.layers.0.linear_attn.q_proj.weight");
                         node.key() = "model.layers.0.attn.q_proj.weight";
                         f.tensors.insert(std::move(node));
                       }),
                       "belongs to no layer"));
}

TEST_CASE("configs of hybrid models are what was written, and what is not emulated is refused by name") {
  for (const Family family :
       {Family::kOlmoHybrid, Family::kQwen3Next, Family::kKimiLinear, Family::kKda, Family::kGdn2}) {
    const CheckpointConfig config = small_config(family);
    const std::string text = format_config(config);
    CHECK(parse_config(text, "config.json") == config);
    const std::string open = text.substr(0, text.rfind('}'));
    const auto error_with = [&](const std::string& member) {
      return test::error_of([&] { parse_config(open + ", " + member + "}", "config.json"); });
    };
    CHECK(error_with(R"("foo": 1)").find("foo") != std::string::npos);
    CHECK(error_with(R"("quantization_config": {"bits": 4})").find("quantised") != std::string::npos);
    if (!traits_of(family).is_hybrid) {
      CHECK(error_with(R"("safe_gate": true)").find("without a \"lower_bound\"") != std::string::npos);
      CHECK((error_with(R"("lower_bound": -5)") == "no error") == (family == Family::kKda));
      CHECK(error_with(R"("lower_bound": 0)").find("not below 0") != std::string::npos);
      CHECK(error_with(R"("lower_bound": null)") == "no error");
      CHECK(error_with(R"("num_v_heads": 4)").find("num_heads") != std::string::npos);
    } else {
      CHECK(error_with(R"("rope_parameters": {"rope_theta": 1e4})") == "no error");
    }
  }
  CHECK(parse_config(format_config(bounded_config()), "config.json") == bounded_config());
  std::string text = format_config(small_config(Family::kOlmoHybrid));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    REQUIRE(test::contains(changed, from));
    changed.replace(changed.find(from), from.size(), to);
    return test::error_of([&] { parse_config(changed, "config.json"); });
  };
  CHECK(with(R"("rms_norm_eps": 1e-06)", R"("rms_norm_eps": 0)").find("divide") != std::string::npos);
  CHECK(with(R"("rms_norm_eps": 1e-06)", R"("rms_norm_eps": 1e-60)").find("divide") != std::string::npos);
  CHECK(with(R"("linear_num_value_heads": 2)", R"("linear_num_value_heads": 4)").find("share keys") !=
        std::string::npos);
  CHECK(with(R"("num_hidden_layers": 4)", R"("num_hidden_layers": 5)").find("layer_types") != std::string::npos);
  CHECK(with(R"("full_attention")", R"("sliding_attention")").find("sliding_attention") != std::string::npos);
  text = format_config(small_config(Family::kKimiLinear));
  CHECK(with(R"("dense")", R"("sparse")").find("experts") != std::string::npos);
  CHECK(with(R"("layer_types")", R"("linear_attn_config": {"head_dim": 3}, "types")")  // as first published
            .find("save_pretrained") != std::string::npos);
  CHECK(with(R"("linear_num_heads")", R"("gate_lower_bound": -5, "linear_num_heads")").find("gate_lower_bound") !=
        std::string::npos);
  text = format_config(small_config(Family::kGlm5Next));
  CHECK(parse_config(text, "config.json") == small_config(Family::kGlm5Next));
  CHECK(with(R"("hc_eps")", R"("foo": 1, "hc_eps")").find("foo") != std::string::npos);
  CHECK(with(R"("hc_mult": 3)", R"("hc_mult": 17)").find("hc_mult") != std::string::npos);
  CHECK(with(R"("hc_mult": 3)", R"("hc_mult": 16)") == "no error");
  CHECK(with(R"("hc_sinkhorn_iters": 4)", R"("hc_sinkhorn_iters": 101)").find("above 100") != std::string::npos);
  CHECK(with(R"("linear_lower_bound": -1.5)", R"("linear_lower_bound": 0)").find("not below 0") != std::string::npos);
  CHECK(with(R"("linear_lower_bound": -1.5)", R"("linear_lower_bound": null)") == "no error");
  CHECK(with(R"("text_config": {)", R"("text": {)").find("text") != std::string::npos);
  CHECK(with(R"("indexed_attention")", R"("full_attention")").find("full_attention") != std::string::npos);
  CHECK(with(R"("swiglu_limit": 0.5)", R"("swiglu_limit": 0)").find("swiglu_limit") != std::string::npos);
  CHECK(with(R"("vision_config": {)", R"("audio_config": {}, "vision_config": {)").find("audio_config") !=
        std::string::npos);
  CHECK(with(R"("dtype": "float32")", R"("dtype": "bfloat16")").find("that of the whole model") != std::string::npos);
}
