// Models for other frameworks, as a person asks for them.

#include "tests/tools/shell.h"

using namespace krohn::test;

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
