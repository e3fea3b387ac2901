#include "krohn/simulate/arithmetic/stated_exp.h"
#include "tests/testing.h"

using namespace krohn;

TEST_CASE("the stated exponential is within 0.502 units in the last place, everywhere") {
  // Every 4999th bit pattern, and those around the edges.
  const auto check = [](std::uint32_t bits) {
    const auto x = std::bit_cast<float>(bits);
    const float found = stated_exp(x);
    if (std::isnan(x)) return std::isnan(found);
    const long double exact = std::exp(static_cast<long double>(x));
    if (exact > 0x1.ffffffp+127L) return std::isinf(found) && found > 0;
    const int quantum = exact < 0x1p-126L ? -149 : std::ilogb(exact) - 23;
    return std::fabs(static_cast<long double>(found) - exact) <= std::ldexp(0.502L, quantum);
  };
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4999) {
    CAPTURE(bits);
    REQUIRE(check(static_cast<std::uint32_t>(bits)));
  }
  for (const float edge : {0.0F, 88.722838F, 88.722839F, -87.33655F, -103.97F, -103.98F, -104.0F, INFINITY, -INFINITY})
    for (const float x : {edge, std::nextafter(edge, 0.0F), std::nextafter(edge, 200.0F), -edge}) {
      CAPTURE(x);
      CHECK(check(std::bit_cast<std::uint32_t>(x)));
    }
}

#ifdef __GLIBC__
TEST_CASE("the stated exponential is glibc's expf") {
  std::uint64_t different = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 61) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    different +=
        !std::isnan(x) && std::bit_cast<std::uint32_t>(stated_exp(x)) != std::bit_cast<std::uint32_t>(std::exp(x));
  }
  CHECK(different == 0);
}
#endif
