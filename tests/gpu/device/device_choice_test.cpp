#include "krohn/gpu/device/device_choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "krohn/gpu/device/device.h"

using namespace krohn;

TEST_CASE("processes of a machine take its devices in turn, and none has two more than another") {
  struct Fact {
    unsigned number, devices, device;
  };
  for (const auto& [number, devices, device] :
       {Fact{0, 1, 0}, Fact{1, 1, 0}, Fact{0, 8, 0}, Fact{7, 8, 7}, Fact{8, 8, 0}, Fact{9, 8, 1}, Fact{15, 4, 3}}) {
    CAPTURE(number);
    CAPTURE(devices);
    CHECK(device_of_process(number, devices) == device);
  }
  for (unsigned devices = 1; devices <= 9; ++devices)
    for (unsigned processes = 1; processes <= 40; ++processes) {
      std::vector<unsigned> of(devices, 0);
      for (unsigned number = 0; number < processes; ++number) ++of.at(device_of_process(number, devices));
      const auto [least, most] = std::ranges::minmax(of);
      CHECK(most - least <= 1);
    }
}

TEST_CASE("a process without a device may be given one, and is told when it asks") {
  if (cuda_available()) return;  // the devices of this machine are not to be moved to under other tests
  take_device(3);
  CHECK_THROWS_AS(wants_cuda("cuda"), NoDevice);
}
