// The loops behind TrainingKernels, for vectors of kLanes numbers and products in tiles of kRows rows. Compiled once
// for every instruction set (krohn_kernel_for in CMakeLists.txt), which gives KROHN_TILES: its kLanes, kRows.

#include "krohn/simulate/models/kernels/training_combinations.h"
#include "krohn/simulate/models/kernels/training_letter_reflections.h"
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

/// body(ReflectionsByLetter), with C's rows counted when compiling where coefficients are all that is asked for.
template <class Real, std::size_t kLanes, class Body>
void by_letter(const LetterReflections<Real>& letters, const Body& body) {
  const std::size_t values = letters.run.values, rows = letters.run.sources * letters.run.reflections;
  with_lanes<kLanes>(values, [&](auto lanes) {
    constexpr std::size_t kOwn = decltype(lanes)::count, kMax = kOwn < kMaxLetterRows ? kOwn : kMaxLetterRows;
    constexpr std::size_t kLeast = kOwn > 4 ? kOwn / 2 + 1 : 1;
    if (values != rows || values > kMax) return body(ReflectionsByLetter<Real, kOwn, 0>(letters));
    with_extent<kMax, kLeast>(
        rows, [&](auto extent) { body(ReflectionsByLetter<Real, kOwn, decltype(extent)::count>(letters)); });
  });
}

template <class Real, std::size_t kLanes>
void reflect_letters(const LetterReflections<Real>& letters) {
  by_letter<Real, kLanes>(letters, [](auto&& run) { run.forward(); });
}

template <class Real, std::size_t kLanes>
void reflect_letters_adjoint(const LetterReflections<Real>& letters, const ReflectionsAdjoint<Real>& adjoint) {
  by_letter<Real, kLanes>(letters, [&](auto&& run) { run.adjoint(adjoint); });
}

template <class Real, std::size_t kLanes, std::size_t kRows>
TrainingKernels<Real> kernels() {
  return {&add_product<Real, kLanes, kRows>,
          &multiply_rows<Real, kLanes, kRows>,
          &add_dots<Real, kLanes>,
          &reflect<Real, kLanes, kRows>,
          &reflect_adjoint<Real, kLanes, kRows>,
          &reflect_letters<Real, kLanes>,
          &reflect_letters_adjoint<Real, kLanes>,
          &scan_diagonal<Real>,
          &scan_diagonal_adjoint<Real>,
          &scan_selectively<Real, kLanes>,
          &scan_selectively_adjoint<Real, kLanes>,
          &step_cells<Real, kLanes>,
          &step_cells_adjoint<Real, kLanes>,
          &scan_blocks<Real>,
          &scan_blocks_adjoint<Real>,
          &rms_norm<Real, kLanes>,
          &rms_norm_adjoint<Real, kLanes>,
          &unit_norm<Real, kLanes>,
          &unit_norm_adjoint<Real, kLanes>,
          &silu<Real, kLanes>,
          &silu_adjoint<Real, kLanes>,
          &softplus<Real, kLanes>,
          &softplus_adjoint<Real, kLanes>,
          &gate<Real, kLanes>,
          &gate_adjoint<Real, kLanes>,
          &scaled_gate<Real, kLanes>,
          &scaled_gate_adjoint<Real, kLanes>,
          &rms_scales<Real, kLanes>,
          &rms_scales_adjoint<Real, kLanes>,
          &combine<Real, kLanes>,
          &combine_adjoint<Real, kLanes>,
          &gram_norm<Real, kLanes>,
          &gram_norm_adjoint<Real, kLanes>,
          &softmax<Real, kLanes>,
          &squares<Real, kLanes>,
          &adam<Real, kLanes>,
          &outer_adam<Real, kLanes>};
}

}  // namespace

#ifdef KROHN_TILES
TrainingKernels<float> portable_training_kernels() { return kernels<float, KROHN_TILES>(); }
#else
TrainingKernels<float> portable_training_kernels() { return kernels<float, 4, 4>(); }
TrainingKernels<double> portable_double_training_kernels() { return kernels<double, 2, 4>(); }
#endif

}  // namespace krohn
