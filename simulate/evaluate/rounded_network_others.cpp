// Networks whose products are fused with sums, or whose sums are in another format: outside the loops that run for
// hours.

#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/rounded_network_definitions.h"

namespace krohn {

template class RoundedLayer<Fused<Fp64>>;
template class RoundedLayer<Fused<Fp32>>;
template class RoundedLayer<Fused<Fp16>>;
template class RoundedLayer<Fused<Bf16>>;
template class RoundedNetwork<Fused<Fp64>>;
template class RoundedNetwork<Fused<Fp32>>;
template class RoundedNetwork<Fused<Fp16>>;
template class RoundedNetwork<Fused<Bf16>>;

template class RoundedLayer<AccumulatedInFp32<Fp16>>;
template class RoundedLayer<AccumulatedInFp32<Bf16>>;
template class RoundedLayer<Tf32>;
template class RoundedNetwork<AccumulatedInFp32<Fp16>>;
template class RoundedNetwork<AccumulatedInFp32<Bf16>>;
template class RoundedNetwork<Tf32>;
template class RoundedLayer<RoundedOperations>;
template class RoundedNetwork<RoundedOperations>;

}  // namespace krohn
