// constructions/network_file.h — networks as safetensors files; names and shapes are in docs/network-file.md.
#pragma once

#include <string>

#include "constructions/network.h"
#include "constructions/safetensors.h"

namespace krohn {

/// The tensors of a network: every layer's structured form, its dense form up to a size, codewords, wiring, readout, the
/// automaton, and provenance in the metadata.
TensorFile to_tensors(const Network& network);

/// The inverse. Throws InputError when anything is missing, of the wrong shape or type, out of range, non-finite, or when
/// a dense form is not the one that its structured form gives; `where` begins the message.
Network from_tensors(const TensorFile& file, const std::string& where);

void save_network(const Network& network, const std::string& path);
Network load_network(const std::string& path);

}  // namespace krohn
