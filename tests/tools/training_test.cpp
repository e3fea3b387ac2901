// Training as a person does it: killed and gone on with, from another's or half a checkpoint, with a rate that
// diverges.

#include "krohn/constructions/files/safetensors.h"
#include "tests/tools/shell.h"
#include "tools/krohn/training/table_report.h"

using namespace krohn::test;
using nlohmann::json;

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
  place.make(whole);
  // Killed while it runs: its first checkpoints are there, the last is not.
  const std::string kill = "'" KROHN_COMMAND "' " + std::string(kTrain).substr(6) +
                           "--steps 1000000000 --checkpoint-every 10 -o killed & pid=$!\n"
                           "until grep -aq 'steps\":\"[1-9]' killed/checkpoint-* 2>/dev/null; do sleep 0.01; done\n"
                           "kill -KILL $pid; wait $pid; [ $? = 137 ]";
  place.expect(0, kill);
  const std::string left = contents(place / "killed" / kCheckpoint);
  const std::uint64_t steps = std::stoull(steps_of(left));
  CHECK(steps >= 10);
  CHECK(steps % 10 == 0);
  CHECK(!std::filesystem::exists(place / "killed" / "run.json"));

  const std::string total = std::to_string(steps + 390);
  place.expect(0, std::string(kTrain) + "--steps " + total + " -o killed");
  CHECK(steps_of(contents(place / "killed" / kCheckpoint)) == total);
  place.make(std::string(kTrain) + "--steps " + total + " -o straight");
  CHECK(contents(place / "killed" / "parameters.safetensors") ==
        contents(place / "straight" / "parameters.safetensors"));
  CHECK(contents(place / "killed" / kCheckpoint) == contents(place / "straight" / kCheckpoint));
}

TEST_CASE("the seed of the samples is kept with the run, and is in the command that a report makes it by") {
  const Workplace place("samples");
  place.make(std::string(kTrain) + "--steps 3 --sample-seed 9 -o run");
  CHECK(contains(contents(place / "run/run.json"), "\"sample_seed\": 9"));
  place.expect(1, "krohn report run -o run.html");  // three steps teach nothing
  CHECK(contains(contents(place / "run.html"), "--sample-seed 9"));
  place.expect(2, std::string(kTrain) + "--steps 3 --sample-seed 8 -o run");
}

TEST_CASE("checkpoints that are cut short, damaged or another run's are refused, and stay") {
  const Workplace place("foreign");
  place.make(std::string(kTrain) + "--steps 20 -o run");
  const std::string path = (place / "run" / kCheckpoint).string(), good = contents(path);
  struct Fact {
    std::string bytes, why;
  };
  std::string later = good;
  later.replace(later.find("steps\":\"20"), 10, "steps\":\"2x");
  for (const auto& [bytes, why] :
       {Fact{good.substr(0, good.size() / 2), "safetensors"}, Fact{"", "safetensors"}, Fact{later, "delete it"}}) {
    place.write(std::string("run/") + kCheckpoint, bytes);
    place.expect(2, std::string(kTrain) + "--steps 40 -o run", {kCheckpoint, why});
    CHECK(contents(path) == bytes);
  }
  place.write(std::string("run/") + kCheckpoint, good);
  place.expect(2, std::string(kTrain) + "--smoothing 0.1 --steps 40 -o run", {"of another run"});
  CHECK(contents(path) == good);
}

TEST_CASE("a run on a file is of what the file says, not of its name") {
  const Workplace place("changed-language");
  place.make("krohn convert name:parity q.dot");
  const std::string train =
      "krohn train q.dot --model bilinear:full,hidden=4,inputs=2 --length 2..6 --steps 20 --threads 1 -o run";
  place.make(train);
  const std::string before = contents(place / "run/parameters.safetensors");
  place.expect(0, train);
  CHECK(contents(place / "run/parameters.safetensors") == before);
  place.make("krohn convert 'regex:(0|1)*1' q.dot");
  place.expect(2, train, {"is of another run"});
  CHECK(contents(place / "run/parameters.safetensors") == before);
}

TEST_CASE("a run holds the automaton that it was trained on: neither its file nor an option is needed again") {
  const Workplace place("own-language");
  const std::string options =
      " --model bilinear:full,hidden=8,inputs=8,spread=0.1 --length 1..6 --rates 1e-2 --smoothing 0.1 --stop-at 0 "
      "--steps 3000 --threads 1 --certify -o ";
  // Words end in 1; later the file says that they end in 0.
  place.make("krohn convert 'regex:(0|1)*1' q.dot && mkdir elsewhere");
  place.make("krohn train q.dot" + options + "run");
  const std::string asked = "krohn verify run && krohn eval run --lengths 8 --words 50 --threads 1";
  place.expect(0, asked, {"run: proved for words of every length", "1.0000"});
  // The name under which the automaton is stored is quoted as what it is now; the verdict is the same.
  const auto is_same = [](const std::string& out) {
    return out.starts_with("run: proved for words of every length") && contains(out, "1.0000");
  };
  const std::string elsewhere = place.shell("mv run elsewhere && cd elsewhere && " + asked).out;
  CHECK(is_same(elsewhere));
  CHECK(contains(elsewhere, "under the name \"q.dot\", which was not compared"));
  place.make("mv elsewhere/run . && krohn convert 'regex:(0|1)*0' q.dot");
  const std::string changed = place.shell(asked).out;
  CHECK(is_same(changed));
  CHECK(contains(changed, "which is another language now: they differ on \"0\""));
  place.expect(1, "krohn verify run --against q.dot");

  // The letters of a regex in another order, and those of a group: both were taken for the usual ones.
  place.make("krohn train 'regex:(a|b)*a' --alphabet ba" + options + "ba");
  place.expect(0, "krohn verify ba");
  place.expect(0, "krohn verify ba --alphabet ab");
  CHECK(contains(place.shell("krohn run ba bba").out, "accept"));
  place.expect(1, "krohn verify ba --against 'regex:(a|b)*b'");
  // The command of a report trains the same model anew.
  place.make("krohn report ba -o ba.html");
  const std::string page = contents(place / "ba.html"), begin = "krohn train 'regex:(a|b)*a'";
  const std::size_t at = page.find(begin);
  REQUIRE(at != std::string::npos);
  const std::string line = page.substr(at, page.find(" -o ba", at) - at);
  CHECK(contains(line, " --certify"));
  place.make(line + " -o anew");
  CHECK(contents(place / "anew/parameters.safetensors") == contents(place / "ba/parameters.safetensors"));
  const std::string group =
      " --model bilinear:full,hidden=8,inputs=8 --length 1..6 --steps 20 --words 8 --threads 1 -o s3";
  place.make("krohn train S3 --generators '(1 2 3),(1 2)'" + group);
  CHECK(place.shell("krohn verify s3 --max-pairs 2000").status != 2);
  place.expect(2, "krohn train S3 --generators '(1 2),(1 2 3)'" + group, {"is of another run"});
}

TEST_CASE("words of the validation that are too long are named, not the first weights") {
  const Workplace place("long-validation");
  place.expect(
      2,
      "krohn train parity --model bilinear:full,hidden=4,inputs=4 --length 2..8 --steps 1000 --stop-at 0 --words 8 "
      "--threads 1 --validation-length 1000 -o run",
      {"--validation-length", "! spread"});
}

TEST_CASE("a rate that diverges is said so, and the last good checkpoint stays") {
  const Workplace place("diverging");
  const std::string line =
      "krohn train modadd3 --model bilinear:full,hidden=12,inputs=8 --length 30 --rates 10 --steps 500 --threads 1 "
      "--checkpoint-every 1 --stop-at 0 -o run";
  const Outcome diverged = place.expect(2, line, {"diverged", "--clip"});
  const std::string checkpoint = contents(place / "run" / "checkpoint-rate=10-seed=1.safetensors");
  CHECK(contains(checkpoint, "\"state\":\"running\""));
  CHECK(contains(contents(place / "run" / "run.json"), "diverged"));
  CHECK(!std::filesystem::exists(place / "run" / "parameters.safetensors"));
  CHECK(place.shell(line).err == diverged.err);  // from there it diverges again
}

TEST_CASE("a run that diverges at its first step names no checkpoint, and says what else to change") {
  const Workplace place("at-once");
  place.expect(
      2,
      "krohn train modadd3 --model bilinear:full,hidden=8,inputs=4,spread=100 --length 60 --steps 3 --threads 1 -o "
      "run",
      {"--model: every run diverged, the first at its first step", "spread=", "! checkpoint"});
}

TEST_CASE("where every run diverges, a model of an earlier command and its record stay together") {
  const Workplace place("kept-together");
  const std::string line =
      "krohn train modadd3 --model bilinear:full,hidden=12,inputs=8 --length 30 --threads 1 -o run ";
  place.make(line + "--steps 1 --rates 0.3 --stop-at 0");
  const std::string record = contents(place / "run" / "run.json"),
                    model = contents(place / "run" / "parameters.safetensors");
  place.expect(2, line + "--steps 500 --stop-at 0 --rates 0.3", {"diverged"});
  CHECK(contents(place / "run" / "run.json") == record);
  CHECK(contents(place / "run" / "parameters.safetensors") == model);
  place.expect(2, line + "--steps 3 --rates 1e-2,0.01", {"0.01 is given twice"});
}

TEST_CASE("a command that would lose the model of a folder is refused, and more of the same goes on") {
  const Workplace place("occupied");
  const std::string line = "krohn train parity --length 2..6 --threads 1 -o run ",
                    model = "--model bilinear:full,hidden=4,inputs=2 ", before = line + model + "--steps 6 --seeds 2 ";
  place.make(before + "--rates 1e-3");
  const auto files = [&] {
    std::string all;
    for (const char* file : {"run.json", "parameters.safetensors", "network.safetensors"})
      all += contents(place / "run" / file);
    return all;
  };
  const std::string kept = files();
  struct Refused {
    std::string command, why;
  };
  for (const auto& [command, why] :
       {Refused{"krohn train modadd3 --length 2..6 --threads 1 -o run --seed 7 " + model, "on parity"},
        Refused{line + "--model bilinear:full,hidden=5,inputs=2 --seeds 2 --seed 7 ", "hidden=4,inputs=2 on parity"},
        Refused{line + model + "--steps 6 ", "rate 0.001 and seed 2"},
        Refused{line + model + "--steps 6 --seed 2 ", "rate 0.001 and seed 1"},
        Refused{before + "--rates 1e-2 ", "rate 0.001 and seed 1"},
        Refused{line + model + "--steps 5 --seeds 2 ", "6 steps, more than the 5"},
        Refused{line + model + "--seed 2 --shard 1/2 ", "rate 0.001 and seed 1"}}) {
    CAPTURE(command);
    place.expect(2, command, {why, "another folder"});
    CHECK(files() == kept);
  }
  // More of the same goes on.
  place.expect(0, before + "--rates 1e-2,1e-3");
  place.expect(0, line + model + "--steps 7 --seeds 3 --rates 1e-3,1e-2");
  place.write("run/run.json", "{}");
  CHECK(contains(place.shell(before + "--rates 1e-2,1e-3").err, "did not write"));
  place.make("rm run/run.json");
  CHECK(contains(place.shell(before + "--rates 1e-2,1e-3").err, "no run.json"));
}

TEST_CASE("words of one label, of too many letters, and folders without a model") {
  const Workplace place("edges");
  place.make("krohn train Z1 --model bilinear:full,hidden=4,inputs=2 --length 2..4 --steps 2 -o one");
  const Outcome one = place.shell("krohn eval one --lengths 10 --json");
  CHECK(json::parse(one.out)["lengths"][0]["scaled_accuracy"] == 1.0);
  place.write("run.json", R"({"model": "dense:size=2", "task": "parity", "runs": []})");
  CHECK(contains(place.shell("krohn eval .").err, "every run diverges"));
}

TEST_CASE("a folder that PyTorch's trainer wrote is no run of krohn's, and what takes it is said") {
  const Workplace place("rival-folder");
  place.make("mkdir lstm mamba other");
  place.write("lstm/run.json", R"({"model": "torch:lstm:hidden=8", "task": "parity"})");
  place.write("mamba/run.json", R"({"model": "torch:mamba:layers=1", "task": "parity"})");
  place.write("other/run.json", R"({"model": ["torch:lstm"]})");
  for (const char* verb : {"verify lstm", "extract lstm -o x.dot", "snap lstm -o x.safetensors", "eval lstm",
                           "compare lstm name:parity", "report lstm -o x.html"})
    place.expect(2, fmt::format("krohn {}", verb),
                 {"krohn import lstm/model.safetensors --as lstm --against TASK -o FOLDER"});
  CHECK(contains(place.shell("krohn verify mamba").err, "mamba, of which nothing is proved"));
  CHECK(contains(place.shell("krohn verify other").err, "takes a .safetensors model"));
}

TEST_CASE("a run that diverges before its first validation has no loss and no accuracy") {
  const Workplace place("unvalidated");
  const std::string line =
      "krohn train modadd3 --model bilinear:full,hidden=12,inputs=8 --length 30 --rates 10 --steps 500 --threads 1 "
      "--stop-at 0 --validate-every 500 -o run ";
  const auto run_of = [&](const std::string& options, const std::string& printed) {
    const Outcome outcome = place.expect(2, line + options);
    CHECK(contains(outcome.out, printed));
    json run = json::parse(contents(place / "run" / "run.json"))["runs"][0];
    place.make("rm -r run");
    CHECK(run["state"] == "diverged");
    return run;
  };
  const json without = run_of("--keep-most-right", "diverged  none             none");
  CHECK(without["validation_loss"].is_null());
  CHECK(without["validation_accuracy"].is_null());
  const json with = run_of("", "diverged  1.1              0.3");  // one before the first step
  CHECK(with["validation_loss"] > 1);
  CHECK(with["validation_accuracy"] > 0.2);

  // The cell of a table has it so, too.
  const krohn::Experiment cell =
      krohn::paper_table("fan2", krohn::TableScale::kSmall, krohn::Recipe::kPaper).experiments[0];
  krohn::ExperimentRun run{.record = {.end = "diverged"}};
  CHECK(krohn::run_json(cell, run)["validation_accuracy"].is_null());
  CHECK(krohn::run_json(cell, run)["validation_loss"].is_null());
  run.record.targets = 10;
  run.record.right = 6;
  CHECK(krohn::run_json(cell, run)["validation_accuracy"] == doctest::Approx(0.5));  // a fifth is chance
}

TEST_CASE("a run that begins with a construction is proved without a step, and goes on from a perturbed one") {
  const Workplace place("beginning");
  place.make("krohn compile name:Z5 -o z5.safetensors");
  const std::string line =
      "krohn train modadd5 --model bilinear:full,hidden=8,inputs=8 --init z5.safetensors --threads 1 ";
  place.make(line + "--steps 0 -o run");
  CHECK(contains(place.shell("krohn eval run --lengths 1e4 --words 50 --json").out, "\"right\": 50,"));
  place.expect(0, "krohn verify run");
  place.expect(0, "krohn verify run/network.safetensors");

  const std::string perturbed =
      line + "--perturb 0.05 --smoothing 0.1 --schedule cosine --stop-at 0 --steps 300 --json -o again";
  place.expect(0, perturbed);
  CHECK(contains(place.shell("krohn eval again --lengths 50 --words 50 --json").out, "\"right\": 50,"));
  // Another noise is another run.
  place.expect(2, line + "--perturb 0.06 --smoothing 0.1 --schedule cosine --stop-at 0 --steps 300 -o again",
               {"another run"});
  place.expect(2, "krohn train modadd5 --model deltaproduct --init z5.safetensors -o no", {"norms"});
  CHECK(!std::filesystem::exists(place / "no"));
}

TEST_CASE("a cell that does not forget disturbances is trained on until it does, and is proved") {
  const Workplace place("contracting");
  const std::string line = "krohn train 'regex:(a|b)*abb' --length 1..20 --clip 1 --stop-at 0 --threads 1 --model ",
                    gru = line + "gru:hidden=16 ";
  place.make(gru + "--rates 1e-2 --steps 500 -o plain");
  place.expect(3, "krohn verify plain --max-pairs 20000", {"measured along 32 words: at most ", "--contract 3"});
  CHECK(contains(place.shell("krohn verify plain --max-pairs 20000 --json").out, "\"contraction\": {"));
  const std::string on = gru + "--rates 3e-3 --steps 1500 --certify --any-order --precision bf16 -o proved --init ";
  place.expect(
      0, on + "plain --contract 3",
      {"proved for words of every length, in bf16, with fp32 sums in any order", "; as trained, nothing rounded"});
  CHECK(contains(contents(place / "proved/run.json"), "\"any_order\": true,\n  \"precision\": \"bf16\","));
  CHECK(contains(contents(place / "proved/run.json"), "\"contract\": 3.0,"));
  CHECK(contents(place / "proved/parameters.safetensors") == contents(place / "proved/trained.safetensors"));
  CHECK_FALSE(contains(place.shell("krohn verify proved --certificate cell.cert --json").out, "contraction"));
  place.expect(0, "krohn check cell.cert proved");

  // In any order, by regions; a forged file of them is none.
  place.expect(3, "krohn verify plain --any-order");
  place.expect(0, "krohn verify proved --any-order --precision bf16 --certificate bf16.cert",
               {"length, in bf16, with fp32 sums in any order, with or without FMA"});
  CHECK(contains(contents(place / "bf16.cert"), "\"arithmetic\":\"bf16\",\"form\":\"operations\",\"order\":\"any\""));
  CHECK(contains(place.shell("krohn check bf16.cert proved").out, "bf16, "));
  CHECK(contains(place.shell("krohn verify proved --any-order --precision fp64").err, "or fp16"));
  // A word fails in the arithmetic that reads it.
  place.make("krohn train parity --model gru:hidden=4 --steps 0 -o raw");
  place.expect(1, "krohn verify raw --any-order --precision bf16",
               {"\n  fp32, letter after letter, every operation rounded separately"});
  CHECK(contains(place.shell("krohn verify raw --any-order --precision bf16 --json").out, "\"arithmetic\": \"fp32\""));
  place.expect(0, "krohn verify proved --any-order --certificate any.cert",
               {"with sums in any order, with or without FMA, functions within 8 units\n",
                "closed regions: ", "the certificate re-checked by independent code"});
  place.expect(0, "krohn check any.cert proved", {"any evaluation"});
  std::string forged = contents(place / "any.cert");
  const std::size_t start = forged.find("\"start\":", forged.find("\"step\":\"regions\"")) + 8;
  forged[start] = '0';
  place.write("forged.cert", forged);
  place.expect(1, "krohn check forged.cert proved",
               {"the start: after 0 letters some word's memory lies in no region"});

  CHECK(contains(place.shell(on + "plain --contract 2").err, "another run"));
  CHECK(contains(place.shell(on + "proved --contract 3").err, "another run"));
  place.expect(2, line + "lstm:hidden=16 --init plain -o no",
               {"plain holds another model than lstm:layers=1,hidden=16,inputs=16; take --model gru:"});
  CHECK(contains(place.shell(line + "bilinear --contract 3 -o no").err, "and layers of other libraries can"));
  CHECK(contains(place.shell(gru + "--contract 3 --device cuda -o no").err, "take --device cpu"));
  CHECK(contains(place.shell(gru + "--certify --any-order -o no").err, "add --contract 3"));
  CHECK(contains(place.shell(gru + "--contract 3 --certify --precision bf16 -o no").err, "add --any-order"));
  CHECK(!std::filesystem::exists(place / "no"));
}

TEST_CASE("what another library trained is trained on until it is proved") {
  const Workplace place("imported");
  const auto write = [&](const std::string& name) {
    krohn::TensorFile file = krohn::read_safetensors(KROHN_TEST_DATA "/" + name + ".safetensors");
    for (const char* extra : {"words", "logits32", "logits64", "stated32"}) file.tensors.erase(extra);
    place.write("net.safetensors", krohn::format_safetensors(file));
  };
  const std::string task = "'regex:(a|b|c)*a' ",
                    on = "krohn train " + task + "--length 1..20 --rates 1e-2 --clip 1 --stop-at 0 --steps 1500 --threads 1 ";
  // Two layers of a GRU between layer norms, and a head of two layers.
  write("cells/gru-sequential");
  place.make("krohn import net.safetensors --as gru --modules 0,1,2,3,4,relu,6 --against " + task + "-o net");
  place.expect(1, "krohn verify net");
  place.expect(0, on + "--init net --contract 3 --certify -o proved",
               {"stock-gru:width=5,forward=layer-norm/layer-6/layer-6/layer-norm/linear-7/relu",
                "proved for words of every length", "as trained, nothing rounded"});
  place.expect(0, "krohn verify proved --any-order --certificate net.cert", {"closed regions: "});
  place.expect(0, "krohn check net.cert proved");
  place.expect(2, on + "--init net --certify -o no", {"is never rounded", "--contract may have it proved as it is"});
  // It goes on where it stopped, bit for bit.
  place.make(on + "--init net --schedule cosine --checkpoint-every 0 -o whole");
  place.shell("timeout -s INT 0.5 " + on + "--init net --schedule cosine --checkpoint-every 0 -o parts");
  place.make(on + "--init net --schedule cosine --checkpoint-every 0 -o parts");
  CHECK(contents(place / "whole/parameters.safetensors") == contents(place / "parts/parameters.safetensors"));
  // A layer that is no cell of PyTorch.
  write("stock/slstm");
  place.make("krohn import net.safetensors --as slstm --classes reject=0,accept=1 --against " + task + "-o slstm");
  place.expect(0, on + "--init slstm --contract 3 --certify -o proved-slstm", {"proved for words of every length"});
  // Or it begins here, as its library begins it.
  place.expect(0, on + "--model m2rnn:width=8,bare --contract 3 --certify -o new", {"stock-m2rnn:", "proved for words of every length"});
  place.expect(0, "krohn verify new --certificate new.cert");
  place.expect(0, "krohn check new.cert new");
}

TEST_CASE("with --contract and nothing else said a cell is trained by the measured recipe, until regions close") {
  const Workplace place("recipe");
  const std::string line = "krohn train parity --threads 1 --model ",
                    gru = "krohn train S3/swaps --threads 1 --model gru:hidden=16 --contract 3 ",
                    plain = gru + "--certify -o cell";
  place.expect(0, plain,
               {"defaults of --contract: --length 1..20 --rates 5e-3 --steps 10000 --stop-at 0 --clip 1 --schedule cosine\n",
                "proved for words of every length, with sums in any order", "; as trained, nothing rounded"});
  place.expect(0, "krohn verify cell --any-order --certificate cell.cert", {"closed regions: "});
  place.expect(0, "krohn check cell.cert cell", {"any evaluation"});
  // The same command finds its run, and the record has the whole recipe.
  const std::string parameters = contents(place / "cell/parameters.safetensors");
  place.expect(0, plain);
  CHECK(contents(place / "cell/parameters.safetensors") == parameters);
  const auto kept = [&](const std::string& run) {
    const json all = json::parse(contents(place / run / "run.json"));
    json of;
    for (const char* key : {"lengths", "rates", "steps", "stop_at", "clip", "schedule", "weight_decay"})
      of.push_back(all[key]);
    return of.dump();
  };
  CHECK(kept("cell") == R"([[1,20],[0.005],10000,0.0,1.0,"cosine",0.0])");
  // Whatever is given stays, the usual value too; of the three only LSTMs decay; --init keeps the usual values.
  const std::string own =
      "--length 2..9 --rates 1e-3 --steps 9 --stop-at 1e-5 --clip 0 --schedule constant --weight-decay 0 ";
  CHECK_FALSE(contains(place.shell(line + "lstm:hidden=4 --contract 3 -o own " + own).out, "nothing else is said"));
  CHECK(kept("own") == R"([[2,9],[0.001],9,1e-05,0.0,"constant",0.0])");
  place.make(line + "rnn:hidden=4 --contract 3 --steps 9 -o rnn");
  CHECK(kept("rnn") == R"([[1,20],[0.01],9,0.0,1.0,"cosine",0.0])");
  place.make(line + "lstm:hidden=4 --contract 3 --steps 9 -o lstm");
  CHECK(kept("lstm") == R"([[1,20],[0.01],9,0.0,1.0,"cosine",0.3])");
  place.make(gru + "--steps 9 --init cell -o on");
  CHECK(kept("on") == R"([[32,32],[0.001],9,1e-05,0.0,"constant",0.0])");
  CHECK(
      contains(place.shell(line + "rnn:hidden=4 --contract 3 --warmup 10001 -o no").err, "more than the run's 10000"));
}

TEST_CASE("models of PyTorch are trained by the Python that has them, or it is said how to get one") {
  const Workplace place("rivals");
  const std::string line = "krohn train parity --model torch:lstm,hidden=8 --steps 7 --rates 1e-2,3e-3 -o run";
  place.expect(2, "export KROHN_PYTHON=/nonexistent/python; " + line, {"pip install"});
  // One that has krohn and safetensors, and no torch.
  place.write("python", "#!/bin/sh\ncase \"$2\" in *torch | *rivals) exit 1 ;; esac\nexit 0\n");
  place.make("chmod +x python");
  CHECK(contains(place.shell("export KROHN_PYTHON=./python; " + line).err, "./python has no torch:"));
  // A Python that says how it was called.
  place.write("python", "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho \"$@\"\nexit 3\n");
  place.expect(3, "export KROHN_PYTHON=./python; " + line,
               {"-m krohn.rivals train parity --model lstm:hidden=8 -o run --test-lengths 256 --length 3..40 --rates "
                "0.01,0.003 --steps 7"});
  // There is no option that the Python would not obey.
  for (const char* option :
       {"--smoothing 0.1", "--contract 3", "--perturb 2", "--patience 3", "--validation-length 9", "--json"})
    place.expect(2, "export KROHN_PYTHON=./python; " + line + " " + option,
                 {std::string(option).substr(0, std::string(option).find(' '))});
  place.expect(2, "export KROHN_PYTHON=./python; krohn train 'regex:a*' --alphabet abc --model torch:rnn -o x");
  // An interrupt ends the Python, too.
  place.write(
      "python",
      "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\ntrap 'echo ended > ended; exit 1' TERM\nwhile :; do sleep 0.1; done\n");
  place.shell("export KROHN_PYTHON=./python; timeout -s TERM 2 '" KROHN_COMMAND
              "' train parity --model torch:lstm -o x");
  CHECK(std::ranges::count(place.files(), "ended") == 1);
}

TEST_CASE("training to a proof ends with a run that verify proves; without one the trained model stays, status 3") {
  const Workplace place("certified");
  const std::string options =
      " --length 2..8 --smoothing 0.1 --schedule cosine --stop-at 0 --rates 3e-3 --steps 1500 --threads 1 --certify "
      "-o ";
  place.expect(0, "krohn train modadd3 --model bilinear:full,hidden=12,inputs=8,spread=0.05" + options + "run",
               {"proved for words of every length"});
  CHECK(std::filesystem::exists(place / "run" / "trained.safetensors"));
  const std::string record = contents(place / "run" / "run.json");
  for (const char* key : {"\"proved\": true", "\"rounds\": ", "\"greatest_move\": ", "\"readout_steps\": "})
    CHECK(contains(record, key));
  place.expect(0, "krohn verify run");
  place.expect(3, "krohn verify run/trained.safetensors --max-pairs 2000 --long-letters 0");
  const Outcome measured = place.shell("krohn eval run --lengths 5000 --words 10 --threads 1");
  CHECK(contains(measured.out, "1.0000"));

  // Not by one that is not: the same command, and more of the same, have it again.
  const std::string proved_again =
      "krohn train modadd3 --model bilinear:full,hidden=12,inputs=8,spread=0.05 --length 2..8 --smoothing 0.1 "
      "--schedule cosine --stop-at 0 --rates 3e-3 --steps 1500 --threads 1 -o run ";
  const std::string parameters = contents(place / "run/parameters.safetensors");
  place.expect(2, proved_again, {"add --certify"});
  place.expect(0, proved_again + "--certify");
  CHECK(contents(place / "run/run.json") == record);
  CHECK(contents(place / "run/parameters.safetensors") == parameters);
  // Models that are never rounded are named before the first step.
  for (const auto& [model, why] : {std::pair("rnn-relu", "one side alone"), std::pair("deltanet:signed", "`plain`"),
                                   std::pair("deltanet:signed,plain,layers=2", "only one layer")}) {
    place.expect(2, fmt::format("krohn train parity --model {} --certify -o never", model), {why});
    CHECK(!std::filesystem::exists(place / "never"));
  }

  // Reasons against a proof are told where there is none, and keep nobody from training: floats are finitely many.
  place.expect(
      3,
      "krohn train rsm:m=3,seed=1 --model deltanet:signed,plain,width=8,heads=1 --steps 1 --threads 1 --certify -o "
      "against",
      {"; in exact arithmetic no layer of contractions, such as reflections", "only rounding could"});
  place.expect(
      0,
      "krohn train 'regex:b*a*' --model deltaproduct:plain,width=32,heads=1,keys=8,values=4 --length 1..9 --rates 3e-2 "
      "--seed 2 --schedule cosine --warmup 50 --steps 300 --validate-every 100 --stop-at 0 --certify --threads 1 -o "
      "fading");
  place.expect(0, "krohn verify fading");
  CHECK(contains(place.shell("krohn classify 'regex:b*a*'").out, "right regular idempotents  no"));

  place.expect(3, "krohn train modadd3 --model bilinear:rotations,hidden=8,inputs=8" + options + "open",
               {"not proved: "});
  CHECK(std::filesystem::exists(place / "open" / "parameters.safetensors"));
  CHECK_FALSE(std::filesystem::exists(place / "open" / "trained.safetensors"));
  // Its letters were moved on the way: it is no run without --certify.
  place.expect(2,
               "krohn train modadd3 --model bilinear:rotations,hidden=8,inputs=8 --length 2..8 --smoothing 0.1 "
               "--schedule cosine --stop-at 0 --rates 3e-3 --steps 1500 --threads 1 -o open",
               {"is of a run with --certify"});
}

TEST_CASE("run.json has every option, and the test of every run") {
  const Workplace place("every-option");
  place.make(
      "krohn train sum3/prefixes --model fan-released:blocks=1,size=4 --length 8 --words 16 --rates "
      "1e-3,1e-2 --seeds 2 --seed 5 --steps 1 --smoothing 0.2 --samples 32 --stop-at 0 --clip 2 "
      "--schedule cosine --warmup 1 --least-rate 1e-6 --weight-decay 0.3 --coupled-decay 1e-4 "
      "--validate-every 7 --validation-length 30 --validation-words 64 --validate-last "
      "--keep-most-right --threads 1 -o run");
  const json run = json::parse(contents(place / "run/run.json"));
  const json options{{"task", "sum3/prefixes"},
                     {"model", "fan-released:layers=1,blocks=1,size=4,norm=1.2"},
                     {"lengths", {8, 8}},
                     {"words", 16},
                     {"samples", 32},
                     {"smoothing", 0.2},
                     {"contract", 0.0},
                     {"rates", {1e-3, 1e-2}},
                     {"seed", 5},
                     {"seeds", 2},
                     {"steps", 1},
                     {"schedule", "cosine"},
                     {"warm_up", 1},
                     {"least_rate", 1e-6},
                     {"weight_decay", 0.3},
                     {"coupled_decay", 1e-4},
                     {"clip", 2.0},
                     {"validate_every", 7},
                     {"validation_words", 64},
                     {"validation_lengths", {30, 30}},
                     {"validate_last", true},
                     {"keep_most_right", true},
                     {"patience", 0},
                     {"stop_at", 0.0},
                     {"certify", false},
                     {"any_order", false},
                     {"precision", "fp32"},
                     {"device", "cpu"}};
  for (const auto& [name, value] : options.items()) {
    CAPTURE(name);
    CHECK(run[name] == value);
  }
  // And nothing else but what came of them: a new option needs a line here.
  for (const auto& [name, value] : run.items()) {
    CAPTURE(name);
    CHECK((options.contains(name) || name == "schema" || name == "parameters" || name == "runs"));
  }
  REQUIRE(run["runs"].size() == 4);
  for (const json& each : run["runs"]) {
    CHECK(each["steps"] == 1);
    CHECK(each["test"]["length"] == 500);
    CHECK(each["test"]["words"] == 100);
    CHECK(each["test"]["answers"] == 50'000);
    CHECK(each["test"]["right"].get<int>() > 0);
  }
  // The trainer names in its checkpoints what it trains with.
  const std::string checkpoint = contents(place / "run/checkpoint-rate=0.001-seed=5.safetensors");
  CHECK(
      contains(checkpoint,
               "sum3/prefixes fan-released:layers=1,blocks=1,size=4,norm=1.2 lengths=8-8 words=16 learning_rate=0.001 "
               "clip=2 seed=5 smoothing=0.2 samples=32 cosine=1-1e-06 warm_up=1 weight_decay=0.3 validation=30-30 "
               "coupled_decay=0.0001 validation_words=64 validate_last keep_most_right of 1 every 7"));
}
