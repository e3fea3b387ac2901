// constructions/files/matrix_tensors.h — the structured forms of a layer's matrices as tensors; names and shapes are in
// docs/reference/network-file.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/constructions/files/tensor_values.h"
#include "krohn/constructions/network/matrix.h"

namespace krohn {

/// Adds `PREFIX.form` and `PREFIX.structured.*`: the matrices of each form lie one after the other, in the order of the
/// actions. Returns the names of the forms that occur, which `PREFIX.form` counts through.
std::vector<std::string> add_structured(TensorFile& file, const std::string& prefix,
                                        const std::vector<const Matrix*>& matrices);

/// The inverse, for matrices of dimension n, which is not trusted: nothing is allocated from it. The result is not
/// validated beyond what it takes to build it. Throws InputError naming the tensor.
std::vector<Matrix> read_structured(TensorReader& reader, const std::string& prefix,
                                    const std::vector<std::string>& forms, std::uint32_t n);

}  // namespace krohn
