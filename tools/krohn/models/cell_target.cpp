#include "tools/krohn/models/target.h"

#include <fmt/format.h>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock/stock_layers.h"
#include "krohn/simulate/models/stock_model.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"

namespace krohn {

namespace {

/// A model of that name with those tensors, and what to say of it.
struct ExactModel {
  std::string name;
  TensorFile tensors;
  std::string size, inputs;  ///< for people
};

ExactModel stock_model(const ExactStock& stock, const char* layer) {
  return {to_string(stock.shape), stock.tensors,
          fmt::format("one layer of {}, {} wide", layer, counted(stock.shape.width, "number")),
          "one-hot embedding in the order of the alphabet; parameters.safetensors is a state dict of a module with "
          "`embedding`, `layers` and `head` (docs/verify.md)"};
}

ExactModel exact_model(const Dfa& automaton, const std::string& target) {
  if (target == "xlstm-slstm") return stock_model(exact_slstm(automaton), "xlstm's sLSTMLayer");
  if (target == "transformers-mamba2") return stock_model(exact_mamba2(automaton), "transformers' Mamba2Mixer");
  if (target == "transformers-mlstm") return stock_model(exact_mlstm(automaton), "transformers' xLSTMLayer");
  const SaturatedCell cell = saturated_cell(automaton, target.substr(std::string("torch-").size()));
  return {to_string(cell.shape), cell.tensors, fmt::format("{} that saturate", counted(cell.shape.hidden, "unit")),
          "one-hot inputs in the order of the alphabet; parameters.safetensors is a state dict of a module with `rnn` "
          "and `head`"};
}

}  // namespace

int compile_cell(const Dfa& automaton, const CellCompilation& options) {
  const ExactModel exact = exact_model(automaton, options.target);
  const auto task = language_task(options.language, automaton);
  const auto model = make_model<float>(exact.name, *task, 0);
  model->load(exact.tensors);

  const ReadModel read = subject_of(trained_machine(*model, *task, Precision::kFp32), *task);
  Question question;
  question.subject = &read;
  question.name = options.language;
  question.how.max_pairs = options.max_pairs;
  const ModelVerdict verdict = verify(question);

  const std::vector<std::pair<std::string, std::string>> files{
      {"parameters.safetensors", format_model(options.language, *model, stored_task(*task))}};
  write_folder(options.folder, files, files_beside_parameters());
  if (options.json) {
    nlohmann::ordered_json json{{"language", options.language},   {"target", options.target},
                                {"output", options.folder},       {"states", automaton.states()},
                                {"letters", automaton.letters()}, {"model", model->name()}};
    add_verdict(json, verdict, automaton.alphabet());
    print_json(json);
  } else {
    fmt::print("{}: {} in the weights of {}, {}, {}\n  {}\n", visible(options.folder), title(options.language),
               options.target, exact.size, counted(automaton.output_names().size(), "answer"), exact.inputs);
    print_claim("in fp32: ", verdict, automaton.alphabet());
  }
  return exit_status(verdict.certificate, 0);
}

}  // namespace krohn
