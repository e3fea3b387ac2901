// `krohn report`: the file that it writes, the page's own evaluator and checker under node, and the page as a person
// meets it in a headless browser. KROHN_SCREENSHOTS=FOLDER keeps pictures of it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

constexpr const char* kPages = KROHN_ROOT "/tests/tools/page/";

/// A program of this name on the path, or nothing.
std::string program(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (std::system((std::string("command -v ") + name + " > /dev/null 2>&1").c_str()) == 0) return name;
  return "";
}

json data_of(const std::string& page) {
  const std::string mark = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(mark) + mark.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The page with its certificate changed where `from` stands.
std::string with_planted(std::string page, const std::string& from, const std::string& to) {
  const std::size_t at = page.find(from, page.find("krohn.certificate"));
  REQUIRE(at != std::string::npos);
  return page.replace(at, from.size(), to);
}

const char* const kHostile = R"(digraph { start -> a; start [shape=point];
  a [label="</script><script>hacked=1</script>", shape=doublecircle]; b [label="<img src=x onerror=hacked=1>"];
  a -> b [label="<img src=x onerror=hacked=1>"]; b -> a [label="<img src=x onerror=hacked=1>"];
  a -> a [label="{{data}}"]; b -> b [label="{{data}}"]; })";

}  // namespace

TEST_CASE("report: one file that loads nothing, with the verdict, the network and the certificate in it") {
  const Workplace place("report");
  const Outcome made = place.shell("krohn report 'regex:(a|b)*abb' -o abb.html");
  CHECK(made.status == 0);
  CHECK(contains(made.out, "proved for words of every length"));
  const std::string page = contents(place / "abb.html");
  CHECK(made.out.find(std::to_string(page.size() % 1000)) != std::string::npos);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.size() < 200'000);
  CHECK(count(page, "<script") == 2);
  CHECK(!contains(page, "{{"));
  // Addresses are names of XML vocabularies; nothing is linked.
  for (const char* link : {" src=", "url(", "@import", "<link", "<iframe", "fetch("}) CHECK(!contains(page, link));
  const json data = data_of(page);
  CHECK(data["subject"] == "regex:(a|b)*abb");
  CHECK(data["verdict"]["verdict"]["claim"] == "proved");
  CHECK(data["automaton"]["state_names"].size() == 4);
  CHECK(data["jobs"].size() == 1);
  CHECK(data["plans"].size() > 20);

  // Its command lines give the same certificate again, and the model the same page.
  std::string commands;
  for (const auto& command : data["commands"])
    if (command.get<std::string>().starts_with("krohn ")) commands += command.get<std::string>() + " && ";
  REQUIRE(place.shell("mv abb.html first.html && " + commands + "true").status == 0);
  CHECK(contents(place / "abb.cert") == data["certificate"]["text"]);
  CHECK(contents(place / "abb.html") == page);
  REQUIRE(place.shell("krohn report abb.safetensors -o model.html").status == 0);
  const json of_model = data_of(contents(place / "model.html"));
  CHECK(of_model["network"] == data["network"]);
  CHECK(of_model["certificate"] == data["certificate"]);
}

TEST_CASE("report: exit statuses, and nothing half-written") {
  const Workplace place("report-status");
  CHECK(place.shell("krohn report name:Z5 --construction rotation --precision bf16 -o z5.html").status == 1);
  CHECK(place.shell("krohn report name:Z5 --construction rotation --precision fp32 --max-pairs 100 -o open.html")
            .status == 3);
  struct Refusal {
    const char *command, *message;
  };
  for (const auto& [command, message] :
       {Refusal{"krohn report name:Z5 -o z5.txt", "ends in .html"},
        {"krohn report name:Z5 -o none/z5.html", "none"},
        {"krohn report 'regex:(a' -o z5.html", "is not closed"},
        {"krohn report name:Z5 --precision fp31 -o z5.html", "fp31"},
        {"krohn report 'regex:(a|b)*abb' --construction rotation -o abb.html", "rotation"},
        {"krohn report . -o folder.html", "folder"}}) {
    CAPTURE(std::string(command));
    const Outcome outcome = place.shell(command);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, message));
  }
  CHECK(place.files() == std::vector<std::string>{"open.html", "z5.html"});
  // What fits no page is left out with a reason.
  REQUIRE(place.shell("krohn compile name:Z3 -o z3.safetensors").status == 0);
  CHECK(place.shell("krohn report z3.safetensors --construction rotation -o z3.html").status == 2);
}

TEST_CASE("report: the page's checker establishes certificates and refuses every number changed by one") {
  if (program({"node"}).empty()) {
    MESSAGE("skipped: there is no node");
    return;
  }
  const Workplace place("report-recheck");
  REQUIRE(place.shell("krohn report 'regex:(a|b)*abb' -o abb.html").status == 0);
  REQUIRE(place.shell("krohn report 'regex:(a|b)*abb' --construction cascade-holonomy -o cascade.html").status == 0);
  REQUIRE(place.shell("krohn report name:Z3 --construction rotation --precision bf16 -o pairs.html").status == 0);
  REQUIRE(place.shell("krohn report name:Z5 --construction rotation --precision bf16 -o word.html").status == 1);
  REQUIRE(place.shell("krohn report name:Z360 --construction rotation --precision bf16 -o shortest.html").status == 1);
  const Outcome outcome = place.shell("node '" + std::string(kPages) + "recheck.js' *.html");
  CHECK_MESSAGE(outcome.status == 0, outcome.out << outcome.err);
  MESSAGE(outcome.out);
}

TEST_CASE("report: the page in a browser") {
  const std::string browser = program({"chromium", "chromium-browser", "google-chrome"});
  if (browser.empty() || program({"node"}).empty()) {
    MESSAGE("skipped: there is no chromium, or no node");
    return;
  }
  const Workplace place("report-browser");
  place.write("hostile.dot", kHostile);
  REQUIRE(place.shell("krohn report 'regex:(a|b)*abb' -o abb.html").status == 0);
  REQUIRE(place.shell("krohn report name:S5/adjacent -o s5.html").status == 0);
  REQUIRE(place.shell("krohn report 'regex:(a|b)*abb' --any-order -o any.html").status == 0);
  REQUIRE(place.shell("krohn report 'regex:(a|b)*abb' --precision fp64+fma -o fused.html").status == 0);
  REQUIRE(place.shell("krohn report name:Z5 --construction rotation --precision bf16 -o drifting.html").status == 1);
  REQUIRE(place.shell("krohn report 'regex:(a|b)*abb' --construction cascade-holonomy -o cascade.html").status == 0);
  REQUIRE(place.shell("krohn report hostile.dot -o hostile.html").status == 0);
  CHECK(contents(place / "s5.html").size() < 1'000'000);
  place.write("wrong.html", with_planted(contents(place / "abb.html"), "\\\"next\\\":[1,", "\\\"next\\\":[2,"));
  std::string other = contents(place / "abb.html");
  const std::string claim = "\"verdict\":{\"claim\":\"";
  REQUIRE(contains(other, claim + "proved"));
  place.write("other.html", other.replace(other.find(claim + "proved") + claim.size(), 6, "refuted"));
  const char* screenshots = std::getenv("KROHN_SCREENSHOTS");
  const Outcome outcome = place.shell("node '" + std::string(kPages) + "browser.js' " + browser + " . " +
                                      (screenshots == nullptr ? "" : "'" + std::string(screenshots) + "'"));
  CHECK_MESSAGE(outcome.status == 0, outcome.out << outcome.err);
  MESSAGE(outcome.out);
}
