// The command in processes that loaded somebody else's library, and with the C library's other variants of exp and cos:
// the same files and the same words.

#include "tests/tools/shell.h"

using namespace krohn::test;

namespace {

/// The output of a line of shell, progress aside, its status, and the file that it made.
std::string outcome(const Workplace& place, const std::string& line) {
  const Outcome run = place.shell("rm -rf made*; " + line);
  return std::to_string(run.status) + "\n" + run.out + contents(place / "made.json") +
         contents(place / "made.safetensors");
}

}  // namespace

#if defined(KROHN_TEST_FLUSH)

TEST_CASE("verdicts are those of a clean process, whatever was preloaded") {
  const Workplace place("preloaded");
  const std::string model = data("findings/subnormal.safetensors");
  place.make("krohn compile name:Z5 --construction rotation -o z5.safetensors");
  const std::vector<std::string> lines{
      "krohn verify " + model + " --precision fp32 --certificate made.json",
      "krohn verify z5.safetensors --precision bf16", "krohn run z5.safetensors 111111111111 --precision bf16",
      "krohn compile name:Z7 --construction rotation -o made.safetensors", "krohn info " + model};
  for (const std::string& line : lines) {
    CAPTURE(line);
    const std::string wanted = outcome(place, line);
    for (const std::string library : {KROHN_TEST_FLUSH, KROHN_TEST_ROUND_UP}) {
      CAPTURE(library);
      CHECK(outcome(place, "export LD_PRELOAD='" + library + "'; " + line) == wanted);
    }
  }
  CHECK(contains(place.shell(lines[0]).out, "refuted"));
  CHECK(contains(place.shell(lines[1]).out, "249 letters"));
}

TEST_CASE("the probe sees the environment that the process was started in") {
  const Workplace place("probed");
  const auto probed = [&](const std::string& before) { return place.shell(before + "krohn probe --terms 8").out; };
  const std::string clean = probed("");
  CHECK(contains(clean, "subnormal numbers  kept"));
  CHECK(!contains(probed("export LD_PRELOAD='" KROHN_TEST_FLUSH "'; "), "subnormal numbers  kept"));
  CHECK(contains(probed("export LD_PRELOAD='" KROHN_TEST_ROUND_UP "'; "), "upward"));
}

#endif

TEST_CASE("weights, first parameters and readings do not depend on the C library's choice of instructions") {
  const Workplace place("tunables");
  place.make(
      "krohn train parity --model diagonal:layers=2,width=8,channels=8,states=2,complex,conv=2 "
      "--steps 3 -o trained");
  const std::vector<std::string> lines{
      "krohn compile name:Z5 --construction rotation -o made.safetensors && "
      "krohn verify made.safetensors --precision bf16",
      "krohn compile name:Z5 --construction rotation-locked --precision fp16 -o made.safetensors",
      "krohn compile name:A5 -o made.safetensors && krohn verify made.safetensors --precision fp64",
      "krohn train modadd5 --model diagonal:width=8,channels=8,states=2,complex --steps 0 -o made >/dev/null; "
      "mv made/parameters.safetensors made.safetensors",
      "krohn verify trained --precision fp64 --max-pairs 20000",
      "krohn verify trained --precision fp32 --max-pairs 20000"};
  // Without fused products and AVX2, as glibc spells it since 2.33 and before; names that it does not know it ignores.
  const std::vector<std::string> choices{"-FMA,-AVX2,-AVX512F", "-FMA_Usable,-AVX2_Usable,-FMA4_Usable"};
  for (const std::string& line : lines) {
    CAPTURE(line);
    const std::string wanted = outcome(place, line);
    for (const std::string& choice : choices) {
      CAPTURE(choice);
      CHECK(outcome(place, "export GLIBC_TUNABLES=glibc.cpu.hwcaps=" + choice + "; " + line) == wanted);
    }
  }
}
