// constructions/files/network_file.h — networks as safetensors files; names and shapes are in
// docs/reference/network-file.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>

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

}  // namespace krohn
