// The command asked in this process: the same answers, nothing printed, and who hears of progress and interrupts.

#include <fcntl.h>
#include <unistd.h>
#include <thread>

#include "krohn/groups/base/time_limit.h"
#include "tests/tools/shell.h"
#include "tools/krohn/command.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"

using namespace krohn;
using namespace krohn::test;
using nlohmann::json;

TEST_CASE("what is asked in this process is what --json prints") {
  const Workplace place("asked");
  struct Fact {
    std::vector<std::string> arguments;
    const char* line;
  };
  for (const auto& [arguments, line] :
       {Fact{{"info", "name:S3"}, "krohn info name:S3 --json"},
        {{"equal", "regex:a", "regex:b"}, "krohn equal regex:a regex:b --json"},
        {{"words", "--length=3", "--", "regex:(a|b)*a"}, "krohn words --length 3 'regex:(a|b)*a' --json"}}) {
    CAPTURE(line);
    const test::Outcome printed = place.shell(line);
    const Asked asked = ask_command(arguments);
    CHECK(asked.json == printed.out);
    CHECK(asked.status == printed.status);
  }
}

TEST_CASE("mistakes in the arguments are thrown, in the command's words") {
  CHECK_THROWS_WITH_AS(ask_command({"equal", "regex:a"}), "equal needs OTHER", InputError);
  CHECK_THROWS_AS(ask_command({"info", "--no-such", "regex:a"}), InputError);
  CHECK_THROWS_AS(ask_command({"no such"}), InputError);
  CHECK_THROWS_AS(ask_command({}), InputError);
  CHECK_THROWS_AS(ask_command({"elements", "name:S4", "--max-elements=23"}), LimitError);
  CHECK(ask_command({"elements", "name:S4", "--max-elements=24"}).status == 0);
}

TEST_CASE("JSON is taken by the inner taker of its own thread") {
  const JsonTaker outer;
  {
    const JsonTaker inner;
    print_json({{"a", 1}});
    CHECK(json::parse(inner.text())["a"] == 1);
  }
  CHECK(outer.text().empty());
  print_json({{"b", 2}});
  CHECK(json::parse(outer.text())["b"] == 2);
}

TEST_CASE("a listener hears of the first step, and what it throws ends the work") {
  std::vector<std::string> heard;
  const ProgressListener listener([&heard](const std::string& what, std::uint64_t done, std::uint64_t total) {
    heard.push_back(what + " " + std::to_string(done) + "/" + std::to_string(total));
    if (heard.size() == 3) throw InputError("enough");
  });
  {
    Progress progress("counting");
    progress.update(1, 9);
    progress.update(2, 9);  // at once: too early to tell again
  }
  { const Waiting waiting("drawing"); }
  CHECK(heard == std::vector<std::string>{"counting 1/9", "drawing 0/0"});
  heard.clear();
  {
    Progress progress("counting on");
    for (const std::uint64_t done : {7, 3}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(110));
      progress.update(done, 9);
    }
  }
  CHECK(heard == std::vector<std::string>{"counting on 7/9", "counting on 7/9"});  // never back
  Progress progress("counting again");
  CHECK_THROWS_WITH(progress.update(1), "enough");
}

TEST_CASE("works of one name whose totals are unknown are counted on") {
  const Workplace place("counted");
  const int before = dup(STDERR_FILENO), file = open((place / "err").c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(file, STDERR_FILENO);
  { Progress("counting pairs").update(5); }
  {
    Progress progress("counting pairs");
    std::this_thread::sleep_for(std::chrono::milliseconds(1010));
    progress.update(2);
  }
  dup2(before, STDERR_FILENO);
  close(before), close(file);
  CHECK(contents(place / "err").starts_with("krohn: counting pairs: 7\n"));
}

TEST_CASE("an interruption ends what looks for it, time limits too") {
  const TimeLimit time(1000, "--time 1000");
  CHECK_NOTHROW(TimeLimit::check());
  CHECK_NOTHROW(Interruption::check());
  Interruption::requested = true;
  Progress progress("counting");
  CHECK_THROWS_AS(TimeLimit::check(), Interrupted);
  CHECK_THROWS_AS(Interruption::check(), Interrupted);
  CHECK_THROWS_AS(progress.update(1), Interrupted);
  Interruption::requested = false;
  CHECK_NOTHROW(progress.update(2));
}
