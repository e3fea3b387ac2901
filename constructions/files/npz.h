// constructions/files/npz.h — tensors as a NumPy archive: an uncompressed ZIP file of .npy arrays, as numpy.savez
// writes it. The formats: numpy.org/doc/stable/reference/generated/numpy.lib.format.html, PKWARE's APPNOTE.TXT.
#pragma once

#include <string>

#include "krohn/constructions/files/safetensors.h"

namespace krohn {

/// The bytes of the archive. Every tensor becomes an array of its name; every metadata text an array of its UTF-8 bytes
/// (uint8) named `metadata.KEY`. A function of the content alone. Throws InputError for an element type that NumPy does
/// not have (BF16), LimitError for an archive of 4 GB, which would need another format.
std::string format_npz(const TensorFile& file);

}  // namespace krohn
