// The command in processes that loaded somebody else's library, and with the C library's other variants of exp and cos:
// the same files and the same words.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/tools/shell.h"

using namespace krohn::test;

namespace {

/// The output, status and file of a line of shell, the file named "made".
std::string outcome(const Workplace& place, const std::string& line) {
  const Outcome run = place.shell("rm -f made; " + line);
  return std::to_string(run.status) + "\n" + run.out + run.err + contents(place / "made");
}

}  // namespace

#if defined(KROHN_TEST_FLUSH)

TEST_CASE("verdicts are those of a clean process, whatever was preloaded") {
  const Workplace place("preloaded");
  const std::string model = data("findings/ftz_fp32.safetensors");
  REQUIRE(place.shell("krohn compile name:Z5 --construction rotation -o z5.safetensors").status == 0);
  const Outcome clean = place.shell("krohn verify " + model + " --precision fp32");
  CHECK(clean.status == 1);
  for (const std::string line : {"krohn verify " + model + " --precision fp32 --certificate made",
                                 std::string("krohn verify z5.safetensors --precision bf16"),
                                 "krohn run z5.safetensors 111111111111 --precision bf16",
                                 "krohn compile name:Z7 --construction rotation -o made", "krohn info " + model}) {
    CAPTURE(line);
    const std::string wanted = outcome(place, line);
    for (const char* library : {KROHN_TEST_FLUSH, KROHN_TEST_ROUND_UP}) {
      CAPTURE(library);
      CHECK(outcome(place, "export LD_PRELOAD='" + std::string(library) + "'; " + line) == wanted);
    }
  }
  CHECK(contains(place.shell("krohn verify z5.safetensors --precision bf16").out, "249 letters"));
}

#endif

TEST_CASE("weights, first parameters and readings do not depend on the C library's choice of instructions") {
  const Workplace place("tunables");
  REQUIRE(
      place
          .shell("krohn train parity --model diagonal:layers=2,width=8,channels=8,states=2,complex,conv=2 --steps 3 "
                 "-o trained")
          .status == 0);
  // Two spellings of "without fused products and without AVX2"; a C library that knows neither ignores them.
  const std::vector<std::string> choices{"-FMA,-AVX2,-AVX2_Usable,-FMA_Usable,-FMA4", "-AVX512F,-FMA,-AVX2"};
  for (const std::string line :
       {"krohn compile name:Z11 --construction rotation -o made && krohn verify made --precision fp16",
        "krohn compile name:Z5 --construction rotation-locked --precision fp16 -o made",
        "krohn compile name:A5 -o made && krohn verify made --precision fp64",
        "krohn train modadd5 --model diagonal:width=8,channels=8,states=2,complex --steps 0 -o fresh "
        "&& cp fresh/parameters.safetensors made; rm -r fresh",
        "krohn verify trained --precision fp64 --max-pairs 20000",
        "krohn verify trained --precision fp32 --max-pairs 20000"}) {
    CAPTURE(line);
    const std::string wanted = outcome(place, line);
    for (const std::string& choice : choices) {
      CAPTURE(choice);
      CHECK(outcome(place, "export GLIBC_TUNABLES=glibc.cpu.hwcaps=" + choice + "; " + line) == wanted);
    }
  }
}
