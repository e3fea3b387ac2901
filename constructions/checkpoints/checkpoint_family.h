// constructions/checkpoints/checkpoint_family.h — the classes of language models whose weights krohn writes and reads.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace krohn {

/// Those of flash-linear-attention (versions 0.5 and 0.6), then those of transformers (version 5.23).
enum class CheckpointFamily : std::uint8_t {
  kDeltaNet,
  kGatedDeltaProduct,
  kGatedDeltaNet,
  kKda,
  kGdn2,  ///< a layer of flash-linear-attention without a model; the blocks around it are those of KDA's
  kOlmoHybrid,
  kQwen3Next
};
inline constexpr std::array kCheckpointFamilies{CheckpointFamily::kDeltaNet,      CheckpointFamily::kGatedDeltaProduct,
                                                CheckpointFamily::kGatedDeltaNet, CheckpointFamily::kKda,
                                                CheckpointFamily::kGdn2,          CheckpointFamily::kOlmoHybrid,
                                                CheckpointFamily::kQwen3Next};

/// What becomes of the state before a token is written into it.
enum class Decay : std::uint8_t {
  kNone,
  kHead,    ///< a factor for every head
  kChannel  ///< a factor for every key coordinate of every head, from projections through `value_dim` numbers
};

/// What multiplies a head's normalised output.
enum class OutputGate : std::uint8_t { kNone, kSilu, kSigmoid };

/// How the families differ.
struct FamilyTraits {
  std::string_view model_type, architecture;
  Decay decay;
  OutputGate gate;         ///< of the layer as it comes; gated DeltaNet can leave it out
  bool low_rank_gates;     ///< the output gate is projected through `value_dim` numbers, and has a bias
  bool channel_gates;      ///< β for every key coordinate, and a factor for every value coordinate beside it
  bool can_reflect;        ///< β may be doubled
  bool is_hybrid;          ///< transformers': with attention layers, and one convolution for q, k and v
  bool has_centred_norms;  ///< norms multiply by 1 + weight
};
const FamilyTraits& traits_of(CheckpointFamily family);

}  // namespace krohn
