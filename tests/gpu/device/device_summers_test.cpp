// The summers of a device, to be probed. Without one, that it says so.

#include "krohn/gpu/device/device_summers.h"
#include "krohn/gpu/device/device.h"
#include "tests/testing.h"

using namespace krohn;

TEST_CASE("the loops of a device have the arithmetic that krohn states") {
  if (!cuda_available()) {
    CHECK_THROWS_AS(device_summers(), NoDevice);
    MESSAGE("no device: skipped");
    return;
  }
  for (const Summer& summer : device_summers()) {
    CAPTURE(summer.name);
    const SumsSeen seen = probe_sums(summer.format, summer.sum, {.compare = 500});
    const bool is_tensor_core = summer.name.starts_with("tensor");
    if (is_tensor_core) {
      CHECK(seen.left_digits == (summer.format == Precision::kBf16 ? 8 : 11));
      continue;  // how they round is the device's affair
    }
    REQUIRE(seen.order);
    CHECK(seen.order->is_sequential());
    const bool is_fused = summer.name.starts_with("fused");
    CHECK(seen.arithmetic == (is_fused ? ArithmeticName::fused(summer.format) : ArithmeticName(summer.format)));
  }
}
