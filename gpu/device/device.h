// gpu/device/device.h — whether there is a CUDA device, and which.
#pragma once

#include <string>
#include <string_view>

#include "krohn/groups/base/error.h"

namespace krohn {

/// There is no device, or too little of its memory is free.
class NoDevice final : public SystemError {
 public:
  using SystemError::SystemError;
};

/// A device does not do this, and the processor does: a form, a size, an arithmetic or an order that kernels lack.
class NotOnDevice final : public InputError {
 public:
  using InputError::InputError;
};

/// True when this krohn was built with CUDA and a device answers.
bool cuda_available();

/// Why `cuda_available()` is false: "built without CUDA", or what the CUDA runtime says. The device's name otherwise.
std::string cuda_status();

/// The value of the option --device: "cpu", "cuda", or "auto", which is a device when there is one. Throws NoDevice
/// when "cuda" was asked for and there is none.
bool wants_cuda(std::string_view device);

/// Where something ran, for reports: the device's name, or "the processor".
std::string device_name(bool on_cuda);

// For benchmarks. They throw NoDevice without one.

/// Bytes read and written in a second by copies of a gigabyte within the device: the fastest of ten.
double cuda_copy_rate();
/// Accesses of shared memory, of 32 bits each, that the device's processors make in a second without conflicts: 32 a
/// clock each.
double shared_accesses_per_second();

}  // namespace krohn
