/* What a library that was linked with -ffast-math does to the process that loads it: subnormal numbers become zero, in
   operands and in results. */
#include <xmmintrin.h>

__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
