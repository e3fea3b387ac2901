// constructions/files/network_file.h — networks on disk: the network file, other architectures' parameters, ONNX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

/// The dense forms of all matrices are written too when together they have at most this many numbers (64 MB of F64).
inline constexpr std::uint64_t kMaxDenseNumbers = 8'000'000;

/// The tensors of a network: every layer's structured form, its dense form up to a size, codewords, wiring, readout,
/// the automaton, and provenance in the metadata. Throws InputError when `validate` refuses the network or a text in it
/// is not UTF-8.
TensorFile to_tensors(const Network& network);

/// The network's numbers as bytes that depend on nothing else: the file of the tensors and the metadata of
/// `layers` and `readout`, without the dense forms (which follow from the structured ones), the automaton and the
/// provenance. Certificates hash it. Throws as `to_tensors`.
std::string canonical_weights(const Network& network);

/// The same for the automaton: the file of its tensors and its metadata, state names left out. Throws InputError when
/// a text is not UTF-8.
std::string canonical_automaton(const Dfa& dfa);

/// The inverse of `to_tensors`. Throws InputError when anything is missing, of the wrong shape or type, out of range,
/// non-finite, not part of the format, or when a dense form is not the one that its structured form gives; `where`
/// begins the message. What it returns has passed `validate`.
Network from_tensors(const TensorFile& file, const std::string& where);

/// Writes the file whole or not at all. Throws as `to_tensors`, and SystemError.
void save_network(const Network& network, const std::string& path);

/// Throws as `read_safetensors` and `from_tensors`.
Network load_network(const std::string& path);

/// The network in the bytes of a file.
Network parse_network(std::span<const std::byte> bytes, const std::string& where);

// Networks in the parameters of other recurrent architectures, to and from disk.

// A file of this kind is a network file (docs/reference/network-file.md) in which every layer's matrices are given by
// the architecture's own parameters, from which a layer of it computes them. With m actions and n numbers of state:
//
//   bilinear         W [n, n, m]                            A[i, j] = W[i, j, action]  (Ebrahimi & Memisevic, eq. 3)
//   bilinear-cp      U [n, R], V [n, R], P [m, R]           A = U diag(P[action]) Vᵀ   (§2.3)
//   bilinear-block   W.0 [b, b, m], W.1, …                  one after another along the diagonal
//   bilinear-r2      R [m, n/2, 2, 2]                       2×2 blocks, rotations when krohn writes them
//   pd-ssm           P [m, n], D [m, n]                     A = P D: column j has D[j] in row P[j], a whole number
//   mamba            dt [m, n], A_log [n], B [m, n, 1], signed [n]
//                    Δ = softplus(dt), ā = exp(−Δ exp(A_log)), 2ā − 1 where `signed`; A = diag(ā), B = Δ B. In fp32.
//   fan              V.0 [m, b, b], V.1, …, p               blocks with columns v / max(1, ‖v‖_p) (Fan et al., eq. 6)

/// Their names, as `krohn compile --target` takes them.
const std::vector<std::string>& recurrence_families();

/// The constructions that `family` can hold, the first choice first (constructions/build/planner.h).
std::vector<std::string> constructions_for(std::string_view family);

/// Throws InputError naming the layer whose matrices the family does not have, or when the language has no letters.
TensorFile to_recurrence(const Network& network, const std::string& family);

/// True when the metadata say that it is such a file.
bool is_recurrence(const TensorFile& file);

/// The network that the parameters make, its matrices dense. Throws InputError as `from_tensors`.
Network from_recurrence(const TensorFile& file, const std::string& where);

// A network as an ONNX model: a Scan over the letters of a batch of words, for every runtime that has the operator. The
// format: github.com/onnx/onnx/blob/main/onnx/onnx.proto.

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
