// simulate/check/operations_file.h — the steps by which a certificate says what a model computes that is no network,
// and what is right where that is not the automaton of a network (docs/reference/certificate-file.md, "A language of its own",
// "Operations").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/simulate/check/certificate_bits.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// The version of a certificate, which is newer where an operation is; null: about a network.
std::uint32_t version_of(const Operations* operations);

std::vector<nlohmann::ordered_json> steps_of(const Operations& operations, const CertificateBits& bits);
/// `outputs`: of the network, or empty where answers are numbers of logits.
nlohmann::ordered_json step_of(const TrackedAutomaton& language, std::span<const std::string> outputs);

/// Takes the lines of all operations. Throws InputError naming the line.
Operations operations_of(const std::function<StrictJson()>& next_line, const CertificateBits& bits);
/// `alphabet`: the network's, whose letters these have to be; none: the file's own.
TrackedAutomaton language_of(const StrictJson& json, const Alphabet* alphabet, std::span<const std::string> outputs);

/// Whether `language` is what is tracked, wherever that asks: a shortest word on which it is not. Letters and outputs
/// by name. Throws InputError when the letters differ.
std::optional<Word> word_against(const TrackedAutomaton& tracked, const Dfa& language, const std::string& name);

}  // namespace krohn
