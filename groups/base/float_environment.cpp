#include "krohn/groups/base/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

/// The rounding that the registers lead to, tried out; volatile, so that the compiler does not compute it beforehand.
bool computes_as_it_should() {
  const volatile double one = 1, half_a_unit = 0x1p-53, least = DBL_MIN, tiny = 0x1p-1060, near_one = 1 + 0x1p-30;
  const volatile float least_float = FLT_MIN, tiny_float = 0x1p-140F;
  const bool is_nearest = one + half_a_unit == 1 && one - half_a_unit / 2 == 1;
  const volatile double half_of_least = least / 2;
  const volatile float half_of_least_float = least_float / 2;
  const bool keeps_subnormals = half_of_least + half_of_least == least && tiny + tiny != 0 &&
                                half_of_least_float + half_of_least_float == least_float &&
                                tiny_float + tiny_float != 0;
  const bool rounds_products = near_one * near_one - (1 + 0x1p-29) == 0;  // fused, it would leave 2^-60
  return is_nearest && keeps_subnormals && rounds_products;
}

#if defined(__x86_64__)

/// Nearest, no flush to zero, no denormals-are-zero, all exceptions masked.
constexpr unsigned kControl = 0x1F80, kControlBits = 0xFFC0;
/// The same for the 80-bit registers of long double, whose precision has a field of its own: all 64 digits.
constexpr unsigned short kLongControl = 0x033F, kLongControlBits = 0x0F3F;

bool is_set() {
  unsigned short long_control = 0;
  asm volatile("fnstcw %0" : "=m"(long_control));
  return (_mm_getcsr() & kControlBits) == kControl && (long_control & kLongControlBits) == kLongControl;
}

constexpr unsigned kFlushes = 0x8040;
thread_local int as_zero = 0;  ///< SubnormalsAsZero that live

void set() {
  std::fesetenv(FE_DFL_ENV);  // long double's, and whatever else the system knows of
  _mm_setcsr(kControl);       // old C libraries leave the two flushes as they are
}

#else

bool is_set() { return std::fegetround() == FE_TONEAREST && computes_as_it_should(); }

void set() {
  std::fesetenv(FE_DFL_ENV);
  std::fesetround(FE_TONEAREST);
}

#endif

}  // namespace

FloatEnvironment::FloatEnvironment() {
  if (is_set()) return;
  std::fenv_t before;
  const bool was_kept = std::fegetenv(&before) == 0;
  set();
  if (was_kept && is_set() && computes_as_it_should()) {
    before_ = before;
    return;
  }
  if (was_kept) std::fesetenv(&before);
  throw SystemError(
      "floating point does not round to nearest with subnormal numbers here, and could not be made to; krohn's numbers "
      "would not be those of its certificates. Run it without the emulator or tool that fixes the rounding mode");
}

FloatEnvironment::~FloatEnvironment() {
  if (before_) std::fesetenv(&*before_);
}

#if defined(__x86_64__)

SubnormalsAsZero::SubnormalsAsZero(bool wanted) {
  if (!wanted) return;
  before_ = _mm_getcsr() & kFlushes;
  _mm_setcsr(_mm_getcsr() | kFlushes);
  ++as_zero;
}

SubnormalsAsZero::~SubnormalsAsZero() {
  if (!before_) return;
  _mm_setcsr((_mm_getcsr() & ~kFlushes) | *before_);
  --as_zero;
}

bool SubnormalsAsZero::here() { return as_zero > 0 && (_mm_getcsr() & kFlushes) == kFlushes; }

#else

SubnormalsAsZero::SubnormalsAsZero(bool) {}
SubnormalsAsZero::~SubnormalsAsZero() = default;
bool SubnormalsAsZero::here() { return false; }

#endif

}  // namespace krohn
