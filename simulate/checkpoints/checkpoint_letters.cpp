#include "krohn/simulate/checkpoints/checkpoint_letters.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "krohn/groups/error.h"
#include "krohn/simulate/words/word.h"

namespace krohn {
namespace {

/// A language model over the letters of its automaton. It answers with tokens.
class CheckpointLetters : public LetterReader {
 public:
  CheckpointLetters(const Checkpoint& checkpoint, const CheckpointModel& model)
      : checkpoint_(checkpoint), model_(model), start_(model.start()) {
    if (checkpoint.tokens.begin) at_start_ = answer(model_.step(*checkpoint.tokens.begin, start_), start_);
  }

  Letter letters() const override { return checkpoint_.automaton->letters(); }
  Answer answer_at_start() const override { return at_start_; }
  Memory start() const override {
    Memory memory(start_.recurrent.size() + start_.convolution.size());
    write(start_, memory);
    return memory;
  }

  Answer step(Letter letter, Memory& memory, bool) const override {
    CheckpointModel::Memory own = start_;
    const std::size_t recurrent = own.recurrent.size();
    std::memcpy(own.recurrent.data(), memory.data(), recurrent * sizeof(float));
    std::memcpy(own.convolution.data(), memory.data() + recurrent, own.convolution.size() * sizeof(float));
    const Answer given = answer(model_.step(checkpoint_.tokens.of_letter[letter], own), own);
    write(own, memory);
    return given;
  }

 private:
  static Answer answer(const std::vector<float>& logits, const CheckpointModel::Memory& state) {
    const auto best = arg_max(logits);
    if (!best && std::ranges::any_of(logits, [](float logit) { return std::isnan(logit); }))
      return {.missing = why_not_finite(state.recurrent)};
    if (!best) return {};
    double second = -INFINITY;
    for (std::size_t i = 0; i < logits.size(); ++i)
      if (i != *best) second = std::max(second, double{logits[i]});
    return {*best, double{logits[*best]} - second};
  }

  static void write(const CheckpointModel::Memory& own, Memory& memory) {
    std::size_t at = 0;
    for (const std::vector<float>* part : {&own.recurrent, &own.convolution})
      for (const float number : *part) {
        const float without_sign = number + 0.f;  // −0 becomes +0
        std::memcpy(&memory[at++], &without_sign, sizeof(float));
      }
  }

  const Checkpoint& checkpoint_;
  const CheckpointModel& model_;
  CheckpointModel::Memory start_;
  Answer at_start_;
};

constexpr std::size_t kSlice = 1 << 12;

/// A random word as tokens, the one that begins words first, with the state that each leads to.
class TokenStream {
 public:
  TokenStream(const Checkpoint& checkpoint, const CheckpointSampleOptions& asked, std::uint64_t word)
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

/// Reads a random word. `goes_on(is_right)` hears of every letter, in order, and says whether to read further.
void read_word(const Checkpoint& checkpoint, const CheckpointModel& model, const CheckpointSampleOptions& asked,
               std::uint64_t word, const std::function<bool(bool)>& goes_on) {
  TokenStream stream(checkpoint, asked, word);
  CheckpointModel::Memory memory = model.start();
  std::vector<std::uint32_t> tokens;
  std::vector<State> states;
  while (stream.drawn() < asked.length) {
    stream.read(asked.in_chunks ? kDeltaChunk : 1, tokens, states);
    if (tokens.empty()) return;
    if (asked.progress) asked.progress(word * asked.length + stream.drawn(), asked.words * asked.length);
    const auto answers = asked.in_chunks ? model.read_chunk(tokens, memory)
                                         : std::vector<std::vector<float>>{model.step(tokens[0], memory)};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i == 0 && stream.drawn() < tokens.size()) continue;  // the token that begins words
      if (!goes_on(arg_max(answers[i]) == checkpoint.tokens.of_state[states[i]])) return;
    }
  }
}

/// Letters of a random word until the first wrong answer, or `most` of them.
std::uint64_t right_letters(const Checkpoint& checkpoint, const CheckpointModel& model,
                            const CheckpointSampleOptions& asked, std::uint64_t word, std::uint64_t most) {
  std::uint64_t right = 0;
  if (most > 0) read_word(checkpoint, model, asked, word, [&](bool is_right) { return is_right && ++right < most; });
  return right;
}

}  // namespace

std::unique_ptr<LetterReader> checkpoint_reader(const Checkpoint& checkpoint, const CheckpointModel& model) {
  require_automaton(checkpoint);
  return std::make_unique<CheckpointLetters>(checkpoint, model);
}

// The token of every state; before the first letter it is asked for after the token that begins words.
TrackedAutomaton tracked_by(const Checkpoint& checkpoint) {
  const Dfa& automaton = *checkpoint.automaton;
  std::vector<Output> wanted(checkpoint.tokens.of_state.begin(), checkpoint.tokens.of_state.end());
  std::ranges::replace(wanted, Output{TokenTable::kNone}, Output{TrackedAutomaton::kNeverGiven});
  if (checkpoint.tokens.begin) return {automaton, std::move(wanted)};
  // A first state of its own, where nothing is asked.
  std::vector<State> table(automaton.row(automaton.initial()).begin(), automaton.row(automaton.initial()).end());
  for (State& target : table) ++target;
  for (const State target : automaton.table()) table.push_back(target + 1);
  std::vector<Output> outputs{automaton.output(automaton.initial())};
  outputs.insert(outputs.end(), automaton.outputs().begin(), automaton.outputs().end());
  wanted.insert(wanted.begin(), TrackedAutomaton::kNotAsked);
  return {Dfa::moore(automaton.alphabet(), std::move(table), 0, std::move(outputs),
                     {automaton.output_names().begin(), automaton.output_names().end()}),
          std::move(wanted)};
}

std::string output_of_token(const Checkpoint& checkpoint, std::uint32_t token) {
  const Dfa& automaton = *checkpoint.automaton;
  for (State state = 0; state < automaton.states(); ++state)
    if (token == checkpoint.tokens.of_state[state]) return automaton.output_names()[automaton.output(state)];
  return fmt::format("token {}", token);
}

std::optional<CheckpointFailure> first_failure(const Checkpoint& checkpoint, const CheckpointModel& model,
                                               const CheckpointSampleOptions& asked) {
  std::optional<CheckpointFailure> failure;
  for (std::uint64_t word = 0; word < asked.words; ++word) {
    const std::uint64_t most = failure ? failure->at - 1 : asked.length;
    const std::uint64_t right = right_letters(checkpoint, model, asked, word, most);
    if (right < most) failure = {right + 1, word};
  }
  return failure;
}

CheckpointScore score(const Checkpoint& checkpoint, const CheckpointModel& model,
                      const CheckpointSampleOptions& asked) {
  CheckpointScore score;
  for (std::uint64_t word = 0; word < asked.words; ++word) {
    std::uint64_t right = 0;
    read_word(checkpoint, model, asked, word, [&](bool is_right) {
      right += is_right ? 1u : 0u;
      return true;
    });
    score.letters += asked.length;
    score.right += right;
    score.right_words += right == asked.length ? 1u : 0u;
  }
  return score;
}

}  // namespace krohn
