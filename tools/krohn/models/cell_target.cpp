#include "tools/krohn/models/cell_target.h"

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/groups/atomic_folder.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/cells/saturated_cell.h"
#include "krohn/simulate/models/model_file.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/verdict.h"

namespace krohn {

int compile_cell(const Dfa& automaton, const CellCompilation& options) {
  const SaturatedCell cell = saturated_cell(automaton, options.target.substr(std::string("torch-").size()));
  const auto task = language_task(options.language, automaton);
  const auto model = make_model<float>(to_string(cell.shape), *task, 0);
  model->load(cell.tensors);

  const auto reader = trained_machine(*model, *task, Precision::kFp32);
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  const auto name_of = [&](Output output) { return std::string(task->labels()[output]); };
  const ReadModel read{*reader, tracked, name_of};
  Question question;
  question.subject = &read;
  question.name = options.language;
  question.how.max_pairs = options.max_pairs;
  const ModelVerdict verdict = verify(question);

  const std::vector<std::pair<std::string, std::string>> files{
      {"parameters.safetensors", format_model(options.language, *model)}};
  write_folder(options.folder, files, files_beside_parameters());
  if (options.json) {
    nlohmann::ordered_json json{{"language", options.language},   {"target", options.target},
                                {"output", options.folder},       {"states", automaton.states()},
                                {"letters", automaton.letters()}, {"model", model->name()},
                                {"hidden", cell.shape.hidden}};
    add_verdict(json, verdict, automaton.alphabet());
    print_json(json);
  } else {
    fmt::print("{}: {} in the weights of {}, {} units that saturate\n", visible(options.folder),
               visible(options.language), options.target, with_thousands(cell.shape.hidden));
    fmt::print(
        "  one-hot inputs in the order of the alphabet, {} answers; parameters.safetensors is a state dict of a "
        "module with `rnn` and `head`\n",
        automaton.output_names().size());
    print_claim("in fp32: ", verdict, automaton.alphabet());
  }
  return exit_status(verdict.certificate, 0);
}

}  // namespace krohn
