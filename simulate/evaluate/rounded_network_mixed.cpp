#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/rounded_network_definitions.h"

namespace krohn {

template class RoundedLayer<AccumulatedInFp32<Fp16>>;
template class RoundedLayer<AccumulatedInFp32<Bf16>>;
template class RoundedLayer<Tf32>;
template class RoundedNetwork<AccumulatedInFp32<Fp16>>;
template class RoundedNetwork<AccumulatedInFp32<Bf16>>;
template class RoundedNetwork<Tf32>;
template class RoundedLayer<RoundedOperations>;
template class RoundedNetwork<RoundedOperations>;

}  // namespace krohn
