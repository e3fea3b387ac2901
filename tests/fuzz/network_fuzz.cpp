// Any bytes: the network is refused with InputError, or is well-formed and survives being written and read.
// Seeds: tests/data/networks.
#include <cstdlib>
#include <optional>
#include <span>

#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace krohn;
  std::optional<Network> network;
  try {
    network = parse_network(std::as_bytes(std::span(data, size)), "fuzz");
  } catch (const InputError&) {
    return 0;
  }
  const TensorFile file = to_tensors(*network);
  if (to_tensors(from_tensors(file, "again")) != file) std::abort();
  return 0;
}
