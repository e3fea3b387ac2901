#include <fmt/format.h>

#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/stock_model.h"
#include "tools/krohn/models/asked_model.h"
#include "tools/krohn/models/model_in_motion.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/shards/list_work.h"

namespace krohn {
namespace {

class AskedTrainedModel final : public AskedModel {
 public:
  explicit AskedTrainedModel(const ModelOptions& options)
      : options_(options),
        subject_(load_trained_subject(options.model, options.reading)),
        own_(input_machine(*subject_.task).automaton),
        language_(options.against.empty() ? own_ : load_language(options.against, options.reading)),
        model_(subject_of(trained_machine(*subject_.trained.model, *subject_.task, precision_of(options)),
                          *subject_.task, &language_, options.least_length)) {
    if (!options.how.order.is_sequential()) throw InputError("--order", "a trained model is read letter after letter");
    const auto& metadata = subject_.trained.metadata;
    if (metadata.contains("imported")) forward_ = stored_comparison(metadata);
    if (!options.expect.empty())
      forward_ = compare_with_expected(read_text_file(options.expect), options.expect, *subject_.trained.model,
                                       *subject_.task, stored_numbers(metadata));
  }

  const Alphabet& alphabet() const override { return own_.alphabet(); }
  const ReadModel* reader() const override { return &model_; }
  void ask_in(Question& question) const override { question.subject = &model_; }
  std::vector<std::string> about(const Question& question) const override {
    std::vector<std::string> lines{
        options_.against.empty() ? fmt::format("{} against {}", subject_.trained.model->name(), subject_.task_name)
                                 : fmt::format("{} on {}, against {}", subject_.trained.model->name(),
                                               subject_.task_name, options_.against)};
    if (question.how.any_order)
      lines.push_back(fmt::format(
          "{}, letter after letter, small numbers flushed to 0 or not{}, tanh, sigmoid and exponentials off by up to "
          "2^-21",
          question.how.arithmetic == Precision::kFp32
              ? "fp32 or wider"
              : fmt::format("weights, results and factors rounded to {} or not, sums of products in fp32 or wider",
                            to_string(question.how.arithmetic)),
          question.how.arithmetic == Precision::kFp16 ? " (those of fp16 not)" : ""));
    else
      lines.push_back(
          fmt::format("{}, letter after letter, every operation rounded separately and sums from the first term on",
                      to_string(question.how.arithmetic)));
    if (!question.how.any_order && dynamic_cast<const StockModel<float>*>(subject_.trained.model.get()) != nullptr)
      lines.emplace_back(
          "with krohn's own exponentials, logarithms and tanh, and token by token; other libraries add in other "
          "orders, "
          "and their last bits may differ");
    if (!question.how.any_order && is_cell_model(*subject_.trained.model))
      lines.emplace_back("with krohn's own tanh and sigmoid; those of other libraries may differ in their last bits");
    if (forward_) lines.push_back(forward_line(*forward_, options_.expect));
    return lines;
  }
  void about(nlohmann::ordered_json& json) const override {
    json["name"] = subject_.trained.model->name();
    json["task"] = subject_.task_name;
    json["language"] = options_.against.empty() ? subject_.task_name : options_.against;
    if (forward_) json["forward"] = forward_json(*forward_);
  }

  std::vector<std::string> about_open() const override {
    if (!is_cell_model(*subject_.trained.model)) return {};
    constexpr double kForgotten = 1e-6;
    const Contraction measured = contraction();
    std::vector<std::string> lines{fmt::format(
        "measured along {} words: at most {:.2g} of a small disturbance of its memory is left after 8 letters, {:.2g} "
        "after 24",
        measured.words, measured.after_8, measured.after_24)};
    if (measured.after_24 < kForgotten && !options_.how.any_order)
      lines.emplace_back("a cell that forgets so much has few memories: a greater --max-pairs may prove it");
    if (measured.after_24 >= kForgotten)
      lines.push_back(fmt::format(
          "a cell that forgets so little mostly has no end of memories, and no closed regions; `krohn train {} --model "
          "{} --init {} --contract 3 --certify -o FOLDER` teaches it to forget, or training anew with --contract 3",
          shell_word(options_.against.empty() ? subject_.task_name : options_.against),
          shell_word(subject_.trained.model->name()), shell_word(options_.model)));
    return lines;
  }
  void about_open(nlohmann::ordered_json& json) const override {
    if (!is_cell_model(*subject_.trained.model)) return;
    const Contraction measured = contraction();
    json["contraction"] = {{"words", measured.words}, {"after_8", measured.after_8}, {"after_24", measured.after_24}};
  }

 private:
  Contraction contraction() const { return measured_contraction(*subject_.trained.model, *subject_.task); }

  ModelOptions options_;
  TrainedSubject subject_;
  Dfa own_, language_;
  ReadModel model_;
  std::optional<ComparedAnswers> forward_;  ///< none: a model of krohn's own, which has no other forward pass
};

}  // namespace

std::unique_ptr<AskedModel> load_asked_trained_model(const ModelOptions& options) {
  return std::make_unique<AskedTrainedModel>(options);
}

std::unique_ptr<ModelInMotion> trained_in_motion(TrainedSubject subject, Precision precision) {
  const Dfa automaton = input_machine(*subject.task).automaton;
  TrackedAutomaton tracked = tracked_automaton(*subject.task, automaton);
  std::unique_ptr<LetterReader> reader = trained_machine(*subject.trained.model, *subject.task, precision);
  const auto refuse = [task = subject.task->info().name, alphabet = automaton.alphabet()](Letter letter) {
    throw InputError(
        fmt::format("no word of the task {} goes on with {} there", task, in_quotes(alphabet.name(letter))));
  };
  return std::make_unique<ModelInMotion>(ReadBeside{std::move(reader),
                                                    std::move(tracked),
                                                    automaton,
                                                    {automaton.outputs().begin(), automaton.outputs().end()},
                                                    refuse});
}

}  // namespace krohn
