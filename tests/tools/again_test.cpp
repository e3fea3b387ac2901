// tools/again: the page that it is given, before and after.

#include <doctest/doctest.h>

#include "tests/tools/shell.h"

using namespace krohn::test;

TEST_CASE("a results page is made again by its own commands, or left as it was") {
  const Workplace place("again");
  const std::string again = "KROHN='" KROHN_COMMAND "' '" KROHN_ROOT "/tools/again' page.md cells";
  const auto page = [](const std::string& first, const std::string& second, const std::string& third) {
    return "Text\n\n```\n$ krohn equal 'regex:a*' \\\n    'regex:(a)*'\n" + first +
           "```\nmore text\n\n$ krohn compile name:parity -o parity.safetensors >/dev/null\n" +
           "$ ls parity.safetensors; krohn equal 'regex:a' 'regex:b'\n" + second + "\n$ " + third + "\nEnd\n";
  };
  place.write("page.md", page("stale\nlines\n", "other\n", "true\nlast\n"));
  CHECK(place.shell(again).status == 0);
  const std::string made = contents(place / "page.md");
  CHECK(contains(made, "'regex:(a)*'\nequal: the same words\n```\nmore text\n"));
  CHECK(contains(made, "'regex:b'\nparity.safetensors\n"));
  CHECK(contains(made, "not equal"));
  CHECK(made.ends_with("\n\n$ true\n\nEnd\n"));
  CHECK(!contains(made, "stale"));
  CHECK(place.shell(again).status == 0);
  CHECK(contents(place / "page.md") == made);

  const std::string bad = page("stale\n", "other\n", "krohn frobnicate\n");
  place.write("page.md", bad);
  const Outcome outcome = place.shell(again);
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "tools/again: status 2 of: krohn frobnicate"));
  CHECK(contents(place / "page.md") == bad);
  // An empty line ends what a command printed: behind one in the middle or at the end the next time would find text.
  for (const char* printed : {"printf 'a\\n\\nb\\n'", "printf 'a\\n\\n'", "echo"}) {
    CAPTURE(printed);
    const std::string empty = page("stale\n", "other\n", std::string(printed) + "\n");
    place.write("page.md", empty);
    const Outcome refused = place.shell(again);
    CHECK(refused.status == 2);
    CHECK(contains(refused.err, "empty line"));
    CHECK(contains(refused.err, printed));
    CHECK(contents(place / "page.md") == empty);
  }
  CHECK(place.files() == std::vector<std::string>{"cells", "page.md"});
  CHECK(place.shell("'" KROHN_ROOT "/tools/again' nowhere.md").status == 2);
}
