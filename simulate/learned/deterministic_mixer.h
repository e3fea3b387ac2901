// simulate/learned/deterministic_mixer.h — the mixers of stacked models, token by token, in the arithmetic of
// simulate/learned/deterministic_model.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/learned/deterministic_model.h"
#include "krohn/simulate/models/block_mixer.h"
#include "krohn/simulate/models/diagonal_mixer.h"
#include "krohn/simulate/models/reflection_mixer.h"

namespace krohn {

template <class Real>
class DeterministicMixer {
 public:
  virtual ~DeterministicMixer() = default;

  /// Numbers that are remembered; `start` writes those before the first token, over zeros.
  virtual std::size_t memory() const = 0;
  virtual void start(std::span<Real>) const {}
  virtual std::vector<typename DeterministicModel<Real>::Part> states() const = 0;
  virtual std::vector<StateBlock> blocks() const = 0;
  /// Of a token behind copies of itself.
  virtual LetterMaps maps(std::span<const Real> looked) const = 0;

  /// All that the token alone decides, so that the first layer has it once for every letter.
  virtual std::vector<Real> look(std::span<const Real> x) const = 0;
  /// Remembers the token, and adds to y; an empty y is not computed.
  virtual void run(std::span<const Real> looked, std::span<Real> memory, std::span<Real> y) const = 0;
};

/// The mixer whose parts have names that begin with `prefix`: "layer0.mixer.".
template <class Real>
std::unique_ptr<DeterministicMixer<Real>> plain_mixer(
    const std::variant<ReflectionShape, DiagonalShape, BlockShape>& shape, const TensorFile& tensors,
    const std::string& prefix);

extern template std::unique_ptr<DeterministicMixer<float>> plain_mixer(
    const std::variant<ReflectionShape, DiagonalShape, BlockShape>&, const TensorFile&, const std::string&);
extern template std::unique_ptr<DeterministicMixer<double>> plain_mixer(
    const std::variant<ReflectionShape, DiagonalShape, BlockShape>&, const TensorFile&, const std::string&);

}  // namespace krohn
