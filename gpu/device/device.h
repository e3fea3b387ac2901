// gpu/device/device.h — whether there is a CUDA device, and which; jobs that it does when it can.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/groups/base/error.h"

namespace krohn {

struct Summer;  // simulate/probe/probe_sums.h

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

/// Loops of separate and of fused operations in fp64 and fp32, and tensor cores that take factors in fp16, bf16 and
/// tf32 and accumulate in fp32, each a kernel of its own. Throws NoDevice without a device.
std::vector<Summer> device_summers();

// One device for each of several processes on a machine.

/// Devices go round: the one that process `number` of a machine takes, of `devices` > 0.
constexpr unsigned device_of_process(unsigned number, unsigned devices) { return number % devices; }

/// From now on everything here runs on the device of process `number` of this machine. To be called before anything
/// runs on a device. Does nothing where there is none.
void take_device(unsigned number);

// Jobs that a CUDA device does when it can, and the processor when it cannot.

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
