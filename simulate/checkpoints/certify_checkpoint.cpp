#include "krohn/simulate/checkpoints/certify_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/prove/machine/certify_reader.h"

namespace krohn {
namespace {

/// A language model over the letters of its automaton. It answers with tokens.
class CheckpointMachine : public LetterReader {
 public:
  CheckpointMachine(const Checkpoint& checkpoint, const CheckpointModel& model)
      : checkpoint_(checkpoint), model_(model), start_(model.start()) {
    if (checkpoint.tokens.begin) at_start_ = answer(model_.step(*checkpoint.tokens.begin, start_));
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
    const Answer given = answer(model_.step(checkpoint_.tokens.of_letter[letter], own));
    write(own, memory);
    return given;
  }

 private:
  static Answer answer(const std::vector<float>& logits) {
    const auto best = arg_max(logits);
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

/// The token of every state; before the first letter it is asked for after the token that begins words.
TrackedAutomaton tracked_by(const Checkpoint& checkpoint) {
  const Dfa& automaton = *checkpoint.automaton;
  std::vector<Output> wanted(checkpoint.tokens.of_state.begin(), checkpoint.tokens.of_state.end());
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

}  // namespace

Certificate certify_checkpoint(const Checkpoint& checkpoint, const CheckpointModel& model, Precision precision,
                               const CertifyCheckpointOptions& options) {
  const FloatEnvironment environment;
  if (!checkpoint.automaton)
    throw InputError(
        "this checkpoint says nothing about the automaton that it should track: put automaton.json and "
        "tokens.json beside its config.json");
  CertifyMachineOptions search;
  search.max_pairs = options.max_pairs;
  search.max_bytes = options.max_bytes;
  search.progress = options.progress;
  Certificate certificate = certify_machine(CheckpointMachine(checkpoint, model), tracked_by(checkpoint), search);
  certificate.arithmetic = precision;
  return certificate;
}

}  // namespace krohn
