// gpu/device/on_device.h — jobs that a CUDA device does when it can, and the processor when it cannot.
#pragma once

#include <functional>
#include <string>

#include "krohn/gpu/device/device.h"

namespace krohn {

/// Returns the device's result of a job; where there is none, or it does not do this, the processor's, after
/// `note` was told why. To one who `insists` a SystemError of one line instead. What is wrong with the job itself, or
/// with the device's answer, is nobody else's to hide.
template <class Device, class Processor>
auto on_device(bool insists, const std::function<void(const std::string&)>& note, Device&& device,
               Processor&& processor) {
  std::string why;
  try {
    return device();
  } catch (const NotOnDevice& error) {
    why = error.what();
  } catch (const NoDevice& error) {
    why = error.what();
  }
  if (insists) throw SystemError(why);
  note(why);
  return processor();
}

}  // namespace krohn
