// krohn compare — what the letters of two networks do, side by side.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxRows = 8;  ///< of one letter in the table

struct CompareArguments {
  std::string learned, exact, plot;
  double weight = 0.05;
  std::uint64_t from = 0;
  LanguageOptions reading;
  bool json = false;
};

/// A word that a trained model reads wrongly, and how its margin comes to that.
struct Failure {
  Word word;
  std::vector<MarginPoint> margins;
};

ComparedModel load_compared(const std::string& given, const LanguageOptions& reading) {
  const std::string name = file_of_run(given);
  const bool reads_letters = is_machine(name);
  if (!reads_letters) require_model(name, "compare");
  try {
    if (!reads_letters) return compared_model(given, load_network(name));
    return compared_model(given, load_machine(name, reading, widest_precision(name)));
  } catch (const InputError& error) {
    if (std::string_view(error.what()).starts_with(name)) throw;
    throw InputError(name, error.what());
  }
}

/// Nothing of a network, of which `krohn verify` says more; nothing where no word was found.
std::optional<Failure> failure_of(const CompareArguments& options) {
  const std::string name = file_of_run(options.learned);
  if (!is_machine(name)) return std::nullopt;
  const MachineSubject subject = load_machine(name, options.reading, Precision::kFp32);
  remark_on_arithmetic(options.learned, "fp32", subject.otherwise);
  const ReadModel asked = subject_of(subject.machine, *subject.task, nullptr, options.from);
  Progress progress("looking for a wrong word, letters");
  const Certificate certificate =
      table_verdict(asked, [&progress](std::uint64_t letters) { progress.update(letters); });
  if (!certificate.failing_word()) return std::nullopt;
  return Failure{*certificate.failing_word(),
                 margins_along(*subject.machine, asked.tracked, *certificate.failing_word())};
}

nlohmann::ordered_json comparison_json(const CompareArguments& options, const ComparedModel& side,
                                       const std::vector<LetterComparison>& letters,
                                       const std::optional<Failure>& failure) {
  const Spectrum& learned = side.spectrum;
  nlohmann::ordered_json json{{"learned", options.learned},
                              {"exact", options.exact},
                              {"coordinates", learned.coordinates},
                              {"alive", learned.alive}};
  json["letters"] = letters_to_json(letters);
  if (failure) {
    json["failing_word"] = side.automaton.alphabet().format_word(failure->word);
    json["failing_word_length"] = failure->word.size();
    for (const MarginPoint& point : failure->margins)
      json["margins"].push_back({{"letters", {point.first, point.last}},
                                 {"least_margin", point.margin},
                                 {"after", point.at},
                                 {"state_norm", point.state}});
  }
  return json;
}

/// The least and greatest ones, when they are many.
std::string betas_in_words(std::vector<double> betas) {
  constexpr std::size_t kMax = 8;
  if (betas.size() <= kMax) {
    std::string text;
    for (const double beta : betas) text += fmt::format("{}{:.4f}", text.empty() ? "" : ", ", beta);
    return text;
  }
  const auto [least, greatest] = std::ranges::minmax(betas);
  return fmt::format("{} of them, {:.4f} … {:.4f}", betas.size(), least, greatest);
}

void report_comparison(const Alphabet& alphabet, const Failure& failure) {
  fmt::print("\nread wrongly in fp32: {}; the margin of the read-out along it\n", quoted_word(alphabet, failure.word));
  std::vector<std::vector<std::string>> rows = {{"letters", "least margin", "after", "norm of the state"}};
  for (const MarginPoint& point : failure.margins)
    rows.push_back({point.first == point.last ? with_thousands(point.first)
                                              : with_thousands(point.first) + " to " + with_thousands(point.last),
                    fmt::format("{:.3g}", point.margin), with_thousands(point.at), fmt::format("{:.3g}", point.state)});
  rows.back().push_back("wrong");
  fmt::print("{}", format_table(rows));
}

void report_comparison(const CompareArguments& options, const Spectrum& learned,
                       const std::vector<LetterComparison>& letters) {
  fmt::print("{} against {}\n", visible(options.learned), visible(options.exact));
  if (learned.coordinates == 0) {
    fmt::print("{}, so that there are no eigenvalues to compare\n", kNoMatrices);
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"letter", "weight", "modulus", "turn", "exact turn", "off by", "nearest of the other", "distance"}};
  std::vector<std::vector<std::string>> sums = {
      {"letter", "spectral radius", "exact", "defect", "exact", "most off, in turns", "other modes"}};
  for (const LetterComparison& letter : letters) {
    double most_off = 0;
    std::size_t shown = 0, left_out = 0;
    for (const Match& match : letter.matches) {
      most_off = std::max(most_off, match.off);
      if (match.mode.value.imag() < 0) continue;  // its conjugate stands for both
      if (shown == kMaxRows) {
        ++left_out;
        continue;
      }
      const char* sign = match.mode.value.imag() > 0 ? "±" : "";
      rows.push_back({shown++ == 0 ? letter.name : "",
                      fmt::format("{:.2f}", match.mode.weight) +
                          (match.modes > 1 ? fmt::format(" ×{}", match.modes) : std::string()),
                      fmt::format("{:.4f}", match.mode.modulus()), fmt::format("{}{:.5f}", sign, match.mode.turn()),
                      fmt::format("{}{}/{}", sign, match.turn.numerator, match.turn.denominator),
                      fmt::format("{:.5f}", match.off),
                      fmt::format("{:.4f} at {}{:.4f}", std::abs(match.value), sign, std::abs(turn_of(match.value))),
                      fmt::format("{:.2g}", match.distance)});
    }
    if (left_out > 0) rows.push_back({"", fmt::format("… {} more, see --json", left_out)});
    sums.push_back({letter.name, fmt::format("{:.4f}", letter.learned->spectral_radius),
                    fmt::format("{:.4f}", letter.exact->spectral_radius),
                    fmt::format("{:.2g}", letter.learned->orthogonality_defect),
                    fmt::format("{:.2g}", letter.exact->orthogonality_defect), fmt::format("{:.2g}", most_off),
                    letter.faint == 0 ? ""
                                      : fmt::format("{} below weight {}, moduli up to {:.3f}", letter.faint,
                                                    options.weight, letter.greatest_faint)});
  }
  fmt::print("{}\n{}", format_table(rows), format_table(sums));
  if (std::ranges::any_of(letters, [](const LetterComparison& letter) { return !letter.betas.empty(); })) {
    rows = {{"letter", "β of its reflections"}};
    for (const LetterComparison& letter : letters) rows.push_back({letter.name, betas_in_words(letter.betas)});
    fmt::print("\n{}", format_table(rows));
  }
  const std::uint64_t dead = learned.coordinates - learned.alive;
  fmt::print(
      "\n{} of {} coordinates ({:.0f} %) of {} are dead: no two mean states differ there; defects are of the others\n",
      with_thousands(dead), with_thousands(learned.coordinates),
      100.0 * static_cast<double>(dead) / static_cast<double>(learned.coordinates), options.learned);
}

/// A word that the two automata answer differently; nothing where there is none, or they have other letters or answers.
std::optional<Word> different_answer(const Dfa& learned, const Dfa& exact) {
  const auto names = [](const Dfa& dfa) {
    return std::set<std::string>(dfa.output_names().begin(), dfa.output_names().end());
  };
  if (names(learned) != names(exact)) return std::nullopt;
  if (learned.alphabet() != exact.alphabet()) return std::nullopt;
  return distinguishing_word(learned, exact);
}

int compare(const CompareArguments& options) {
  if (!options.plot.empty()) require_plot_name(options.plot);
  const ComparedModel learned = load_compared(options.learned, options.reading),
                      exact = load_compared(options.exact, options.reading);
  if (exact.spectrum.coordinates == 0)
    throw InputError(
        options.exact,
        fmt::format("{}, so that there are no eigenvalues to compare with; `krohn compile` writes networks "
                    "that have them",
                    kNoMatrices));
  const std::vector<LetterComparison> letters = compare_letters(learned, exact, options.weight);
  if (!options.plot.empty() && learned.spectrum.coordinates == 0)
    throw InputError("--plot", fmt::format("{}: {}, so that there is nothing to draw", learned.name, kNoMatrices));
  const std::optional<Failure> failure = failure_of(options);
  const std::optional<Word> different = different_answer(learned.automaton, exact.automaton);
  if (!options.plot.empty()) write_plot(comparison_plot(learned, exact, letters, options.weight), options.plot);
  if (options.json) {
    nlohmann::ordered_json json = comparison_json(options, learned, letters, failure);
    for (const PlanePanel& plane : plane_panels(learned, exact, options.weight))
      json["planes"].push_back({{"plane", plane.title}, {"turns", plane.learned}, {"exact_turns", plane.exact}});
    if (different) json["differ_on"] = learned.automaton.alphabet().format_word(*different);
    print_json(json);
    return kDone;
  }
  report_comparison(options, learned.spectrum, letters);
  if (different)
    fmt::print("they are of different languages, such as on {}\n",
               quoted_word(learned.automaton.alphabet(), *different));
  if (failure) report_comparison(learned.automaton.alphabet(), *failure);
  return kDone;
}

}  // namespace

Work add_compare(Verb& verb) {
  const auto options = std::make_shared<CompareArguments>();
  verb.add_option("LEARNED", options->learned, "A .safetensors network, or a folder of `krohn train`").required();
  verb.add_option("EXACT", options->exact, "The network to hold it against").required();
  verb.add_option("--plot", options->plot, "Draw the angles, or the eigenvalues").type_name("FILE.svg|.png|.pdf");
  verb.add_option("--weight", options->weight, "Least weight of the modes that are shown").between(0.0, 1.0);
  add_count(verb, "--from", options->from,
            "Of a trained model whose task answers at the end alone: shorter wrong words do not count")
      .show_default("");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return compare(*options); };
}

}  // namespace krohn
