// The classes of languages on the command line: one language, many, and what an interrupted run left.

#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

const json& row(const json& rows, const std::string& name) {
  for (const json& candidate : rows)
    if (candidate.at("class") == name) return candidate;
  FAIL("no class " << name);
  return rows;
}

std::vector<json> lines(const std::string& text) {
  std::vector<json> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  return all;
}

}  // namespace

TEST_CASE("classify --json: classes with parameters, defining words and witnesses; transformers with sources") {
  const Workplace place("classes");
  const json job = place.report(0, "krohn classify 'regex:~(.*abb.*)' --alphabet ab --json").at("jobs").at(0);
  const json& local = row(job.at("classes"), "SL");
  CHECK(local.at("answer") == "yes");
  CHECK(local.at("k") == 3);
  CHECK(local.at("defined_by").at("what") == "forbidden factors");
  CHECK(local.at("defined_by").at("words") == json::array({"abb"}));
  const json& piecewise = row(job.at("classes"), "SP");
  CHECK(piecewise.at("answer") == "no");
  CHECK(contains(piecewise.at("witness").get<std::string>(), "is accepted and its subsequence"));
  CHECK(row(job.at("classes"), "TSL").at("tier") == json::array({"a", "b"}));
  REQUIRE(job.at("transformers").size() == 5);
  for (const json& family : job.at("transformers")) CHECK(!family.at("source").get<std::string>().empty());
  CHECK(job.at("transformers").at(0).at("answer") == "yes");
  const json alike =
      json::parse(place.shell("krohn classify 'regex:~(.*aa.*)' --alphabet abc --json").out).at("jobs").at(0);
  CHECK(alike.at("letters_alike") == json{{"b", {"b", "c"}}});
  // The outputs of a Moore machine are no language.
  CHECK(!json::parse(place.shell("krohn classify name:Z3 --json").out).at("jobs").at(0).contains("classes"));
}

TEST_CASE("classify: many languages give a line each, faults too, and a summary") {
  const Workplace place("many");
  place.write("list.txt", "# three\nregex:(ab)*\nregex:(aa)*\n\nname:tomita3\nregex:(\n");
  const Outcome outcome =
      place.expect(2, "krohn classify --list list.txt name:parity --threads 2");  // one could not be read
  const auto all = lines(outcome.out);
  REQUIRE(all.size() == 5);
  std::size_t faults = 0;
  for (const json& line : all) {
    const std::string subject = line.at("subject");
    if (line.contains("error")) {
      ++faults;
      CHECK(subject == "regex:(");
      continue;
    }
    const std::string answer = line.at("classes").at("SL").at("answer");
    CHECK(answer == (subject == "regex:(ab)*" ? "yes" : "no"));
    if (subject == "regex:(aa)*" || subject == "name:parity") CHECK(line.at("classes").at("Z_p").at("p") == 2);
  }
  CHECK(faults == 1);
  CHECK(contains(outcome.err, "5 languages, 1 of them not read"));
}

TEST_CASE("classify -o continues after what an earlier run left, whole lines only") {
  const Workplace place("resumed");
  place.make("krohn classify 'regex:(ab)*' 'regex:a*b' 'regex:b*a' -o classes.jsonl --threads 1");
  const std::string whole = contents(place / "classes.jsonl");
  REQUIRE(lines(whole).size() == 3);
  place.write("classes.jsonl", whole.substr(0, whole.size() - 20));  // the last line was being written
  const Outcome again =
      place.expect(0, "krohn classify 'regex:(ab)*' 'regex:a*b' 'regex:b*a' -o classes.jsonl --threads 1");
  CHECK(contents(place / "classes.jsonl") == whole);
  CHECK(contains(again.out, "3 languages"));
  place.write("other.txt", "no line of this command\n");
  for (const char* option : {" --alphabet abc", " --max-elements 2", " --witnesses"})
    CHECK(contains(place.shell(std::string("krohn classify 'regex:(ab)*' 'regex:a*b' -o classes.jsonl") + option).err,
                   "made by other options"));
  place.expect(2, "krohn classify 'regex:(ab)*' 'regex:a*b' -o other.txt", {"other.txt: line 1"});
  CHECK(contents(place / "other.txt") == "no line of this command\n");
}

TEST_CASE("classify --corpus takes every language file of a folder, and --witnesses says why") {
  const Workplace place("corpus");
  const std::string folder = "corpus/";
  place.make("mkdir corpus && krohn convert 'regex:(ab)*' corpus/ab.att && krohn convert name:parity corpus/p.json");
  const Outcome outcome = place.expect(0, "krohn classify --corpus corpus --witnesses --threads 1");
  const auto all = lines(outcome.out);
  REQUIRE(all.size() == 2);
  CHECK(all[0].at("subject") == "corpus/ab.att");
  CHECK(row(all[0].at("classes"), "SL").at("defined_by").at("count") == 4);
  CHECK(row(all[1].at("classes"), "SF").contains("witness"));
}
