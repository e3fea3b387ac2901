#include "krohn/groups/base/float_environment.h"

#include <doctest/doctest.h>

#include <initializer_list>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using krohn::FloatEnvironment;
using krohn::SubnormalsAsZero;

namespace {

/// Operands and results that the compiler neither knows nor moves.
double sum(double a, double b) {
  const volatile double first = a, second = b;
  const volatile double result = first + second;
  return result;
}
float product(float a, float b) {
  const volatile float first = a, second = b;
  const volatile float result = first * second;
  return result;
}

bool rounds_to_nearest() { return sum(1, 0x1p-53) == 1 && sum(1, -0x1p-54) == 1 && sum(-1, -0x1p-53) == -1; }
bool keeps_subnormals() { return product(0x1p-100F, 0x1p-40F) == 0x1p-140F && product(0x1p-140F, 2) == 0x1p-139F; }

}  // namespace

TEST_CASE("every rounding mode becomes nearest for as long as the guard lives, and comes back") {
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CAPTURE(mode);
    REQUIRE(std::fesetround(mode) == 0);
    {
      const FloatEnvironment environment;
      CHECK(std::fegetround() == FE_TONEAREST);
      CHECK(rounds_to_nearest());
      const FloatEnvironment within;
      CHECK(rounds_to_nearest());
    }
    const int after = std::fegetround();
    const bool is_nearest = rounds_to_nearest();
    std::fesetround(FE_TONEAREST);
    CHECK(after == mode);
    CHECK(is_nearest == (mode == FE_TONEAREST));
  }
}

TEST_CASE("the caller's flags stay as they were where its environment was another one") {
  std::feclearexcept(FE_ALL_EXCEPT);
  std::fesetround(FE_UPWARD);
  std::feraiseexcept(FE_OVERFLOW);
  {
    const FloatEnvironment environment;
    CHECK(sum(1, 0x1p-60) == 1);  // inexact
    CHECK(std::fetestexcept(FE_INEXACT) != 0);
  }
  const int flags = std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO);
  std::fesetround(FE_TONEAREST);
  std::feclearexcept(FE_ALL_EXCEPT);
  CHECK(flags == FE_OVERFLOW);
}

#if defined(__x86_64__)

TEST_CASE("each bit of MXCSR that changes a result is put right, and back") {
  const unsigned before = _mm_getcsr();
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040, kUp = 0x4000, kUnderflowTraps = 0x0800,
                     kInexactTraps = 0x1000;
  for (const unsigned changed :
       {kFlushToZero, kDenormalsAreZero, kFlushToZero | kDenormalsAreZero, kUp, kUp | kFlushToZero, kUnderflowTraps,
        kInexactTraps, kFlushToZero | kDenormalsAreZero | kUnderflowTraps | kInexactTraps}) {
    CAPTURE(changed);
    const unsigned mine = (before ^ changed) & ~0x3FU;  // a mask is on until its bit is cleared
    bool keeps = false, nearest = false;
    _mm_setcsr(mine);
    {
      const FloatEnvironment environment;
      keeps = keeps_subnormals();
      nearest = rounds_to_nearest();
    }
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    CHECK(keeps);
    CHECK(nearest);
    CHECK(after == mine);
  }
}

TEST_CASE("subnormal numbers are 0 while a guard lives, but not in an environment within") {
  const unsigned before = _mm_getcsr();
  const auto flushes = [] { return product(0x1p-100F, 0x1p-40F) == 0 && product(0x1p-140F, 2) == 0; };
  for (const unsigned mine : {before & ~0x3FU, (before | 0x8000U) & ~0x3FU, (before | 0x8040U) & ~0x3FU}) {
    CAPTURE(mine);
    _mm_setcsr(mine);
    CHECK(!SubnormalsAsZero::here());  // where another library flushes, too
    {
      const SubnormalsAsZero as_zero;
      CHECK((flushes() && SubnormalsAsZero::here()));
      {
        const FloatEnvironment environment;
        CHECK((keeps_subnormals() && !SubnormalsAsZero::here()));
        {
          const SubnormalsAsZero again, and_not(false);
          CHECK((flushes() && SubnormalsAsZero::here()));
        }
        CHECK((keeps_subnormals() && !SubnormalsAsZero::here()));
      }
      CHECK((flushes() && SubnormalsAsZero::here()));
    }
    const unsigned after = _mm_getcsr() & ~0x3FU;
    _mm_setcsr(before);
    CHECK(after == mine);
  }
  const SubnormalsAsZero not_wanted(false);
  CHECK((keeps_subnormals() && !SubnormalsAsZero::here()));
}

TEST_CASE("long double has its 64 digits, and its rounding, whatever the control word was") {
  unsigned short before = 0;
  asm volatile("fnstcw %0" : "=m"(before));
  for (const unsigned short mine :
       std::initializer_list<unsigned short>{0x027F, 0x007F, 0x0B7F, 0x077F}) {  // 53 digits, 24, up, down
    CAPTURE(mine);
    asm volatile("fldcw %0" : : "m"(mine));
    const volatile long double one = 1, tiny = 0x1p-63L, half = 0x1p-64L;
    bool is_exact = false;
    {
      const FloatEnvironment environment;
      is_exact = one + tiny != 1 && one + half == 1 && -one - half == -1;
    }
    unsigned short after = 0;
    asm volatile("fnstcw %0" : "=m"(after));
    asm volatile("fldcw %0" : : "m"(before));
    CHECK(is_exact);
    CHECK(after == mine);
  }
}

#endif
