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

/// The same with intervals for numbers (docs/reference/certificate-file.md, "closed regions"): the memory is two lists,
/// of lower ends and of upper ones, and what is read is the logit that is the greatest throughout. `also`: fp32, or bf16
/// or fp16, to which the runtimes may round besides. Throws NotEstablished also where nothing encloses a number.
std::unique_ptr<RecheckedReader> enclosed_operations(const Operations& operations, const TensorFile& tensors,
                                                     Precision also);

}  // namespace krohn
