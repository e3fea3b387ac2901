// krohn import — a model that was trained elsewhere, by its weights.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct ImportArguments {
  std::string file, against, output, expect;
  std::vector<std::string> letters, classes, settings;
  ImportOptions import;
  LanguageOptions reading;
  bool json = false;
};

/// "NAME=NUMBER" for every one of `names`, by name. `one` is what a name is called.
std::vector<std::uint32_t> numbers_of(const std::vector<std::string>& pairs, const std::vector<std::string>& names,
                                      const char* option, const char* one) {
  if (pairs.empty()) return {};
  std::vector<std::optional<std::uint32_t>> found(names.size());
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.rfind('=');
    const std::string name = pair.substr(0, equals);
    const auto number = equals == std::string::npos ? std::nullopt : number_in<std::uint32_t>(pair.substr(equals + 1));
    if (!number) throw InputError(option, fmt::format("{} is not NAME=NUMBER", in_quotes(pair)));
    const auto at = std::ranges::find(names, name);
    if (at == names.end())
      throw InputError(option,
                       fmt::format("there is no {} {}; there are {}", one, in_quotes(name), fmt::join(names, ", ")));
    auto& place = found[static_cast<std::size_t>(at - names.begin())];
    if (place) throw InputError(option, fmt::format("{} {} is given twice", one, in_quotes(name)));
    place = number;
  }
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!found[i]) throw InputError(option, fmt::format("{} {} has no number", one, in_quotes(names[i])));
    if (std::ranges::count(numbers, *found[i]) > 0)
      throw InputError(option, fmt::format("number {} is given twice", *found[i]));
    numbers.push_back(*found[i]);
  }
  return numbers;
}

/// "NAME=NUMBER", or "NAME" for 1.
std::map<std::string, double> settings_of(const std::vector<std::string>& given) {
  std::map<std::string, double> settings;
  for (const std::string& each : given) {
    const std::size_t equals = each.find('=');
    const auto number = equals == std::string::npos ? std::optional(1.0) : number_in<double>(each.substr(equals + 1));
    if (!number) throw InputError("--with", fmt::format("{} is not NAME=NUMBER", in_quotes(each)));
    if (!settings.emplace(each.substr(0, equals), *number).second)
      throw InputError("--with", fmt::format("{} is given twice", in_quotes(each.substr(0, equals))));
  }
  return settings;
}

int import_file(ImportArguments options) {
  require_output(options.output, "the model", "FOLDER");
  if (!is_model_name(options.file)) require_model(options.file, "import");
  if (options.output.ends_with(".safetensors"))
    throw InputError(options.output, "an imported model is a folder, as those of `krohn train` are; name one");
  const auto task = make_task(options.against, options.reading);
  const std::vector<std::string> labels(task->labels().begin(), task->labels().end());
  options.import.tokens = numbers_of(options.letters, task->alphabet().names(), "--letters", "letter");
  options.import.classes = numbers_of(options.classes, labels, "--classes", "answer");
  options.import.settings = settings_of(options.settings);
  const auto model = import_model(read_safetensors(options.file), options.import, *task, options.file);
  std::map<std::string, std::string> metadata = stored_task(*task, options.reading);
  metadata["imported"] = options.file;
  metadata["imported_as"] = options.import.kind;
  const ImportedNumbers numbers{options.import.tokens, options.import.classes};
  ComparedAnswers compared;
  if (!options.expect.empty())
    compared = compare_with_expected(read_text_file(options.expect), options.expect, *model, *task, numbers);
  store_comparison(metadata, numbers, compared);
  const std::vector<std::pair<std::string, std::string>> files{
      {"parameters.safetensors", format_model(task->info().name, *model, metadata)}};
  write_folder(options.output, files, files_beside_parameters());
  if (options.json)
    print_json({{"input", options.file},
                {"output", options.output},
                {"model", model->name()},
                {"task", task->info().name},
                {"parameters", model->parameters().size()},
                {"forward", forward_json(compared)}});
  else
    fmt::print("{}: {} on {}, {}, from {}\n  {}\n", visible(options.output), model->name(), visible(task->info().name),
               counted(model->parameters().size(), "parameter"), visible(options.file), forward_line(compared));
  return kDone;
}

}  // namespace

Work add_import(Verb& verb) {
  const auto options = std::make_shared<ImportArguments>();
  verb.add_option("FILE", options->file, "A state dict as .safetensors").required();
  verb.add_option("--as", options->import.kind, "What recurrence it is")
      .type_name("KIND")
      .suggests(import_kinds())
      .required();
  verb.add_option("--against", options->against, "The language or task that it should compute")
      .type_name("LANGUAGE")
      .required();
  verb.add_option("-o,--output", options->output, "The folder to write").type_name("FOLDER");
  verb.add_option("--expect", options->expect, "Words with the answers of the model's own forward pass, to compare")
      .type_name("FILE");
  verb.begin_group("Which tensor is which");
  verb.add_list("--letters", options->letters, "Numbers of the letters, special tokens included").type_name("NAME=N,…");
  verb.add_list("--classes", options->classes, "Rows of the read-out for the answers").type_name("NAME=N,…");
  verb.add_option("--embedding", options->import.embedding, "The embedding is PREFIX.weight").type_name("PREFIX");
  verb.add_option("--head", options->import.head, "The read-out is PREFIX.weight and PREFIX.bias").type_name("PREFIX");
  verb.add_list("--with", options->settings, "What the tensors do not show of the recurrence: heads=4, eps=1e-6, …")
      .type_name("NAME=N,…");
  verb.add_option("--cell", options->import.cell, "The recurrence is PREFIX.weight_ih_l0, …").type_name("PREFIX");
  verb.add_list("--modules", options->import.modules, "All modules in the order of the forward pass, with relu, …")
      .type_name("NAME,…");
  verb.begin_group();
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return import_file(*options); };
}

}  // namespace krohn
