// Training as a person does it: killed and gone on with, from another's or half a checkpoint, with a rate that
// diverges.

#include <doctest/doctest.h>

#include "tests/tools/shell.h"

using namespace krohn::test;

namespace {

constexpr char kTrain[] =
    "krohn train modadd3 --model bilinear:full,hidden=12,inputs=8 --rates 2e-3 --stop-at 0 --threads 1 --json ";
constexpr char kCheckpoint[] = "checkpoint-rate=0.002-seed=1.safetensors";

std::string steps_of(const std::string& checkpoint) {
  const std::string key = "\"steps\":\"";
  const std::size_t begin = checkpoint.find(key) + key.size();
  return checkpoint.substr(begin, checkpoint.find('"', begin) - begin);
}

}  // namespace

TEST_CASE("a run that is killed goes on from its checkpoint, bit for bit") {
  const Workplace place("killed");
  const std::string whole = std::string(kTrain) + "--steps 400 -o whole";
  REQUIRE(place.shell(whole).status == 0);
  // Killed while it runs: its first checkpoints are there, the last is not.
  const std::string kill = "'" KROHN_COMMAND "' " + std::string(kTrain).substr(6) +
                           "--steps 1000000000 --checkpoint-every 10 -o killed & pid=$!\n"
                           "until grep -aq 'steps\":\"[1-9]' killed/checkpoint-* 2>/dev/null; do sleep 0.01; done\n"
                           "kill -KILL $pid; wait $pid; [ $? = 137 ]";
  const Outcome killed = place.shell(kill);
  CAPTURE(killed.err);
  REQUIRE(killed.status == 0);
  const std::string left = contents(place / "killed" / kCheckpoint);
  const std::uint64_t steps = std::stoull(steps_of(left));
  CHECK(steps >= 10);
  CHECK(steps % 10 == 0);
  CHECK(!std::filesystem::exists(place / "killed" / "run.json"));

  const std::string total = std::to_string(steps + 390);
  const Outcome resumed = place.shell(std::string(kTrain) + "--steps " + total + " -o killed");
  CAPTURE(resumed.err);
  REQUIRE(resumed.status == 0);
  CHECK(steps_of(contents(place / "killed" / kCheckpoint)) == total);
  REQUIRE(place.shell(std::string(kTrain) + "--steps " + total + " -o straight").status == 0);
  CHECK(contents(place / "killed" / "parameters.safetensors") ==
        contents(place / "straight" / "parameters.safetensors"));
  CHECK(contents(place / "killed" / kCheckpoint) == contents(place / "straight" / kCheckpoint));
}

TEST_CASE("checkpoints that are cut short, damaged or another run's are refused, and stay") {
  const Workplace place("foreign");
  REQUIRE(place.shell(std::string(kTrain) + "--steps 20 -o run").status == 0);
  const std::string path = (place / "run" / kCheckpoint).string(), good = contents(path);
  struct Fact {
    std::string bytes, why;
  };
  std::string later = good;
  later.replace(later.find("steps\":\"20"), 10, "steps\":\"2x");
  for (const auto& [bytes, why] :
       {Fact{good.substr(0, good.size() / 2), "safetensors"}, Fact{"", "safetensors"}, Fact{later, "delete it"}}) {
    place.write(std::string("run/") + kCheckpoint, bytes);
    const Outcome refused = place.shell(std::string(kTrain) + "--steps 40 -o run");
    CAPTURE(refused.err);
    CHECK(refused.status == 2);
    CHECK(contains(refused.err, kCheckpoint));
    CHECK(contains(refused.err, why));
    CHECK(contents(path) == bytes);
  }
  place.write(std::string("run/") + kCheckpoint, good);
  const Outcome other = place.shell(std::string(kTrain) + "--smoothing 0.1 --steps 40 -o run");
  CHECK(other.status == 2);
  CHECK(contains(other.err, "of another run"));
  CHECK(contents(path) == good);
}

TEST_CASE("a rate that diverges is said so, and the last good checkpoint stays") {
  const Workplace place("diverging");
  const std::string line =
      "krohn train modadd3 --model bilinear:full,hidden=12,inputs=8 --length 30 --rates 10 --steps 500 --threads 1 "
      "--checkpoint-every 1 --stop-at 0 -o run";
  const Outcome diverged = place.shell(line);
  CAPTURE(diverged.err);
  CHECK(diverged.status == 2);
  CHECK(contains(diverged.err, "diverged"));
  CHECK(contains(diverged.err, "--clip"));
  const std::string checkpoint = contents(place / "run" / "checkpoint-rate=10-seed=1.safetensors");
  CHECK(contains(checkpoint, "\"state\":\"running\""));
  CHECK(contains(contents(place / "run" / "run.json"), "diverged"));
  CHECK(!std::filesystem::exists(place / "run" / "parameters.safetensors"));
  CHECK(place.shell(line).err == diverged.err);  // from there it diverges again
}

TEST_CASE("a run that begins with a construction is proved without a step, and goes on from a perturbed one") {
  const Workplace place("beginning");
  REQUIRE(place.shell("krohn compile name:Z5 -o z5.safetensors").status == 0);
  const std::string line =
      "krohn train modadd5 --model bilinear:full,hidden=8,inputs=8 --init z5.safetensors --threads 1 ";
  REQUIRE(place.shell(line + "--steps 0 -o run").status == 0);
  CHECK(contains(place.shell("krohn eval run --lengths 1e4 --words 50 --json").out, "\"right\": 50,"));
  CHECK(place.shell("krohn verify run").status == 0);
  CHECK(place.shell("krohn verify run/network.safetensors").status == 0);

  const std::string perturbed =
      line + "--perturb 0.05 --smoothing 0.1 --schedule cosine --stop-at 0 --steps 300 --json -o again";
  const Outcome trained = place.shell(perturbed);
  CAPTURE(trained.err);
  REQUIRE(trained.status == 0);
  CHECK(contains(place.shell("krohn eval again --lengths 50 --words 50 --json").out, "\"right\": 50,"));
  // Another noise is another run.
  const Outcome other =
      place.shell(line + "--perturb 0.06 --smoothing 0.1 --schedule cosine --stop-at 0 --steps 300 -o again");
  CHECK(other.status == 2);
  CHECK(contains(other.err, "another run"));
  CHECK(place.shell("krohn train modadd5 --model bilinear --perturb 0.1 -o no").status == 2);
  const Outcome unfit = place.shell("krohn train modadd5 --model deltaproduct --init z5.safetensors -o no");
  CHECK(unfit.status == 2);
  CHECK(contains(unfit.err, "norms"));
  CHECK(!std::filesystem::exists(place / "no"));
}

TEST_CASE("models of PyTorch are trained by the Python that has them, or it is said how to get one") {
  const Workplace place("rivals");
  const std::string line = "krohn train parity --model torch:lstm,hidden=8 --steps 7 --rates 1e-2,3e-3 -o run";
  const Outcome none = place.shell("export KROHN_PYTHON=/nonexistent/python; " + line);
  CHECK(none.status == 2);
  CHECK(contains(none.err, "pip install"));
  // A Python that says how it was called.
  place.write("python", "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho \"$@\"\nexit 3\n");
  REQUIRE(place.shell("chmod +x python").status == 0);
  const Outcome called = place.shell("export KROHN_PYTHON=./python; " + line);
  CHECK(called.status == 3);
  CHECK(contains(called.out, "-m krohn.rivals train parity --model lstm:hidden=8 -o run --rates 0.01,0.003 --steps 7"));
  CHECK(contains(place.shell("export KROHN_PYTHON=./python; " + line + " --smoothing 0.1").err, "--smoothing"));
}

TEST_CASE("training to a proof ends with a run that verify proves; without one the trained model stays, status 3") {
  const Workplace place("certified");
  const std::string options =
      " --length 2..8 --smoothing 0.1 --schedule cosine --stop-at 0 --rates 3e-3 --steps 1500 --threads 1 --certify "
      "-o ";
  const Outcome proved =
      place.shell("krohn train modadd3 --model bilinear:full,hidden=12,inputs=8,spread=0.05" + options + "run");
  CAPTURE(proved.err);
  REQUIRE(proved.status == 0);
  CHECK(contains(proved.out, "proved for words of every length"));
  CHECK(std::filesystem::exists(place / "run" / "trained.safetensors"));
  const std::string record = contents(place / "run" / "run.json");
  for (const char* key : {"\"proved\": true", "\"rounds\": ", "\"greatest_move\": ", "\"readout_steps\": "})
    CHECK(contains(record, key));
  CHECK(place.shell("krohn verify run").status == 0);
  CHECK(place.shell("krohn verify run/trained.safetensors --max-pairs 2000 --long-letters 0").status == 3);
  const Outcome measured = place.shell("krohn eval run --lengths 5000 --words 10 --threads 1");
  CHECK(contains(measured.out, "1.0000"));

  const Outcome open =
      place.shell("krohn train modadd3 --model bilinear:rotations,hidden=8,inputs=8" + options + "open");
  CAPTURE(open.out);
  CHECK(open.status == 3);
  CHECK(contains(open.out, "not proved: "));
  CHECK(std::filesystem::exists(place / "open" / "parameters.safetensors"));
  CHECK_FALSE(std::filesystem::exists(place / "open" / "trained.safetensors"));
}
