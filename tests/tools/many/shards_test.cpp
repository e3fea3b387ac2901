// Lists in shards: the command as a cluster, GNU parallel or a CI matrix runs it.

#include "tests/tools/shell.h"
#include "tools/krohn/shards/list_work.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

/// Twelve languages as files of different sizes.
void write_corpus(const Workplace& place) {
  place.make(
      "mkdir corpus; for i in 1 2 3 4 5 6 7; do krohn convert name:tomita$i corpus/$i.att; done; "
      "for i in 2 3 5 7 11; do krohn convert name:Z$i corpus/z$i.json; done");
}

std::size_t lines_in(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

}  // namespace

TEST_CASE("classify in shards, merged, is classify") {
  const Workplace place("shards-classify");
  write_corpus(place);
  const Outcome alone = place.expect(0, "krohn classify --corpus corpus --threads 1 -o alone.jsonl");
  for (const char* count : {"1", "3", "20"}) {
    CAPTURE(count);
    const std::string n = count;
    place.make("for i in $(seq " + n + "); do krohn classify --corpus corpus --shard $i/" + n +
               " -o part-$i.jsonl || exit 1; done");
    const Outcome merged = place.expect(0, "krohn merge part-*.jsonl -o all.jsonl");
    CHECK(merged.out.starts_with(alone.out));  // the same summary
    CHECK(contents(place / "all.jsonl") == contents(place / "alone.jsonl"));
    place.make("rm part-*");
  }
}

TEST_CASE("a whole shard is left as it is, and a merge has the status of the list") {
  const Workplace place("shards-again");
  place.write("list.txt", "regex:(ab)*\nregex:(\nname:tomita3\n");
  const std::string shard = "krohn classify --list list.txt --shard 1/2 -o 1.jsonl";
  place.expect(0, shard,
               {"1.jsonl: shard 1/2 is whole, 2 of 3 languages"});  // whole, though one of its languages cannot be read
  const std::string before = contents(place / "1.jsonl");
  const Outcome again = place.shell(shard + "; stat -c %i 1.jsonl");
  CHECK(contains(again.out, "2 of them done before"));
  CHECK(contents(place / "1.jsonl") == before);
  place.expect(2, "krohn merge 1.jsonl -o all.jsonl");
  place.make("krohn classify --list list.txt --shard 2/2 -o 2.jsonl");
  const Outcome merged = place.expect(2, "krohn merge 2.jsonl 1.jsonl -o all.jsonl");
  CHECK(contains(merged.out, "3 languages, 1 of them not read"));
  CHECK(lines_in(contents(place / "all.jsonl")) == 3);
  CHECK(place.shell("krohn merge 2.jsonl 1.jsonl -o -").out == contents(place / "all.jsonl"));
}

TEST_CASE("merge says what is missing, twice, changed or foreign, and writes nothing then") {
  const Workplace place("shards-refused");
  place.make(
      "for i in 1 3 4; do krohn classify name:tomita1 name:tomita2 name:tomita3 name:tomita4 name:tomita5 "
      "--shard $i/6 -o $i.jsonl; done; krohn classify name:tomita1 name:tomita2 --shard 2/6 -o "
      "other.jsonl; sed s/yes/no/ 1.jsonl > changed.jsonl");
  struct Fact {
    const char *line, *message;
  };
  for (const auto& [line, message] :
       {Fact{"krohn merge 1.jsonl 3.jsonl 4.jsonl -o all", "3 shards of 6 missing: 2,5-6"},
        Fact{"krohn merge 1.jsonl 1.jsonl -o all", "1.jsonl: is shard 1/6 as 1.jsonl is"},
        Fact{"krohn merge 1.jsonl other.jsonl -o all", "one list has 5 items, the other 2"},
        Fact{"krohn merge changed.jsonl -o all", "changed.jsonl: was cut or changed"},
        Fact{"krohn merge .script -o all", "no part of a list"},
        Fact{"krohn merge nowhere.jsonl -o all", "nowhere.jsonl"}, Fact{"krohn merge -o all", "merge needs PART"},
        Fact{"krohn classify name:tomita1 --shard 3/2 -o all", "\"3/2\" is no shard"},
        Fact{"krohn classify name:tomita1 --shard 1/2", "name it with -o"},
        Fact{"krohn classify name:tomita1 --shards 2 -o all", "--shards: is for --slurm"},
        Fact{"krohn classify name:tomita1 --slurm", "name the output with -o"},
        Fact{"krohn classify --list - --slurm -o all < 1.jsonl", "standard input is gone"},
        Fact{"krohn classify name:tomita1 --slurm --shard 1/2 -o all", "leave one of the two out"},
        Fact{"krohn check a b --shard 1/2", "for lists of certificates"},
        Fact{"krohn train parity --model torch:lstm -o all --shard 1/2", "no such option"},
        Fact{"krohn classify name:tomita1 name:tomita2 name:tomita3 name:tomita4 name:tomita5 --time 5 --shard 1/6 -o "
             "1.jsonl",
             "--time 5 "}}) {
    CAPTURE(line);
    const Outcome outcome = place.expect(2, line);
    CHECK(outcome.out == "");
    CHECK_MESSAGE(contains(outcome.err, message), outcome.err);
    CHECK(!std::filesystem::exists(place / "all"));
  }
  CHECK(place.shell("krohn merge --missing 4.jsonl 1.jsonl").out == "2-3,5-6\n");
}

// The campaign is tests/shards/kills; this is a short one.
TEST_CASE("kill -9 at any moment loses no line that was written and counts none twice") {
  const Workplace place("shards-killed");
  place.write("list",
              "krohn_list() { for i in $(seq 40); do echo \"random:m=$((3 + i % 3)),letters=2,seed=$i\"; done; }");
  place.make(". ./list; krohn_list | sed s/^/name:/ > list.txt");
  const std::string shard = "krohn classify --list list.txt --threads 1 --shard 1/2 -o ";
  place.make(shard + "whole.jsonl");
  const Outcome killed = place.expect(
      0, "for pause in 0.00 0.01 0.02 0.03 0.05 0.08; do " + shard +
             "part.jsonl & sleep $pause; kill -9 $! 2>/dev/null; wait $! 2>/dev/null; "
             "if [[ -e part.jsonl.begun ]]; then grep -c '^{\"item\":.*}$' part.jsonl.begun; fi; done; true");
  std::istringstream counts(killed.out);
  int last = 0;
  for (int count; counts >> count; last = count) CHECK(count >= last);
  place.make(shard + "part.jsonl");
  CHECK(contents(place / "part.jsonl") == contents(place / "whole.jsonl"));
  CHECK(place.files() == std::vector<std::string>{"list", "list.txt", "part.jsonl", "whole.jsonl"});
}

TEST_CASE("certificates in shards") {
  const Workplace place("shards-check");
  place.make(
      "i=0; for e in '(ab)*' '(aa|b)*' 'a*b*'; do i=$((i + 1)); krohn compile \"regex:$e\" -o $i.safetensors "
      "&& krohn verify $i.safetensors --certificate $i.cert && printf '%s.cert\\t%s.safetensors\\n' $i $i "
      ">> list.tsv || exit 1; done; "
      "printf '1.cert\\t1.safetensors\\tregex:(ba)*\\n1.cert\\t2.safetensors\\n' >> list.tsv");
  const Outcome all = place.expect(2, "krohn check --list list.tsv --threads 1");  // the last is of another model
  REQUIRE(lines_in(all.out) == 5);
  CHECK(
      contains(all.err, "5 certificates: 3 established, 1 not established, 0 undecided within the limits, 1 not read"));
  place.make("for i in 1 2; do krohn check --list list.tsv --shard $i/2 -o part-$i.jsonl || exit 1; done");
  place.expect(2, "krohn merge part-1.jsonl part-2.jsonl -o all.jsonl");
  CHECK(contents(place / "all.jsonl") == all.out);
  place.expect(0, "head -n 3 list.tsv > good.tsv; krohn check --list good.tsv");
  place.expect(1, "head -n 4 list.tsv > refuted.tsv; krohn check --list refuted.tsv");
  place.expect(2, "echo 1.cert 1.safetensors > bad.tsv; krohn check --list bad.tsv");
  // How languages are read decides what is established, and belongs to the part.
  place.make(
      "krohn compile 'regex:(a|b)*' -o ab.safetensors && krohn verify ab.safetensors --certificate "
      "ab.cert && printf 'ab.cert\\tab.safetensors\\tregex:.*\\n' > read");
  const auto part = [&](const char* alphabet) {
    return place.shell(fmt::format("krohn check --list read --alphabet {} --shard 1/1 -o read.jsonl", alphabet)).status;
  };
  CHECK(part("ab") == 0);
  CHECK(part("ab") == 0);
  CHECK(part("abc") == 2);
  place.expect(1, "krohn check --list read --alphabet abc");
}

TEST_CASE("parts made with another model, symbol table or over a part do not belong together") {
  const Workplace place("shards-files");
  place.make(
      "for n in 2 3; do krohn compile name:Z$n -o z$n.safetensors && krohn verify z$n.safetensors "
      "--certificate z$n.cert; done; printf 'z2.cert\\tm.safetensors\\nz3.cert\\tz3.safetensors\\n' > list; "
      "cp z2.safetensors m.safetensors; krohn check --list list --shard 1/2 -o 1.jsonl && cp "
      "z3.safetensors m.safetensors && krohn check --list list --shard 2/2 -o 2.jsonl");
  place.expect(2, "krohn merge 1.jsonl 2.jsonl -o all.jsonl");
  place.write("a.att", "0 1 1\n1\n");
  place.write("a.syms", "<eps> 0\nx 1\n");
  place.make("krohn classify a.att regex:a --symbols a.syms --shard 1/2 -o a-1.jsonl");
  place.write("a.syms", "<eps> 0\ny 1\n");
  place.make("krohn classify a.att regex:a --symbols a.syms --shard 2/2 -o a-2.jsonl");
  place.expect(2, "krohn merge a-1.jsonl a-2.jsonl -o all.jsonl");
  place.expect(0, "krohn classify name:Z2 regex:a --shard 1/1 -o one.jsonl");
  const std::string part = contents(place / "one.jsonl");
  CHECK(contains(place.shell("krohn merge one.jsonl -o ./one.jsonl").err, "is one of the parts"));
  CHECK(contents(place / "one.jsonl") == part);
}

TEST_CASE("training runs and a table in shards come out as they do without") {
  const Workplace place("shards-train");
  const std::string train =
      "krohn train parity --model bilinear:diagonal,hidden=4,inputs=4 --length 2..6 --rates 1e-2,1e-3 --seeds 2 "
      "--steps 40 --threads 1 ";
  place.make(train + "-o alone");
  place.make("for i in 1 2 3; do " + train + "-o cut --shard $i/3 || exit 1; done");
  place.expect(0, "krohn merge cut/part-*-of-3.jsonl -o runs.jsonl");
  CHECK(lines_in(contents(place / "runs.jsonl")) == 4);
  place.make(train + "-o cut");
  CHECK(contents(place / "cut/parameters.safetensors") == contents(place / "alone/parameters.safetensors"));
  CHECK(contents(place / "cut/run.json") == contents(place / "alone/run.json"));

  const std::string table = "krohn table ebrahimi2 --only 'H = 2' --lengths 400 --threads 1 ";
  place.make("for i in 1 2; do " + table + "-o shards --shard $i/2 || exit 1; done");
  place.expect(0, "krohn merge shards/part-1-of-2.jsonl shards/part-2-of-2.jsonl");
  const Outcome cut = place.expect(0, table + "-o shards", {"2> ! training"});
  CHECK(cut.out == place.shell(table + "-o whole").out);
}

TEST_CASE("the script for an array job, run without a cluster") {
  const Workplace place("shards-slurm");
  write_corpus(place);
  place.expect(0, "krohn classify -oall.jsonl --corpus corpus --slurm --shards=3 --time 30 > x.sbatch; cat x.sbatch",
               {"# classify, 12 languages in 3 shards.", "#SBATCH --array=1-3\n"});
  place.expect(0,
               "for i in 3 1 2; do SLURM_ARRAY_TASK_ID=$i bash x.sbatch || exit 1; done; SLURM_ARRAY_TASK_ID=0 "
               "bash x.sbatch");
  CHECK(lines_in(contents(place / "all.jsonl")) == 12);
  CHECK(std::filesystem::exists(place / "all.part-2-of-3.jsonl"));
  // Submitting: the shards, then what waits for them, with the same options.
  place.write("sbatch", "#!/bin/sh\necho \"$*\" >> submitted\necho '17;cluster'\n");
  place.make("chmod +x sbatch; PATH=$PWD:$PATH bash x.sbatch --partition=p");
  const std::string path = std::filesystem::canonical(place / "x.sbatch").string();
  CHECK(contents(place / "submitted") ==
        "--parsable --partition=p " + path +
            "\n--dependency=afterok:17 --kill-on-invalid-dep=yes --partition=p --array=0 " + path + "\n");
  const std::string table = place.shell("krohn table ebrahimi1 --seeds 5 --slurm -o table").out;
  CHECK(contains(table, "# table, 1,080 training runs in 100 shards."));
  CHECK(contains(
      table, "merge table/part-*-of-100.jsonl -o table/runs.jsonl\n    \"$krohn\" table ebrahimi1 --seeds 5 -o table"));
  // Without -o the folder has the table's name, here and in the shards, which run the same line.
  place.expect(0, "krohn table ebrahimi1 --seeds 5 --slurm",
               {"merge ebrahimi1/part-*-of-100.jsonl -o ebrahimi1/runs.jsonl\n    \"$krohn\" table ebrahimi1 "
                "--seeds 5 --threads",
                "2> kept in ebrahimi1/"});
  CHECK(!std::filesystem::exists(place / "ebrahimi1"));
}

TEST_CASE("options are taken out of a command line in every form in which they are given") {
  using Arguments = std::vector<std::string>;
  const auto without = [](const Arguments& arguments) {
    return krohn::without_options(arguments, {"-o", "--output"}, {"--slurm"});
  };
  CHECK(without({"a", "-o", "x", "b"}) == Arguments{"a", "b"});
  CHECK(without({"a", "-ox", "b"}) == Arguments{"a", "b"});
  CHECK(without({"a", "-o=x", "b"}) == Arguments{"a", "b"});
  CHECK(without({"--output", "x", "a", "--slurm", "b"}) == Arguments{"a", "b"});
  CHECK(without({"--output=x", "a", "b"}) == Arguments{"a", "b"});
  CHECK(without({"--output-other", "x", "--slurmy"}) == Arguments{"--output-other", "x", "--slurmy"});
  CHECK(without({"-o"}) == Arguments{});
  for (const char* word : {"", "a b", "it's", "$HOME", "`x`", "a\nb", "*", "regex:(a|b)*abb", "plain-1.2", "é"}) {
    CAPTURE(word);
    const Workplace place("shards-words");
    CHECK(place.shell("printf %s " + krohn::shell_word(word)).out == word);
  }
}

TEST_CASE("kept work is of the bytes that it was made from: every list, every file that it reads") {
  struct Kept {
    const char *work, *again;          ///< what keeps something, and what would go on with it
    std::vector<const char*> changes;  ///< a file each
  };
  const char* const kLanguage = "krohn convert name:tomita2 x.json";
  const char* const kOperand = "krohn convert name:tomita5 z.json";
  const char* const kTable = "krohn convert name:tomita4 y.att";
  const char* const kSymbols = "printf '<eps> 0\\n1 1\\n0 2\\n' > y.syms";
  const char* const kInputSymbols = "printf '<eps> 0\\n1 1\\n0 2\\n' > w.isyms";
  const char* const kNetwork = "krohn compile name:tomita2 --target torch -o net";
  const char* const kModel = "krohn compile 'regex:0*1' -o m.safetensors";
  const char* const kCertificate = "krohn verify m.safetensors --precision bf16 --certificate m.cert";
  const char* const kClassify = "krohn classify x.json y.att w.att net 'expr:z.json | regex:0' ";
  const char* const kTrain = "krohn train x.json --model bilinear:full,hidden=2,inputs=2 --steps 2 --threads 1 -o run ";
  const std::string shard = std::string(kClassify) + "--shard 1/1 -o kept", lines = std::string(kClassify) + "-o kept",
                    train_shard = std::string(kTrain) + "--shard 1/1";
  for (const Kept& kept :
       {Kept{shard.c_str(), shard.c_str(), {kLanguage, kOperand, kTable, kSymbols, kInputSymbols, kNetwork}},
        {lines.c_str(), lines.c_str(), {kLanguage, kOperand, kTable, kSymbols, kInputSymbols, kNetwork}},
        {"krohn check --list list --shard 1/1 -o kept",
         "krohn check --list list --shard 1/1 -o kept",
         {kLanguage, kModel, kCertificate}},
        {train_shard.c_str(), train_shard.c_str(), {kLanguage}},
        {kTrain, kTrain, {kLanguage}},
        {"krohn verify m.safetensors --length 1000 --save kept",
         "krohn verify m.safetensors --length 1000 --resume kept",
         {kModel}}}) {
    CAPTURE(std::string(kept.work));
    for (const char* change : kept.changes) {
      CAPTURE(std::string(change));
      const Workplace place("shards-kept");
      place.make(
          "krohn convert name:tomita1 x.json && krohn convert name:tomita3 y.att && krohn convert "
          "name:tomita6 z.json && krohn convert name:tomita4 w.att && mv w.syms w.isyms && krohn compile name:tomita1 "
          "--target torch -o net && krohn compile name:tomita1 -o m.safetensors && krohn verify "
          "m.safetensors --certificate m.cert && printf 'm.cert\\tm.safetensors\\tx.json\\n' > list");
      place.make(kept.work);
      place.expect(0, kept.again);  // as it was: goes on
      const std::string before = place.shell("cat kept run/*.jsonl run/run.json 2>/dev/null; true").out;
      place.make(change);
      const Outcome refused = place.expect(2, kept.again);
      CHECK_MESSAGE((contains(refused.err, "changed since") || contains(refused.err, "as it was then") ||
                     contains(refused.err, "of another run") || contains(refused.err, "but this run has")),
                    refused.err);
      CHECK(place.shell("cat kept run/*.jsonl run/run.json 2>/dev/null; true").out == before);
    }
  }
}
