// Audits of small checkpoints: what many inputs do to every head, computed as the layers do, lies in the stated ranges
// and comes near to their ends.

#include <nlohmann/json.hpp>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/audit/audit.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::test;
using nlohmann::json;

namespace {

constexpr std::size_t kWidth = 4, kHeads = 2;
bool one_says(const std::vector<std::string>& texts, const std::string& part) {
  return std::ranges::any_of(texts, [&](const std::string& text) { return contains(text, part); });
}

/// Numbers of a seeded engine, the same everywhere.
class Source {
 public:
  explicit Source(unsigned seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_()) / 0x1p31 - 1; }
  std::vector<float> list(std::size_t count, double scale = 1) {
    std::vector<float> numbers(count);
    for (float& number : numbers) number = static_cast<float>(scale * uniform());
    return numbers;
  }

 private:
  std::mt19937 engine_;
};

/// A checkpoint in the making; tensors are kept for the oracle.
struct Made {
  json config;
  TensorFile file;
  std::map<std::string, std::vector<float>> numbers;

  void add(const std::string& name, std::vector<float> values, Shape shape) {
    file.tensors[name] = make_tensor(values, std::move(shape));
    numbers[name] = std::move(values);
  }
  Audit audit(const Scratch& place, bool with_weights = true) const {
    place.write("config.json", config.dump());
    std::filesystem::remove(place / "model.safetensors");
    if (with_weights) write_safetensors(file, (place / "model.safetensors").string());
    return audit_checkpoint(place.path().string());
  }
};

/// Gated DeltaNet with one layer, as flash-linear-attention or Olmo Hybrid (`mixer`) names it.
Made gated_delta_net(unsigned seed, bool negative, double scale) {
  Source source(seed);
  Made made{{{"model_type", "gated_deltanet"},
             {"num_hidden_layers", 1},
             {"num_heads", kHeads},
             {"allow_neg_eigval", negative}},
            {},
            {}};
  made.add("model.layers.0.attn_norm.weight", source.list(kWidth), {kWidth});
  made.add("model.layers.0.attn.a_proj.weight", source.list(kHeads * kWidth, scale), {kHeads, kWidth});
  made.add("model.layers.0.attn.b_proj.weight", source.list(kHeads * kWidth, scale), {kHeads, kWidth});
  made.add("model.layers.0.attn.A_log", source.list(kHeads), {kHeads});
  made.add("model.layers.0.attn.dt_bias", source.list(kHeads), {kHeads});
  return made;
}

/// gain ∘ x / √(mean x²).
std::vector<double> normed(std::vector<double> x, const std::vector<float>& gain) {
  double sum = 0;
  for (const double number : x) sum += number * number;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= gain[i] / std::sqrt(sum / static_cast<double>(x.size()));
  return x;
}

double product(const std::vector<float>& matrix, std::size_t row, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += static_cast<double>(matrix[row * x.size() + j]) * x[j];
  return sum;
}

}  // namespace

TEST_CASE("what inputs do to a gated delta layer lies in the audited range, and its ends are met") {
  const Scratch place("audit-gated");
  for (const bool negative : {false, true})
    for (const double scale : {0.1, 1.0, 3.0}) {
      const Made made = gated_delta_net(5, negative, scale);
      const Audit audit = made.audit(place);
      REQUIRE(audit.recurrent.size() == 1);
      const auto& of = [&](const char* name) -> const std::vector<float>& {
        return made.numbers.at("model.layers.0." + std::string(name));
      };
      for (std::size_t head = 0; head < kHeads; ++head) {
        const HeadRange range = audit.recurrent[0].heads[head];
        const auto rate = [&](const std::vector<double>& x) {
          return std::exp(of("attn.A_log")[head]) *
                 std::log1p(std::exp(product(of("attn.a_proj.weight"), head, x) + of("attn.dt_bias")[head]));
        };
        const auto eigenvalue = [&](const std::vector<double>& x) {
          const double beta = (negative ? 2 : 1) / (1 + std::exp(-product(of("attn.b_proj.weight"), head, x)));
          return std::exp(-rate(x)) * (1 - beta);
        };
        Source source(9);
        for (int i = 0; i < 2000; ++i) {
          std::vector<double> x(kWidth);
          for (double& number : x) number = source.uniform();
          x = normed(x, of("attn_norm.weight"));
          REQUIRE(rate(x) >= range.slowest * (1 - 1e-9));
          REQUIRE(rate(x) <= range.fastest * (1 + 1e-9));
          REQUIRE(eigenvalue(x) >= range.lowest - 1e-9);
        }
        // Along ±g ∘ w the gate's logit is at its ends.
        for (const double sign : {-1.0, 1.0}) {
          std::vector<double> x(kWidth);
          for (std::size_t j = 0; j < kWidth; ++j)
            x[j] = sign * of("attn_norm.weight")[j] * of("attn.a_proj.weight")[head * kWidth + j];
          const double at = rate(normed(x, of("attn_norm.weight")));
          CHECK(at == doctest::Approx(sign < 0 ? range.slowest : range.fastest).epsilon(1e-6));
        }
        CHECK((range.lowest < 0) == negative);
        CHECK((range.flip < kNoBound) == negative);
      }
      CHECK(one_says(audit.never, "parity of words of every length, where matrices are multiplied exactly") ==
            !negative);
      CHECK(audit.never.size() == (negative ? 0 : 1));
      CHECK(one_says(audit.fades, "a sign that changes") == negative);
      CHECK(one_says(audit.fades, "a state that is not written again"));
    }
}

namespace {

/// One layer of KDA or GDN-2, with two heads of two channels and forget gates of rank 1, whose bounds are met.
struct GatedByChannel {
  const char* model_type;
  json members;  ///< of the config
  std::string layer, mixer, norm, first, second;
  std::vector<float> a_log;  ///< empty: none
  double most = kNoBound;    ///< the bounded gate's greatest rate
  double beta = 1;           ///< the greatest
  bool is_per_channel = false;
};

constexpr std::size_t kKeys = 2, kChannels = kHeads * kKeys;

Made made_of(const GatedByChannel& kind, unsigned seed) {
  Source source(seed);
  Made made{{{"model_type", kind.model_type}}, {}, {}};
  json text = kind.members;
  text["num_hidden_layers"] = 1;
  if (kind.layer.starts_with("model.layers"))
    made.config.update(text);
  else
    made.config["text_config"] = text;
  const std::string mixer = kind.layer + kind.mixer;
  const std::size_t betas = kind.is_per_channel ? kChannels : kHeads;
  made.add(kind.layer + kind.norm, source.list(kWidth), {kWidth});
  if (kind.second.empty()) {
    made.add(mixer + kind.first, source.list(kChannels * kWidth), {kChannels, kWidth});
  } else {
    made.add(mixer + kind.first, source.list(kWidth), {1, kWidth});
    made.add(mixer + kind.second, source.list(kChannels), {kChannels, 1});
  }
  made.add(mixer + "b_proj.weight", source.list(betas * kWidth), {betas, kWidth});
  made.add(mixer + "dt_bias", source.list(kChannels), {kChannels});
  if (!kind.a_log.empty()) made.add(mixer + "A_log", kind.a_log, {kind.a_log.size()});
  return made;
}

/// The eigenvalues of (I − k (b ∘ k)ᵀ) diag(decay), two of them; least first. They must be real.
std::pair<double, double> eigenvalues(const double* k, const double* b, const double* decay) {
  const double a00 = (1 - k[0] * b[0] * k[0]) * decay[0], a01 = -k[0] * b[1] * k[1] * decay[1],
               a10 = -k[1] * b[0] * k[0] * decay[0], a11 = (1 - k[1] * b[1] * k[1]) * decay[1];
  const double half = (a00 + a11) / 2, square = half * half - (a00 * a11 - a01 * a10);
  REQUIRE(square > -1e-12);
  const double root = std::sqrt(std::max(square, 0.0));
  return {half - root, half + root};
}

}  // namespace

TEST_CASE("what inputs do to layers that decay by channel lies in the audited range, and the ends of decays are met") {
  const Scratch place("audit-kda");
  const json k3 = {{"linear_attn_config", {{"kda_layers", {1}}, {"gate_lower_bound", -5.0}}}};
  const json listed = {{"layer_types", {"linear_attention"}}};
  const std::string own = "model.layers.0.", wrapped = "model.language_model.layers.0.",
                    outer = "language_model.model.layers.0.", norm = "input_layernorm.weight";
  const std::vector<float> two = {0.5F, -0.7F};
  const json negative = {{"allow_neg_eigval", true}};
  const auto fla = [&](const char* type, const json& members, const std::vector<float>& a_log, double most = kNoBound,
                       double beta = 1, bool is_per_channel = false) {
    return GatedByChannel{type,  members, own,  "attn.",       "attn_norm.weight", "f_proj.0.weight", "f_proj.1.weight",
                          a_log, most,    beta, is_per_channel};
  };
  const std::vector<GatedByChannel> kinds = {
      fla("kda", json::object(), two),
      fla("kda", negative, two, kNoBound, 2),
      fla("kda", {{"lower_bound", -3}}, {}, 3),
      fla("gdn2", negative, two, kNoBound, 2, true),
      fla("gdn2", json::object(), two, kNoBound, 1, true),
      {"kimi_linear", listed, own, "self_attn.", norm, "f_a_proj.weight", "f_b_proj.weight", two},
      // More numbers than heads: runtimes do not agree on which a channel takes, so that any may be its own.
      {"kimi_k3", k3, outer, "self_attn.", norm, "f_a_proj.weight", "f_b_proj.weight", {0.5F, -0.7F, 1.25F, -1}, 5},
      {"glm5_next", listed, wrapped, "self_attn.", norm, "f_a_proj.weight", "f_b_proj.weight", two, 5},
      {"bailing_hybrid", {{"kda_lower_bound", -4}}, own, "attention.", norm, "f_proj.weight", "", two, 4}};
  for (const GatedByChannel& kind : kinds) {
    CAPTURE(kind.model_type);
    const Made made = made_of(kind, 11);
    const Audit audit = made.audit(place);
    REQUIRE(audit.recurrent.size() == 1);
    REQUIRE(audit.recurrent[0].heads.size() == kHeads);
    const auto of = [&](const std::string& name) -> const std::vector<float>& {
      return made.numbers.at(kind.layer + name);
    };
    const std::vector<float>& gain = of(kind.norm);
    const auto logit = [&](std::size_t channel, const std::vector<double>& x) {
      const double f = kind.second.empty()
                           ? product(of(kind.mixer + kind.first), channel, x)
                           : of(kind.mixer + kind.second)[channel] * product(of(kind.mixer + kind.first), 0, x);
      return f + of(kind.mixer + "dt_bias")[channel];
    };
    const auto rate = [&](double a, double u) {
      return kind.most == kNoBound ? std::exp(a) * std::log1p(std::exp(u))
                                   : kind.most / (1 + std::exp(-std::exp(a) * u));
    };
    for (std::size_t head = 0; head < kHeads; ++head) {
      const HeadRange range = audit.recurrent[0].heads[head];
      std::vector<double> scales(kind.a_log.begin(), kind.a_log.end());
      if (scales.empty()) scales = {0};
      if (scales.size() == kHeads) scales = {scales[head]};
      HeadRange met{kNoBound, 0, 0, kNoBound};
      const auto try_input = [&](const std::vector<double>& x, Source& source) {
        double decay[kKeys], b[kKeys];
        for (std::size_t i = 0; i < kKeys; ++i) {
          const std::size_t channel = head * kKeys + i;
          const double u = logit(channel, x);
          for (const double a : scales) {
            met.slowest = std::min(met.slowest, rate(a, u));
            met.fastest = std::max(met.fastest, rate(a, u));
          }
          decay[i] = std::exp(-rate(scales[0], u));
          const double raw = product(of(kind.mixer + "b_proj.weight"), kind.is_per_channel ? channel : head, x);
          b[i] = kind.beta / (1 + std::exp(-raw));
        }
        const double angle = 4 * source.uniform(), k[] = {std::cos(angle), std::sin(angle)};
        const auto [least, greatest] = eigenvalues(k, b, decay);
        REQUIRE(least >= range.lowest - 1e-9);
        REQUIRE(greatest <= std::exp(-range.slowest) + 1e-9);
        met.lowest = std::min(met.lowest, least);
      };
      Source source(9);
      for (int i = 0; i < 2000; ++i) {
        std::vector<double> x(kWidth);
        for (double& number : x) number = source.uniform();
        try_input(normed(x, gain), source);
      }
      for (std::size_t row = 0; row < (kind.second.empty() ? kChannels : 1); ++row)
        for (const double sign : {-1.0, 1.0}) {
          std::vector<double> x(kWidth);
          for (std::size_t j = 0; j < kWidth; ++j)
            x[j] = sign * gain[j] * of(kind.mixer + kind.first)[row * kWidth + j];
          try_input(normed(x, gain), source);
        }
      CHECK(met.slowest == doctest::Approx(range.slowest).epsilon(1e-6));
      CHECK(met.fastest == doctest::Approx(range.fastest).epsilon(1e-6));
      CHECK((met.lowest < 0) == (kind.beta == 2));
      CHECK((range.lowest < 0) == (kind.beta == 2));
    }
  }
}

TEST_CASE("two checkpoints are compared head by head, bit by bit") {
  const Scratch place("audit-two");
  Made made = gated_delta_net(5, false, 1);
  const Audit first = made.audit(place);
  CHECK_FALSE(compare_audits(first, made.audit(place)).differs());
  CHECK(compare_audits(first, first).heads == kHeads);
  auto bias = made.numbers.at("model.layers.0.attn.dt_bias");
  bias[1] = std::nextafter(bias[1], 2.0F);
  made.add("model.layers.0.attn.dt_bias", bias, {kHeads});
  AuditComparison found = compare_audits(first, made.audit(place));
  CHECK(found.differing == 1);
  CHECK(found.head.layer == 0);
  CHECK(found.head.head == 1);
  CHECK(found.head.first.slowest < found.head.second.slowest);
  made.config["allow_neg_eigval"] = true;
  found = compare_audits(first, made.audit(place));
  CHECK(found.differing == kHeads);
  CHECK(found.head.head == 0);
  CHECK(found.head.second.lowest < 0);
  made.config["attn"] = {{"layers", {0}}};
  CHECK_FALSE(compare_audits(first, made.audit(place)).is_same_shape);
}

TEST_CASE("the horizon is the last token with 2^-24 of a state, and no sooner") {
  CHECK(horizon(0) == kNoBound);
  for (const double rate : {0.5, 0.01, 1e-5}) {
    const double tokens = horizon(rate);
    CHECK(std::exp(-rate * tokens) <= 0x1p-24);
    CHECK(std::exp(-rate * (tokens - 1)) > 0x1p-24);
  }
}

TEST_CASE("a DeltaNet can hold for ever, and its flag may have been ignored") {
  const Scratch place("audit-delta");
  Made made{
      {{"model_type", "delta_net"}, {"num_hidden_layers", 1}, {"num_heads", 1}, {"allow_neg_eigval", true}}, {}, {}};
  made.add("model.layers.0.attn_norm.weight", {1, 1, 1, 1}, {4});
  made.add("model.layers.0.attn.b_proj.weight", {1, 1, 1, 1}, {1, 4});  // |w·x| ≤ 2 · 2
  const Audit audit = made.audit(place);
  CHECK(audit.all.slowest == 0);
  CHECK(audit.all.lowest == doctest::Approx(-std::tanh(2.0)).epsilon(1e-12));
  CHECK(audit.all.flip == doctest::Approx(-std::log(std::tanh(2.0))).epsilon(1e-12));
  CHECK(one_says(audit.flags, "ignored by flash-linear-attention until April 2026"));
  CHECK_FALSE(one_says(audit.fades, "rounds to −1"));
  CHECK_FALSE(one_says(audit.fades, "a state that is not written again"));
  CHECK_FALSE(one_says(audit.never, "parity of words"));
  made.config["allow_neg_eigval"] = false;
  CHECK(one_says(made.audit(place).never, "parity of words"));
  CHECK(made.audit(place).flags.empty());
  made.config["use_beta"] = false;
  CHECK(made.audit(place).all.lowest == 0);
  made.config["allow_neg_eigval"] = true;
  CHECK(made.audit(place).all.lowest == -1);
  CHECK(made.audit(place).never.empty());
  CHECK(made.audit(place).fades.empty());
}

TEST_CASE("what has faded is there: a sign is told at many horizons, and by rounding for ever") {
  const FloatEnvironment environment;
  const double rate = -std::log1p(-0x1p-12);
  const float decay = 1 - 0x1p-12f;
  float state = 10'000;
  const auto read = [](float o) { return o / std::sqrt(o * o / 8 + 1e-5f); };  // a norm of 8 numbers, one not 0
  for (double token = 0; token < 4 * horizon(rate); ++token) state *= decay;
  CHECK(state < 10'000 * 0x1p-24f);
  CHECK(read(state) > 0);
  CHECK(read(-state) < 0);
  // Rounded to nearest, a factor above ½ keeps the least number, and ½ does not.
  const float least = std::numeric_limits<float>::denorm_min();
  CHECK(least * std::nextafter(0.5f, 1.0f) == least);
  CHECK(least * 0.5f == 0);
  for (int token = 0; token < 2'000'000; ++token) state *= decay;
  CHECK(state > 0);
  CHECK(state * decay == state);
}

TEST_CASE("tokens have separators up to fifteen digits, and the least eigenvalue says what −1 lacks") {
  CHECK(tokens_text(54'381'853) == "54,381,853");
  CHECK(tokens_text(999'999'999'999'999) == "999,999,999,999,999");
  CHECK(tokens_text(1e15) == "1e+15");
  const auto lowest = [](double flip) { return lowest_text({0, kNoBound, -std::exp(-flip), flip}); };
  CHECK(lowest(0) == "at least −1");
  CHECK(lowest(1.7e-24) == "−1 + 1.7e-24");
  CHECK(lowest(9.99e-4) == "−1 + 0.000999");
  CHECK(lowest(1e-3) == "−0.999");
  CHECK(lowest_text({}) == "0");
}

TEST_CASE("factors round to 1 in the formats in which they are nearer to it than half a unit") {
  const Scratch place("audit-formats");
  // σ(cap) = 1 − e^−cap / (1 + e^−cap), against 1 − 2^−(p+1) of bf16, fp16 and fp32.
  for (const auto& [digits, name] : {std::pair{8, "bf16"}, {11, "fp16"}, {24, "fp32"}})
    for (const double beside : {0.999, 1.001}) {
      const double missing = std::ldexp(beside, -digits - 1);
      place.write(
          "config.json",
          json{{"model_type", "xlstm"}, {"num_hidden_layers", 1}, {"gate_soft_cap", std::log((1 - missing) / missing)}}
              .dump());
      const Audit audit = audit_checkpoint(place.path().string());
      CAPTURE(audit.fades.at(0));
      const std::size_t rounds = audit.fades.at(0).find("it rounds to 1 in ");
      const bool is_named = rounds != std::string::npos && audit.fades.at(0).find(name, rounds) != std::string::npos;
      CHECK(is_named == (beside < 1));
      CHECK(one_says(audit.fades, "does not limit what can be read"));
    }
}

TEST_CASE("rows of β and of the gate are told apart in Qwen3-Next's order") {
  const Scratch place("audit-qwen");
  Made made{{{"model_type", "qwen3_next"},
             {"num_hidden_layers", 4},
             {"linear_num_key_heads", 2},
             {"linear_num_value_heads", 4},
             {"allow_neg_eigval", true}},
            {},
            {}};
  for (int layer = 0; layer < 3; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    made.add(prefix + "input_layernorm.weight", {0}, {1});  // a width of 1: inputs are ±1
    made.add(prefix + "linear_attn.in_proj_ba.weight", {1, 2, 10, 20, 3, 4, 30, 40}, {8, 1});  // b b a a, twice
    made.add(prefix + "linear_attn.A_log", {0, 0, 0, 0}, {4});
    made.add(prefix + "linear_attn.dt_bias", {0, 0, 0, 0}, {4});
  }
  const Audit audit = made.audit(place);
  REQUIRE(audit.recurrent.size() == 3);
  const double gates[] = {10, 20, 30, 40}, betas[] = {1, 2, 3, 4};
  for (int head = 0; head < 4; ++head) {
    const HeadRange range = audit.recurrent[1].heads[static_cast<std::size_t>(head)];
    CHECK(range.slowest == doctest::Approx(std::log1p(std::exp(-gates[head]))).epsilon(1e-12));
    CHECK(range.lowest ==
          doctest::Approx(std::exp(-std::log1p(std::exp(gates[head]))) / (1 + std::exp(betas[head]))).epsilon(1e-9));
  }
  CHECK(one_says(audit.flags, "this class does not read it"));
  CHECK(one_says(audit.never, "parity"));
}

TEST_CASE("a config alone gives the range of its class") {
  struct Fact {
    const char* config;
    std::size_t layers, heads;
    double slowest, lowest;
    bool is_parity_excluded;
    double fastest = kNoBound;
  };
  const std::vector<Fact> facts = {
      {R"("model_type": "olmo_hybrid", "num_hidden_layers": 32)", 24, 30, 0, -1, false},
      {R"("model_type": "olmo_hybrid", "num_hidden_layers": 32, "linear_allow_neg_eigval": false)", 24, 30, 0, 0, true},
      {R"("model_type": "qwen3_next", "num_hidden_layers": 48)", 36, 32, 0, 0, true},
      {R"("model_type": "kimi_linear", "num_hidden_layers": 4,
          "linear_attn_config": {"kda_layers": [1, 2, 3], "num_heads": 32})",
       3, 32, 0, 0, true},
      {R"("model_type": "kimi_linear", "num_hidden_layers": 3, "linear_num_heads": 5,
          "layer_types": ["linear_attention", "full_attention", "linear_attention"])",
       2, 5, 0, 0, true},
      {R"("model_type": "kimi_k3", "text_config": {"num_hidden_layers": 4,
          "linear_attn_config": {"kda_layers": [1, 2, 3], "num_heads": 96, "gate_lower_bound": -5.0}})",
       3, 96, 0, 0, true, 5},
      {R"("model_type": "glm5_next", "text_config": {"num_hidden_layers": 45})", 34, 64, 0, 0, true, 5},
      {R"("model_type": "glm5_next_text", "num_hidden_layers": 4, "linear_lower_bound": null)", 3, 64, 0, 0, true},
      {R"("model_type": "glm5_next", "num_hidden_layers": 4, "linear_lower_bound": -2.5,
          "linear_attn_config": {"gate_lower_bound": null, "num_heads": 7})",
       3, 7, 0, 0, true, 5},
      {R"("model_type": "glm5_next", "num_hidden_layers": 4,
          "linear_attn_config": {"gate_lower_bound": null, "safe_gate": false})",
       3, 64, 0, 0, true},
      {R"("model_type": "bailing_hybrid", "num_hidden_layers": 42)", 35, 32, 0, 0, true, 5},
      {R"("model_type": "bailing_hybrid", "num_hidden_layers": 42, "kda_safe_gate": false)", 35, 32, 0, 0, true},
      {R"("model_type": "qwen3_5", "text_config": {"num_hidden_layers": 32, "linear_num_value_heads": 48})", 24, 48, 0,
       0, true},
      {R"("model_type": "qwen3_5_text", "num_hidden_layers": 32)", 24, 32, 0, 0, true},
      {R"("model_type": "gdn2", "num_hidden_layers": 2, "allow_neg_eigval": true)", 2, 16, 0, -1, false},
      {R"("model_type": "kda", "num_hidden_layers": 2, "safe_gate": true, "lower_bound": -5, "num_v_heads": 20)", 2, 20,
       0, 0, true, 5},
      {R"("model_type": "retnet", "num_hidden_layers": 2, "num_heads": 3)", 2, 3, -std::log1p(-1.0 / 128), 0, true,
       -std::log1p(-1.0 / 32)},
      {R"("model_type": "xlstm", "num_hidden_layers": 2)", 2, 8, std::log1p(std::exp(-15.0)), 0, true,
       std::log1p(std::exp(15.0))},
      {R"("model_type": "mamba2", "num_hidden_layers": 2, "num_heads": 5)", 2, 5, 0, 0, true},
      {R"("model_type": "rwkv7", "num_hidden_layers": 1, "hidden_size": 128)", 1, 2, 0, std::exp(-std::exp(-0.5)) - 1,
       false, std::exp(-0.5)}};
  const Scratch place("audit-config");
  for (const Fact& fact : facts) {
    CAPTURE(fact.config);
    const std::string config = fmt::format("{{{}}}", fact.config);
    place.write("config.json", config);
    const Audit audit = audit_checkpoint(place.path().string());
    CHECK_FALSE(audit.has_weights);
    CHECK(audit.recurrent.size() == fact.layers);
    CHECK(audit.recurrent[0].heads.size() == fact.heads);
    CHECK(audit.all.slowest == doctest::Approx(fact.slowest).epsilon(1e-12));
    if (fact.fastest == kNoBound)
      CHECK(audit.all.fastest == kNoBound);
    else
      CHECK(audit.all.fastest == doctest::Approx(fact.fastest).epsilon(1e-12));
    CHECK(audit.all.lowest == doctest::Approx(fact.lowest).epsilon(1e-12));
    CHECK(one_says(audit.never, "parity") == fact.is_parity_excluded);
    // In any rounding only where every number has a factor of its own.
    const std::string type = json::parse(config)["model_type"];
    CHECK(one_says(audit.never, "in any rounding") == (type == "retnet" || type == "xlstm" || type == "mamba2"));
  }
}

TEST_CASE("shards are read as one, and a shard that is missing or doubled is refused") {
  const Scratch place("audit-shards");
  const Made made = gated_delta_net(5, true, 1);
  const Audit whole = made.audit(place);
  // Beside one file, an index of shards is not read: neither is it by transformers, nor by `krohn verify`.
  place.write("model.safetensors.index.json", "{}");
  CHECK(audit_checkpoint(place.path().string()).all.lowest == whole.all.lowest);
  std::filesystem::remove(place / "model.safetensors");
  json map;
  TensorFile first, second;
  for (const auto& [name, tensor] : made.file.tensors) {
    const bool is_first = name < "model.layers.0.attn.b";
    (is_first ? first : second).tensors[name] = tensor;
    map[name] = is_first ? "a.safetensors" : "b.safetensors";
  }
  write_safetensors(first, (place / "a.safetensors").string());
  write_safetensors(second, (place / "b.safetensors").string());
  place.write("model.safetensors.index.json", json{{"weight_map", map}}.dump());
  const auto audit = [&] { return audit_checkpoint(place.path().string()); };
  CHECK(audit().all.slowest == whole.all.slowest);
  CHECK(audit().tensor_bytes == whole.tensor_bytes);
  second.tensors.insert(first.tensors.begin(), first.tensors.end());
  write_safetensors(second, (place / "b.safetensors").string());
  CHECK(contains(error_of(audit), "in another shard, too"));
  std::filesystem::remove(place / "b.safetensors");
  CHECK(contains(error_of(audit), "b.safetensors"));
  map["x"] = "../a.safetensors";
  place.write("model.safetensors.index.json", json{{"weight_map", map}}.dump());
  CHECK(contains(error_of(audit), "no file in this folder"));
}

TEST_CASE("what is not known or does not fit is refused by name") {
  const Scratch place("audit-refused");
  const auto refusal = [&](const json& config) {
    place.write("config.json", config.dump());
    return error_of([&] { audit_checkpoint(place.path().string()); });
  };
  CHECK(contains(refusal({{"model_type", "llama"}}), "known are delta_net"));
  place.write("adapter_config.json", "{}");
  CHECK(contains(refusal({{"model_type", "retnet"}, {"num_hidden_layers", 1}}), "an adapter of PEFT"));
  std::filesystem::remove(place / "adapter_config.json");
  // None is no default.
  CHECK(contains(refusal({{"model_type", "delta_net"}, {"num_hidden_layers", 1}, {"use_beta", nullptr}}), "use_beta"));
  CHECK(contains(refusal({{"model_type", "xlstm"}, {"num_hidden_layers", 1}, {"gate_soft_cap", nullptr}}),
                 "gate_soft_cap"));
  CHECK(
      contains(refusal({{"model_type", "delta_net"}, {"num_hidden_layers", 1}, {"qk_norm", "sum"}}), "longer than 1"));
  place.write(
      "config.json",
      R"({"model_type": "mamba2", "num_hidden_layers": 1, "x": "Infinity \\", "time_step_limit": [0.0, Infinity]})");
  CHECK(audit_checkpoint(place.path().string()).all.slowest == 0);
  CHECK(contains(refusal({{"model_type", "mamba2"}}), "num_hidden_layers"));
  CHECK(contains(refusal({{"model_type", "mamba2"}, {"num_hidden_layers", -1}}), "not a count"));
  CHECK(contains(refusal({{"model_type", "kda"}, {"num_hidden_layers", 1}, {"safe_gate", true}}),
                 "without a lower_bound"));
  CHECK(
      contains(refusal({{"model_type", "glm5_next"}, {"num_hidden_layers", 1}, {"linear_lower_bound", 0}}), "below 0"));
  CHECK(contains(refusal({{"model_type", "kimi_k3"}, {"num_hidden_layers", 1}}), "does not name the layers of KDA"));
  Made channels = made_of({"kimi_linear",
                           {{"layer_types", {"linear_attention"}}, {"linear_attn_config", {{"gate_lower_bound", -5}}}},
                           "model.layers.0.",
                           "self_attn.",
                           "input_layernorm.weight",
                           "f_a_proj.weight",
                           "f_b_proj.weight",
                           {0, 0, 0}},
                          3);
  CHECK(contains(error_of([&] { channels.audit(place); }), "has 3 numbers, and there are 2 heads"));
  CHECK(one_says(channels.audit(place, false).flags, "\"gate_lower_bound\" is set"));
  CHECK(contains(refusal({{"model_type", "olmo_hybrid"}, {"num_hidden_layers", 1}, {"linear_allow_neg_eigval", 1}}),
                 "not true or false"));
  Made made = gated_delta_net(5, true, 1);
  made.file.tensors.erase("model.layers.0.attn.A_log");
  CHECK(contains(error_of([&] { made.audit(place); }), "no tensor \"model.layers.0.attn.A_log\""));
  made = gated_delta_net(5, true, 1);
  made.add("model.layers.0.attn.dt_bias", {1, 2, 3}, {3});
  CHECK(contains(error_of([&] { made.audit(place); }), "has 3 numbers"));
  made = gated_delta_net(5, true, 1);
  made.add("model.layers.0.attn.a_proj.weight", {1, 2, 3, NAN, 0, 0, 0, 0}, {2, 4});
  CHECK(contains(error_of([&] { made.audit(place); }), "not finite"));
}
