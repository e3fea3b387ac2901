// Lists by the processes that mpirun started: words, certificates, cells of a table.
#include "tests/tools/many/mpirun.h"
#include "tests/tools/shell.h"

using namespace krohn::test;

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
