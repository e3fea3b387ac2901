// tools/again: the page that it is given, before and after.

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
  place.expect(0, again);
  const std::string made = contents(place / "page.md");
  CHECK(contains(made, "'regex:(a)*'\nequal: the same words\n```\nmore text\n"));
  CHECK(contains(made, "'regex:b'\nparity.safetensors\n"));
  CHECK(contains(made, "not equal"));
  CHECK(made.ends_with("\n\n$ true\n\nEnd\n"));
  CHECK(!contains(made, "stale"));
  place.expect(0, again);
  CHECK(contents(place / "page.md") == made);

  const std::string bad = page("stale\n", "other\n", "krohn frobnicate\n");
  place.write("page.md", bad);
  place.expect(2, again, {"tools/again: status 2 of: krohn frobnicate"});
  CHECK(contents(place / "page.md") == bad);
  // An empty line ends what a command printed: behind one in the middle or at the end the next time would find text.
  for (const char* printed : {"printf 'a\\n\\nb\\n'", "printf 'a\\n\\n'", "echo"}) {
    CAPTURE(printed);
    const std::string empty = page("stale\n", "other\n", std::string(printed) + "\n");
    place.write("page.md", empty);
    place.expect(2, again, {"empty line", printed});
    CHECK(contents(place / "page.md") == empty);
  }
  CHECK(place.files() == std::vector<std::string>{"cells", "page.md"});
  place.expect(2, "'" KROHN_ROOT "/tools/again' nowhere.md");
}
