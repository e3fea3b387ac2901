// simulate/check/certificate_file.h — certificates as JSON files that name, by hash, the model they speak of; the
// members are in docs/reference/certificate-file.md.
#pragma once

#include <map>
#include <string>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// The subject of a certificate: a network, or the tensors of another model, of which the certificate says what is
/// computed with them. Views either.
struct CheckedModel {
  CheckedModel(const Network& model) : network(&model) {}
  CheckedModel(const TensorFile& model) : tensors(&model) {}
  const Network* network = nullptr;
  const TensorFile* tensors = nullptr;
};

/// The file of a model that is named so: a network, or of a folder of `krohn train` or a checkpoint its tensors.
std::string file_of_model(const std::string& path);

/// The names of a checkpoint's files that say what is done with its tensors.
constexpr const char* kBoundFiles[] = {"config.json", "tokens.json"};

/// The SHA-256 of each of these files that lies beside the tensors of the model that is named so, by name.
std::map<std::string, std::string> digests_of_files(const std::string& path);

/// Throws InputError naming the first of the certificate's files that is missing or another one beside the model.
void require_files(const Certificate& certificate, const std::string& path);

/// The length that the file claims: that of a linear horizon, which may be less than what was proved.
std::uint64_t length_in_file(const Certificate& certificate);

/// The text of the file: one top-level member a line, a function of the content alone. Only what a re-checker can
/// establish is written; sentences for people are not. Throws InputError when the certificate has no proof to write: a
/// failing word that was too long to keep.
std::string format_certificate(const Certificate& certificate, const CheckedModel& model);

/// The inverse. Throws InputError, naming the place, when anything is missing, unknown, repeated or out of range, when
/// the method does not suit the claim, and when the hashes are not those of the model.
Certificate parse_certificate(const std::string& text, const std::string& where, const CheckedModel& model);

/// Writes the file whole or not at all. Throws as `format_certificate`, and SystemError.
void save_certificate(const Certificate& certificate, const CheckedModel& model, const std::string& path);

/// Throws as `parse_certificate`, and SystemError.
Certificate load_certificate(const std::string& path, const CheckedModel& model);

}  // namespace krohn
