#include "tools/krohn/checkpoint_verdict.h"

#include <fmt/format.h>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/gpu/checkpoints/checkpoint_words.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/checkpoints/certify_checkpoint.h"
#include "krohn/simulate/words/word.h"
#include "tools/krohn/against.h"
#include "tools/krohn/count.h"
#include "tools/krohn/json_output.h"
#include "tools/krohn/on_device.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/table.h"
#include "tools/krohn/verb.h"
#include "tools/krohn/verdict.h"

namespace krohn {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kSlice = 1 << 12;

/// A random word as tokens, the one that begins words first, with the state that each leads to.
class TokenStream {
 public:
  TokenStream(const Checkpoint& checkpoint, const CheckpointQuestion& asked, std::uint64_t word)
      : table_(checkpoint.tokens),
        automaton_(*checkpoint.automaton),
        word_(automaton_.letters(), asked.seed, word),
        length_(asked.length),
        state_(automaton_.initial()),
        letters_(kSlice) {}

  /// Up to `most` further tokens; none at the end.
  void read(std::size_t most, std::vector<std::uint32_t>& tokens, std::vector<State>& states) {
    tokens.clear();
    states.clear();
    if (!begun_ && table_.begin) add(*table_.begin, tokens, states);
    begun_ = true;
    for (; tokens.size() < most && drawn_ < length_; ++drawn_) {
      if (drawn_ % kSlice == 0) word_.fill(drawn_, letters_);
      const Letter letter = letters_[drawn_ % kSlice];
      state_ = automaton_.next(state_, letter);
      add(table_.of_letter[letter], tokens, states);
    }
  }
  std::uint64_t drawn() const { return drawn_; }

 private:
  void add(std::uint32_t token, std::vector<std::uint32_t>& tokens, std::vector<State>& states) const {
    tokens.push_back(token);
    states.push_back(state_);
  }

  const TokenTable& table_;
  const Dfa& automaton_;
  RandomWord word_;
  std::uint64_t length_, drawn_ = 0;
  State state_;
  std::vector<Letter> letters_;
  bool begun_ = false;
};

/// Letters of a random word until the first wrong answer, or `most` of them.
std::uint64_t right_letters(const Checkpoint& checkpoint, const CheckpointModel& model, const CheckpointQuestion& asked,
                            std::uint64_t word, std::uint64_t most, Progress& progress) {
  TokenStream stream(checkpoint, asked, word);
  CheckpointModel::Memory memory = model.start();
  std::vector<std::uint32_t> tokens;
  std::vector<State> states;
  while (stream.drawn() < most) {
    stream.read(asked.in_chunks ? kDeltaChunk : 1, tokens, states);
    if (tokens.empty()) break;
    progress.update(word * asked.length + stream.drawn(), asked.words * asked.length);
    const auto answers = asked.in_chunks ? model.read_chunk(tokens, memory)
                                         : std::vector<std::vector<float>>{model.step(tokens[0], memory)};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i == 0 && stream.drawn() < tokens.size()) continue;  // the token that begins words
      if (arg_max(answers[i]) != checkpoint.tokens.of_state[states[i]]) return stream.drawn() - (tokens.size() - i);
    }
  }
  return most;
}

/// The least letter of all words at which the model is wrong, and the least such word.
std::optional<CheckpointFailure> first_failure(const Checkpoint& checkpoint, const CheckpointModel& model,
                                               const CheckpointQuestion& asked) {
  Progress progress("testing letters");
  std::optional<CheckpointFailure> failure;
  for (std::uint64_t word = 0; word < asked.words; ++word) {
    const std::uint64_t most = failure ? failure->at - 1 : asked.length;
    const std::uint64_t right = right_letters(checkpoint, model, asked, word, most, progress);
    if (right < most) failure = {right + 1, word};
  }
  return failure;
}

/// A device is worth it for many words side by side; `--device cuda` insists.
bool tests_on_device(const CheckpointQuestion& asked) {
  constexpr std::uint64_t kManyWords = 128;
  if (asked.device == "cuda") return wants_cuda(asked.device);
  return asked.words >= kManyWords && !asked.in_chunks && wants_cuda(asked.device);
}

std::optional<CheckpointFailure> first_failure_anywhere(const Checkpoint& checkpoint, const CheckpointModel& model,
                                                        const CheckpointQuestion& asked) {
  const auto on_processor = [&] { return first_failure(checkpoint, model, asked); };
  if (!tests_on_device(asked)) return on_processor();
  return on_device(
      asked.device,
      [&] {
        if (asked.in_chunks)
          throw InputError("--order", "checkpoints are read in chunks on the processor only; take --device cpu");
        Progress progress("testing letters");
        CheckpointSampleOptions options{asked.length, asked.words, asked.seed, {}};
        options.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.update(done, all); };
        return sample_checkpoint(Place::kDevice, checkpoint, model, options);
      },
      on_processor);
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

/// False when some letter was answered wrongly.
bool test(Certificate& certificate, const Checkpoint& checkpoint, const CheckpointModel& model,
          const CheckpointQuestion& asked) {
  if (checkpoint.automaton->letters() == 0)
    throw InputError("--length", "there are no words to draw: the alphabet is empty");
  const std::optional<CheckpointFailure> failure = first_failure_anywhere(checkpoint, model, asked);
  certificate.seed = asked.seed;
  certificate.letters_tested = failure ? failure->at : asked.length * asked.words;
  if (!failure || certificate.claim == Claim::kRefuted) return !failure;
  const std::string what =
      fmt::format("the random word of seed {}{} disagrees at letter {}", asked.seed,
                  failure->word == 0 ? "" : fmt::format(", number {},", failure->word), with_thousands(failure->at));
  if (certificate.claim == Claim::kProved || certificate.length >= failure->at)
    throw Error(fmt::format("{}: {}, against the proof; please report this", asked.folder, what));
  certificate.claim = Claim::kRefuted;
  certificate.method = "sampled";
  certificate.evidence = what;
  return false;
}

Certificate prove(const Checkpoint& checkpoint, const CheckpointModel& model, const CheckpointQuestion& asked) {
  Progress progress("examining pairs of states");
  CertifyCheckpointOptions options;
  options.max_pairs = asked.max_pairs;
  options.progress = [&progress](std::uint64_t pairs) { progress.update(pairs); };
  return certify_checkpoint(checkpoint, model, parse_precision(asked.precision), options);
}

/// There are too many chunks to try them all: random words have to do.
Certificate untested(const Checkpoint& checkpoint, const CheckpointQuestion& asked) {
  if (asked.length == 0)
    throw InputError("--order", "in chunks, checkpoints are tested on a random word: add --length N");
  if (!checkpoint.automaton) throw InputError(asked.folder, "has no automaton.json; take --against LANGUAGE");
  Certificate certificate;
  certificate.arithmetic = parse_precision(asked.precision);
  certificate.order = {Order::Kind::kChunked, static_cast<std::uint32_t>(kDeltaChunk)};
  certificate.method = "sampled";
  certificate.evidence = fmt::format("one random word of seed {}", asked.seed);
  return certificate;
}

}  // namespace

int verify_checkpoint(const CheckpointQuestion& asked) {
  Checkpoint checkpoint = load_checkpoint(asked.folder);
  const bool knows_automaton = checkpoint.automaton.has_value();
  if (!knows_automaton && !asked.against.empty())
    checkpoint = load_checkpoint(asked.folder, load_language(asked.against, asked.reading));
  const Precision precision = parse_precision(asked.precision);
  const CheckpointModel model(checkpoint, precision);
  Certificate certificate = asked.in_chunks ? untested(checkpoint, asked) : prove(checkpoint, model, asked);
  if (knows_automaton && !asked.against.empty()) {
    const auto output_after = [&](const Word& word) { return answer_after(checkpoint, model, word); };
    compare_with_language(certificate, Claimant{*checkpoint.automaton, output_after}, asked.against, asked.reading);
  }
  const bool is_tested_right = asked.length == 0 || test(certificate, checkpoint, model, asked);
  const Alphabet& alphabet = checkpoint.automaton->alphabet();
  if (asked.json) {
    print_json({{"model", asked.folder},
                {"family", model_type(checkpoint.config.family)},
                {"verdict", verdict_to_json(certificate, alphabet)}});
    return exit_status(certificate, asked.length);
  }
  fmt::print("{}: {}\n", visible(asked.folder), claim_in_words(certificate, alphabet));
  fmt::print("  {}, {} {}\n", asked.precision, model_type(checkpoint.config.family),
             asked.in_chunks ? "in chunks of 64 tokens" : "token by token");
  fmt::print("  {}\n", wrapped(certificate.method + ": " + certificate.evidence, kColumns, "    "));
  if (!certificate.limit.empty()) fmt::print("  {}\n", wrapped("limit met: " + certificate.limit, kColumns, "    "));
  if (certificate.letters_tested > 0)
    fmt::print("  {} letters of {}, seed {}: {}\n", with_thousands(certificate.letters_tested),
               asked.words == 1 ? "a random word" : "random words", asked.seed,
               is_tested_right ? "all right" : "the last one wrong");
  return exit_status(certificate, asked.length);
}

}  // namespace krohn
