#include "krohn/simulate/checkpoints/checkpoint_letters.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/words/word.h"

namespace krohn {
namespace {

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

}  // namespace

std::unique_ptr<OperationsReader> checkpoint_reader(const Checkpoint& checkpoint, const CheckpointModel& model) {
  require_automaton(checkpoint);
  return operations_reader(checkpoint_operations(checkpoint, model), tensors_in_file(checkpoint));
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

ReadModel subject_of(const Checkpoint& checkpoint, const CheckpointModel& model) {
  require_automaton(checkpoint);
  struct Owner {
    std::shared_ptr<const Operations> operations;
    TensorFile tensors;
    TrackedAutomaton tracked;
    std::unique_ptr<OperationsReader> reader;
  };
  const auto owner =
      std::make_shared<Owner>(Owner{std::make_shared<const Operations>(checkpoint_operations(checkpoint, model)),
                                    tensors_in_file(checkpoint), tracked_by(checkpoint), nullptr});
  owner->reader = operations_reader(*owner->operations, owner->tensors);
  const auto name_of = [&checkpoint](Output token) {
    const Dfa& automaton = *checkpoint.automaton;
    for (State state = 0; state < automaton.states(); ++state)
      if (token == checkpoint.tokens.of_state[state]) return automaton.output_names()[automaton.output(state)];
    return fmt::format("token {}", token);
  };
  return {.reader = *owner->reader,
          .tracked = owner->tracked,
          .name_of = name_of,
          .operations = owner->operations,
          .tensors = &owner->tensors,
          .close_regions = &close_regions,
          .owner = owner};
}

std::optional<RandomFailure> first_failure_in_chunks(const Checkpoint& checkpoint, const CheckpointModel& model,
                                                     const CheckpointSampleOptions& asked) {
  std::optional<RandomFailure> failure;
  std::vector<std::uint32_t> tokens;
  std::vector<State> states;
  for (std::uint64_t word = 0; word < asked.words; ++word) {
    TokenStream stream(checkpoint, asked, word);
    CheckpointModel::Memory memory = model.start();
    // Not beyond the least failure so far: a later one would not count.
    while (stream.drawn() < (failure ? failure->at - 1 : asked.length)) {
      const std::uint64_t before = stream.drawn();
      stream.read(kDeltaChunk, tokens, states);
      if (asked.progress) asked.progress(word * asked.length + stream.drawn(), asked.words * asked.length);
      const auto answers = model.read_chunk(tokens, memory);
      const std::size_t begin = tokens.size() - static_cast<std::size_t>(stream.drawn() - before);  // begins words
      for (std::size_t i = begin; i < tokens.size(); ++i) {
        const std::uint64_t at = before + i - begin + 1;
        if (failure && at >= failure->at) break;
        if (arg_max(answers[i]) != checkpoint.tokens.of_state[states[i]]) failure = {at, word};
      }
    }
  }
  return failure;
}

CheckpointScore score(const Checkpoint& checkpoint, const CheckpointModel& model,
                      const CheckpointSampleOptions& asked) {
  constexpr std::uint64_t kSideBySide = 64, kAtOnce = 256;
  const Dfa& automaton = *checkpoint.automaton;
  const auto reader = checkpoint_reader(checkpoint, model);
  CheckpointScore score;
  for (std::uint64_t first = 0; first < asked.words; first += kSideBySide) {
    const std::uint64_t count = std::min(kSideBySide, asked.words - first);
    const auto words = reader->words(count);
    std::vector<RandomWord> drawn;
    for (std::uint64_t word = first; word < first + count; ++word)
      drawn.emplace_back(automaton.letters(), asked.seed, word);
    std::vector<Letter> slice(kAtOnce), letters(count * kAtOnce);
    std::vector<State> states(count, automaton.initial());
    std::vector<LetterReader::Answer> answers(letters.size());
    std::vector<bool> is_wrong(count, false);
    for (std::uint64_t at = 0; at < asked.length; at += kAtOnce) {
      const std::size_t positions = std::min<std::uint64_t>(kAtOnce, asked.length - at);
      for (std::size_t i = 0; i < count; ++i) {
        drawn[i].fill(at, slice);
        for (std::size_t t = 0; t < positions; ++t) letters[t * count + i] = slice[t];
      }
      words->read(std::span(letters).first(positions * count), std::vector<char>(positions, 1), answers);
      if (asked.progress) asked.progress(first * asked.length + count * (at + positions), asked.words * asked.length);
      for (std::size_t i = 0; i < positions * count; ++i) {
        State& state = states[i % count];
        state = automaton.next(state, letters[i]);
        const Output token = answers[i].output;
        const bool is_right = token != LetterReader::kNoAnswer && token == checkpoint.tokens.of_state[state];
        score.right += is_right ? 1U : 0U;
        is_wrong[i % count] = is_wrong[i % count] || !is_right;
      }
      score.letters += positions * count;
    }
    score.right_words += static_cast<std::uint64_t>(std::ranges::count(is_wrong, false));
  }
  return score;
}

}  // namespace krohn
