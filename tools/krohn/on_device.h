// tools/krohn/on_device.h — jobs that a CUDA device does when it can, and the processor when it cannot.
#pragma once

#include <fmt/format.h>

#include <string>

#include "krohn/groups/error.h"

namespace krohn {

/// What the device makes of a job; where it cannot, what the processor makes of it, after a line that says so. With
/// `asked` "cuda", which insists, a SystemError of one line instead.
template <class Device, class Processor>
auto on_device(const std::string& asked, Device&& device, Processor&& processor) {
  std::string why;
  try {
    return device();
  } catch (const InputError& error) {
    why = error.what();
  } catch (const SystemError& error) {
    why = error.what();
  }
  if (asked == "cuda") throw SystemError(why);
  fmt::print(stderr, "krohn: on the processor instead: {}\n", why);
  return processor();
}

}  // namespace krohn
