// simulate/check/certificate_file.h — certificates as JSON files that name, by hash, the model they speak of; the
// members are in docs/certificate-file.md.
#pragma once

#include <string>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// The length that the file claims: that of a linear horizon, which may be less than what was proved.
std::uint64_t length_in_file(const Certificate& certificate);

/// The text of the file: one top-level member a line, a function of the content alone. Only what a re-checker can
/// establish is written; sentences for people are not. Throws InputError when the certificate has no proof to write: a
/// failing word that was too long to keep, or another language's.
std::string format_certificate(const Certificate& certificate, const Network& network);

/// The inverse. Throws InputError, naming the place, when anything is missing, unknown, repeated or out of range, when
/// the method does not suit the claim, and when the hashes are not those of the network.
Certificate parse_certificate(const std::string& text, const std::string& where, const Network& network);

/// Writes the file whole or not at all. Throws as `format_certificate`, and SystemError.
void save_certificate(const Certificate& certificate, const Network& network, const std::string& path);

/// Throws as `parse_certificate`, and SystemError.
Certificate load_certificate(const std::string& path, const Network& network);

}  // namespace krohn
