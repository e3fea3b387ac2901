// The bound on sums in chunks: exact models have it, one that misses a condition has not, and a chunked evaluation in
// fp32, written out as the library's, gives the recurrence's bits.

#include "krohn/simulate/checkpoints/chunk_bound.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <random>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/checkpoints/gated_checkpoint.h"
#include "tests/error_of.h"

using namespace krohn;

namespace {

Checkpoint swaps(const std::string& name, CheckpointFamily family = CheckpointFamily::kOlmoHybrid) {
  LanguageOptions options;
  options.generators = "transpositions";
  return gated_checkpoint(named_language(name, options), family);
}

void change(Checkpoint& checkpoint, const std::string& name, const std::function<float(float)>& how) {
  Tensor& tensor = checkpoint.tensors.tensors.at("model.layers.0.attn." + name);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    float value = 0;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(float), sizeof(float));
    value = how(value);
    std::memcpy(tensor.bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
}

std::string why_not(const Checkpoint& checkpoint) {
  const ChunkBound bound = bound_in_chunks(checkpoint, CheckpointModel(checkpoint, Precision::kFp32));
  CHECK(bound.is_exact == bound.why_not.empty());
  return bound.why_not;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Chunks of 64 tokens as transformers' torch_chunk_gated_delta_rule has them, in floats; the rows of the answers.
Eigen::MatrixXf in_chunks(const CheckpointModel& model, const std::vector<std::uint32_t>& tokens, std::size_t head,
                          std::mt19937_64& random) {
  const auto keys = static_cast<Eigen::Index>(model.config().key_dim),
             values = static_cast<Eigen::Index>(model.config().value_dim);
  Eigen::MatrixXf state = Eigen::MatrixXf::Zero(keys, values), answers(tokens.size(), values);
  for (std::size_t first = 0; first < tokens.size(); first += 64) {
    const auto count = static_cast<Eigen::Index>(std::min<std::size_t>(64, tokens.size() - first));
    Eigen::MatrixXf k(count, keys), q(count, keys), v(count, values);
    Eigen::VectorXf beta(count), sums(count);
    float sum = 0;
    for (Eigen::Index t = 0; t < count; ++t) {
      const auto step = model.first_step(tokens[first + static_cast<std::size_t>(t)]);
      for (Eigen::Index i = 0; i < keys; ++i) {
        k(t, i) = step.key[head * static_cast<std::size_t>(keys) + static_cast<std::size_t>(i)];
        q(t, i) = step.query[head * static_cast<std::size_t>(keys) + static_cast<std::size_t>(i)] /
                  std::sqrt(static_cast<float>(keys));
      }
      for (Eigen::Index i = 0; i < values; ++i)
        v(t, i) = step.value[head * static_cast<std::size_t>(values) + static_cast<std::size_t>(i)];
      beta(t) = step.beta[head];
      sums(t) = sum += step.log_decay[head];
    }
    Eigen::MatrixXf a = (beta.asDiagonal() * k) * k.transpose(), attention = q * k.transpose();
    for (Eigen::Index i = 0; i < count; ++i)
      for (Eigen::Index j = 0; j < count; ++j) {
        const float decay = j > i ? 0 : std::exp(sums(i) - sums(j));
        a(i, j) = i == j ? 1 : a(i, j) * decay;
        attention(i, j) *= decay;
      }
    // Solved as a whole, or in two blocks: another order of sums.
    const Eigen::MatrixXf lower = a.triangularView<Eigen::UnitLower>();
    // Eigen's own exp stops at e^-88, which is not zero.
    const auto exponential = [](float x) { return std::exp(x); };
    const Eigen::VectorXf decays = sums.unaryExpr(exponential);
    Eigen::MatrixXf right(count, values + keys);
    right << beta.asDiagonal() * v, decays.asDiagonal() * (beta.asDiagonal() * k);
    Eigen::MatrixXf solved = right;
    if (random() % 2 == 0) {
      solved = lower.triangularView<Eigen::UnitLower>().solve(right);
    } else {
      const Eigen::MatrixXf inverse =
          lower.triangularView<Eigen::UnitLower>().solve(Eigen::MatrixXf(Eigen::MatrixXf::Identity(count, count)));
      solved = inverse * right;
    }
    const Eigen::MatrixXf update = solved.leftCols(values) - solved.rightCols(keys) * state;
    answers.middleRows(static_cast<Eigen::Index>(first), count) = decays.asDiagonal() * q * state + attention * update;
    const Eigen::VectorXf left = (sums(count - 1) - sums.array()).matrix().unaryExpr(exponential);
    state = state * decays(count - 1) + (left.asDiagonal() * k).transpose() * update;
  }
  return answers;
}

/// Token by token.
Eigen::MatrixXf recurrence(const CheckpointModel& model, const std::vector<std::uint32_t>& tokens, std::size_t head) {
  const std::size_t keys = model.config().key_dim, values = model.config().value_dim;
  std::vector<double> state(keys * values, 0);
  Eigen::MatrixXf answers(tokens.size(), values);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const auto step = model.first_step(tokens[t]);
    for (std::size_t j = 0; j < values; ++j) {
      double seen = 0, answer = 0;
      for (std::size_t i = 0; i < keys; ++i) {
        state[i * values + j] *= std::exp(double{step.log_decay[head]});
        seen += state[i * values + j] * double{step.key[head * keys + i]};
      }
      const double update = double{step.beta[head]} * (double{step.value[head * values + j]} - seen);
      for (std::size_t i = 0; i < keys; ++i) {
        state[i * values + j] += double{step.key[head * keys + i]} * update;
        answer += state[i * values + j] * double{step.query[head * keys + i]} / std::sqrt(double(keys));
      }
      answers(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(j)) = static_cast<float>(answer);
    }
  }
  return answers;
}

}  // namespace

TEST_CASE("krohn's own models of one layer are exact in chunks, in fp32 and bf16") {
  std::vector<Checkpoint> checkpoints{
      swaps("S3"), swaps("S5"), swaps("S4", CheckpointFamily::kGatedDeltaNet),
      gated_checkpoint(minimise(named_language("tomita1", {})), CheckpointFamily::kQwen3Next),
      gated_checkpoint(minimise(named_language("tomita1", {})), CheckpointFamily::kOlmoHybrid)};
  for (const Checkpoint& checkpoint : checkpoints)
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      const ChunkBound bound = bound_in_chunks(checkpoint, CheckpointModel(checkpoint, precision));
      CAPTURE(bound.why_not);
      CHECK(bound.is_exact);
      CHECK(bound.grains < 0x1p24);
      CHECK(bound.grains >= 1);
    }
  // Of longer chunks the bound grows past what floats hold.
  const Checkpoint s3 = swaps("S3");
  const CheckpointModel model(s3, Precision::kFp32);
  CHECK(bound_in_chunks(s3, model, 64).is_exact);
  CHECK(!bound_in_chunks(s3, model, 256).is_exact);
}

TEST_CASE("each condition that is missed is named") {
  Checkpoint checkpoint = swaps("S3");
  change(checkpoint, "b_proj.weight", [](float x) { return x / 4; });  // 2·sigmoid(8)
  CHECK(contains(why_not(checkpoint), "β is neither"));
  checkpoint = swaps("S3");
  change(checkpoint, "dt_bias", [](float) { return -4.f; });
  CHECK(contains(why_not(checkpoint), "logarithm is no whole number"));
  checkpoint = swaps("S3");
  change(checkpoint, "a_proj.weight", [](float x) { return x * 255 / 1024; });  // g = −127
  CHECK(contains(why_not(checkpoint), "neither 1 nor safely 0"));
  checkpoint = swaps("S3");
  change(checkpoint, "a_proj.weight", [](float x) { return x / 4; });  // g = −128
  CHECK(why_not(checkpoint).empty());
  checkpoint = swaps("S3");
  change(checkpoint, "a_proj.weight",
         [](float x) { return x * (262'271.f / 1024); });  // g = −262,143, 64 times below 2^24
  CHECK(why_not(checkpoint).empty());
  checkpoint = swaps("S3");
  change(checkpoint, "a_proj.weight", [](float x) { return x * (262'272.f / 1024); });  // −262,144
  CHECK(contains(why_not(checkpoint), "too large for a chunk"));
  checkpoint = swaps("S3");
  change(checkpoint, "k_proj.weight", [](float x) { return x / 64; });  // 10⁻⁶ is seen
  CHECK(!why_not(checkpoint).empty());
  checkpoint = swaps("S3");
  change(checkpoint, "a_proj.weight", [](float) { return 0.f; });  // writes no longer empty the state
  CHECK(contains(why_not(checkpoint), "without being emptied"));
  CHECK(contains(why_not(gated_checkpoint(minimise(named_language("tomita3", {})), CheckpointFamily::kOlmoHybrid)),
                 "several layers"));
  CHECK(contains(why_not(swaps("S3", CheckpointFamily::kKda)), "one decay for each head"));
}

TEST_CASE("products that would leave the normal numbers are refused, one power of two from those that would not") {
  for (const double end : {-1.0, 1.0}) {
    // Powers of two by which values may be scaled: from here on SiLU only halves them, or changes nothing.
    int last = end < 0 ? -60 : 20;
    const auto scaled = [&](int power) {
      Checkpoint checkpoint = swaps("S3");
      change(checkpoint, "v_proj.weight", [&](float x) { return std::ldexp(x, power); });
      return checkpoint;
    };
    while (why_not(scaled(last + static_cast<int>(end))).empty()) last += static_cast<int>(end);
    CHECK(contains(why_not(scaled(last + static_cast<int>(end))), "leave the range of fp32"));
    // The finest and the coarsest grain that the accepted one has, by the definition.
    const Checkpoint checkpoint = scaled(last);
    const CheckpointModel model(checkpoint, Precision::kFp32);
    double key = INFINITY, value = INFINITY, query = INFINITY;
    const auto grain = [](double& least, float x, double factor) {
      if (x == 0) return;
      int exponent = 0;
      long long mantissa = std::llround(std::frexp(double{x} * factor, &exponent) * 0x1p24);
      exponent -= 24;
      while (mantissa % 2 == 0) mantissa /= 2, ++exponent;
      least = std::min(least, std::ldexp(1.0, exponent));
    };
    std::vector<std::uint32_t> tokens = checkpoint.tokens.of_letter;
    tokens.push_back(*checkpoint.tokens.begin);
    for (const std::uint32_t token : tokens) {
      const auto step = model.first_step(token);
      for (const float x : step.key) grain(key, x, 1);
      for (const float x : step.query) grain(query, x, 1 / std::sqrt(model.config().key_dim));
      for (std::size_t i = 0; i < step.value.size(); ++i)
        grain(value, step.value[i], step.beta[i / model.config().value_dim]);
    }
    const double all = std::pow(key, 4) * std::min(query, 1.0) * value;
    if (end < 0) CHECK((all >= 0x1p-126 && all / 2 < 0x1p-126));
    if (end > 0) CHECK((value <= 0x1p103 && 2 * value > 0x1p103));
  }
}

TEST_CASE("chunks computed in floats, in two orders, have the bits of the recurrence") {
  for (const auto& [checkpoint, length] :
       {std::pair{swaps("S3"), 500u},
        {swaps("S5"), 300u},
        {gated_checkpoint(minimise(named_language("tomita1", {})), CheckpointFamily::kQwen3Next), 300u}}) {
    const CheckpointModel model(checkpoint, Precision::kFp32);
    std::mt19937_64 random(3);
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t t = 0; t < length; ++t)
      tokens.push_back(t % 97 == 0 ? *checkpoint.tokens.begin
                                   : checkpoint.tokens.of_letter[random() % checkpoint.automaton->letters()]);
    for (std::size_t head = 0; head < model.config().heads; ++head) {
      const Eigen::MatrixXf chunked = in_chunks(model, tokens, head, random), right = recurrence(model, tokens, head);
      Eigen::Index wrong = 0;
      while (wrong < right.rows() && chunked.row(wrong) == right.row(wrong)) ++wrong;
      CHECK(wrong == right.rows());
    }
  }
}
