// One job of several processes, started by mpirun: the same words to people and programs as of one process, whatever
// becomes of a process on the way.

#include "tests/testing.h"
#include "tests/tools/shell.h"

namespace krohn::test {

inline bool has_mpi() {
  const bool has = KROHN_HAS_MPI && std::system("command -v mpirun >/dev/null") == 0;
  if (!has) MESSAGE("skipped: there is no MPI");
  return has;
}

/// `mpirun -n ranks krohn`, for more ranks than processors, for root, and in containers.
inline std::string mpirun(int ranks) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none "
         "mpirun -q --oversubscribe -n " +
         std::to_string(ranks) + " '" KROHN_COMMAND "' ";
}

}  // namespace krohn::test

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

namespace {

/// Three certificates that hold, one of another language, one of another model, and one that is not there.
void write_certificates(const Workplace& place) {
  place.make(
      "i=0; for e in '(ab)*' '(aa|b)*' 'a*b*'; do i=$((i + 1)); krohn compile \"regex:$e\" -o "
      "$i.safetensors && krohn verify $i.safetensors --certificate $i.cert && printf "
      "'%s.cert\\t%s.safetensors\\n' $i $i >> list.tsv || exit 1; done; "
      "printf '1.cert\\t1.safetensors\\tregex:(ba)*\\n1.cert\\t2.safetensors\\n4.cert\\t1.safetensors\\n' "
      ">> list.tsv");
}

}  // namespace

TEST_CASE("a list of certificates and a single one are checked by ranks as by one process") {
  if (!has_mpi()) return;
  const Workplace place("ranked-check");
  write_certificates(place);
  const Outcome alone = place.expect(2, "krohn check --list list.tsv --threads 2");
  CHECK(std::ranges::count(alone.out, '\n') == 6);
  const Outcome listed = place.shell(mpirun(3) + "check --list list.tsv");
  CHECK(listed.status == alone.status);
  CHECK(listed.out == alone.out);
  CHECK(contains(listed.err, alone.err));  // a line of progress may stand before
  place.make(
      "krohn compile name:Z3 --construction rotation -o z3.safetensors; krohn verify z3.safetensors "
      "--precision bf16 --long-letters 0 --certificate z3.cert");
  const Outcome one = place.shell("krohn check z3.cert z3.safetensors");
  CHECK(contains(one.out, "27 pairs with what follows each, evaluated again"));
  const Outcome shared = place.shell(mpirun(2) + "check z3.cert z3.safetensors");
  CHECK(shared.out == one.out);
  CHECK(shared.status == one.status);
  place.expect(2, mpirun(2) + "check --list - < list.tsv", {"name a file"});
}

TEST_CASE("many words by ranks are answered as by one process, and devices that are not there are missed") {
  if (!has_mpi()) return;
  const Workplace place("ranked-words");
  place.make(
      "krohn compile name:S3/standard -o s3.safetensors; krohn compile name:Z60 --construction rotation "
      "-o z60.safetensors");
  const auto check = [&](int ranks, const std::string& line) {
    CAPTURE(line);
    const Outcome alone = place.shell("krohn " + line), many = place.shell(mpirun(ranks) + line);
    CHECK(many.status == alone.status);
    CHECK(many.out == alone.out);
  };
  check(3, "verify z60.safetensors --precision bf16 --test-only --length 300 --words 50 --json");
  check(2, "verify s3.safetensors --length 1e4 --words 500 --through states --json");
  const Outcome device =
      place.shell(mpirun(2) + "verify s3.safetensors --test-only --length 300 --words 50 --device cuda");
  if (device.status == 0) return;  // there is one
  CHECK(device.status == 2);
  CHECK(contains(device.err, "CUDA"));
}

TEST_CASE("a table by ranks has the runs and cells of one process, which goes on with it") {
  if (!has_mpi()) return;
  const Workplace place("ranked-table");
  const std::string table = "table ebrahimi2 --only 'H = 2' --lengths 400 ";
  const Outcome many = place.expect(0, mpirun(2) + table + "-o many");
  CHECK(place.shell("ls many/*/*.checkpoint").status != 0);
  // One process makes the cell again, and the runs whose models are gone.
  place.make("cp -r many alone; rm alone/*.json; cd alone/*; rm $(ls *.safetensors | head -n 7)");
  CHECK(place.shell("krohn " + table + "-o alone").out == many.out);
  // The numbers of a model are at its end, behind how many seconds they took.
  place.expect(0,
               "for f in $(ls many/*/*.safetensors | head -n 7); do cmp <(tail -c 40 $f) <(tail -c 40 "
               "alone/${f#many/}) || exit 1; done");
}

TEST_CASE("training to a proof is shared by ranks, and its table is that of one process") {
  if (!has_mpi()) return;
  const Workplace place("ranked-certified");
  const std::string table = "table certified --only 'bilinear, parity' --seed 1000 --seeds 3 ";
  const Outcome many = place.expect(0, mpirun(2) + table + "-o cells");
  CHECK(place.shell("ls cells | wc -l").out == "3\n");
  CHECK(place.shell("krohn " + table + "-o cells").out == many.out);  // out of the files
}

TEST_CASE("rates and seeds are trained by ranks to the models of one process") {
  if (!has_mpi()) return;
  const Workplace place("ranked-training");
  const std::string train =
      "train parity --model bilinear:diagonal,hidden=4,inputs=4 --length 2..6 --rates 1e-2,1e-3 --seeds 2 --steps 40 ";
  place.make("krohn " + train + "--threads 1 -o alone");
  place.make(mpirun(3) + train + "-o many");
  for (const char* file : {"parameters.safetensors", "run.json"}) {
    CAPTURE(file);
    CHECK(contents(place / "many" / file) == contents(place / "alone" / file));
  }
}

TEST_CASE("a process that is killed ends the job with one line and status 3, and what was done is kept") {
  if (!has_mpi()) return;
  const Workplace place("ranked-killed");
  place.make("for i in $(seq 3000); do echo name:random:m=6,letters=2,seed=$i; done > list.txt");
  const std::string shard = "classify --list list.txt --shard 1/1 -o part.jsonl";
  const Outcome killed =
      place.expect(3,
                   mpirun(2) + shard +
                       " & job=$!\n for i in $(seq 500); do sleep 0.02; [ $(grep -c . part.jsonl.begun "
                       "2>/dev/null || true) -gt 20 ] 2>/dev/null && break; done\n"
                       "kill -9 $(pgrep -P $(pgrep -P $job | tail -n 1)); wait $job",
                   {"2> krohn: rank ", "2> was killed (Killed)"});
  CHECK(std::ranges::count(killed.err, '\n') <= 2);  // progress has a line, too
  REQUIRE(std::filesystem::exists(place / "part.jsonl.begun"));
  place.expect(0, "[ $(grep -c . part.jsonl.begun) -gt 20 ]");
  CHECK(!std::filesystem::exists(place / "part.jsonl"));
}
