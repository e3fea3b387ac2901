// The subject of a verdict is what was read: a name that a file keeps is told as the language's only where it was read
// now and is the same.

#include "krohn/constructions/files/safetensors.h"
#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

/// Exchanges a text of the metadata for another, as an editor would.
void forge(const std::string& path, const std::string& key, const std::string& from, const std::string& to) {
  krohn::TensorFile file = krohn::read_safetensors(path);
  std::string& text = file.metadata.at(key);
  REQUIRE(contains(text, from));
  text.replace(text.find(from), from.size(), to);
  write_safetensors(file, path);
}

std::string one_line(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
    const std::size_t end = text.find_first_not_of(" \n", at);
    text.replace(at, (end == std::string::npos ? text.size() : end) - at, " ");
  }
  return text;
}

}  // namespace

TEST_CASE("a name is told as it is where it is the language, and as stored where it is another or cannot be read") {
  const Workplace place("named");
  place.make(
      "krohn convert 'regex:(a|b)*abb' spec.json && krohn compile spec.json --target torch-gru -o run && "
      "krohn compile 'regex:(a|b)*abb' --target torch-gru -o named && krohn compile spec.json -o "
      "net.safetensors && krohn compile 'regex:(a|b)*abb' -o own.safetensors && krohn compile "
      "'regex:(a|b)*abb' --alphabet ba -o turned.safetensors");
  const auto says = [&](const std::string& line, const std::string& name, const char* remark) {
    CAPTURE(line);
    const Outcome outcome = place.shell(line);
    CAPTURE(outcome.err);
    const std::string text = one_line(outcome.out);
    const bool is_stored = contains(text, "stored under the name");
    CHECK(is_stored == (remark != nullptr));
    CHECK_MESSAGE(contains(text, name), text);
    if (remark != nullptr) CHECK_MESSAGE(contains(text, remark), text);
    return outcome.status;
  };
  // Every verb that tells the subject of a model, for people and for programs.
  const std::vector<std::string> of_runs{
      "krohn verify {}", "krohn verify {} --json", "krohn eval {} --lengths 5 --words 5",
      "krohn eval {} --lengths 5 --words 5 --json",
      "krohn report {} -o p.html --lengths 5 --time 5 --words 5 >/dev/null; cat p.html"},
      of_networks{"krohn verify {}",
                  "krohn verify {} --json",
                  "krohn info {}",
                  "krohn info {} --json",
                  "krohn draw {} -o p.dot --view network; cat p.dot",
                  "krohn report {} -o p.html >/dev/null; cat p.html"};
  const auto all_say = [&](const std::string& run, const std::string& network, const std::string& name,
                           const char* remark) {
    for (const std::string& line : of_runs) CHECK(says(fmt::format(fmt::runtime(line), run), name, remark) == 0);
    for (const std::string& line : of_networks)
      CHECK(says(fmt::format(fmt::runtime(line), network), name, remark) == 0);
  };
  all_say("run", "net.safetensors", "spec.json", nullptr);
  all_say("named", "own.safetensors", "(a|b)*abb", nullptr);
  says("krohn verify turned.safetensors", "(a|b)*abb", nullptr);  // read with the letters that the model has
  place.make("krohn compile name:S3 --generators '(1 2),(1 2 3)' -o group.safetensors");
  says("krohn verify group.safetensors", "name:S3", nullptr);
  place.make("krohn convert 'regex:(a|b)*ab' spec.json");
  all_say("run", "net.safetensors", "spec.json", "which is another language now: they differ on");
  place.expect(1, "krohn verify run --against spec.json");
  std::filesystem::remove(place / "spec.json");
  all_say("run", "net.safetensors", "spec.json", "which was not compared");
  // A name that says by itself what it is, of another language than the file computes.
  forge((place / "named/parameters.safetensors").string(), "task", "abb", "ab");
  forge((place / "own.safetensors").string(), "provenance", "abb", "ab");
  all_say("named", "own.safetensors", "(a|b)*ab", "which is another language now: they differ on");
}

TEST_CASE("extract claims of the model what was found of the model") {
  const Workplace place("claimed");
  place.make("krohn compile name:Z5 --construction rotation -o z5.safetensors");
  // Exact and equal; exact and another; sampled, and left by the model; sampled, and not left as far as was read.
  struct Fact {
    const char *line, *says;
    int status;
    json computes;
  };
  for (const auto& [line, says, status, computes] :
       {Fact{"krohn compile name:Z5 -o s.safetensors >/dev/null; krohn extract s.safetensors -o e.json --against "
             "name:Z5",
             "computes name:Z5", 0, true},
        {"krohn extract s.safetensors -o e.json --against name:Z7", "the extracted automaton differs from name:Z7 on",
         1, false},
        {"krohn extract z5.safetensors -o e.json --precision bf16 --against name:Z5 --length 32",
         "which the model does not compute", 1, false},
        {"krohn extract z5.safetensors -o e.json --precision bf16 --length 32", "which the model does not compute", 0,
         false},
        {"krohn extract z5.safetensors -o e.json --precision bf16 --against name:Z5 --length 32 --beyond 100",
         "by the words that were read; longer ones can differ", 0, nullptr}}) {
    CAPTURE(line);
    const Outcome told = place.shell(line);
    if (told.status == 2) {
      CHECK(contains(told.err, "letters"));  // languages over other letters are not compared
      continue;
    }
    CHECK(told.status == status);
    CHECK_MESSAGE(contains(one_line(told.out), says), told.out);
    CHECK(contains(told.out, "  computes ") == (computes == true));
    CHECK(json::parse(place.shell(std::string(line) + " --json").out).at("computes") == computes);
  }
}

TEST_CASE("a verdict says if a checkpoint's config loads it in another format, and an adapter is refused") {
  const Workplace place("loaded");
  place.make("krohn compile name:tomita1 --target qwen3-next -o ck && cp ck/config.json kept.json");
  const std::vector<std::string> lines{
      "krohn verify ck --precision fp32",    "krohn run ck random:5",
      "krohn eval ck --lengths 5 --words 5", "krohn extract ck -o e.json",
      "krohn snap ck -o s.safetensors",      "krohn report ck -o p.html --lengths 5 --words 5 >/dev/null; cat p.html"};
  const auto config = [&](const char* member, const json& value) {
    json all = json::parse(contents(place / "kept.json"));
    all.erase("dtype");
    all.erase("torch_dtype");
    if (member != nullptr) all[member] = value;
    place.write("ck/config.json", all.dump());
  };
  struct Fact {
    const char* member;
    json value;
    const char* otherwise;  ///< read in fp32; null: as it is loaded
  };
  for (const auto& [member, value, otherwise] : {Fact{nullptr, nullptr, nullptr},
                                                 {"dtype", "float32", nullptr},
                                                 {"torch_dtype", "torch.float32", nullptr},
                                                 {"dtype", nullptr, nullptr},
                                                 {"dtype", "auto", nullptr},
                                                 {"dtype", "float16", "float16"},
                                                 {"torch_dtype", "bfloat16", "bfloat16"}}) {
    CAPTURE(value.dump());
    config(member, value);
    for (const std::string& line : lines) {
      CAPTURE(line);
      const Outcome told = place.expect(0, line);
      const std::string all = one_line(told.out + told.err);
      CHECK(contains(all, "but its config loads it in") == (otherwise != nullptr));
      if (otherwise != nullptr) CHECK(contains(all, std::string("loads it in ") + otherwise));
    }
    const json verdict = json::parse(place.shell("krohn verify ck --json").out);
    CHECK(verdict.at("verdict").at("arithmetic") == (value == "bfloat16" ? "bf16" : "fp32"));
    CHECK(verdict.at("loaded_in_this_arithmetic") == (otherwise == nullptr || value == "bfloat16"));
  }
  CHECK(contains(place.shell("krohn verify ck").out, "bf16, qwen3_next token by token, as it is loaded"));
  place.expect(0, "krohn verify ck --json");
  config("dtype", 16);
  place.expect(2, "krohn verify ck");
  config("dtype", "float32");
  place.write("ck/adapter_config.json", "{}");
  for (std::string line : lines) {
    CAPTURE(line);
    line = line.substr(0, line.find(" >/dev/null"));
    place.expect(2, line, {"an adapter of PEFT"});
  }
}
