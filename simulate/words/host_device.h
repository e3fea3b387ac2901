// simulate/words/host_device.h — the words that let a function run on the processor and on CUDA devices.
#pragma once

#ifdef __CUDACC__
#define KROHN_HOST_DEVICE __host__ __device__
#define KROHN_UNROLL _Pragma("unroll")
#define KROHN_UNROLL_SOME _Pragma("unroll 4")
#define KROHN_DO_NOT_UNROLL _Pragma("unroll 1")
#define KROHN_DO_NOT_INLINE __noinline__
#else
#define KROHN_HOST_DEVICE
#define KROHN_UNROLL
#define KROHN_UNROLL_SOME
#define KROHN_DO_NOT_UNROLL
#define KROHN_DO_NOT_INLINE
#endif
