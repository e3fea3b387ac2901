#include "krohn/gpu/device/device.h"

#include <fmt/format.h>

namespace krohn {

bool wants_cuda(std::string_view device) {
  if (device == "cpu") return false;
  if (cuda_available()) return true;
  if (device == "auto") return false;
  throw NoDevice(fmt::format("CUDA: {}; take --device cpu, or auto", cuda_status()));
}

std::string device_name(bool on_cuda) { return on_cuda ? cuda_status() : "the processor"; }

}  // namespace krohn
