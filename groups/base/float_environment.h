// groups/base/float_environment.h — the floating-point environment that every number here is defined in: IEEE 754 as it
// stands, rounded to nearest, subnormal numbers kept. A process may have another one without knowing it: a library that
// was linked with -ffast-math, or torch.set_flush_denormal(True), changes it for a whole thread.
#pragma once

#include <cfenv>
#include <cfloat>
#include <limits>
#include <optional>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0)
#error "krohn proves what every rounding does: compile without -ffast-math and its parts"
#endif

namespace krohn {

static_assert(FLT_EVAL_METHOD == 0, "float and double are computed as such: on x86, -mfpmath=sse");
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);
static_assert(LDBL_MANT_DIG >= 64, "a weight is rounded from long double, which needs more digits than double");

/// While one lives, its thread rounds to nearest, keeps subnormal numbers and traps nothing; then the thread has the
/// environment that it had before, flags included. Where there is nothing to change it costs a look at two registers.
/// Every function that computes or reads numbers takes one, and so does every thread that works for it.
class FloatEnvironment {
 public:
  /// Throws SystemError when the processor, or what emulates it, does not compute so.
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::optional<std::fenv_t> before_;  ///< nothing where it was the right one
};

/// While one lives, its thread takes subnormal numbers for 0, where the processor can. On some a sum with one takes as
/// long as a hundred others, and gradients through long words are full of them. For steps of training alone, of which
/// nothing is proved; a FloatEnvironment within keeps subnormal numbers again.
class SubnormalsAsZero {
 public:
  explicit SubnormalsAsZero(bool wanted = true);
  ~SubnormalsAsZero();
  SubnormalsAsZero(const SubnormalsAsZero&) = delete;
  SubnormalsAsZero& operator=(const SubnormalsAsZero&) = delete;

  /// True if one has its way in this thread: threads that work for it have to have their own.
  static bool here();

 private:
  std::optional<unsigned> before_;
};

}  // namespace krohn
