#include "krohn/simulate/train/optimiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"

namespace krohn {
namespace {

// Adam's constants, as published.
constexpr float kMeanDecay = 0.9f, kSquareDecay = 0.999f;
constexpr double kEpsilon = 1e-8;

/// The share of work that a thread takes at a time: parameters, and columns of a matrix whose gradient is a product.
constexpr std::size_t kStretch = 1 << 15, kColumns = 512;
constexpr std::size_t kDecayed = 1 << 10;  ///< parameters whose gradients it decays at a time

struct Stretch {
  std::size_t first, count;
};

std::vector<Stretch> stretches(std::size_t first, std::size_t end) {
  std::vector<Stretch> result;
  for (; first < end; first += kStretch) result.push_back({first, std::min(kStretch, end - first)});
  return result;
}

double squares_of(const std::vector<Stretch>& parts, std::span<const float> numbers, unsigned threads) {
  std::vector<double> squares(parts.size());
  parallel_for(parts.size(), threads, [&](std::size_t i) {
    squares[i] = training_kernels<float>().squares(numbers.data() + parts[i].first, parts[i].count);
  });
  return std::accumulate(squares.begin(), squares.end(), 0.0);
}

/// Returns the parameters from `first` on.
AdamStep<float> part_of(AdamStep<float> all, std::size_t first, std::size_t count) {
  all.count = count;
  all.mean += first, all.square += first, all.parameters += first;
  return all;
}

void move_stretch(const AdamStep<float>& all, const Stretch& part, std::span<const float> gradient, float decay = 0) {
  const auto move = [&](std::size_t from, std::size_t count, const float* of, float scale) {
    AdamStep<float> own = part_of(all, from, count);
    own.gradient = of;
    own.scale = scale;
    training_kernels<float>().adam(own);
  };
  if (!(decay > 0)) return move(part.first, part.count, gradient.data() + part.first, all.scale);
  std::array<float, kDecayed> decayed;
  const std::size_t end = part.first + part.count;
  for (std::size_t from = part.first; from < end; from += kDecayed) {
    const std::size_t count = std::min(kDecayed, end - from);
    for (std::size_t j = 0; j < count; ++j)
      decayed[j] = all.scale * gradient[from + j] + decay * all.parameters[from + j];
    move(from, count, decayed.data(), 1);
  }
}

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

namespace {

/// For all parameters.
AdamStep<float> move_of(AdamW& moments, const OptimiserOptions& options, std::uint64_t step, float scale,
                        std::span<float> parameters) {
  return {0,
          nullptr,
          scale,
          kMeanDecay,
          kSquareDecay,
          corrected_rate(options, step),
          kept_share(options, step),
          corrected_epsilon(step),
          moments.mean.data(),
          moments.square.data(),
          parameters.data()};
}

}  // namespace

bool AdamW::step(const OptimiserOptions& options, std::uint64_t step, std::size_t first,
                 std::span<const float> gradient, std::span<float> parameters, unsigned threads) {
  const double norm = std::sqrt(squares_of(stretches(0, gradient.size()), gradient, threads));
  if (!std::isfinite(norm)) return false;
  const auto scale = static_cast<float>(options.clip > 0 && norm > options.clip ? options.clip / norm : 1),
             decay = static_cast<float>(options.coupled_decay);
  const AdamStep<float> all = move_of(*this, options, step, scale, parameters);
  const std::vector<Stretch> parts = stretches(first, gradient.size());
  parallel_for(
      parts.size(), threads, [&](std::size_t i) { move_stretch(all, parts[i], gradient, decay); }, Sharing::kSame);
  return true;
}

bool AdamW::step(const OptimiserOptions& options, std::uint64_t step, std::size_t first,
                 std::span<const float> gradient, const OuterGradient<float>& outer, std::span<float> parameters,
                 unsigned threads) {
  if (outer.terms == 0) return this->step(options, step, first, gradient, parameters, threads);
  const std::size_t end = outer.first + outer.rows * outer.columns;
  std::vector<Stretch> parts = stretches(std::min(first, outer.first), outer.first);
  for (const Stretch& part : stretches(end, gradient.size())) parts.push_back(part);
  const double sum = squares_of(parts, gradient, threads) +
                     squares_of(stretches(0, outer.left.size()), outer.left, threads) +
                     squares_of(stretches(0, outer.right.size()), outer.right, threads);
  if (!std::isfinite(sum)) return false;
  const AdamStep<float> all = move_of(*this, options, step, 1, parameters);
  const std::size_t blocks = (outer.columns + kColumns - 1) / kColumns;
  const auto move_part = [&](std::size_t i) {
    if (i >= blocks) return move_stretch(all, parts[i - blocks], gradient);
    const std::size_t column = i * kColumns;
    training_kernels<float>().outer_adam(
        {part_of(all, outer.first + column, std::min(kColumns, outer.columns - column)), outer.rows, outer.columns,
         outer.terms, outer.left.data(), outer.rows, outer.right.data() + column, outer.columns});
  };
  parallel_for(blocks + parts.size(), threads, move_part, Sharing::kSame);
  return true;
}

}  // namespace krohn
