#include "tools/krohn/trained_verdict.h"

#include <fmt/format.h>

#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/error.h"
#include "krohn/groups/random.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "tools/krohn/count.h"
#include "tools/krohn/json_output.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/run_folder.h"
#include "tools/krohn/table.h"
#include "tools/krohn/verb.h"
#include "tools/krohn/verdict.h"

namespace krohn {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::uint64_t kLongLetters = 1'000'000;  ///< read in search of long failing words

/// A trained model, what it is held against, and what is known of it.
struct Verdict {
  std::unique_ptr<TrainedReader> machine;
  TrackedAutomaton tracked;
  Certificate certificate;
  std::string said, wanted;  ///< after the word that refutes
};

std::string name_of(const Dfa& automaton, Output output) {
  return output < automaton.output_names().size() ? automaton.output_names()[output] : "nothing";
}

/// What model and automaton say at the end of the failing word.
void read_again(Verdict& verdict, const Dfa& own) {
  if (!verdict.certificate.failing_word) return;
  MachineRun run(*verdict.machine, verdict.tracked);
  for (const Letter letter : *verdict.certificate.failing_word) run.read(letter);
  if (!run.is_wrong()) throw Error("the word that was found is read rightly when it is read again; please report this");
  const Dfa& automaton = verdict.tracked.automaton;
  verdict.said = name_of(own, run.answer().output);
  verdict.wanted = automaton.output_names()[automaton.output(run.state())];
}

/// Random words of the task's inputs: a disagreement refutes, agreement changes nothing.
void test(Verdict& verdict, const TrainedQuestion& asked) {
  Progress progress("testing letters");
  Certificate& certificate = verdict.certificate;
  Random random(asked.seed);
  certificate.seed = asked.seed;
  const Letter letters = verdict.machine->letters();
  constexpr int kTries = 256;  // of random letters that may stand at a place
  for (std::uint64_t i = 0; i < asked.words; ++i) {
    MachineRun run(*verdict.machine, verdict.tracked);
    Word word;
    for (std::uint64_t t = 0; t < asked.length; ++t) {
      Letter letter = 0;
      int tries = 0;
      do letter = static_cast<Letter>(random.below(letters));
      while (++tries < kTries && !run.read(letter));
      if (tries == kTries) break;
      ++certificate.letters_tested;
      if (t < kPrintableLength) word.push_back(letter);
      progress.update(certificate.letters_tested, asked.words * asked.length);
      if (!run.is_wrong()) continue;
      if (certificate.claim == Claim::kRefuted) return;
      if (certificate.claim == Claim::kProved || certificate.length > t)
        throw Error(
            fmt::format("{}: a random word of seed {} disagrees at letter {}, against the proof; please report "
                        "this",
                        asked.file, asked.seed, t + 1));
      certificate.claim = Claim::kRefuted;
      certificate.method = "sampled";
      certificate.evidence =
          fmt::format("random word {} of seed {} disagrees at letter {}", i, asked.seed, with_thousands(t + 1));
      certificate.limit.clear();
      if (t < kPrintableLength) certificate.failing_word = std::move(word);
      return;
    }
  }
}

Certificate prove(const Verdict& verdict, const TrainedQuestion& asked) {
  Progress progress("reading letters");
  CertifyMachineOptions options;
  options.max_pairs = asked.max_pairs;
  options.max_seconds = asked.seconds;
  options.long_letters = kLongLetters;
  options.seed = asked.seed;
  options.progress = [&progress](std::uint64_t letters) { progress.update(letters); };
  return certify_trained(*verdict.machine, verdict.tracked, parse_precision(asked.precision), options);
}

void report(const TrainedQuestion& asked, const TrainedSubject& subject, const Verdict& verdict) {
  const Certificate& certificate = verdict.certificate;
  const auto line = [](const std::string& text) { fmt::print("  {}\n", wrapped(text, kColumns, "    ")); };
  fmt::print("{}: {}\n", visible(asked.file), claim_in_words(certificate, verdict.tracked.automaton.alphabet()));
  line(fmt::format("{} on {}, against {}", subject.trained.model->name(), subject.trained.task,
                   asked.against.empty() ? "the automaton of the task" : asked.against));
  line(
      fmt::format("{}, letter after letter, every operation rounded by itself and sums from the first term on: the "
                  "same on every processor",
                  asked.precision));
  line(certificate.method + ": " + certificate.evidence);
  if (!verdict.said.empty()) line(fmt::format("the model says \"{}\" there, not \"{}\"", verdict.said, verdict.wanted));
  if (!certificate.limit.empty()) line("limit met: " + certificate.limit);
  if (certificate.letters_tested > 0)
    line(fmt::format("{} letters of random words, seed {}: {}", with_thousands(certificate.letters_tested), asked.seed,
                     certificate.letters_tested == asked.words * asked.length ? "all right" : "the last one wrong"));
}

}  // namespace

int verify_trained(const TrainedQuestion& asked) {
  const TrainedSubject subject = load_trained_subject(asked.file, asked.reading);
  const Dfa own = input_machine(*subject.task).automaton;
  Verdict verdict{
      trained_machine(*subject.trained.model, *subject.task, parse_precision(asked.precision)),
      tracked_automaton(*subject.task, asked.against.empty() ? own : load_language(asked.against, asked.reading),
                        asked.least_length),
      {},
      {},
      {}};
  verdict.certificate = prove(verdict, asked);
  if (asked.length > 0) test(verdict, asked);
  read_again(verdict, own);
  const Certificate& certificate = verdict.certificate;
  if (asked.json) {
    nlohmann::ordered_json json{{"model", asked.file},
                                {"name", subject.trained.model->name()},
                                {"task", subject.trained.task},
                                {"language", asked.against.empty() ? subject.trained.task : asked.against},
                                {"verdict", verdict_to_json(certificate, own.alphabet())}};
    if (!verdict.said.empty()) json["answers"] = {{"model", verdict.said}, {"automaton", verdict.wanted}};
    print_json(json);
  } else {
    report(asked, subject, verdict);
  }
  return exit_status(certificate, asked.length);
}

}  // namespace krohn
