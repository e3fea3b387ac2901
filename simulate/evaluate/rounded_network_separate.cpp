#include "krohn/simulate/evaluate/rounded_network_definitions.h"

namespace krohn {

template class RoundedLayer<Fp64>;
template class RoundedLayer<Fp32>;
template class RoundedLayer<Fp16>;
template class RoundedLayer<Bf16>;
template class RoundedNetwork<Fp64>;
template class RoundedNetwork<Fp32>;
template class RoundedNetwork<Fp16>;
template class RoundedNetwork<Bf16>;

}  // namespace krohn
