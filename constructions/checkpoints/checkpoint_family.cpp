#include "krohn/constructions/checkpoints/checkpoint_family.h"

#include <cstddef>

namespace krohn {

const FamilyTraits& traits_of(CheckpointFamily family) {
  static constexpr FamilyTraits kTraits[] = {
      {"delta_net", "DeltaNetForCausalLM", Decay::kNone, OutputGate::kNone, false, false, true, false, false},
      {"gated_deltaproduct", "GatedDeltaProductForCausalLM", Decay::kNone, OutputGate::kNone, false, false, true, false,
       false},
      {"gated_deltanet", "GatedDeltaNetForCausalLM", Decay::kHead, OutputGate::kSilu, false, false, true, false, false},
      {"kda", "KDAForCausalLM", Decay::kChannel, OutputGate::kSigmoid, true, false, true, false, false},
      {"gdn2", "GDN2ForCausalLM", Decay::kChannel, OutputGate::kSigmoid, true, true, true, false, false},
      {"olmo_hybrid", "OlmoHybridForCausalLM", Decay::kHead, OutputGate::kSilu, false, false, true, true, false},
      {"qwen3_next", "Qwen3NextForCausalLM", Decay::kHead, OutputGate::kSilu, false, false, false, true, true}};
  return kTraits[static_cast<std::size_t>(family)];
}

}  // namespace krohn
