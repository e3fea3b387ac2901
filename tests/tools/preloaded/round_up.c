/* A library that leaves its rounding mode to the process that loads it. */
#include <fenv.h>

__attribute__((constructor)) static void round_up(void) { fesetround(FE_UPWARD); }
