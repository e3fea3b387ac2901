/* Two libraries that change how the process that loads them computes. */
#ifdef KROHN_FLUSH
/* As -ffast-math does to whatever is linked with it: subnormal numbers become zero, in operands and in results. */
#include <xmmintrin.h>

__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
#else
/* Leaves its rounding mode to the process. */
#include <fenv.h>

__attribute__((constructor)) static void round_up(void) { fesetround(FE_UPWARD); }
#endif
