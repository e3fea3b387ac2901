// Models trained elsewhere, exact cells and audits, as a person asks for them.

#include "krohn/constructions/files/safetensors.h"
#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

const std::string kCells = std::string(KROHN_TEST_DATA) + "/cells/";

}  // namespace

TEST_CASE("an exact cell is written as a run, proved, and read by every verb that takes runs") {
  const Workplace place("exact-cells");
  for (const std::string target : {"torch-rnn", "torch-rnn-relu", "torch-gru", "torch-lstm"}) {
    CAPTURE(target);
    place.expect(0, "krohn compile 'regex:(a|b)*abb' --target " + target + " -o run",
                 {"proved for words of every length"});
    place.expect(0, "krohn verify run");
    place.expect(0, "krohn verify run --precision bf16");
    place.expect(1, "krohn verify run --against 'regex:(a|b)*ab'");
    place.expect(0, "krohn extract run -o again.json --against 'regex:(a|b)*abb'");
    CHECK(contains(place.shell("krohn eval run --lengths 50 --words 20").out, "1.0000"));
    place.make("krohn snap run -o snapped.safetensors --against 'regex:(a|b)*abb'");
    CHECK(contains(place.shell("krohn compare run snapped.safetensors").out, "act by no matrices"));
    place.expect(2, "krohn compare run snapped.safetensors --plot a.svg");
  }
}

TEST_CASE("an exact layer of another library is written as a run, proved, and read by every verb that takes runs") {
  const Workplace place("exact-layers");
  for (const std::string target : {"xlstm-slstm", "transformers-mamba2", "transformers-mlstm"}) {
    CAPTURE(target);
    place.expect(0, "krohn compile 'regex:(a|b|c)*(a|b)c*' --target " + target + " -o run",
                 {"proved for words of every length"});
    place.expect(0, "krohn verify run");
    place.expect(1, "krohn verify run --against 'regex:(a|b|c)*a'");
    place.expect(2, "krohn verify run --precision bf16");
    CHECK(contains(place.shell("krohn eval run --lengths 50 --words 20").out, "1.0000"));
    CHECK(contains(place.shell("krohn run run abccab random:200").out, "the model agrees at every position"));
  }
}

TEST_CASE("run reads a trained model's folder beside the automaton of its task") {
  const Workplace place("run-of-run");
  place.make("krohn compile name:parity --target torch-gru -o run");
  place.expect(0, "krohn run run 0110 --trace", {"the model agrees at every position"});
  place.make(
      "krohn import run/parameters.safetensors --as gru --against name:parity --classes "
      "reject=1,accept=0 -o wrong");
  const json row = place.report(1, "krohn run wrong 01 --json")["words"][0];
  CHECK(row["model"]["output"] == "reject");
  CHECK(row["automaton"]["output"] == "accept");
  CHECK(row["wrong_positions"] == 2);
  CHECK(row["wrong_from"] == 1);
  place.expect(1, "krohn run wrong/parameters.safetensors 01");
}

TEST_CASE("a state dict becomes a run, and the file of an exact cell is one") {
  const Workplace place("import");
  place.expect(2,
               "krohn import '" + kCells +
                   "lstm.safetensors' --as lstm --against 'regex:(a|b|c)*a' -o run");  // it also holds words and logits
  place.make("krohn compile name:parity --target torch-lstm -o exact");
  const std::string line = "krohn import exact/parameters.safetensors --as lstm --against name:parity ";
  place.make(line + "-o run");
  place.expect(0, "krohn verify run");
  // Letters and answers that change places make another language: an even number of zeros read as ones.
  place.make(line + "--letters 0=1,1=0 -o swapped");
  place.expect(1, "krohn verify swapped");
  place.make(line + "--classes reject=1,accept=0 -o other");
  place.expect(1, "krohn verify other");
}

TEST_CASE("an imported model is compared with its own forward pass, at once or later, and verdicts say so") {
  const Workplace place("expect");
  place.make("krohn compile name:parity --target torch-lstm -o exact");
  const std::string line = "krohn import exact/parameters.safetensors --as lstm --against name:parity ";
  const std::string same = "agrees with its own forward pass after 7 letters of 4 words";
  place.write("right.jsonl", R"({"word": "0110", "answer": "reject"})"
                             "\n"
                             R"({"word": ["1", "0"], "answers": ["accept", 1]})"
                             "\n\n"
                             R"({"word": [1, 1, 1], "answers": [1, "reject", 1]})"
                             "\n"
                             R"({"word": [1], "answer": 1})");
  place.write("right.tsv", "0110\treject\r\n10\taccept\taccept\n111\t1\t0\t1\n1\t1\n");
  for (const std::string file : {"right.jsonl", "right.tsv"}) {
    CAPTURE(file);
    place.expect(0, line + "-o run --expect " + file, {same});
    CHECK(contains(place.shell("krohn verify run").out, same));
    CHECK(json::parse(place.shell("krohn verify run --json").out)["forward"]["compared_words"] == 4);
  }
  const Outcome bare = place.shell(line + "-o bare --json");
  CHECK(json::parse(bare.out)["forward"]["compared_words"] == 0);
  CHECK(contains(place.shell("krohn verify bare").out, "not compared with its own forward pass"));
  CHECK(json::parse(place.shell("krohn verify bare --json").out)["forward"]["compared_words"] == 0);
  CHECK(contains(place.shell("krohn verify bare --expect right.tsv").out, same + " in right.tsv"));
  CHECK(contains(place.shell("krohn verify exact --expect right.tsv").out, same));
  CHECK_FALSE(contains(place.shell("krohn verify exact").out, "forward pass"));  // krohn's own has no other
  // The numbers of letters and answers are kept for later.
  place.make(line + "--letters 0=1,1=0 --classes reject=1,accept=0 -o turned");
  place.write("turned.jsonl", R"({"word": [0, 1, 0], "answers": [0, 1, 1]})");
  CHECK(place.shell("krohn verify turned --expect turned.jsonl").status != 2);

  const auto refused = [&](const std::string& text, const std::string& why, const std::string& then = "") {
    CAPTURE(text);
    place.write("wrong", "1\taccept\n" + text + "\n");
    for (const std::string& command :
         {line + "-o no --expect wrong", std::string("krohn verify bare --expect wrong")}) {
      place.expect(2, command, {"wrong:2", why, then});
    }
    CHECK_FALSE(std::filesystem::exists(place / "no"));
  };
  const std::string disagrees = "its own forward pass says accept, and the weights as krohn reads them say reject";
  refused("0110\taccept", "after \"0110\"", disagrees);
  refused(R"({"word": "110", "answers": [1, 1, 0]})", "after \"11\"", disagrees);
  refused(R"({"word": "11", "logits": [0, 50]})", "after \"11\"", "its own forward pass says [0, 50]");
  refused("01 accept", "neither a JSON object nor a word, a tab");
  refused("012\taccept", "");
  refused("\taccept", "an empty word has no answer");
  refused("01\tperhaps", "\"perhaps\" is no answer");
  refused("01\t2", "\"2\" is no answer");
  refused("011\taccept\taccept", "2 answers to 3 letters");
  refused("{\"word\": \"01\"", "not valid JSON");
  refused(R"({"word": "01", "word": "10", "answer": 1})", "the key \"word\" is given twice");
  refused("{\"word\": " + std::string(50'000, '[') + std::string(50'000, ']') + "}", "JSON nested deeper");
  refused(R"({"word": "01"})", "it needs word, and one of");
  refused(R"({"word": "01", "answer": 1, "logits": [0, 1]})", "it needs word, and one of");
  refused(R"({"word": "01", "answer": 1, "label": 1})", "\"label\" is not known");
  refused(R"({"word": [0, 2], "answer": 1})", "there is no letter with the number \"2\"");
  refused(R"({"word": [0, -1], "answer": 1})", "-1 is neither a name nor a number");
  refused(R"({"word": 7, "answer": 1})", "word is neither a text nor a list");
  refused(R"({"word": "01", "logits": [0, 1, 2]})", "3 logits, and the read-out has rows for 2 answers");
  refused(R"({"word": "01", "logits": ["a", 1]})", "logits are numbers");
  place.write("empty", "\n\n");
  CHECK(contains(place.shell(line + "-o no --expect empty").err, "no answer of it could be compared"));
  place.expect(2, line + "-o no --expect nowhere");
  place.make("krohn compile name:parity -o net.safetensors");
  CHECK(
      contains(place.shell("krohn verify net.safetensors --expect right.tsv").err, "is for models of `krohn import`"));
  CHECK_FALSE(std::filesystem::exists(place / "no"));
}

TEST_CASE("an audit says what a config alone excludes") {
  const Workplace place("audit");
  std::filesystem::create_directories(place / "model");
  place.write("model/config.json", R"({"model_type": "qwen3_next", "num_hidden_layers": 8})");
  place.expect(0, "krohn audit model",
               {"6 of 8 layers, by the config alone",
                "never: parity of words of every length, where matrices are multiplied exactly"});
  const json report = json::parse(place.shell("krohn audit model --json").out);
  CHECK(report["recurrent_layers"] == 6);
  CHECK(report["by_layer"][0]["heads"].size() == 32);
  CHECK(report["config_only"] == true);
}

TEST_CASE("an audit of a checkpoint that krohn wrote finds what its construction needs") {
  const Workplace place("audit-own");
  for (const std::string target : {"fla-deltanet", "fla-gated-deltanet", "fla-kda", "olmo-hybrid"}) {
    CAPTURE(target);
    place.make("krohn compile name:parity --target " + target + " -o model");
    const json report = json::parse(place.shell("krohn audit model --json").out);
    CHECK(report["config_only"] == false);
    CHECK(report["all"]["least_eigenvalue"].get<double>() < -0.999999);
    std::filesystem::remove_all(place / "model");
  }
  // The same weights, and a member of the config that was lost.
  place.make("krohn compile name:parity --target fla-deltanet -o model && cp -r model other");
  place.expect(0, "krohn audit model other");
  json config = json::parse(contents(place / "other/config.json"));
  config.erase("allow_neg_eigval");
  place.write("other/config.json", config.dump());
  place.expect(
      1, "krohn audit model other",
      {"model permits negative eigenvalues in this head, and other does not", "other alone: never: parity of words"});
  const json compared = json::parse(place.shell("krohn audit other model --json").out);
  CHECK(compared["differing"] == compared["heads"]);
  CHECK(compared["first"]["ranges"][0]["least_eigenvalue"] >= 0);
  CHECK(compared["alone"][1]["never"].empty());
  std::filesystem::remove(place / "other/model.safetensors");
  CHECK(contains(place.shell("krohn audit model other").err, "configs alone"));
}

TEST_CASE("an answer that is not given has a reason, in every verb that tells answers") {
  using krohn::make_tensor;
  const Workplace place("no-answer");
  krohn::TensorFile file;  // h ← 2 h + 1: always right, until h has left fp32 after 128 letters
  file.tensors["rnn.weight_ih_l0"] = make_tensor(std::vector<float>{1, 1}, {1, 2});
  file.tensors["rnn.weight_hh_l0"] = make_tensor(std::vector<float>{2}, {1, 1});
  file.tensors["head.weight"] = make_tensor(std::vector<float>{0, 1}, {2, 1});
  file.tensors["head.bias"] = make_tensor(std::vector<float>{0, 1}, {2});
  write_safetensors(file, (place / "grow.safetensors").string());
  place.make("krohn import grow.safetensors --as rnn-relu --against 'regex:(0|1)*' -o grow");
  const std::string reason = "no answer: a logit is not finite (the state has left fp32)";
  place.expect(1, "krohn verify grow", {"there the model gives " + reason});
  const json verdict = json::parse(place.shell("krohn verify grow --json").out);
  CHECK(verdict["verdict"]["failing_word_length"] == 128);
  CHECK(verdict["answers"]["model"] == reason);
  CHECK(contains(place.shell("krohn run grow random:128").out, "the model says: " + reason));
  CHECK(contains(place.shell("krohn run grow random:128 --trace").out, reason));
  CHECK(json::parse(place.shell("krohn run grow random:128 --json").out)["words"][0]["model"]["reason"] == reason);
  place.expect(0, "krohn run grow random:127");
  CHECK(contains(place.shell("krohn eval grow --lengths 130 --words 10").out,
                 "at 130 letters 30 of 1,300 are no answer, as a logit is not finite"));
  CHECK(contains(place.shell("krohn extract grow -o e.dot").out, "gives \"no answer\" instead of \"accept\""));
  // A tie.
  file.tensors["head.weight"] = make_tensor(std::vector<float>{0, 0}, {2, 1});
  file.tensors["head.bias"] = make_tensor(std::vector<float>{1, 1}, {2});
  write_safetensors(file, (place / "tie.safetensors").string());
  place.make("krohn import tie.safetensors --as rnn-relu --against 'regex:(0|1)*' -o tie");
  CHECK(contains(place.shell("krohn verify tie").out, "no answer: two are equally good"));
}

// Models for other frameworks, as a person asks for them.

TEST_CASE("every target writes what its framework loads") {
  const Workplace place("targets");
  place.expect(0, "krohn compile name:modarith5 --target torch -o modarith5/");
  place.expect(0, "krohn verify modarith5/model.safetensors");
  CHECK(contents(place / "modarith5/krohn_network.py") == contents(KROHN_ROOT "/tools/python/krohn/torch.py"));
  place.expect(0, "krohn compile 'regex:(a|b)*abb' --target onnx -o abb.onnx");
  place.expect(0, "krohn compile 'regex:(a|b)*abb' --target numpy -o abb.npz");
  CHECK(contents(place / "abb.npz").starts_with("PK"));
}

TEST_CASE("a checkpoint is compiled, proved, refuted against another language, and tested") {
  const Workplace place("checkpoint");
  place.expect(0, "krohn compile name:S3 --generators transpositions --target fla-deltanet -o s3");
  for (const char* precision : {"fp32", "bf16"}) {
    place.expect(
        0, std::string("krohn verify s3 --length 1000 --precision ") + precision + " --against name:S3/transpositions",
        {"proved for words of every length", "1,000 letters of random words, seed 1: all correct"});
  }
  for (const std::string precision : {"fp32", "bf16"}) {
    place.expect(0, "krohn verify s3 --certificate s3.cert --precision " + precision);
    const Outcome checked = place.expect(0, "krohn check s3.cert s3 --against name:S3/transpositions",
                                         {"established: proved for words of every length"});
    CHECK(contains(checked.out, "to bf16") == (precision == "bf16"));
    place.expect(3, "krohn verify s3 --test-only --length 50 --words 3 --certificate s3.cert --precision " + precision);
    CHECK(contains(place.shell("krohn check s3.cert s3").out, "3 random words of 50 letters"));
  }
  // One logit that stands for two outputs would be right whatever is.
  place.make("krohn verify s3 --certificate s3.cert");
  place.make(
      "sed 's/\"logits\":\\[[^]]*\\]/\"logits\":[9,9,9,9,9,9]/' s3.cert > twice.cert && ! cmp -s s3.cert "
      "twice.cert");
  place.expect(2, "krohn check twice.cert s3", {"stands for two outputs"});
  const Outcome chunked = place.expect(3, "krohn verify s3 --order chunked --length 1000 --precision bf16",
                                       {"in chunks of 64 tokens"});  // a test proves nothing
  // The meaning of tokens is part of the claim: none for two outputs, none of another automaton's.
  const std::string tokens = contents(place / "s3" / "tokens.json");
  const auto refused_with = [&](const std::string& line, const char* what) {
    place.make(line + " < s3/tokens.json > t && cp t s3/tokens.json");
    place.expect(2, "krohn verify s3", {what});
    std::ofstream(place / "s3" / "tokens.json") << tokens;
  };
  const std::string edit = "python3 -c 'import json, sys; t = json.load(sys.stdin); s = t[\"states\"]; ";
  const std::string done = "; json.dump(t, sys.stdout)'";
  refused_with(edit + "s[1][\"token\"] = s[0][\"token\"]" + done, "stands for two outputs");
  refused_with(edit + "s[1][\"output\"] = s[0][\"output\"]" + done, "in the automaton");
  refused_with(edit + "s.append(s[0])" + done, "has two tokens");
  refused_with(edit + "t[\"letters\"].append(t[\"letters\"][0])" + done, "has two tokens");
  place.make("krohn verify s3");
  // The page is of the folder's weights, not of the network that its automaton compiles to.
  place.expect(0, "krohn report s3 -o s3.html --lengths 5 --words 2");
  CHECK(contains(contents(place / "s3.html"), "\"kind\":\"checkpoint\""));
  const Outcome compiled = place.expect(0, "krohn compile s3 --construction one-hot -o onehot.safetensors");
  CHECK(contains(compiled.out + compiled.err, "the automaton beside the checkpoint"));
  CHECK(contains(chunked.out, "1,000 letters of random words, seed 1: all correct"));
  // Another machine over the same letters: its answers differ after one.
  place.expect(0, "krohn compile name:Z2 --target fla-deltanet -o z2");
  const Outcome other = place.shell("krohn verify z2 --against name:Z3");
  CHECK(other.status != 0);
  std::filesystem::remove(place / "z2" / "automaton.json");
  place.expect(0, "krohn verify z2 --against name:Z2");
  // A class that holds the letter of a token is not that letter.
  CHECK(contains(place.shell("krohn verify z2 --against 'regex:[0-9]*'").err, "has no letter"));
}

TEST_CASE("a model of transformers is compiled and proved, and every verb takes its folder") {
  const Workplace place("hybrid");
  place.expect(0, "krohn compile name:S3 --generators transpositions --target olmo-hybrid -o s3");
  for (const char* precision : {"fp32", "bf16"}) {
    place.expect(
        0, std::string("krohn verify s3 --length 1000 --precision ") + precision + " --against name:S3/transpositions",
        {"proved for words of every length", "its recurrence has the same"});
  }
  for (const auto& [line, says] : {std::pair{"krohn run s3 random:200 --precision bf16", "agrees at every position"},
                                   {"krohn eval s3 --lengths 10,100 --words 5", "1.0000"},
                                   {"krohn extract s3 -o s3.dot --against name:S3/transpositions", "computes name:S3"},
                                   {"krohn snap s3 -o s3.safetensors --against name:S3/transpositions", "computes"},
                                   {"krohn compare s3 s3.safetensors", "2.0000"},
                                   {"krohn info s3", "6, minimal"},
                                   {"krohn convert s3 s3.json && krohn verify s3 --against s3.json", "proved"}})
    place.expect(0, line, {says});
  // Another language over the same letters: what disagrees is said.
  CHECK(place.shell("krohn extract s3 -o s3.dot --against name:S3").status != 0);
}
