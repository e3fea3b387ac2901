#include "krohn/simulate/checkpoints/chunk_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace krohn {
namespace {

constexpr double kWhole = 0x1p24;          ///< whole numbers up to here are floats
constexpr double kLeastNormal = 0x1p-126;  ///< whole numbers of grains from here on neither vanish nor are flushed
constexpr double kLargestGrain = 0x1p103;  ///< 2^24 of these are finite floats
constexpr double kEmpties = -128;  ///< e^x is zero in fp32 from −104 on, and by whatever algorithm from here on
constexpr std::uint64_t kMostProducts = std::uint64_t{1} << 30;

bool is_whole(double x) { return x == std::floor(x); }

/// The greatest power of two of which the number is a multiple. Not of zero.
double grain_of(double x) {
  int exponent = 0;
  double mantissa = std::frexp(std::abs(x), &exponent);
  while (!is_whole(mantissa)) mantissa *= 2, --exponent;
  double grain = std::ldexp(1.0, exponent);
  while (is_whole(x / (2 * grain))) grain *= 2;
  return grain;
}

/// The least grain and the greatest size of some numbers; zero has neither.
struct Extent {
  double grain = INFINITY, size = 0;
  void add(double x) {
    if (x == 0) return;
    grain = std::min(grain, grain_of(x));
    size = std::max(size, std::abs(x));
  }
  double grains() const { return size == 0 ? 0 : size / grain; }
};

/// One head of the first layer, token by token.
struct Step {
  std::uint32_t token = 0;
  std::span<const float> key, value, query;
  double beta = 0, log_decay = 0;
  bool empties() const { return log_decay != 0; }
  bool writes() const {
    const auto is_not_zero = [](float x) { return x != 0; };
    return beta != 0 && std::ranges::any_of(key, is_not_zero) && std::ranges::any_of(value, is_not_zero);
  }
};

/// Numbers are dyadic floats of few bits here, or the sum of products is not exact and not whole either way: then it is
/// refused.
std::optional<double> product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double term = double{a[i]} * double{b[i]}, next = sum + term;
    if (next - sum != term || next - term != sum) return std::nullopt;
    sum = next;
  }
  return sum;
}

std::string refusal(const Step& step, const std::string& what) {
  return fmt::format("of token {} {}", step.token, what);
}

/// What of 1 to 4 does not hold; empty when all does.
std::string refusal_of(const std::vector<Step>& steps, std::uint32_t chunk) {
  bool reflects = false, keeps_writing = false;
  for (const Step& step : steps) {
    if (step.beta != 0 && step.beta != 1 && step.beta != 2) return refusal(step, "β is neither 0, 1 nor 2");
    if (!is_whole(step.log_decay) || step.log_decay > 0 || -step.log_decay * chunk >= kWhole)
      return refusal(step, "the decay's logarithm is no whole number, or too large for a chunk");
    if (step.empties() && step.log_decay > kEmpties) return refusal(step, "the decay is neither 1 nor safely 0");
    const auto length = product(step.key, step.key);
    if (!length || *length > 1) return refusal(step, "the key is longer than 1, or rounds");
    reflects = reflects || (step.beta != 0 && step.beta != 1 && *length != 0) || (*length != 0 && *length != 1);
    keeps_writing = keeps_writing || (step.writes() && !step.empties());
  }
  for (const Step& step : steps) {
    if (step.empties()) continue;
    for (const Step& other : steps) {
      const auto both = product(step.key, other.key);
      if (!both || !is_whole(step.beta * *both))
        return refusal(step, fmt::format("the key meets that of token {} in no whole number", other.token));
      if (keeps_writing && (reflects || (*both != 0 && *both != 1)))
        return refusal(step, "the head is written to without being emptied, and its keys are not orthonormal");
    }
  }
  return {};
}

/// Where 1 to 4 hold: the grains of the greatest sum; infinity where 6 does not.
double grains_of(const std::vector<Step>& steps, double chunk) {
  Extent keys, values, queries;
  for (const Step& step : steps) {
    for (const float x : step.key) keys.add(double{x});
    for (const float x : step.query) queries.add(double{x});
    for (const float x : step.value) values.add(step.beta * double{x});
  }
  if (keys.size == 0) return 0;
  const double width = static_cast<double>(steps.front().key.size());
  // No sum has more factors than four numbers of keys, one of values and one of queries over √K.
  const double four = std::pow(keys.grain, 4), query = queries.size == 0 ? 1 : queries.grain / std::sqrt(width);
  const double value = values.size == 0 ? 1 : values.grain;
  const double finest = std::min(four, 1.0) * std::min(query, 1.0) * std::min(value, 1.0),
               coarsest = std::max(four, 1.0) * std::max(query, 1.0) * std::max(value, 1.0);
  if (finest < kLeastNormal || coarsest > kLargestGrain) return INFINITY;
  const double key = 2 * keys.grains(), written = values.grains();  // of β k, and of β v
  const double met = 2 / (keys.grain * keys.grain);                 // β k·k' in parts
  const double solving = 1 + 2 * chunk * (2 * chunk);            // r_i − Σ A_im x_m, where |x| ≤ 2 · chunk · |r|
  const double inverting = 2 * chunk * solving;                  // and where blocks of T stand for those of A
  const double state = std::sqrt(width) * written / keys.grain;  // S, of grains of keys and values
  const double read = width * (2 * chunk * key) * state;         // Y S in parts, of grains of keys² and values
  const double update = read + inverting * written / (keys.grain * keys.grain);  // X − Y S in parts
  const double u = 2 * (1 + std::sqrt(width)) * written;  // |u| ≤ β (|v| + |S|), whole by the values
  const double added = state + chunk * key * u;           // S + Kᵀ u
  const double answer = width * queries.grains() * (state + chunk * key * u);  // q S + (q·k) u
  return std::max({met, inverting * key, inverting * written, read, update, added, answer});
}

}  // namespace

ChunkBound bound_in_chunks(const Checkpoint& checkpoint, const CheckpointModel& model, std::uint32_t chunk) {
  const CheckpointConfig& config = model.config();
  ChunkBound bound;
  const auto no = [&](std::string why) {
    bound.why_not = std::move(why);
    return bound;
  };
  if (config.layers != 1) return no("there are several layers");
  if (traits_of(config.family).decay != Decay::kHead) return no("its layers do not have one decay for each head");
  if (config.convolution_taps > 1) return no("a convolution looks at tokens before");
  std::set<std::uint32_t> tokens(checkpoint.tokens.of_letter.begin(), checkpoint.tokens.of_letter.end());
  if (checkpoint.tokens.begin) tokens.insert(*checkpoint.tokens.begin);
  const std::size_t keys = config.key_dim, values = config.value_dim;
  if (std::popcount(keys) != 1 || std::countr_zero(keys) % 2 != 0) return no("√K is no power of two");
  if (tokens.size() * tokens.size() * config.heads * keys > kMostProducts) return no("there are too many letters");
  std::vector<CheckpointModel::FirstStep> rows;
  for (const std::uint32_t token : tokens) rows.push_back(model.first_step(token));
  for (std::size_t head = 0; head < config.heads; ++head) {
    std::vector<Step> steps;
    auto token = tokens.begin();
    for (const CheckpointModel::FirstStep& row : rows) {
      steps.push_back(
          {*token++, std::span(row.key).subspan(head * keys, keys), std::span(row.value).subspan(head * values, values),
           std::span(row.query).subspan(head * keys, keys), double{row.beta[head]}, double{row.log_decay[head]}});
      // Of a key that is zero nothing comes, whatever its β.
      if (std::ranges::all_of(steps.back().key, [](float x) { return x == 0; })) steps.back().beta = 0;
    }
    if (std::string why = refusal_of(steps, chunk); !why.empty()) return no(std::move(why));
    bound.grains = std::max(bound.grains, grains_of(steps, chunk));
  }
  bound.is_exact = bound.grains < kWhole;
  if (std::isinf(bound.grains)) return no("its numbers, multiplied, leave the range of fp32");
  if (!bound.is_exact) bound.why_not = fmt::format("a sum may have {:.0f} grains, and 2^24 are exact", bound.grains);
  return bound;
}

}  // namespace krohn
