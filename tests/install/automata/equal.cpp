// A program outside krohn's tree that takes automata and nothing else.

#include <cstdio>

#include <krohn/automata/operations/operations.h>
#include <krohn/automata/syntax/regex.h>

int main() {
  const char *left = "a(ba)*", *right = "(ab)*a";
  const bool same = krohn::parse_regex(left) == krohn::parse_regex(right);
  const bool other = krohn::complement(krohn::parse_regex(left)) == krohn::parse_regex(right);
  std::printf("%s and %s are %s\n", left, right, same ? "the same language" : "two languages");
  return same && !other ? 0 : 1;
}
