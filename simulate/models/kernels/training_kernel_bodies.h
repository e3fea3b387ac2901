// simulate/models/kernels/training_kernel_bodies.h — the loops behind TrainingKernels, for vectors of kLanes numbers
// and products in tiles of kRows rows. Included by one translation unit for every instruction set, and nothing else.
#pragma once

#include "krohn/simulate/models/kernels/training_products.h"
#include "krohn/simulate/models/kernels/training_reflections.h"
#include "krohn/simulate/models/kernels/training_rows.h"
#include "krohn/simulate/models/kernels/training_scans.h"

namespace krohn {
namespace {

template <class Real, std::size_t kLanes, std::size_t kRows>
void reflect(const Reflections<Real>& run) {
  with_lanes<kLanes>(run.values > run.keys ? run.values : run.keys,
                     [&](auto lanes) { ReflectionChunks<Real, decltype(lanes)::count, kRows>(run).forward(); });
}

template <class Real, std::size_t kLanes, std::size_t kRows>
void reflect_adjoint(const Reflections<Real>& run, const ReflectionsAdjoint<Real>& adjoint) {
  with_lanes<kLanes>(run.values > run.keys ? run.values : run.keys,
                     [&](auto lanes) { ReflectionChunks<Real, decltype(lanes)::count, kRows>(run).adjoint(adjoint); });
}

template <class Real, std::size_t kLanes, std::size_t kRows>
TrainingKernels<Real> kernels() {
  return {&add_product<Real, kLanes, kRows>,
          &reflect<Real, kLanes, kRows>,
          &reflect_adjoint<Real, kLanes, kRows>,
          &scan_diagonal<Real>,
          &scan_diagonal_adjoint<Real>,
          &scan_blocks<Real>,
          &scan_blocks_adjoint<Real>,
          &rms_norm<Real, kLanes>,
          &rms_norm_adjoint<Real, kLanes>,
          &unit_norm<Real, kLanes>,
          &unit_norm_adjoint<Real, kLanes>,
          &silu<Real, kLanes>,
          &silu_adjoint<Real, kLanes>,
          &gate<Real, kLanes>,
          &gate_adjoint<Real, kLanes>,
          &exponentials<Real, kLanes>,
          &squares<Real, kLanes>,
          &adam<Real, kLanes>};
}

}  // namespace
}  // namespace krohn
