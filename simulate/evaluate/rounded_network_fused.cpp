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

}  // namespace krohn
