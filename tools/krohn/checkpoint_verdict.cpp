#include "tools/krohn/checkpoint_verdict.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "groups/error.h"
#include "simulate/certify_checkpoint.h"
#include "simulate/word.h"
#include "tools/krohn/against.h"
#include "tools/krohn/count.h"
#include "tools/krohn/json_output.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/table.h"
#include "tools/krohn/verb.h"
#include "tools/krohn/verdict.h"

namespace krohn {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kSlice = 1 << 12;

/// Letters of one random word until the first wrong answer, or all of them.
std::uint64_t right_letters(const Checkpoint& checkpoint, const CheckpointModel& model,
                            const CheckpointQuestion& asked) {
  Progress progress("testing letters");
  const Dfa& automaton = *checkpoint.automaton;
  const RandomWord word(automaton.letters(), asked.seed, 0);
  CheckpointModel::Memory memory = model.start();
  if (checkpoint.tokens.begin) model.step(*checkpoint.tokens.begin, memory);
  State state = automaton.initial();
  std::vector<Letter> letters(kSlice);
  for (std::uint64_t done = 0; done < asked.length; ++done) {
    if (done % kSlice == 0) {
      word.fill(done, letters);
      progress.update(done, asked.length);
    }
    const Letter letter = letters[done % kSlice];
    state = automaton.next(state, letter);
    if (arg_max(model.step(checkpoint.tokens.of_letter[letter], memory)) != checkpoint.tokens.of_state[state])
      return done;
  }
  return asked.length;
}

/// The output of the state whose token the model gives after the word.
std::string answer_after(const Checkpoint& checkpoint, const CheckpointModel& model, const Word& word) {
  CheckpointModel::Memory memory = model.start();
  std::vector<float> logits;
  if (checkpoint.tokens.begin) logits = model.step(*checkpoint.tokens.begin, memory);
  for (const Letter letter : word) logits = model.step(checkpoint.tokens.of_letter[letter], memory);
  const auto token = arg_max(logits);
  const Dfa& automaton = *checkpoint.automaton;
  for (State state = 0; state < automaton.states(); ++state)
    if (token == checkpoint.tokens.of_state[state]) return automaton.output_names()[automaton.output(state)];
  return "nothing";
}

void test(Certificate& certificate, const Checkpoint& checkpoint, const CheckpointModel& model,
          const CheckpointQuestion& asked) {
  if (checkpoint.automaton->letters() == 0)
    throw InputError("--length", "there are no words to draw: the alphabet is empty");
  const std::uint64_t right = right_letters(checkpoint, model, asked);
  certificate.seed = asked.seed;
  certificate.letters_tested = right == asked.length ? right : right + 1;
  if (right == asked.length || certificate.claim == Claim::kRefuted) return;
  if (certificate.claim == Claim::kProved || certificate.length > right)
    throw Error(
        fmt::format("{}: the random word of seed {} disagrees at letter {}, against the proof; please report this",
                    asked.folder, asked.seed, right + 1));
  certificate.claim = Claim::kRefuted;
  certificate.method = "sampled";
  certificate.evidence =
      fmt::format("the random word of seed {} disagrees at letter {}", asked.seed, with_thousands(right + 1));
}

}  // namespace

int verify_checkpoint(const CheckpointQuestion& asked) {
  Checkpoint checkpoint = load_checkpoint(asked.folder);
  const bool knows_automaton = checkpoint.automaton.has_value();
  if (!knows_automaton && !asked.against.empty())
    checkpoint = load_checkpoint(asked.folder, load_language(asked.against, asked.reading));
  const Precision precision = parse_precision(asked.precision);
  const CheckpointModel model(checkpoint, precision);
  CertifyCheckpointOptions options;
  options.max_pairs = asked.max_pairs;
  Certificate certificate;
  {
    Progress progress("examining pairs of states");
    options.progress = [&progress](std::uint64_t pairs) { progress.update(pairs); };
    certificate = certify_checkpoint(checkpoint, model, precision, options);
  }
  if (knows_automaton && !asked.against.empty()) {
    const auto output_after = [&](const Word& word) { return answer_after(checkpoint, model, word); };
    compare_with_language(certificate, Claimant{*checkpoint.automaton, output_after}, asked.against, asked.reading);
  }
  if (asked.length > 0) test(certificate, checkpoint, model, asked);
  const Alphabet& alphabet = checkpoint.automaton->alphabet();
  if (asked.json) {
    print_json({{"model", asked.folder},
                {"family", model_type(checkpoint.config.family)},
                {"verdict", verdict_to_json(certificate, alphabet)}});
    return exit_status(certificate, asked.length);
  }
  fmt::print("{}: {}\n", asked.folder, claim_in_words(certificate, alphabet));
  fmt::print("  {}, {} token by token\n", asked.precision, model_type(checkpoint.config.family));
  fmt::print("  {}\n", wrapped(certificate.method + ": " + certificate.evidence, kColumns, "    "));
  if (!certificate.limit.empty()) fmt::print("  {}\n", wrapped("limit met: " + certificate.limit, kColumns, "    "));
  if (certificate.letters_tested > 0)
    fmt::print("  {} letters of a random word, seed {}: {}\n", with_thousands(certificate.letters_tested), asked.seed,
               certificate.letters_tested == asked.length ? "all right" : "the last one wrong");
  return exit_status(certificate, asked.length);
}

}  // namespace krohn
