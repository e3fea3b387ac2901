// simulate/learned/rotation_planes.h — what a trained model of rotations does in every plane (Ebrahimi & Memisevic
// 2025, App. C.2 and Fig. 3).
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/simulate/models/sequence_model.h"

namespace krohn {

struct RotationPlane {
  std::uint32_t plane = 0;
  double readout = 0;         ///< the norm of the read-out's weights of its two coordinates
  std::vector<double> turns;  ///< by which each letter of the model rotates, as learned: any number
  /// The turn of the letter 1 by 1/m: a whole number k where the plane counts k x modulo m.
  double harmonic(std::uint32_t m) const { return turns[1] * m; }
};

/// The planes in the order of their read-out's norms, the greatest first. Throws InputError for another model than
/// bilinear:rotations.
std::vector<RotationPlane> rotation_planes(const SequenceModel<float>& model);

}  // namespace krohn
