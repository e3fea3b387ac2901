#include <doctest/doctest.h>

#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

TEST_CASE("verify in an evaluation order: exact weights in every association, rotations each by itself") {
  const Workplace place("orders");
  REQUIRE(place.shell("krohn compile name:S5 -o s5.safetensors").status == 0);
  REQUIRE(place.shell("krohn compile name:Z60 --construction rotation -o z60.safetensors").status == 0);
  const Outcome proved = place.shell("krohn verify s5.safetensors --precision bf16 --order scan --length 1e4");
  CHECK(proved.status == 0);
  CHECK(contains(proved.out, "proved for all lengths, in every association of the letters' stored matrices"));
  CHECK(contains(proved.out, "scan evaluation"));
  CHECK(contains(proved.out, "all right"));

  const Outcome refuted =
      place.shell("krohn verify z60.safetensors --precision bf16 --order scan --max-pairs 1e6 --json");
  CHECK(refuted.status == 1);
  const json certificate = json::parse(refuted.out)["verdict"];
  CHECK(certificate["order"] == "scan");
  CHECK(certificate["shortest"] == false);
  CHECK(place.shell("krohn verify z60.safetensors --precision fp64 --order chunked:8 --max-pairs 1e4").status == 3);

  CHECK(place.shell("krohn run z60.safetensors random:1e5 --precision bf16 --order doubling").status == 1);
  CHECK(place.shell("krohn run s5.safetensors random:1000 --precision bf16 --order chunked:16").status == 0);
}
