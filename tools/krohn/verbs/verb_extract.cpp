// krohn extract — the automaton that a model has learned.

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::size_t kExtractColumns = 100;
constexpr double kShareOfExtraction = 0.85;         ///< of the time; then what was found is compared and written
constexpr std::uint64_t kMaxLetters = 100'000'000;  ///< of a word, at 8 bytes each and its answers

struct ExtractArguments {
  std::string model, output, against, precision = "fp32", device = "auto";
  ExtractOptions extract;
  LanguageOptions reading;
  std::optional<Dfa> expected;  ///< --against, read before the work
  bool json = false;
};

/// The comparison of the extracted automaton.
struct Expected {
  std::string name;
  std::optional<Word> difference;  ///< over the common alphabet
  Alphabet alphabet;
};

/// `own`: the automaton in the file, or of the model's task, and what it is called.
Expected compare_with(const ExtractArguments& options, const Dfa& own, const char* name, const Dfa& found) {
  if (!options.expected) return {name, distinguishing_word(found, own), found.alphabet()};
  const Dfa& language = *options.expected;
  return {options.against, distinguishing_word(found, language), refine(found.alphabet(), language.alphabet()).merged};
}

std::string evidence(const Extraction& found) {
  const std::string asked = fmt::format("{} questions, {} guess{} refuted; ", with_thousands(found.questions),
                                        found.refuted_guesses, found.refuted_guesses == 1 ? "" : "es");
  if (found.network_states)
    return asked + fmt::format("compared with the {} that the network reaches{}",
                               counted(*found.network_states, "state"),
                               found.beyond ? "" : ": equal on words of every length");
  return asked + fmt::format("agrees after every letter of {} of up to {}; every word of up to {} begins one of them",
                             counted(found.words, "word"), counted(found.length, "letter"), found.all_up_to);
}

std::string beyond(const Extraction& found, const ExtractArguments& options) {
  if (found.beyond)
    return fmt::format("it stops being that automaton: {} gives \"{}\" instead of \"{}\"{}",
                       quoted_word(found.automaton.alphabet(), found.beyond->word), found.beyond->machine,
                       found.beyond->automaton,
                       found.network_states ? ", and no shorter word is wrong" : ", the shortest word found");
  if (found.network_states || found.beyond_words == 0) return "";
  return fmt::format("agrees on {} of {} too, random ones and powers of short ones",
                     counted(found.beyond_words, "word"), counted(options.extract.beyond, "letter"));
}

/// Says whether the model, not the automaton alone, is as expected for words of every length: true, false, or null
/// where samples of words show neither.
nlohmann::ordered_json computes(const Extraction& found, const Expected& expected) {
  if (found.is_exact()) return !expected.difference;
  return found.beyond && !expected.difference ? nlohmann::ordered_json(false) : nlohmann::ordered_json();
}

std::string relation(const Extraction& found, const Expected& expected) {
  if (expected.difference)
    return fmt::format("the extracted automaton differs from {} on {}", expected.name,
                       quoted_word(expected.alphabet, *expected.difference));
  if (found.is_exact()) return fmt::format("computes {}", expected.name);
  return fmt::format("the extracted automaton equals {}{}", expected.name,
                     found.beyond ? ", which the model does not compute: see the word above"
                                  : ", by the words that were read; longer ones can differ");
}

nlohmann::ordered_json extraction_json(const ExtractArguments& options, const Extraction& found,
                                       const StateCentres& centres, const Expected& expected) {
  const Dfa& automaton = found.automaton;
  nlohmann::ordered_json json{
      {"model", options.model},       {"output", options.output},       {"arithmetic", options.precision},
      {"states", automaton.states()}, {"letters", automaton.letters()}, {"exact", found.is_exact()},
      {"length", found.length},       {"questions", found.questions},   {"refuted_guesses", found.refuted_guesses},
      {"words", found.words},         {"letters_read", found.letters},  {"all_words_up_to", found.all_up_to}};
  if (!found.limit.empty()) json["limit"] = found.limit;
  if (found.network_states) json["network_states"] = *found.network_states;
  json["longer_words"] = found.beyond_words;
  json["longer_words_length"] = options.extract.beyond;
  if (found.beyond)
    json["disagreement"] = {{"word", automaton.alphabet().format_word(found.beyond->word)},
                            {"length", found.beyond->word.size()},
                            {"network", found.beyond->machine},
                            {"automaton", found.beyond->automaton},
                            {"shortest", found.network_states.has_value()}};
  json["cluster_radius"] = centres.spread;
  json["cluster_distance"] = least_distance(centres.centres);
  json["against"] = expected.name;
  json["equal"] = !expected.difference;
  json["computes"] = computes(found, expected);
  if (expected.difference) json["difference"] = expected.alphabet.format_word(*expected.difference);
  return json;
}

void report_extraction(const ExtractArguments& options, const Extraction& found, const StateCentres& centres,
                       const Expected& expected) {
  const Dfa& automaton = found.automaton;
  fmt::print("{}: {} and {}, extracted from {} in {}\n", visible(options.output), counted(automaton.states(), "state"),
             counted(automaton.letters(), "letter"), visible(options.model), options.precision);
  const auto line = [](const std::string& text) {
    if (!text.empty()) fmt::print("  {}\n", wrapped(text, kExtractColumns, "    "));
  };
  line(evidence(found));
  line(found.limit);
  line(beyond(found, options));
  if (automaton.states() > 1)
    line(fmt::format("its numbers in a state lie within {:.2g} of their mean{}, the nearest two means {:.2g} apart",
                     centres.spread, centres.is_scaled ? ", scaled" : "", least_distance(centres.centres)));
  line(relation(found, expected));
}

/// Keeps the automaton before it is compared.
void keep_automaton(const ExtractArguments& options, const Extraction& found) {
  write_automaton_file(found.automaton, options.output);
  const State states = found.automaton.states();
  const Json facts{{"model", options.model}, {"output", options.output}, {"states", states}};
  tell_if_ended([text = options.json ? report_text(facts)
                                     : fmt::format("{}: {}, extracted from {}\n", visible(options.output),
                                                   counted(states, "state"),
                                                   visible(options.model))](const std::string&) { return text; });
}

int finish(const ExtractArguments& options, const Extraction& found, const StateCentres& centres,
           const Expected& expected) {
  tell_if_ended({});
  if (options.json)
    print_json(extraction_json(options, found, centres, expected));
  else
    report_extraction(options, found, centres, expected);
  if ((expected.difference || found.beyond) && !options.against.empty()) return kRefuted;
  return found.limit.empty() ? kDone : kUndecided;
}

/// Before the work.
void check_extraction(const ExtractArguments& options) {
  require_writable(options.output);
  format_to_write(options.output);
  if (options.extract.length == 0) throw InputError("--length", "words of at least one letter define an automaton");
  for (const auto& [option, letters] :
       {std::pair("--length", options.extract.length), std::pair("--beyond", options.extract.beyond)})
    if (letters > kMaxLetters)
      throw InputError(option, fmt::format("a word is held in memory: at most {}", counted(kMaxLetters, "letter")));
}

int extract(ExtractArguments options) {
  require_output(options.output, "the automaton", "AUTOMATON.dot");
  check_extraction(options);
  if (!options.against.empty()) options.expected = load_language(options.against, options.reading);
  options.model = file_of_torch_folder(file_of_run(options.model));
  const DevicePlace device(options.device == "cuda", [](const std::string& why) {
    fmt::print(stderr, "krohn: on the processor instead: {}\n", why);
  });
  if (wants_cuda(options.device)) options.extract.place = &device;
  const LearnedSubject subject = load_learned(options.model, "extract", options.reading, options.precision);
  if (subject.network && options.device == "cuda")
    fmt::print(stderr, "krohn: on the processor instead: devices read the words of trained models and checkpoints\n");
  const Extraction found = subject.extract(options.extract, kShareOfExtraction);
  keep_automaton(options, found);
  return finish(options, found, subject.centres(found.automaton),
                compare_with(options, subject.automaton(), subject.name_of_automaton(), found.automaton));
}

}  // namespace

Work add_extract(Verb& verb) {
  const auto options = std::make_shared<ExtractArguments>();
  verb.add_option("MODEL", options->model, "A .safetensors network, a folder of `krohn train`, or a checkpoint")
      .required();
  verb.add_option("-o,--output", options->output, "The automaton to write, in a format of `krohn convert`")
      .type_name("FILE");
  verb.add_option("--against", options->against, "The language that it should have learned").type_name("LANGUAGE");
  add_arithmetic(verb, options->precision, "The arithmetic that the network runs in");
  add_count(verb, "--length", options->extract.length, "Words up to this length define the automaton");
  add_count(verb, "--words", options->extract.words, "Random words, and detours, that have to agree");
  add_count(verb, "--beyond", options->extract.beyond, "Longer words to try, of this length");
  add_count(verb, "--most", options->extract.max_states, "Most states of the automaton");
  add_seed(verb, options->extract.seed);
  add_threads(verb, options->extract.threads);
  add_device(verb, options->device, "Where a trained model or a checkpoint reads many words side by side");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return extract(*options); };
}

}  // namespace krohn
