// From (a|b)*a(a|b){n} to its minimal automaton of 2^(n+1) states, beside OpenFst's determinisation and minimisation.
#include <fmt/format.h>

#include <functional>
#include <string>

#include "krohn/automata/syntax/regex.h"
#include "tools/bench/measure.h"

namespace {

using namespace krohn;
using namespace krohn::bench;

/// Published for mata, a library of automata for verification, on another machine: 1,917 ms for n = 16.
constexpr double kPublishedMata = 1.917;

Work compile(unsigned count) {
  State states = 0;
  const std::string expression = fmt::format("(a|b)*a(a|b){{{}}}", count);
  const double seconds = seconds_of([&] { states = parse_regex(expression).states(); });
  return {seconds, states};
}

void add(unsigned count) {
  register_pair(
      fmt::format("regex/letter_from_end/{}", count), [=] { return compile(count); },
      [=] { return openfst_letter_from_end(count); });
}

}  // namespace

int main(int argc, char** argv) {
  add(12);
  add(16);
  const int status = run_and_compare(argc, argv, "OpenFst");
  const Measurement ours = measure_in_child([] { return compile(16); });
  fmt::print(
      "ratio regex/letter_from_end/16: {:.0f} ms against the {:.0f} ms published for mata: {:.1f} times as fast\n",
      ours.seconds * 1e3, kPublishedMata * 1e3, kPublishedMata / ours.seconds);
  return status;
}
