// simulate/check/certificate_reader.h — the lines of a certificate's file, and what they say.
#pragma once

#include <string>

#include "krohn/simulate/check/certificate_file.h"

namespace krohn {

constexpr const char* kFormat = "krohn.certificate";

constexpr const char* kClosedCodewords = "closed codewords";
constexpr const char* kReachableSet = "closed reachable set";
constexpr const char* kAnyOrder = "exact in any order";
constexpr const char* kFailingWord = "failing word";
constexpr const char* kSampledWords = "sampled";
constexpr const char* kLinearHorizon = "linear horizon";

constexpr const char* kOperationsForm = "operations";  ///< of the member `form`: the file says what is computed
constexpr const char* kLanguage = "language";          ///< of the member `against`: the file says what is right

/// `weights` and `automaton` of the claim. Of operations: the tensors that they name, and no automaton.
std::string hash_of_weights(const CheckedModel& model, const Operations* operations);
std::string hash_of_automaton(const CheckedModel& model);

/// As `parse_certificate`, which see.
Certificate read_certificate(const std::string& text, const std::string& where, const CheckedModel& model);

}  // namespace krohn
