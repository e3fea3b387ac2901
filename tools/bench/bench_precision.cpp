// The tables of MATH.md §5: what rotations and reflections are worth in each precision, proved or refuted by exhaustive
// search over reachable pairs. `bench_precision [MAX_PAIRS]`; 10^7 pairs (the default) take a few minutes and 400 MB
// and reach every refutation that the page states.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <optional>
#include <string>

#include "automata/language.h"
#include "constructions/build_permutation.h"
#include "constructions/build_rotation.h"
#include "simulate/certify.h"
#include "simulate/evaluate.h"

namespace {

using namespace krohn;

constexpr Precision kPrecisions[] = {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};
constexpr std::uint64_t kSampledLetters = 1'000'000;

/// Processor time, which other programs disturb less than the clock on the wall.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string claim_text(const Certificate& certificate) {
  switch (certificate.claim) {
    case Claim::kProved:
      return "proved";
    case Claim::kRefuted:
      return fmt::format("fails at {}", certificate.failing_word->size());
    default:
      return fmt::format("open past {}", certificate.length);
  }
}

/// Where one random word of seed 1 first fails, for comparison with the shortest failing word.
std::string sampled_text(const Network& network, Precision precision) {
  SampleOptions options;
  options.lengths = {kSampledLetters};
  options.words = 1;
  const SampleReport report = sample(network, precision, options);
  return report.failing_at ? fmt::format("{}", *report.failing_at) : fmt::format("> {}", kSampledLetters);
}

void print_head(const char* title, const char* what) {
  fmt::print("\n{}\n{:<34} {:<5} {:>9} {:>15} {:>10} {:>15} {:>8}\n", title, what, "", "codewords", "reachable set",
             "pairs", "random word at", "seconds");
}

void print_row(const std::string& name, const Network& network, Precision precision, std::uint64_t max_pairs) {
  CertifyOptions options;
  options.arithmetic = precision;
  options.max_pairs = max_pairs;
  const double start = cpu_seconds();
  const bool closed = certify_closed_codewords(network, options).has_value();
  const Certificate reached = certify_reachable_set(network, options);
  const double seconds = cpu_seconds() - start;
  fmt::print("{:<34} {:<5} {:>9} {:>15} {:>10} {:>15} {:>8.2f}\n", name, to_string(precision), closed ? "closed" : "-",
             claim_text(reached), reached.pairs, sampled_text(network, precision), seconds);
  std::fflush(stdout);
}

void print_rotations(std::uint64_t max_pairs) {
  print_head("Rotations by w/m of a turn, letters w = 0 … m−1", "m");
  for (const Precision precision : {Precision::kBf16, Precision::kFp16, Precision::kFp32})
    for (const int m : {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 60}) {
      LanguageOptions letters;
      letters.generators = "all";
      print_row(fmt::format("{}", m), build_rotation(named_language(fmt::format("Z{}", m), letters)), precision,
                max_pairs);
    }
}

/// S_5 moving the points 0 … 4 from 0, a letter for every transposition.
Dfa points_of_s5() {
  std::vector<std::string> names;
  std::vector<std::pair<State, State>> swaps;
  for (State i = 0; i < 5; ++i)
    for (State j = i + 1; j < 5; ++j) {
      names.push_back(fmt::format("({} {})", i + 1, j + 1));
      swaps.emplace_back(i, j);
    }
  std::vector<State> table;
  for (State q = 0; q < 5; ++q)
    for (const auto& [i, j] : swaps) table.push_back(q == i ? j : q == j ? i : q);
  return Dfa::moore(Alphabet::from_names(names), std::move(table), 0, {0, 1, 2, 3, 4}, {"1", "2", "3", "4", "5"});
}

void print_transpositions(std::uint64_t max_pairs) {
  LanguageOptions letters;
  letters.generators = "transpositions";
  const Dfa points = points_of_s5(), elements = named_language("S5", letters);
  struct Style {
    const char* name;
    std::optional<KeyStyle> keys;
  };
  print_head("S_5 by its 10 transpositions", "how a swap is applied");
  for (const Style& style : {Style{"0/1 matrix", {}}, Style{"(e_i - e_j), beta = 1", KeyStyle::kUnnormalised},
                             Style{"doubled coordinates, beta = 2", KeyStyle::kDoubled},
                             Style{"(e_i - e_j)/sqrt 2, beta = 2", KeyStyle::kUnit}})
    for (const Precision precision : kPrecisions) {
      print_row(fmt::format("{}, points", style.name), build_permutation(points, {style.keys}), precision, max_pairs);
      print_row(fmt::format("{}, group", style.name), build_permutation_base(elements, {style.keys}), precision,
                max_pairs);
    }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::uint64_t max_pairs = argc > 1 ? std::stoull(argv[1]) : 10'000'000;
    print_rotations(max_pairs);
    print_transpositions(std::min<std::uint64_t>(max_pairs, 1'000'000));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_precision: {}\n", error.what());
    return 2;
  }
  return 0;
}
