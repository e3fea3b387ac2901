// tools/krohn/on_device.h — `--device`: jobs that a CUDA device does when it can, and the processor when it cannot.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "krohn/gpu/device/on_device.h"

namespace krohn {

/// gpu/device/on_device.h, with what `--device` asks for: "cuda" insists. A line on standard error says why the
/// processor did it.
template <class Device, class Processor>
auto on_device(const std::string& asked, Device&& device, Processor&& processor) {
  const auto note = [](const std::string& why) { fmt::print(stderr, "krohn: on the processor instead: {}\n", why); };
  return on_device(asked == "cuda", note, std::forward<Device>(device), std::forward<Processor>(processor));
}

}  // namespace krohn
