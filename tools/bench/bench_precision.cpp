// The tables of MATH.md §5: what rotations and reflections are worth in each arithmetic, proved or refuted by
// exhaustive search over reachable pairs. `bench_precision [--full]`; run it by tools/bench/precision. Rows whose
// outcome is known from elsewhere carry it, and the program ends with status 1 when one differs.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iterator>
#include <numbers>
#include <optional>
#include <string>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace {

using namespace krohn;

constexpr Precision kPrecisions[] = {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};
constexpr std::uint64_t kSampledLetters = 1'000'000;

/// An outcome known beforehand: of another implementation, or of a proof.
struct Known {
  const char* network;
  const char* arithmetic;
  const char* outcome;
  bool in_full_only = false;
};
constexpr Known kKnown[] = {
    {"rotation 3", "bf16", "proved, 27 pairs"},
    {"rotation 12", "bf16", "proved, 108 pairs"},
    {"rotation 5", "bf16", "fails at 249"},
    {"rotation 10", "bf16", "fails at 128"},
    {"rotation 60", "bf16", "fails at 19"},
    {"rotation 60", "fp16", "fails at 141", true},
    {"rotation 12", "fp32", "proved, 12 pairs"},
    {"0/1 matrix, points", "*", "proved, 5 pairs"},
    {"0/1 matrix, group", "*", "proved, 120 pairs"},
    {"e_i - e_j, beta 1, points", "*", "proved, 5 pairs"},
    {"e_i - e_j, beta 1, group", "*", "proved, 120 pairs"},
    {"doubled, beta 2, points", "*", "proved, 5 pairs"},
    {"doubled, beta 2, group", "*", "proved, 120 pairs"},
    {"unit, beta 2, points", "fp64", "proved, 483681 pairs"},
    {"unit, beta 2, points", "exact", "proved, 50 pairs"},
};

struct Budget {
  bool is_full = false;
  std::uint64_t max_pairs = 1'000'000;
};

int differences = 0;

/// "" where nothing is known, "as known", or what was expected.
std::string verdict(const std::string& network, const std::string& arithmetic, const std::string& outcome,
                    const Budget& budget) {
  for (const Known& known : kKnown) {
    if (network != known.network || (arithmetic != known.arithmetic && std::string(known.arithmetic) != "*")) continue;
    if (known.in_full_only && !budget.is_full) return "";
    if (outcome == known.outcome) return "as known";
    ++differences;
    return fmt::format("EXPECTED {}", known.outcome);
  }
  return "";
}

/// Processor time, which other programs disturb less than the clock on the wall.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string outcome_of(const Certificate& certificate) {
  if (certificate.is<Proved>()) return fmt::format("proved, {} pairs", certificate.pairs);
  if (certificate.is<Refuted>()) return fmt::format("fails at {}", certificate.failing_word()->size());
  return fmt::format("open past {}", certificate.length());
}

/// Where one random word of seed 1 first fails, for comparison with the shortest failing word.
std::string sampled_text(const Network& network, ArithmeticName arithmetic) {
  if (arithmetic.is_exact()) return "";
  SampleOptions options;
  options.lengths = {kSampledLetters};
  options.words = 1;
  const SampleReport report = sample(network, arithmetic, options);
  return report.failing_at ? fmt::format("{}", *report.failing_at) : fmt::format("> {}", kSampledLetters);
}

void print_head(const char* title, const char* what, const char* bound) {
  fmt::print("\n{}\n{:<28} {:<10} {:>8} {:>9} {:>22} {:>15} {:>8}\n", title, what, "", bound, "codewords", "all words",
             "random word at", "seconds");
}

void print_row(const std::string& name, const Network& network, ArithmeticName arithmetic, const std::string& bound,
               const Budget& budget) {
  CertifyOptions options;
  options.arithmetic = arithmetic;
  options.max_pairs = budget.max_pairs;
  const double start = cpu_seconds();
  const bool exact = arithmetic.is_exact();
  const bool closed = !exact && certify_closed_codewords(network, options).has_value();
  const std::string outcome = outcome_of(exact ? certify(network, options) : certify_reachable_set(network, options));
  const double seconds = cpu_seconds() - start;
  fmt::print("{:<28} {:<10} {:>8} {:>9} {:>22} {:>15} {:>8.2f}  {}\n", name, to_string(arithmetic), bound,
             closed ? "closed" : "-", outcome, sampled_text(network, arithmetic), seconds,
             verdict(name, to_string(arithmetic), outcome, budget));
  std::fflush(stdout);
}

/// The first-order horizon of an orthogonal construction: ln(1 + sin(π/m)) / (3√2 u).
std::string horizon(int m, ArithmeticName arithmetic) {
  if (arithmetic.kind() != ArithmeticName::Kind::kSeparate) return "";
  const double roundoff =
      with_format(arithmetic.storage(), [](auto format) { return decltype(format)::unit_roundoff; });
  const double bound = std::log1p(std::sin(std::numbers::pi / m)) / (3 * std::numbers::sqrt2 * roundoff);
  return fmt::format("{:.1f}", bound);
}

Network rotation(int m) { return build_rotation(named_language(fmt::format("Z{}/all", m))); }

void print_rotations(const Budget& budget) {
  print_head("Rotations by w/m of a turn, letters w = 0 … m−1; T_cert is the first-order horizon", "", "T_cert");
  std::vector<ArithmeticName> arithmetics{Precision::kBf16, Precision::kFp16, Precision::kFp32,
                                          ArithmeticName::fused(Precision::kBf16),
                                          ArithmeticName::accumulated_in_fp32(Precision::kBf16)};
  if (budget.is_full)
    for (const ArithmeticName other : {ArithmeticName::fused(Precision::kFp16), ArithmeticName::fused(Precision::kFp32),
                                       ArithmeticName::accumulated_in_fp32(Precision::kFp16), ArithmeticName::tf32()})
      arithmetics.push_back(other);
  arithmetics.push_back(ArithmeticName::exact());
  for (const ArithmeticName arithmetic : arithmetics)
    for (const int m : {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 60})
      print_row(fmt::format("rotation {}", m), rotation(m), arithmetic, horizon(m, arithmetic), budget);
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

Network on_group(std::optional<KeyStyle> keys) {
  return build_permutation_base(named_language("S5/transpositions"), {keys});
}

void print_transpositions(const Budget& budget) {
  struct Style {
    const char* name;
    std::optional<KeyStyle> keys;
  };
  print_head("S_5 by its 10 transpositions: how a swap is applied", "", "");
  for (const Style& style : {Style{"0/1 matrix", {}}, Style{"e_i - e_j, beta 1", KeyStyle::kUnnormalised},
                             Style{"doubled, beta 2", KeyStyle::kDoubled}, Style{"unit, beta 2", KeyStyle::kUnit}})
    for (const Precision precision : kPrecisions) {
      print_row(fmt::format("{}, points", style.name), build_permutation(points_of_s5(), {style.keys}), precision, "",
                budget);
      print_row(fmt::format("{}, group", style.name), on_group(style.keys), precision, "", budget);
    }
  for (const Precision format : {Precision::kBf16, Precision::kFp16})
    print_row(fmt::format("unit rounded to {}, points", to_string(format)),
              quantise(build_permutation(points_of_s5(), {KeyStyle::kUnit}), format), Precision::kFp32, "", budget);
  print_row("unit, beta 2, points", build_permutation(points_of_s5(), {KeyStyle::kUnit}), ArithmeticName::exact(), "",
            budget);
}

// ---- Orders of evaluation

/// The value of a proof by closed codewords in one order of the letters' maps for the others.
void print_order(const std::string& name, const Network& network, Precision precision, const char* order,
                 bool known_exact, const Budget& budget) {
  CertifyOptions options;
  options.arithmetic = precision;
  options.order = parse_order(order);
  options.max_pairs = std::min<std::uint64_t>(budget.max_pairs, 100'000);
  const double start = cpu_seconds();
  const Certificate certificate = certify(network, options);
  const bool proved = certificate.is<Proved>();
  if (known_exact && !proved) ++differences;
  const std::string outcome = !proved                                    ? outcome_of(certificate)
                              : certificate.holds_in_every_association() ? "proved, every association"
                                                                         : "proved, this order";
  fmt::print("{:<28} {:<6} {:<12} {:>28} {:>8.2f}  {}\n", name, to_string(precision), order, outcome,
             cpu_seconds() - start,
             !known_exact ? ""
             : proved     ? "as known"
                          : "EXPECTED proved");
  std::fflush(stdout);
}

void print_orders(const Budget& budget) {
  struct Row {
    const char* name;
    Network network;
    bool known_exact;  ///< MATH.md §5: integer keys and permutations stay exact
  };
  fmt::print(
      "\nLetters composed as maps: chunks by the UT transform, Blelloch's scan, Fan's doubling\n"
      "{:<28} {:<6} {:<12} {:>28} {:>8}\n",
      "", "", "order", "all words", "seconds");
  for (const Row& row : {Row{"0/1 matrix, group", on_group({}), true},
                         {"e_i - e_j, beta 1, group", on_group(KeyStyle::kUnnormalised), true},
                         {"doubled, beta 2, group", on_group(KeyStyle::kDoubled), true},
                         {"unit, beta 2, points", build_permutation(points_of_s5(), {KeyStyle::kUnit}), false},
                         {"rotation 12", rotation(12), false}})
    for (const Precision precision : kPrecisions)
      for (const char* order : {"chunked:64", "scan", "doubling"})
        print_order(row.name, row.network, precision, order, row.known_exact, budget);
}

// ---- Drift of a vector that is decoded by rounding

/// The state (1, …, 5) moved by S_5's transpositions, all keys made by `change`.
template <class Change>
Network drifting(Change&& change) {
  Network network = build_permutation(points_of_s5(), {KeyStyle::kUnit});
  Layer& layer = network.layers[0];
  for (Eigen::Index i = 0; i < 5; ++i) layer.initial(i) = static_cast<double>(i + 1);
  for (Transition& transition : layer.transitions)
    for (Reflection& factor : std::get<ReflectionProduct>(transition.a).factors) change(factor);
  return network;
}

/// The letters after which rounding every number to the nearest integer first fails; nothing: not within the limit.
std::optional<std::uint64_t> rounding_fails_at(const Network& network, std::uint64_t seed, std::uint64_t limit) {
  const auto evaluator = make_evaluator(network, Precision::kFp32);
  const RandomWord word(network.automaton.letters(), seed);
  double right[] = {1, 2, 3, 4, 5};
  for (std::uint64_t t = 0; t < limit; ++t) {
    const Letter letter = word.at(t);
    const auto& swap = std::get<ReflectionProduct>(network.layers[0].transitions[letter].a).factors[0].entries;
    std::swap(right[swap[0].position], right[swap[1].position]);
    evaluator->step(letter);
    const std::vector<double> numbers = evaluator->numbers();
    for (std::size_t i = 0; i < std::size(right); ++i)
      if (std::nearbyint(numbers[i]) != right[i]) return t + 1;
  }
  return std::nullopt;
}

/// Every letter shortens the part of the state that it reflects; a random word fails near `expected` letters, the more
/// exactly the longer it is.
void print_drift(const char* name, const Network& network, double expected, std::uint64_t limit) {
  const auto failed = rounding_fails_at(network, 1, limit);
  const bool near = expected == 0 ? !failed : failed && std::fabs(static_cast<double>(*failed) / expected - 1) < 0.25;
  if (!near) ++differences;
  fmt::print("{:<44} {:>12}  {}\n", name, failed ? fmt::format("{}", *failed) : fmt::format("> {}", limit),
             expected == 0 ? (near ? "exact, as known" : "EXPECTED no failure")
                           : fmt::format("{} {:.0f}", near ? "near" : "EXPECTED about", expected));
  std::fflush(stdout);
}

void print_drifts(const Budget& budget) {
  fmt::print("\nThe vector (1, …, 5) under random transpositions in fp32, decoded by rounding: fails after\n");
  const auto keep = [](Reflection&) {};
  print_drift("unit keys rounded to bf16", quantise(drifting(keep), Precision::kBf16), 2'614, 100'000);
  print_drift("beta = 2 sigmoid(9)", drifting([](Reflection& factor) { factor.beta = 2 / (1 + std::exp(-9.0)); }),
              4'566, 100'000);
  print_drift("keys normalised with eps 1e-6", drifting([](Reflection& factor) {
                factor.scale_squared_numerator = 1'000'000;
                factor.scale_squared_denominator = 2'000'001;
              }),
              1.06e6, 4'000'000);
  print_drift("e_i - e_j, beta 1", drifting([](Reflection& factor) {
                factor.scale_squared_denominator = 1;
                factor.beta = 1;
              }),
              0, budget.is_full ? 20'000'000 : 1'000'000);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Budget budget;
    budget.is_full = argc > 1 && std::string(argv[1]) == "--full";
    if (argc > 2 || (argc > 1 && !budget.is_full)) {
      fmt::print(stderr, "usage: bench_precision [--full]\n");
      return 2;
    }
    if (budget.is_full) budget.max_pairs = 20'000'000;
    fmt::print("Up to {} pairs; random words of seed 1.\n", budget.max_pairs);
    print_rotations(budget);
    print_transpositions({budget.is_full, 1'000'000});
    print_orders(budget);
    print_drifts(budget);
    fmt::print("\n{}\n", differences == 0 ? "Every known outcome was found again."
                                          : fmt::format("{} outcomes differ from what is known.", differences));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_precision: {}\n", error.what());
    return 2;
  }
  return differences == 0 ? 0 : 1;
}
