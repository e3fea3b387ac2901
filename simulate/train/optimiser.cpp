#include "krohn/simulate/train/optimiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "krohn/groups/error.h"
#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"

namespace krohn {
namespace {

// Adam's constants, as published.
constexpr float kMeanDecay = 0.9f, kSquareDecay = 0.999f;
constexpr double kEpsilon = 1e-8;

constexpr std::size_t kStretch = 1 << 15;  ///< parameters that a thread takes at a time
constexpr std::size_t kDecayed = 1 << 10;  ///< of them, whose gradients it decays at a time

/// 1 − decay^step.
double correction(float decay, std::uint64_t step) { return 1 - stated::pow(decay, static_cast<double>(step)); }

}  // namespace

Schedule parse_schedule(std::string_view text) {
  if (text == "constant") return Schedule::kConstant;
  if (text == "cosine") return Schedule::kCosine;
  throw InputError(fmt::format("schedule \"{}\" is not known; take constant or cosine", text));
}

std::string to_string(Schedule schedule) { return schedule == Schedule::kConstant ? "constant" : "cosine"; }

double learning_rate_at(const OptimiserOptions& options, std::uint64_t step) {
  if (step <= options.warm_up)
    return options.learning_rate * static_cast<double>(step) / static_cast<double>(options.warm_up);
  if (options.schedule == Schedule::kConstant || options.steps <= options.warm_up) return options.learning_rate;
  const double done =
      static_cast<double>(step - options.warm_up) / static_cast<double>(options.steps - options.warm_up);
  const double height = (1 + stated::cos(std::numbers::pi * std::min(done, 1.0))) / 2;
  return options.least_rate + (options.learning_rate - options.least_rate) * height;
}

float corrected_rate(const OptimiserOptions& options, std::uint64_t step) {
  return static_cast<float>(learning_rate_at(options, step) * std::sqrt(correction(kSquareDecay, step)) /
                            correction(kMeanDecay, step));
}

float corrected_epsilon(std::uint64_t step) {
  return static_cast<float>(kEpsilon * std::sqrt(correction(kSquareDecay, step)));
}

float kept_share(const OptimiserOptions& options, std::uint64_t step) {
  return static_cast<float>(1 - learning_rate_at(options, step) * options.weight_decay);
}

bool AdamW::step(const OptimiserOptions& options, std::uint64_t step, std::size_t first,
                 std::span<const float> gradient, std::span<float> parameters, unsigned threads) {
  const auto& kernels = training_kernels<float>();
  const std::size_t all = gradient.size();
  std::vector<double> squares((all + kStretch - 1) / kStretch);
  parallel_for(squares.size(), threads, [&](std::size_t i) {
    squares[i] = kernels.squares(gradient.data() + i * kStretch, std::min(kStretch, all - i * kStretch));
  });
  const double norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  if (!std::isfinite(norm)) return false;
  const auto scale = static_cast<float>(options.clip > 0 && norm > options.clip ? options.clip / norm : 1),
             decay = static_cast<float>(options.coupled_decay);
  const float rate = corrected_rate(options, step), kept = kept_share(options, step), epsilon = corrected_epsilon(step);
  parallel_for((all - first + kStretch - 1) / kStretch, threads, [&](std::size_t i) {
    const auto move = [&](std::size_t from, std::size_t count, const float* of, float scaled) {
      kernels.adam({count, of, scaled, kMeanDecay, kSquareDecay, rate, kept, epsilon, mean.data() + from,
                    square.data() + from, parameters.data() + from});
    };
    const std::size_t begin = first + i * kStretch, end = std::min(begin + kStretch, all);
    if (!(decay > 0)) return move(begin, end - begin, gradient.data() + begin, scale);
    std::array<float, kDecayed> decayed;
    for (std::size_t from = begin; from < end; from += kDecayed) {
      const std::size_t count = std::min(kDecayed, end - from);
      for (std::size_t j = 0; j < count; ++j) decayed[j] = scale * gradient[from + j] + decay * parameters[from + j];
      move(from, count, decayed.data(), 1);
    }
  });
  return true;
}

}  // namespace krohn
