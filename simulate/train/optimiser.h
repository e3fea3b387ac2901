// simulate/train/optimiser.h — AdamW (Loshchilov & Hutter 2019; Adam, Kingma & Ba 2015, where nothing decays) as
// PyTorch has it, and how the learning rate moves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/simulate/arithmetic/numbers.h"

namespace krohn {

enum class Schedule : std::uint8_t {
  kConstant,
  kCosine,  ///< from the rate down to the least rate along half a cosine (Loshchilov & Hutter 2017)
};

/// "constant", "cosine". Throws InputError listing them.
Schedule parse_schedule(std::string_view text);
std::string to_string(Schedule schedule);

struct OptimiserOptions {
  double learning_rate = 1e-3;
  Schedule schedule = Schedule::kConstant;
  std::uint64_t warm_up = 0;  ///< first steps, over which the rate grows linearly
  double least_rate = 0;      ///< where a cosine ends
  double weight_decay = 0;    ///< decoupled: every step takes rate · decay of each parameter off it
  /// Adam's own, coupled: so many times each parameter is added to its clipped gradient, as torch.optim.Adam does by
  /// its weight_decay.
  double coupled_decay = 0;
  double clip = 0;               ///< greatest Euclidean norm of a gradient; 0: none
  std::uint64_t steps = 20'000;  ///< of the whole run
  friend bool operator==(const OptimiserOptions&, const OptimiserOptions&) = default;
};

/// The rate of step 1, 2, ….
double learning_rate_at(const OptimiserOptions& options, std::uint64_t step);

/// The factors of step 1, 2, …: the rate with Adam's corrections for its start, and what decay leaves.
float corrected_rate(const OptimiserOptions& options, std::uint64_t step);
/// The number added to the root of the mean square. Adam and PyTorch add ε = 10⁻⁸ to the corrected root √(v/c), where
/// c = 1 − 0.999^step; the rate above has the factor √c, so beside √v it is ε √c.
float corrected_epsilon(std::uint64_t step);
float kept_share(const OptimiserOptions& options, std::uint64_t step);

/// The optimiser's memory; a step needs nothing else.
class AdamW {
 public:
  explicit AdamW(std::size_t parameters) : mean(parameters, 0), square(parameters, 0) {}

  /// Moves the parameters from `first` on; `step` counts from 1. Returns false, and moves nothing, when the gradient's
  /// norm is not finite. The threads change no bit.
  bool step(const OptimiserOptions& options, std::uint64_t step, std::size_t first, std::span<const float> gradient,
            std::span<float> parameters, unsigned threads = 1);
  /// The same, where the gradient by some parameters is `outer`, and that in the list is not read. Of its norm no more
  /// is known than whether it is finite: not for options that takes_outer refuses.
  bool step(const OptimiserOptions& options, std::uint64_t step, std::size_t first, std::span<const float> gradient,
            const OuterGradient<float>& outer, std::span<float> parameters, unsigned threads);
  static bool takes_outer(const OptimiserOptions& options) { return options.clip == 0 && options.coupled_decay == 0; }

  std::vector<float> mean, square;
};

}  // namespace krohn
