// One job of several processes, started by mpirun: the same words to people and programs as of one process, whatever
// becomes of a process on the way.
#include "tests/tools/many/mpirun.h"
#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

/// 70,000 pairs of a rotation that drifts: more than are searched at once before a job's ranks are asked.
constexpr const char* kSearch = " verify z5.safetensors --precision bf16 --max-pairs 70000 --long-letters 1000 --json ";

void compile(const Workplace& place) {
  place.make("krohn compile name:Z5 --construction orthogonal-blocks --precision fp64 -o z5.safetensors");
  place.make("krohn compile name:S3/standard -o s3.safetensors");
}

}  // namespace

TEST_CASE("a search by any number of processes prints what one does, and writes the same certificate") {
  if (!has_mpi()) return;
  const Workplace place("many-search");
  compile(place);
  const Outcome alone = place.shell(std::string("krohn") + kSearch + "--certificate alone.cert");
  REQUIRE(json::parse(alone.out)["verdict"]["pairs"] == 70'000);
  REQUIRE(alone.status == 3);
  for (const int ranks : {1, 2, 3, 4, 7}) {
    CAPTURE(ranks);
    const bool writes = ranks == 2 || ranks == 7;
    const Outcome many = place.shell(mpirun(ranks) + kSearch + (writes ? "--certificate many.cert" : ""));
    CAPTURE(many.err);
    CHECK(many.status == alone.status);
    CHECK(many.out == alone.out);
    if (!writes) continue;
    CHECK(contents(place / "many.cert") == contents(place / "alone.cert"));
    std::filesystem::remove(place / "many.cert");
  }
}

TEST_CASE("a long word by several processes ends as by one, and is gone on with by others") {
  if (!has_mpi()) return;
  const Workplace place("many-words");
  compile(place);
  const std::string verify = " verify s3.safetensors --length 2e8 --seed 3 --json ";
  const Outcome alone = place.expect(0, "krohn" + verify);
  CHECK(place.shell(mpirun(2) + verify + "--save run.json").out == alone.out);
  CHECK(place.shell(mpirun(3) + verify + "--resume run.json").out == alone.out);
}

TEST_CASE("a search whose processes are killed goes on, on another number of them and on none") {
  if (!has_mpi()) return;
  const Workplace place("many-killed");
  compile(place);
  const Outcome alone = place.shell(std::string("krohn") + kSearch);
  const std::string kept = "--checkpoint kept --checkpoint-every 0";
  // As soon as something is committed, the last process is killed.
  for (const int ranks : {3, 2})
    place.shell("cp kept/pairs.json before.json 2>/dev/null; " + mpirun(ranks) + kSearch + kept +
                " & job=$!\n for i in $(seq 500); do sleep 0.02; test -e kept/pairs.json && "
                "! cmp -s kept/pairs.json before.json && break; done\n"
                "kill -9 $(pgrep -P $job | tail -n 1); wait $job");
  CHECK(std::filesystem::exists(place / "kept/pairs.json"));
  CHECK(place.shell(std::string("krohn") + kSearch + kept).out == alone.out);
  CHECK(place.shell(mpirun(2) + kSearch + kept).out == alone.out);
}

TEST_CASE("a search whose memory ends goes on with the disk, and prints and certifies the same") {
  const Workplace place("many-disk");
  compile(place);
  const Outcome alone = place.shell(std::string("krohn") + kSearch + "--certificate alone.cert");
  const auto limited = [&](const std::string& krohn, const std::string& options) {
    return place.shell("mkdir -p temporary; TMPDIR=temporary " + krohn + kSearch +
                       "--memory 1M --certificate disk.cert " + options);
  };
  std::vector<std::pair<std::string, std::string>> lines{{"krohn", ""}, {"krohn", "--checkpoint kept"}};
  if (has_mpi()) lines.emplace_back(mpirun(3), "--checkpoint other");
  for (const auto& [command, options] : lines) {
    CAPTURE(command);
    const Outcome disk = limited(command, options);
    CHECK(disk.out == alone.out);
    CHECK(contents(place / "disk.cert") == contents(place / "alone.cert"));
  }
  for (const char* folder : {"temporary", "kept"})
    for (const auto& entry : std::filesystem::directory_iterator(place / folder))
      CHECK_FALSE(entry.path().filename().string().starts_with(".krohn"));
  // Without a disk, with little of it, and with none where it should be.
  const Outcome none = limited("krohn", "--disk 0"), little = limited("krohn", "--disk 200K");
  CHECK(none.status == 3);
  CHECK(contains(none.out, "\"limit\": \"1048576 bytes of pairs\""));
  CHECK(little.status == 3);
  CHECK(contains(little.out, "\"limit\": \"204800 bytes of disk on a rank\""));
  place.expect(3, std::string("TMPDIR=/proc krohn") + kSearch + "--memory 1M",
               {"the disk of rank 0 (temporary files: "});
  for (const char* size : {"--memory x", "--memory G", "--memory 1P", "--disk 99999999999T"})
    place.expect(2, std::string("krohn") + kSearch + size);
}

TEST_CASE("a process without memory ends the job with one line and status 3, and what was proved is kept") {
  if (!has_mpi() || std::system("command -v prlimit >/dev/null") != 0) return;
  const Workplace place("many-memory");
  compile(place);
  place.expect(
      3,
      mpirun(2) +
          "verify z5.safetensors --max-pairs 1e9 --long-letters 1000 --time 60 --checkpoint kept --checkpoint-every 0.2"
          " & job=$!\n for i in $(seq 500); do sleep 0.02; test -e kept/pairs.json && break; done\n"
          "last=$(pgrep -P $(pgrep -P $job | tail -n 1)); size=$(awk '/VmSize/ {print $2}' /proc/$last/status)\n"
          "prlimit --pid $last --as=$(((size + 2000) * 1024)); wait $job",
      {"limit met: the memory of rank 1", "proved for words of up to"});
  CHECK(json::parse(contents(place / "kept/pairs.json"))["pairs"] > 0);
}

TEST_CASE("nobody but mpirun's processes loads MPI, and without the module they are refused") {
  const Workplace place("many-none");
  place.expect(0, "LD_DEBUG=libs '" KROHN_COMMAND "' info name:parity", {"2> libc.so", "2> ! libmpi"});
  place.make("cp '" KROHN_COMMAND "' lonely");
  place.expect(0, "OMPI_COMM_WORLD_SIZE=1 ./lonely info name:parity");
  const Outcome refused = place.expect(2, "OMPI_COMM_WORLD_SIZE=4 ./lonely info name:parity", {"built without MPI"});
  CHECK(refused.out == "");
}
