#include "krohn/simulate/imports/import_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "krohn/groups/error.h"
#include "krohn/groups/near_miss.h"
#include "krohn/simulate/imports/import_bilinear.h"
#include "krohn/simulate/imports/import_cell.h"
#include "krohn/simulate/imports/import_delta.h"
#include "krohn/simulate/imports/import_gla.h"
#include "krohn/simulate/imports/import_mamba.h"
#include "krohn/simulate/imports/import_mamba2.h"
#include "krohn/simulate/imports/import_rwkv7.h"
#include "krohn/simulate/imports/import_xlstm.h"

namespace krohn {
namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<SequenceModel<float>> (*read)(StateDict&, const ImportOptions&, const Task&);
};

constexpr std::array kKinds{
    Kind{"rnn", import_cell},           Kind{"rnn-relu", import_cell},        Kind{"gru", import_cell},
    Kind{"lstm", import_cell},          Kind{"bilinear", import_bilinear},    Kind{"deltanet", import_delta},
    Kind{"deltaproduct", import_delta}, Kind{"gated-deltanet", import_delta}, Kind{"gla", import_gla},
    Kind{"mamba", import_mamba},        Kind{"mamba2", import_mamba2},        Kind{"mlstm", import_mlstm},
    Kind{"slstm", import_slstm},        Kind{"rwkv7", import_rwkv7}};

/// Architectures that are asked for and not read.
struct Refused {
  std::string_view name, why;
};
constexpr std::array kRefused{
    Refused{
        "retnet",
        "its queries and keys are turned by the place in the word, so that it never comes back to a state: no closed "
        "set of states exists, and krohn reads no models whose memory grows with the word"},
    Refused{"transformer", "it remembers every token; krohn reads recurrences, whose memory has one size"}};

}  // namespace

std::vector<std::string> import_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<SequenceModel<float>> import_model(const TensorFile& tensors, const ImportOptions& options,
                                                   const Task& task, const std::string& where) {
  const auto kind = std::ranges::find(kKinds, options.kind, &Kind::name);
  if (const auto refused = std::ranges::find(kRefused, options.kind, &Refused::name); refused != kRefused.end())
    throw InputError("--as", fmt::format("{} is not read: {}", refused->name, refused->why));
  if (kind == kKinds.end())
    throw InputError("--as", fmt::format("\"{}\" is not known.{} krohn imports {}", options.kind,
                                         did_you_mean(options.kind, import_kinds()), fmt::join(import_kinds(), ", ")));
  StateDict dict(tensors, where);
  auto model = kind->read(dict, options, task);
  dict.require_all_taken(fmt::format("a model of kind {}", options.kind));
  return model;
}

}  // namespace krohn
