// simulate/operations/stated_lists.h — the definition of what a list of operations computes: list after list, number
// after number, each by the function that docs/reference/certificate-file.md states. Slow; a plan
// (simulate/operations/plan.h) takes from it what does not depend on the memory, and its loops are compared with it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/operations/step_kernels.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

/// The inputs that a list depends on; the token's lists may depend on constants, and the memory's on all.
enum class Dependence : std::uint8_t { kNothing, kToken, kMemory };

/// A computed list as a step: the places of its operands in their lists, by axis. Axes that run on in every operand are
/// one axis; up to three are left, the last ones of four. Throws LimitError where more are.
Step step_of(const Operation& operation, StepFunction function);

/// Numbers of the format, those of bf16 in floats. Not shared by threads.
template <class Real>
class StatedLists {
 public:
  /// Computes the lists that depend on nothing. Throws InputError for a tensor that is not there or holds no numbers,
  /// for an unknown operation, and for a view of numbers that its list does not have.
  StatedLists(const Operations& operations, const TensorFile& tensors);

  std::size_t count() const { return values_.size(); }
  Dependence dependence(std::size_t list) const { return depends_[list]; }
  /// For a computed operation.
  StepFunction function(std::size_t list) const { return functions_[list]; }
  std::uint32_t size(std::size_t list) const { return sizes_[list]; }
  /// Those of the token or the memory read last.
  const std::vector<Real>& values(std::size_t list) const { return values_[list]; }
  std::size_t remembered() const { return remembered_; }

  /// Computes the lists of the token alone, or among these those that are `wanted`.
  void read_token(std::uint32_t token, const std::vector<bool>& wanted = {});
  /// Computes the lists that depend on the memory, behind read_token.
  void read_memory(std::span<const Real> memory);
  /// The memory after it, −0 as +0.
  std::vector<Real> kept() const { return joined(operations_.keep); }
  std::vector<Real> start() const { return joined(operations_.start); }

 private:
  std::vector<Real> joined(const std::vector<std::uint32_t>& lists) const;
  void prepare(std::size_t list, const TensorFile& tensors);
  void compute(std::size_t list);

  const Operations& operations_;
  bool is_bf16_;
  std::vector<std::vector<Real>> values_;
  std::vector<Dependence> depends_;
  std::vector<StepFunction> functions_;
  std::vector<std::uint32_t> sizes_;
  std::size_t remembered_ = 0;
};

extern template class StatedLists<float>;
extern template class StatedLists<double>;

}  // namespace krohn
