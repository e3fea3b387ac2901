#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

TEST_CASE("verify in an evaluation order: exact weights in every association, rotations each by itself") {
  const Workplace place("orders");
  place.make("krohn compile name:S5 -o s5.safetensors");
  place.make("krohn compile name:Z60 --construction rotation -o z60.safetensors");
  place.expect(0, "krohn verify s5.safetensors --precision bf16 --order scan --length 1e4",
               {"proved for all lengths, in every association of the letters' stored matrices", "scan evaluation",
                "all correct"});

  const json certificate =
      place.report(1, "krohn verify z60.safetensors --precision bf16 --order scan --max-pairs 1e6 --json")["verdict"];
  CHECK(certificate["order"] == "scan");
  CHECK(certificate["shortest"] == false);
  place.expect(3, "krohn verify z60.safetensors --precision fp64 --order chunked:8 --max-pairs 1e4");

  place.expect(1, "krohn run z60.safetensors random:1e5 --precision bf16 --order doubling");
  place.expect(0, "krohn run s5.safetensors random:1000 --precision bf16 --order chunked:16");
}
