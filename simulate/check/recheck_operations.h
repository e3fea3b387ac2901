// simulate/check/recheck_operations.h — operations evaluated one after another, for the re-checker of certificates
// alone (docs/reference/certificate-file.md, "Operations").
#pragma once

#include <memory>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

/// Views nothing. Throws NotEstablished where an operation makes no sense, here and on the way where a number is not
/// finite.
std::unique_ptr<RecheckedReader> rechecked_operations(const Operations& operations, const TensorFile& tensors);

}  // namespace krohn
