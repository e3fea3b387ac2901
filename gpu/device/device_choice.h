// gpu/device/device_choice.h — one device for each of several processes on a machine.
#pragma once

namespace krohn {

/// Devices go round: the one that process `number` of a machine takes, of `devices` > 0.
constexpr unsigned device_of_process(unsigned number, unsigned devices) { return number % devices; }

/// From now on everything here runs on the device of process `number` of this machine. To be called before anything
/// runs on a device. Does nothing where there is none.
void take_device(unsigned number);

}  // namespace krohn
