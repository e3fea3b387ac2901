#include "krohn/simulate/imports/import_cell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/tensor_values.h"
#include "krohn/simulate/imports/around.h"
#include "krohn/simulate/imports/settings.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"

namespace krohn {
namespace {

/// What stands before and behind "weight_ih", "weight_hh", … in the names of the first layer.
struct CellPlace {
  std::string prefix;
  bool is_numbered = true;  ///< "_l0" is behind: a module of layers, no single cell

  std::string name(const char* what, std::uint32_t layer) const {
    return is_numbered ? fmt::format("{}{}_l{}", prefix, what, layer) : prefix + what;
  }
};

CellPlace place_of(const StateDict& dict, const ImportOptions& options) {
  std::vector<CellPlace> places;
  for (const std::string& name : dict.left())
    for (const std::string_view last : {"weight_ih_l0", "weight_ih"})
      if (name.ends_with(last)) {
        CellPlace place{name.substr(0, name.size() - last.size()), last.back() == '0'};
        const bool is_wanted =
            options.cell.empty() || place.prefix == options.cell || place.prefix == options.cell + ".";
        if (is_wanted && (place.prefix.empty() || place.prefix.back() == '.')) places.push_back(std::move(place));
      }
  if (places.empty())
    dict.fail(fmt::format("no tensor is called {}weight_ih_l0 or {}weight_ih, as those of a torch.nn.{} are; it has {}",
                          options.cell.empty() ? "…" : options.cell + ".",
                          options.cell.empty() ? "…" : options.cell + ".",
                          options.kind == "gru"    ? "GRU"
                          : options.kind == "lstm" ? "LSTM"
                                                   : "RNN",
                          fmt::join(dict.left(), ", ")));
  if (places.size() > 1)
    dict.fail(fmt::format("{} and {} both begin a recurrence; name the one to read with --cell PREFIX",
                          places[0].name("weight_ih", 0), places[1].name("weight_ih", 0)));
  return places.front();
}

/// Throws for what torch.nn.RNN and its kin have and krohn does not.
void refuse_variants(const StateDict& dict, const CellPlace& place) {
  if (const std::string reverse = place.name("weight_ih", 0) + "_reverse"; dict.has(reverse))
    dict.fail(
        fmt::format("it has {}: a bidirectional model reads the whole word before it answers, and krohn reads "
                    "words letter by letter",
                    in_quotes(reverse)));
  if (const std::string projection = place.name("weight_hr", 0); dict.has(projection))
    dict.fail(fmt::format("it has {}: LSTMs with a projection (proj_size) are not read", in_quotes(projection)));
}

/// Checked against each other and against the kind.
CellShape shape_of(const StateDict& dict, const CellPlace& place, const std::string& kind) {
  const std::string input = place.name("weight_ih", 0), state = place.name("weight_hh", 0);
  if (!dict.has(state)) dict.fail(fmt::format("it has {} and no {}", in_quotes(input), in_quotes(state)));
  const Shape &in = dict.shape(input), &hh = dict.shape(state);
  if (in.size() != 2 || hh.size() != 2 || hh[1] == 0 || in[0] != hh[0] || in[1] == 0)
    dict.fail(
        fmt::format("{} and {} have shapes {} and {}; both need gates · hidden rows, and inputs and hidden "
                    "columns",
                    in_quotes(input), in_quotes(state), shape_text(in), shape_text(hh)));
  const std::size_t gates = find_cell(kind)->gates;
  if (hh[0] != gates * hh[1])
    dict.fail(fmt::format("{} has shape {}, {} rows for each of {} units; --as {} needs {}", in_quotes(state),
                          shape_text(hh), static_cast<double>(hh[0]) / static_cast<double>(hh[1]), hh[1], kind, gates));
  CellShape shape{kind, static_cast<std::uint32_t>(hh[1]), 1, 0, dict.has(place.name("bias_ih", 0))};
  while (place.is_numbered && dict.has(place.name("weight_ih", shape.layers))) ++shape.layers;
  return shape;
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_cell(StateDict& dict, const ImportOptions& options, const Task& task) {
  Settings(options.settings, options.kind).require_all_taken();
  const CellPlace place = place_of(dict, options);
  refuse_variants(dict, place);
  CellShape shape = shape_of(dict, place, options.kind);
  const std::uint64_t hidden = shape.hidden, rows = find_cell(shape.cell)->gates * hidden;
  const std::uint64_t inputs = dict.shape(place.name("weight_ih", 0))[1];
  TensorFile own;
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const auto take = [&](const char* what, const Shape& expected) {
      own.tensors.emplace(cell_tensor(what, i), make_tensor(dict.take(place.name(what, i), expected), expected));
    };
    take("weight_ih", {rows, i == 0 ? inputs : hidden});
    take("weight_hh", {rows, hidden});
    if (!shape.biased) continue;
    take("bias_ih", {rows});
    take("bias_hh", {rows});
  }
  const ImportedEmbedding embedding = import_embedding(dict, options, task, inputs);
  const std::uint64_t letters = task.alphabet().size(), labels = task.labels().size();
  shape.inputs = embedding.width;
  if (embedding.width > 0) {
    own.tensors.emplace("embedding.weight", make_tensor(embedding.rows, {letters, inputs}));
  } else {
    Tensor& first = own.tensors.at(cell_tensor("weight_ih", 0));
    const std::vector<float> weights = TensorReader(own).values<float>(cell_tensor("weight_ih", 0), {rows, inputs});
    first = make_tensor(columns_for_letters(dict, options, task, weights, inputs), {rows, letters});
  }
  const ImportedHead head = import_head(dict, options, task, hidden);
  own.tensors.emplace("head.weight", make_tensor(head.weights, {labels, hidden}));
  own.tensors.emplace("head.bias", make_tensor(head.bias, {labels}));
  auto model = make_model<float>(to_string(shape), task, 0);
  model->load(own);
  return model;
}

}  // namespace krohn
