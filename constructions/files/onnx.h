// constructions/files/onnx.h — a network as an ONNX model: a Scan over the letters of a batch of words, for every
// runtime that has the operator. The format: github.com/onnx/onnx/blob/main/onnx/onnx.proto.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// The operator set that the model asks for, the first with all that it uses.
inline constexpr std::int64_t kOnnxOperatorSet = 13;

/// The bytes of a model with
///   input   letters  int64 [batch, length]   indices of the alphabet, length ≥ 1; words that end earlier are filled
///                                            up with any letters, and what follows their ends is not read
///   output  states   int64 [batch, length]   the state that the readout gives after each letter
///   output  outputs  int64 [batch, length]   the index of that state's output name
/// and, to read a word in pieces, the memory of each layer k before the first letter and after the last:
///   input   H0.k, label0.k             [batch, n, d] and int64 [batch]; left out, or with a batch of 1: every row's
///   output  H0.k.last, label0.k.last   the same, to be given back with the next letters
/// and metadata `alphabet` and `output_names` as JSON lists. Matrices are dense, FLOAT when that loses nothing and
/// DOUBLE otherwise; decoding is by the nearest codeword, a tie going to the first. Throws LimitError past
/// kMaxDenseNumbers, InputError for a network that snaps.
std::string format_onnx(const Network& network);

}  // namespace krohn
