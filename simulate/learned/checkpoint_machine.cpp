#include "krohn/simulate/learned/checkpoint_machine.h"

#include <bit>
#include <map>

#include "krohn/groups/error.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

class CheckpointMachine : public TrainedReader {
 public:
  CheckpointMachine(Checkpoint checkpoint, Precision precision)
      : checkpoint_(std::move(checkpoint)),
        model_(checkpoint_, precision),
        reader_(checkpoint_reader(checkpoint_, model_)) {
    const Dfa& automaton = *checkpoint_.automaton;
    for (State state = 0; state < automaton.states(); ++state)
      if (checkpoint_.tokens.of_state[state] != TokenTable::kNone)
        output_of_.emplace(checkpoint_.tokens.of_state[state], automaton.output(state));
  }

  Letter letters() const override { return reader_->letters(); }
  Memory start() const override { return reader_->start(); }
  Answer answer_at_start() const override { return said(reader_->answer_at_start()); }
  Answer step(Letter letter, Memory& memory, bool asked) const override {
    return said(reader_->step(letter, memory, asked));
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
    LetterMaps maps;
    const auto size = static_cast<Eigen::Index>(model_.config().key_dim);
    for (const CheckpointModel::HeadMap& map : model_.first_maps(checkpoint_.tokens.of_letter[letter])) {
      using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      maps.matrices.push_back(Eigen::Map<const Rows>(map.matrix.data(), size, size).cast<double>());
      for (const float beta : map.betas) maps.betas.push_back(double{beta});
    }
    return maps;
  }

 private:
  std::size_t numbers() const { return std::size_t{model_.config().key_dim} * model_.config().value_dim; }

  Answer said(Answer answer) const {
    const auto found = output_of_.find(answer.output);
    return found == output_of_.end() ? Answer{} : Answer{found->second, answer.margin};
  }

  Checkpoint checkpoint_;
  CheckpointModel model_;
  std::unique_ptr<LetterReader> reader_;
  std::map<std::uint32_t, Output> output_of_;  ///< by token
};

}  // namespace

std::unique_ptr<Task> checkpoint_task(const Checkpoint& checkpoint) {
  if (!checkpoint.automaton)
    throw InputError(
        "this checkpoint says nothing about the automaton that it should track: put automaton.json and tokens.json "
        "beside its config.json");
  return language_task("the checkpoint's automaton", *checkpoint.automaton);
}

std::unique_ptr<TrainedReader> checkpoint_machine(Checkpoint checkpoint, Precision precision) {
  return std::make_unique<CheckpointMachine>(std::move(checkpoint), precision);
}

}  // namespace krohn
