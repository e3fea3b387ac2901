#include "tests/testing.h"
#include "tools/krohn/report/output.h"

using namespace krohn;

TEST_CASE("columns align by characters, not bytes") {
  CHECK(format_table({{"→", "x"}, {"ab", "y"}}, "") == "→   x\nab  y\n");
  CHECK(format_table({{"a", ""}, {"b"}}, "> ") == "> a\n> b\n");
}

TEST_CASE("long text is cut between characters") {
  CHECK(shortened("αβγδ", 4) == "αβγδ");
  CHECK(shortened("αβγδε", 4) == "αβγδ…");
  CHECK(width("αβγ…") == 4);
}

TEST_CASE("text is wrapped between words") {
  CHECK(wrapped("ab cd ef", 5, "  ") == "ab cd\n  ef");
  CHECK(wrapped("longer-than-the-line x", 5, "") == "longer-than-the-line\nx");
  CHECK(wrapped("", 5, "") == "");
}
