#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

TEST_CASE("check: established 0, not established 1, refused 2, undecided 3") {
  const Workplace place("check");
  place.make("krohn compile name:Z5 --construction rotation -o z5.safetensors");
  place.make("krohn compile name:Z3 --construction rotation -o z3.safetensors");
  place.expect(1, "krohn verify z5.safetensors --precision bf16 --certificate z5.cert.json");
  place.make("krohn verify z3.safetensors --precision bf16 --certificate z3.cert.json");
  place.expect(0, "krohn check z5.cert.json z5.safetensors", {"z5.cert.json: established: refuted: wrong on"});
  const Outcome proved = place.expect(0, "krohn check z3.cert.json z3.safetensors --json");
  CHECK(json::parse(proved.out)["established"] == true);
  CHECK(json::parse(proved.out)["claim"] == "proved");

  place.expect(3, "krohn check z5.cert.json z5.safetensors --max-letters 10");

  place.expect(1,
               "sed '5s/\"state\":[012]/\"state\":7/' z3.cert.json > forged.json; "
               "krohn check forged.json z3.safetensors",
               {"NOT established", "leads to another pair"});
}

TEST_CASE("a failing word of another language than the model's own has a file") {
  const Workplace place("another-language");
  place.make("krohn compile 'regex:(a|b)*abb' -o abb.safetensors");
  place.expect(1, "krohn verify abb.safetensors --against 'regex:(a|b)*ab' --certificate ab.cert",
               {"the model computes its own automaton; re-checked: "});
  place.expect(0, "krohn check ab.cert abb.safetensors",
               {"established: refuted: wrong on \"ab\" (2 letters), and no shorter word fails",
                "judged by the language in the certificate"});
  place.expect(0, "krohn check ab.cert abb.safetensors --against 'regex:(a|b)*ab'");
  place.expect(1, "krohn check ab.cert abb.safetensors --against 'regex:(a|b)*abb'",
               {"another language than the certificate's"});
  // A language over fewer letters rejects what it cannot read; a letter that it splits in two has no file.
  place.expect(1, "krohn verify abb.safetensors --against 'regex:b*' --certificate b.cert");
  place.expect(0, "krohn check b.cert abb.safetensors");
  // In JSON the failing word stands in the language's letters where the model has none for it.
  const auto failing = [&](const std::string& language) {
    const json verdict =
        json::parse(place.shell("krohn verify abb.safetensors --against '" + language + "' --json").out)["verdict"];
    return std::pair(verdict.at("failing_word").get<std::string>(), verdict.at("failing_word_length").get<int>());
  };
  CHECK(failing("regex:(a|b)*ab") == std::pair(std::string("ab"), 2));
  CHECK(failing("regex:(a|b)*abb|ac") == std::pair(std::string("ac"), 2));
}

TEST_CASE("exact arithmetic has a file where the exact states are codewords") {
  const Workplace place("exact-file");
  for (const std::string language :
       {"name:S4 --generators transpositions", "name:Z6 --construction integral-cyclotomic", "'regex:(a|b)*abb'"}) {
    CAPTURE(language);
    place.make("krohn compile " + language + " -o m.safetensors");
    place.expect(0, "krohn verify m.safetensors --precision exact --certificate m.cert");
    CHECK(contains(contents(place / "m.cert"), R"("arithmetic":"exact")"));
    CHECK(
        contains(place.shell("krohn check m.cert m.safetensors").out, "established: proved for words of every length"));
  }
  place.make("krohn compile name:Z5 --construction rotation -o m.safetensors");
  place.expect(0, "krohn verify m.safetensors --precision exact --certificate none.cert",
               {"2> none.cert is not written"});
  CHECK(!std::filesystem::exists(place / "none.cert"));
}

TEST_CASE("check --against compares the model's automaton with a language") {
  const Workplace place("check-against");
  place.make("krohn compile 'regex:(a|b)*abb' -o abb.safetensors");
  place.make("krohn verify abb.safetensors --certificate abb.cert");
  const std::string check = "krohn check abb.cert abb.safetensors --against ";
  for (const char* same : {"'regex:(b|a)*a(b)b'", "'regex:~(~((a|b)*)|(a|b)*(a|ab)?|(a|b)*(aa|ba|bb)b)|(b|a)*abb'"})
    place.expect(0, check + same, {"the language of the model's automaton"});
  place.expect(1, check + "'regex:(a|b)*ab'", {": established: proved", "they differ on \"ab\""});
  place.make("krohn convert 'regex:(a|b)*abb' abb.json");
  place.expect(0, check + "abb.json");
  CHECK(json::parse(place.shell(check + "'regex:a' --json").out)["is_language"] == false);
  place.make("krohn compile name:S5 --generators transpositions -o s5.safetensors");
  place.make("krohn verify s5.safetensors --certificate s5.cert");
  place.expect(0, "krohn check s5.cert s5.safetensors --against name:S5/transpositions");
}

TEST_CASE("a cell trained to a proof has a certificate that others establish, in every format that it is read in") {
  const Workplace place("certified-cell");
  place.make(
      "krohn train parity --model rnn:hidden=16,inputs=4 --length 1..10 --rates 3e-3 --clip 1 --schedule "
      "cosine --smoothing 0.1 --stop-at 0 --steps 2000 --seed 3 --certify -o run");
  for (const std::string format : {"fp32", "fp64", "bf16"}) {
    CAPTURE(format);
    place.make("krohn verify run --precision " + format + " --certificate run.cert");
    place.expect(0, "krohn check run.cert run --against name:parity",
                 {": established: proved for words of every length"});
    CHECK(contains(contents(place / "run.cert"), "\"arithmetic\":\"" + format + "\""));
    if (place.shell("python3 --version").status == 0)
      place.expect(0, "python3 '" KROHN_ROOT "/tools/check/krohn_check.py' run.cert run/parameters.safetensors");
    std::string forged = contents(place / "run.cert");
    const std::size_t at = forged.find("\"step\":\"tanh\"");
    REQUIRE(at != std::string::npos);
    place.write("forged.cert", forged.replace(at, 13, "\"step\":\"copy\""));
    place.expect(1, "krohn check forged.cert run");
  }
  // Forms that the page forbids, though no claim would be wrong: refused by both checkers.
  const std::string whole = contents(place / "run.cert"), memory = "{\"step\":\"memory\",\"size\":16}\n";
  REQUIRE(contains(whole, memory));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {memory, "{\"step\":\"memory\",\"size\":0}\n" + memory},
           {memory, memory + "{\"step\":\"memory\",\"size\":0}\n"},
           {memory, memory + memory},
           {"\"tokens\":[0,1]", "\"tokens\":[0,1,0]"},
           {"\"tokens\":[0,1]", "\"tokens\":[0]"},
           {"\"tokens\":[0,1]", "\"tokens\":[-0,1]"},
           {memory, memory + "{\"step\":\"copy\",\"shape\":[0],\"of\":[[0,0,1]]}\n"},
           {memory, memory + "{\"step\":\"row\",\"of\":0,\"size\":0}\n"},
           {"{\"format\"", "\xEF\xBB\xBF{\"format\""}}) {
    CAPTURE(to);
    std::string forged = whole;
    REQUIRE(contains(forged, from));
    place.write("forged.cert", forged.replace(forged.find(from), from.size(), to));
    const int status = place.shell("krohn check forged.cert run").status;
    CHECK((status == 1 || status == 2));
    if (place.shell("python3 --version").status != 0) continue;
    const int other = place.shell("python3 '" KROHN_ROOT "/tools/check/krohn_check.py' forged.cert run").status;
    CHECK((other == 1 || other == 2));
  }
}

TEST_CASE("a certificate of a checkpoint is refused beside another config.json or tokens.json") {
  const Workplace place("bound-files");
  place.make("krohn compile name:tomita1 --target qwen3-next -o ck && krohn verify ck --certificate ck.cert");
  const bool has_python = place.shell("python3 --version").status == 0;
  const auto judge = [&](const std::string& certificate, const std::string& model, int status, int by_python,
                         const std::string& says) {
    CAPTURE(certificate);
    CAPTURE(model);
    for (const auto& [line, expected] :
         {std::pair("krohn check " + certificate + " " + model, status),
          std::pair("python3 '" KROHN_ROOT "/tools/check/krohn_check.py' " + certificate + " " + model, by_python)}) {
      if (line.starts_with("python3") && !has_python) continue;
      const Outcome outcome = place.shell(line);
      CHECK(outcome.status == expected);
      std::string all = outcome.out + outcome.err;
      for (std::size_t at; (at = all.find("\n    ")) != std::string::npos;) all.replace(at, 5, " ");
      CHECK_MESSAGE(contains(all, says), all);
    }
  };
  judge("ck.cert", "ck", 0, 0, "established: proved");
  judge("ck.cert", "ck/model.safetensors", 0, 0, "established: proved");
  const std::string checked = place.shell("krohn check ck.cert ck | tr -s '\\n ' ' '").out;
  CHECK_MESSAGE(contains(checked, "beside the same config.json and tokens.json"), checked);
  CHECK(json::parse(place.shell("krohn check ck.cert ck --json").out).at("not_compared").empty());
  for (const std::string name : {"config.json", "tokens.json"}) {
    place.make("cp -r ck other && echo >> other/" + name + " && cp -r ck less && rm less/" + name + " && sed '1s/\"" +
               name + "\":\"[0-9a-f]*\",//' ck.cert > older.cert");
    judge("ck.cert", "other", 2, 1, "another " + name);
    judge("ck.cert", "less", 2, 1, name);
    judge("older.cert", "other", 0, 0, "not compared");
    place.make("sed '1s/\"" + name + "\":\"./\"" + name + "\":\"/' ck.cert > forged.cert");
    judge("forged.cert", "ck", 2, 2, "SHA-256");
    place.make("rm -r other less");
  }
}

TEST_CASE("every model of flash-linear-attention has certificates, and so have trained gates and cells") {
  const Workplace place("certified-operations");
  const bool has_python = place.shell("python3 --version").status == 0;
  const auto judge = [&](const std::string& model, const std::string& precision, const std::string& claim) {
    CAPTURE(model);
    CAPTURE(precision);
    CHECK(place.shell("krohn verify " + model + " --precision " + precision + " --certificate it.cert").status ==
          (claim == "proved" ? 0 : 1));
    CHECK(contains(place.shell("krohn check it.cert " + model).out, ": established: " + claim));
    if (has_python) place.expect(0, "python3 '" KROHN_ROOT "/tools/check/krohn_check.py' it.cert " + model);
  };
  for (const std::string target :
       {"fla-deltanet", "fla-gated-deltaproduct", "fla-gated-deltanet", "fla-kda", "fla-gdn2", "olmo-hybrid"}) {
    place.make("krohn compile name:S3/transpositions --target " + target + " -o " + target);
    for (const std::string precision : {"fp32", "bf16"}) judge(target, precision, "proved");
  }
  place.make("krohn compile 'regex:(a|b)*abb' --target qwen3-next -o qwen3-next");
  judge("qwen3-next", "bf16", "proved");
  for (const std::string target : {"kimi-linear", "glm5-next"}) {
    place.make("krohn compile 'regex:(a|b)*abb' --target " + target + " -o " + target);
    for (const std::string precision : {"fp32", "bf16"}) judge(target, precision, "proved");
    CHECK(contains(place.shell("krohn audit " + target).out, "never: parity"));
    CHECK(contains(place.shell("krohn run " + target + " abbabb").out, "accept"));
  }
  for (const std::string target : {"xlstm-slstm", "transformers-mamba2", "transformers-mlstm"}) {
    place.make("krohn compile 'regex:(a|b|c)*(a|b)c*' --target " + target + " -o " + target);
    judge(target, "fp32", "proved");
  }
  // Tensors in fp16, and in shards.
  if (has_python) {
    place.write("store.py", R"(import json, os, struct
data = open("fla-deltanet/model.safetensors", "rb").read()
size = int.from_bytes(data[:8], "little")
tensors = {}
for name, about in json.loads(data[8:8 + size]).items():
    if name != "__metadata__":
        begin, end = about["data_offsets"]
        part = data[8 + size + begin:8 + size + end]
        if about["dtype"] == "F32":
            numbers = struct.unpack("<%df" % (len(part) // 4), part)
        else:
            numbers = [struct.unpack("<f", b"\0\0" + part[i:i + 2])[0] for i in range(0, len(part), 2)]
        tensors[name] = about["shape"], struct.pack("<%de" % len(numbers), *numbers)
def store(path, names):
    header, at = {}, 0
    for name in names:
        header[name] = {"dtype": "F16", "shape": tensors[name][0], "data_offsets": [at, at + len(tensors[name][1])]}
        at += len(tensors[name][1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(tensors[name][1] for name in names))
names, map = sorted(tensors), {}
store("half/model.safetensors", names)
for i, some in enumerate((names[::2], names[1::2])):
    store(f"shards/{i}.safetensors", some)
    map.update(dict.fromkeys(some, f"{i}.safetensors"))
with open("shards/model.safetensors.index.json", "w") as file:
    json.dump({"metadata": {}, "weight_map": map}, file)
os.remove("shards/model.safetensors")
)");
    place.make("cp -r fla-deltanet half && cp -r fla-deltanet shards && python3 store.py");
    for (const std::string model : {"half", "shards"}) judge(model, "bf16", "proved");
    // Every Householder apart, as older files have them.
    place.write("apart.py", R"(import json
data = open("fla-gated-deltaproduct/model.safetensors", "rb").read()
count = json.load(open("fla-gated-deltaproduct/config.json"))["num_householder"]
size = int.from_bytes(data[:8], "little")
header, body = {}, b""
for name, about in json.loads(data[8:8 + size]).items():
    if name == "__metadata__":
        continue
    begin, end = (8 + size + x for x in about["data_offsets"])
    kind = next((x for x in ("k_proj", "v_proj", "b_proj", "k_conv1d", "v_conv1d") if name.endswith(f".{x}.weight")), None)
    parts = count if kind else 1
    for j in range(parts):
        part = data[begin + j * (end - begin) // parts:begin + (j + 1) * (end - begin) // parts]
        rows, *others = about["shape"]
        header[name.replace(kind, f"{kind}s.{j}") if kind else name] = {
            "dtype": about["dtype"], "shape": [rows // parts, *others], "data_offsets": [len(body), len(body) + len(part)]}
        body += part
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open("apart/model.safetensors", "wb").write(len(text).to_bytes(8, "little") + text + body)
)");
    place.make("cp -r fla-gated-deltaproduct apart && python3 apart.py");
    for (const std::string precision : {"fp32", "bf16"}) judge("apart", precision, "proved");
    CHECK(contains(contents(place / "it.cert"), "k_projs.1.weight"));
    // A part of a list is of these weights, in whichever file they are.
    place.write("list", "it.cert\tshards\n");
    const std::string part = "krohn check --list list --shard 1/1 -o part.jsonl";
    place.make(part);
    place.expect(0, part);
    place.expect(2,
                 "printf '\\001' | dd of=shards/1.safetensors bs=1 conv=notrunc seek=$(($(wc -c < "
                 "shards/1.safetensors) - 2)); " +
                     part);
  }
  for (const std::string model :
       {"diagonal:width=3,channels=4,states=2", "diagonal:width=3,channels=2,states=2,fixed,complex",
        "diagonal:width=3,channels=2,states=2,complex", "fan:blocks=2,size=2,layers=2,mlp=2",
        "fan-released:blocks=2,size=2,layers=2", "bilinear:rotations,hidden=4,inputs=2", "gru:hidden=3",
        "lstm:layers=2,hidden=3"}) {
    place.make("krohn train parity --model " + model + " --length 2..8 --steps 2 -o run");
    for (const std::string precision : {"fp32", "fp64"}) judge("run", precision, "refuted");
    place.make("rm -r run");
  }
}

TEST_CASE("a class is not the letter that it holds, in no verdict") {
  const Workplace place("classes-of-letters");
  place.make("krohn compile 'regex:[xy]*x[xy]*' --alphabet xy -o a.safetensors");
  place.make(
      "krohn train 'regex:[xy]*x[xy]*' --alphabet xy --model bilinear:full,hidden=4,inputs=8 --init "
      "a.safetensors --steps 0 -o run");
  place.expect(0, "krohn verify run --against 'regex:(x|y)*x(x|y)*' --certificate run.cert");
  place.expect(0, "krohn check run.cert run --against 'regex:(x|y)*x(x|y)*'");
  const std::string wide = " --against 'regex:[w-z]*[wx][w-z]*'";
  CHECK(contains(place.shell("krohn verify run" + wide).err, "as one letter"));
  place.expect(1, "krohn verify a.safetensors" + wide);
  place.expect(2, "krohn check run.cert run" + wide);
  place.expect(2, "krohn check run.cert run --against 'regex:[ac-z]+|b'");
}

TEST_CASE("what was only tested is certified as that") {
  const Workplace place("check-sampled");
  place.make("krohn compile name:Z5 --construction rotation -o z5.safetensors");
  const std::string verify = "krohn verify z5.safetensors --precision bf16 --test-only --certificate z5.json --length ";
  place.expect(2, "krohn verify z5.safetensors --test-only");
  place.expect(3, verify + "100 --words 3");
  CHECK(contains(contents(place / "z5.json"), "\"claim\":\"sampled\""));
  place.expect(0, "krohn check z5.json z5.safetensors");
  place.expect(1, verify + "1e6");  // drifts; MATH.md §5
  CHECK(contains(contents(place / "z5.json"), "\"step\":\"random\""));
  place.expect(0, "krohn check z5.json z5.safetensors");
}
