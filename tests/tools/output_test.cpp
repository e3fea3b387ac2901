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

TEST_CASE("counts are read exactly, as people write them") {
  struct Fact {
    const char* text;
    std::uint64_t count;
  };
  for (const Fact& fact :
       {Fact{"0", 0}, Fact{"17", 17}, Fact{"1e8", 100'000'000}, Fact{"10^8", 100'000'000}, Fact{"12E3", 12'000},
        Fact{"1_000_000", 1'000'000}, Fact{"2^62", 1ULL << 62}, Fact{"1^1000000", 1}, Fact{"0^5", 0}, Fact{"7^0", 1},
        Fact{"0e400", 0}, Fact{"9223372036854775807", (1ULL << 63) - 1}}) {
    CAPTURE(fact.text);
    CHECK(parse_count(fact.text, "--length") == fact.count);
  }
}

TEST_CASE("what is not a count is refused") {
  for (const char* text : {"", "-1", "+1", "1.5", "1e", "e3", "1e-3", "1__0", "_1", "1_", "1e19", "2^63", "10^10^2",
                           "ten", "9223372036854775808", "0x10", " 1", "1 ", "1e1_"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_count(text, "--length"), InputError);
  }
}

TEST_CASE("thousands are separated") {
  CHECK(with_thousands(0) == "0");
  CHECK(with_thousands(999) == "999");
  CHECK(with_thousands(1000) == "1,000");
  CHECK(with_thousands(100'000'000) == "100,000,000");
}

TEST_CASE("one of a thing has no plural") {
  CHECK(counted(0, "layer") == "0 layers");
  CHECK(counted(1, "layer") == "1 layer");
  CHECK(counted(2000, "layer") == "2,000 layers");
  CHECK(counted(1, "D-class", "es") == "1 D-class");
  CHECK(counted(2, "D-class", "es") == "2 D-classes");
}
