#include "krohn/simulate/imports/import_bilinear.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/simulate/imports/around.h"
#include "krohn/simulate/imports/settings.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/models.h"

namespace krohn {
namespace {

/// The one tensor of three extents.
std::string tensor_of(const StateDict& dict, const ImportOptions& options) {
  std::vector<std::string> found;
  for (const std::string& name : dict.left())
    if (dict.shape(name).size() == 3 && name.starts_with(options.cell)) found.push_back(name);
  if (found.empty())
    dict.fail(
        fmt::format("no tensor has three extents, as A [letters, H, H] or the weight of torch.nn.Bilinear has; it "
                    "has {}",
                    fmt::join(dict.left(), ", ")));
  if (found.size() > 1)
    dict.fail(fmt::format("{} could be the recurrence; name it with --cell PREFIX", fmt::join(found, " or ")));
  return found.front();
}

/// The state before the first letter, beside the recurrence or anywhere; empty: zeros.
std::string initial_of(const StateDict& dict, const std::string& prefix) {
  if (dict.has(prefix + "h0")) return prefix + "h0";
  std::vector<std::string> found = dict.left();
  std::erase_if(found, [](const std::string& name) { return name != "h0" && !name.ends_with(".h0"); });
  if (found.size() > 1)
    dict.fail(fmt::format("{} could be the state before the first letter; keep one of them", fmt::join(found, " or ")));
  return found.empty() ? "" : found.front();
}

/// By input d and then row by row of A, from [H, H, D] or, `is_input_first`, from [H, D, H].
std::vector<float> by_input(const std::vector<float>& weight, std::size_t hidden, std::size_t inputs,
                            bool is_input_first) {
  std::vector<float> result(weight.size());
  for (std::size_t d = 0; d < inputs; ++d)
    for (std::size_t i = 0; i < hidden; ++i)
      for (std::size_t j = 0; j < hidden; ++j)
        result[(d * hidden + i) * hidden + j] =
            weight[is_input_first ? (i * inputs + d) * hidden + j : (i * hidden + j) * inputs + d];
  return result;
}

/// Whether the input is the first argument of torch.nn.Bilinear; where both are as wide the user says so.
bool is_input_first(const StateDict& dict, const std::string& name, Settings& settings) {
  const Shape& shape = dict.shape(name);
  const bool says = settings.flag("input-first");
  if (shape[1] != shape[0] && shape[2] != shape[0])
    dict.fail(fmt::format("tensor {} has shape {}; one of its arguments must be the state, of {} numbers as its result",
                          in_quotes(name), shape_text(shape), shape[0]));
  return shape[1] == shape[2] ? says : shape[2] == shape[0];
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_bilinear(StateDict& dict, const ImportOptions& options, const Task& task) {
  const std::string name = tensor_of(dict, options);
  const bool is_torch = name == "weight" || name.ends_with(".weight");
  const std::string prefix = name.substr(0, name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
  const Shape extents = dict.shape(name);
  Settings settings(options.settings, options.kind);
  const bool input_first = is_torch && is_input_first(dict, name, settings);
  settings.require_all_taken();
  const std::uint64_t letters = task.alphabet().size(), labels = task.labels().size(),
                      hidden = is_torch ? extents[0] : extents[1],
                      inputs = !is_torch     ? extents[0]
                               : input_first ? extents[1]
                                             : extents[2];
  if (!is_torch && extents[1] != extents[2])
    dict.fail(fmt::format("tensor {} has shape {}; a matrix a letter is [letters, H, H]", in_quotes(name),
                          shape_text(extents)));
  const std::vector<float> weight = dict.take(name, extents);
  const std::string bias = prefix + (is_torch ? "bias" : "b"), initial = initial_of(dict, prefix);
  BilinearShape shape;
  shape.hidden = static_cast<std::uint32_t>(hidden);
  shape.inputs = static_cast<std::uint32_t>(inputs);
  shape.bias = is_torch && dict.has(bias);
  shape.input_bias = !is_torch && dict.has(bias);

  TensorFile own;
  own.tensors.emplace("weights", make_tensor(is_torch ? by_input(weight, hidden, inputs, input_first) : weight,
                                             {inputs, hidden * hidden}));
  if (shape.bias) own.tensors.emplace("bias", make_tensor(dict.take(bias, {hidden}), {hidden}));
  if (shape.input_bias)
    own.tensors.emplace("input_bias", make_tensor(dict.take(bias, {inputs, hidden}), {inputs, hidden}));
  own.tensors.emplace(
      "initial", make_tensor(initial.empty() ? std::vector<float>(hidden, 0) : dict.take(initial, {hidden}), {hidden}));
  own.tensors.emplace("embedding", make_tensor(import_input_rows(dict, options, task, inputs), {letters, inputs}));
  const ImportedHead head = import_head(dict, options, task, hidden);
  own.tensors.emplace("readout", make_tensor(head.weights, {labels, hidden}));
  own.tensors.emplace("readout_bias", make_tensor(head.bias, {labels}));
  auto model = make_model<float>(to_string(shape), task, 0);
  model->load(own);
  return model;
}

}  // namespace krohn
