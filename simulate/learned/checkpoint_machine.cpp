#include "krohn/simulate/learned/trained_reader.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/arithmetic/stated_exp.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

class CheckpointMachine : public TrainedReader {
 public:
  CheckpointMachine(Checkpoint checkpoint, Precision precision)
      : checkpoint_(std::move(checkpoint)), model_(checkpoint_, precision), read_(subject_of(checkpoint_, model_)) {
    const Dfa& automaton = *checkpoint_.automaton;
    for (State state = 0; state < automaton.states(); ++state)
      if (checkpoint_.tokens.of_state[state] != TokenTable::kNone)
        output_of_.emplace(checkpoint_.tokens.of_state[state], automaton.output(state));
  }

  Letter letters() const override { return read_.reader.letters(); }
  Memory start() const override { return read_.reader.start(); }
  Answer answer_at_start() const override { return said(read_.reader.answer_at_start()); }
  Answer step(Letter letter, Memory& memory, bool asked) const override {
    return said(read_.reader.step(letter, memory, asked));
  }
  void step_many(std::span<const Letter> letters, std::span<Memory> memories, bool asked,
                 std::span<Answer> answers) const override {
    read_.reader.step_many(letters, memories, asked, answers);
    for (Answer& answer : answers) answer = said(answer);
  }
  ReadModel reading(const TrackedAutomaton& tracked) const override {
    return {.reader = read_.reader, .tracked = tracked, .operations = read_.operations, .tensors = read_.tensors};
  }
  Output meaning(Output answer) const override {
    const auto found = output_of_.find(answer);
    return found != output_of_.end() ? found->second : kNoAnswer;
  }

  bool is_homogeneous() const override { return false; }

  std::vector<std::vector<double>> states(const Memory& memory) const override {
    std::vector<std::vector<double>> parts(std::size_t{model_.config().layers} * model_.config().heads);
    for (std::size_t part = 0; part < parts.size(); ++part)
      for (std::size_t i = part * numbers(); i < (part + 1) * numbers(); ++i)
        parts[part].push_back(double{std::bit_cast<float>(memory[i])});
    return parts;
  }

  std::vector<StateBlock> blocks() const override {
    std::vector<StateBlock> blocks;
    for (std::size_t head = 0; head < model_.config().heads; ++head)
      blocks.push_back({head * numbers(), model_.config().key_dim, model_.config().value_dim});
    return blocks;
  }

  LetterMaps letter_maps(Letter letter) const override {
    if (model_.keys_look_back())
      throw InputError("the keys of its first layer look at tokens before, so that no one matrix is a letter's");
    const CheckpointConfig& config = model_.config();
    const FamilyTraits& traits = traits_of(config.family);
    const auto step = model_.first_step(checkpoint_.tokens.of_letter[letter]);
    const std::size_t heads = config.heads, keys = config.key_dim, betas = step.beta.size() / heads;
    const auto size = static_cast<Eigen::Index>(keys);
    const auto row = [&](const std::vector<float>& all, std::size_t at) {
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXf>(all.data() + at * keys, size).cast<double>());
    };
    LetterMaps maps;
    for (std::size_t head = 0; head < heads; ++head) {
      Eigen::MatrixXd map = Eigen::MatrixXd::Identity(size, size);
      for (std::size_t i = 0; model_.has_gates() && i < keys; ++i)
        map.diagonal()[static_cast<Eigen::Index>(i)] =
            double{stated_exp(step.log_decay[traits.decay == Decay::kHead ? head : head * keys + i])};
      for (std::size_t at = head; at < config.householders * heads; at += heads) {
        const Eigen::VectorXd k = row(step.key, at);
        const Eigen::VectorXd looked =
            traits.channel_gates ? k.cwiseProduct(row(step.beta, head)).eval() : (k * double{step.beta[at]}).eval();
        map -= k * (looked.transpose() * map);
      }
      maps.matrices.push_back(std::move(map));
      // One for each Householder; those of the head for channels.
      for (std::size_t i = 0; i < betas; ++i)
        maps.betas.push_back(double{step.beta[traits.channel_gates ? head * keys + i : i * heads + head]});
    }
    return maps;
  }

 private:
  std::size_t numbers() const { return std::size_t{model_.config().key_dim} * model_.config().value_dim; }

  Answer said(Answer answer) const {
    if (const Output output = meaning(answer.output); output != kNoAnswer) return {output, answer.margin};
    return {.missing = answer.output == kNoAnswer ? answer.missing : Missing::kOther};
  }

  Checkpoint checkpoint_;
  CheckpointModel model_;
  ReadModel read_;
  std::map<std::uint32_t, Output> output_of_;  ///< by token
};

/// The machine as an automaton: a state for every memory with the answer that was given there, the last output standing
/// for none. Nothing when there are more than `most`.
std::optional<Dfa> tabulated(const TrainedReader& machine, const Dfa& own, const std::vector<std::string>& names,
                             const ExtractOptions& options) {
  const auto none = static_cast<Output>(names.size() - 1);
  std::map<std::pair<LetterReader::Memory, Output>, State> states;
  std::vector<std::pair<LetterReader::Memory, Output>> found;
  const auto state_of = [&](LetterReader::Memory memory, Output output) {
    const auto [entry, is_new] =
        states.emplace(std::pair{std::move(memory), std::min(output, none)}, static_cast<State>(found.size()));
    if (is_new) found.push_back(entry->first);
    return entry->second;
  };
  const LetterReader::Answer at_start = machine.answer_at_start();
  state_of(machine.start(), at_start.output == LetterReader::kNoAnswer ? own.output(own.initial()) : at_start.output);
  std::vector<State> table;
  for (std::size_t next = 0; next < found.size(); ++next) {
    if (found.size() > options.max_network_states) return std::nullopt;
    for (Letter letter = 0; letter < machine.letters(); ++letter) {
      LetterReader::Memory memory = found[next].first;
      const Output output = machine.step(letter, memory, true).output;
      table.push_back(state_of(std::move(memory), output));
    }
    if (options.progress) options.progress(table.size());
  }
  std::vector<Output> outputs;
  for (const auto& [memory, output] : found) outputs.push_back(output);
  return minimise(Dfa::moore(own.alphabet(), std::move(table), 0, std::move(outputs), names));
}

}  // namespace

std::unique_ptr<Task> checkpoint_task(const Checkpoint& checkpoint) {
  require_automaton(checkpoint);
  return language_task("the checkpoint's automaton", *checkpoint.automaton);
}

std::unique_ptr<TrainedReader> checkpoint_machine(Checkpoint checkpoint, Precision precision) {
  return std::make_unique<CheckpointMachine>(std::move(checkpoint), precision);
}

Extraction extract_checkpoint(const TrainedReader& machine, const Task& task, const ExtractOptions& options) {
  const FloatEnvironment environment;
  const Dfa own = input_machine(task).automaton;
  std::vector<std::string> names(own.output_names().begin(), own.output_names().end());
  names.emplace_back(kNoAnswerName);
  const std::optional<Dfa> exact = tabulated(machine, own, names, options);
  if (!exact) return extract_trained(machine, task, options);
  const WordsOracle ask = [&](std::span<const Word> words, const Heard& heard) {
    for (std::size_t word = 0; word < words.size(); ++word) {
      State state = exact->initial();
      for (std::size_t t = 0; heard(word, t, exact->output(state)) && t < words[word].size(); ++t)
        state = exact->next(state, words[word][t]);
    }
  };
  Extraction extraction = extract_by_asking(own.alphabet(), names, ask, options, &*exact);
  extraction.automaton = without_last_output(extraction.automaton);
  return extraction;
}

}  // namespace krohn
