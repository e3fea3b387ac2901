// Any bytes: the container is refused with InputError, or read, written and read again without a change.
#include <cstdlib>
#include <span>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace krohn;
  try {
    const TensorFile file = parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz");
    const std::string again = format_safetensors(file);
    if (parse_safetensors(std::as_bytes(std::span(again)), "again") != file) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
