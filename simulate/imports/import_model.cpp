#include "krohn/simulate/imports/import_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "krohn/groups/error.h"
#include "krohn/groups/near_miss.h"
#include "krohn/simulate/imports/import_cell.h"

namespace krohn {
namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<SequenceModel<float>> (*read)(StateDict&, const ImportOptions&, const Task&);
};

constexpr std::array kKinds{Kind{"rnn", import_cell}, Kind{"rnn-relu", import_cell}, Kind{"gru", import_cell},
                            Kind{"lstm", import_cell}};

}  // namespace

std::vector<std::string> import_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<SequenceModel<float>> import_model(const TensorFile& tensors, const ImportOptions& options,
                                                   const Task& task, const std::string& where) {
  const auto kind = std::ranges::find(kKinds, options.kind, &Kind::name);
  if (kind == kKinds.end())
    throw InputError("--as", fmt::format("\"{}\" is not known.{} krohn imports {}", options.kind,
                                         did_you_mean(options.kind, import_kinds()), fmt::join(import_kinds(), ", ")));
  StateDict dict(tensors, where);
  auto model = kind->read(dict, options, task);
  dict.require_all_taken(fmt::format("a model of kind {}", options.kind));
  return model;
}

}  // namespace krohn
