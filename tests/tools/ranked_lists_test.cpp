// Lists by the processes that mpirun started: words, certificates, cells of a table.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/tools/mpirun.h"
#include "tests/tools/shell.h"

using namespace krohn::test;

namespace {

/// Three certificates that hold, one of another language, one of another model, and one that is not there.
void write_certificates(const Workplace& place) {
  REQUIRE(
      place
          .shell("i=0; for e in '(ab)*' '(aa|b)*' 'a*b*'; do i=$((i + 1)); krohn compile \"regex:$e\" -o "
                 "$i.safetensors && krohn verify $i.safetensors --certificate $i.cert && printf "
                 "'%s.cert\\t%s.safetensors\\n' $i $i >> list.tsv || exit 1; done; "
                 "printf '1.cert\\t1.safetensors\\tregex:(ba)*\\n1.cert\\t2.safetensors\\n4.cert\\t1.safetensors\\n' "
                 ">> list.tsv")
          .status == 0);
}

}  // namespace

TEST_CASE("a list of certificates and a single one are checked by ranks as by one process") {
  if (!has_mpi()) return;
  const Workplace place("ranked-check");
  write_certificates(place);
  const Outcome alone = place.shell("krohn check --list list.tsv --threads 2");
  CHECK(alone.status == 2);
  CHECK(std::ranges::count(alone.out, '\n') == 6);
  const Outcome listed = place.shell(mpirun(3) + "check --list list.tsv");
  CHECK(listed.status == alone.status);
  CHECK(listed.out == alone.out);
  CHECK(listed.err == alone.err);
  REQUIRE(place
              .shell("krohn compile name:Z5 --construction orthogonal-blocks -o z5.safetensors; krohn verify "
                     "z5.safetensors --precision fp32 --max-pairs 2000 --certificate z5.cert; test -e z5.cert")
              .status == 0);
  const Outcome one = place.shell("krohn check z5.cert z5.safetensors");
  CHECK(contains(one.out, "pairs"));
  const Outcome shared = place.shell(mpirun(2) + "check z5.cert z5.safetensors");
  CHECK(shared.out == one.out);
  CHECK(shared.status == one.status);
  const Outcome piped = place.shell(mpirun(2) + "check --list - < list.tsv");
  CHECK(piped.status == 2);
  CHECK(contains(piped.err, "name a file"));
}

TEST_CASE("many words by ranks are answered as by one process, and devices that are not there are missed") {
  if (!has_mpi()) return;
  const Workplace place("ranked-words");
  REQUIRE(place
              .shell("krohn compile name:S3/standard -o s3.safetensors; krohn compile name:Z60 --construction rotation "
                     "-o z60.safetensors")
              .status == 0);
  const auto check = [&](int ranks, const std::string& line) {
    CAPTURE(line);
    const Outcome alone = place.shell("krohn " + line), many = place.shell(mpirun(ranks) + line);
    CHECK(many.status == alone.status);
    CHECK(many.out == alone.out);
  };
  check(3, "verify z60.safetensors --precision bf16 --test-only --length 300 --words 50 --json");
  check(2, "verify s3.safetensors --length 1e4 --words 3e4 --json");
  const Outcome device =
      place.shell(mpirun(2) + "verify s3.safetensors --test-only --length 300 --words 50 --device cuda");
  if (device.status == 0) return;  // there is one
  CHECK(device.status == 2);
  CHECK(contains(device.err, "CUDA"));
}

TEST_CASE("a table by ranks is that of one process, and its runs are gone on with") {
  if (!has_mpi()) return;
  const Workplace place("ranked-table");
  const std::string table = "table ebrahimi2 --only 'H = 2' --lengths 400 ";
  const Outcome alone = place.shell("krohn " + table + "-o alone");
  REQUIRE(alone.status == 0);
  const Outcome many = place.shell(mpirun(2) + table + "-o many");
  CHECK(many.status == 0);
  CHECK(many.out == alone.out);
  // The numbers of the models are at their ends, behind how many seconds they took.
  CHECK(place
            .shell("for f in $(ls alone/*/*.safetensors | head -n 9); do cmp <(tail -c 40 $f) <(tail -c 40 "
                   "many/${f#alone/}) || exit 1; done")
            .status == 0);
  CHECK(place.shell("ls many/*/*.checkpoint.safetensors").status != 0);
}

TEST_CASE("a process that is killed ends the job with one line and status 3, and what was done is kept") {
  if (!has_mpi()) return;
  const Workplace place("ranked-killed");
  REQUIRE(place.shell("for i in $(seq 3000); do echo name:random:m=6,letters=2,seed=$i; done > list.txt").status == 0);
  const std::string shard = "classify --list list.txt --shard 1/1 -o part.jsonl";
  const Outcome killed = place.shell(mpirun(2) + shard +
                                     " & job=$!\n for i in $(seq 500); do sleep 0.02; [ $(grep -c . part.jsonl.begun "
                                     "2>/dev/null || true) -gt 20 ] 2>/dev/null && break; done\n"
                                     "kill -9 $(pgrep -P $(pgrep -P $job | tail -n 1)); wait $job");
  CAPTURE(killed.err);
  CHECK(killed.status == 3);
  CHECK(contains(killed.err, "krohn: rank "));
  CHECK(contains(killed.err, "was killed (Killed)"));
  CHECK(std::ranges::count(killed.err, '\n') <= 2);  // progress has a line, too
  REQUIRE(std::filesystem::exists(place / "part.jsonl.begun"));
  CHECK(place.shell("[ $(grep -c . part.jsonl.begun) -gt 20 ]").status == 0);
  CHECK(!std::filesystem::exists(place / "part.jsonl"));
}
