#include "krohn/simulate/imports/stock_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/imports/around.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock_model.h"

namespace krohn {
namespace {

/// Where the layers stand: "backbone.layers." 0 "mixer.", or one layer without a number.
struct Place {
  std::string stem, rest;  ///< before and behind the number
  bool is_numbered = false;
  std::uint32_t layers = 1;

  std::string block(std::uint32_t layer) const { return is_numbered ? fmt::format("{}{}.", stem, layer) : stem; }
  std::string layer(std::uint32_t layer) const { return block(layer) + rest; }
  /// The prefix of the list's own name.
  std::string root() const {
    const std::size_t dot = stem.rfind('.', stem.size() - 2);
    return stem.size() < 2 || dot == std::string::npos ? "" : stem.substr(0, dot + 1);
  }
};

struct Numbered {
  Place place;
  std::uint32_t number = 0;
};

/// Split at the last component that is a number.
Numbered split(const std::string& prefix) {
  for (std::size_t end = prefix.size(); end > 0;) {
    const std::size_t dot = prefix.rfind('.', end - 1);
    const std::size_t before = dot == 0 || dot == std::string::npos ? std::string::npos : prefix.rfind('.', dot - 1);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    if (dot == std::string::npos) break;
    std::uint32_t number = 0;
    const auto [last, error] = std::from_chars(prefix.data() + first, prefix.data() + dot, number);
    if (error == std::errc() && last == prefix.data() + dot && first < dot)
      return {{prefix.substr(0, first), prefix.substr(dot + 1), true, 1}, number};
    end = first;
  }
  return {{prefix, "", false, 1}, 0};
}

Place place_of(const StateDict& dict, const ImportOptions& options, std::string_view signature) {
  std::vector<Numbered> found;
  for (const std::string& name : dict.left()) {
    if (!name.ends_with(signature)) continue;
    const std::string prefix = name.substr(0, name.size() - signature.size());
    if (!prefix.empty() && prefix.back() != '.') continue;
    if (options.cell.empty() || prefix.starts_with(options.cell)) found.push_back(split(prefix));
  }
  if (found.empty())
    dict.fail(fmt::format("no tensor is called {}{}, as every layer of kind {} has one; it has {}",
                          options.cell.empty() ? "…" : options.cell + "….", signature, options.kind,
                          fmt::join(dict.left(), ", ")));
  std::ranges::sort(found, {}, &Numbered::number);
  Place place = found.front().place;
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    const Numbered& each = found[i];
    if (each.place.stem != place.stem || each.place.rest != place.rest)
      dict.fail(fmt::format("{} and {} both begin a recurrence; name the one to read with --cell PREFIX",
                            in_quotes(found.front().place.layer(found.front().number) + std::string(signature)),
                            in_quotes(each.place.layer(each.number) + std::string(signature))));
    if (each.number != i)
      dict.fail(fmt::format("layer {} of {} is no layer of kind {}; krohn reads stacks of one kind", i,
                            in_quotes(place.stem), options.kind));
  }
  place.layers = static_cast<std::uint32_t>(found.size());
  return place;
}

}  // namespace

std::uint32_t StockDict::extent(const std::string& name, std::size_t rank, std::size_t index) const {
  const Shape& shape = dict_.shape(prefix_ + name);
  if (shape.size() != rank ||
      std::ranges::any_of(shape, [](std::uint64_t extent) { return extent == 0 || extent > 1 << 20; }))
    fail(name, fmt::format("it has shape {}, and needs {} extents from 1 to {}", shape_text(shape), rank, 1 << 20));
  return static_cast<std::uint32_t>(shape[index]);
}

std::uint32_t StockDict::part(const std::string& name, std::uint32_t all, std::uint32_t parts) const {
  if (parts == 0 || all % parts != 0 || all < parts)
    fail(name, fmt::format("{} numbers are not {} equal parts", all, parts));
  return all / parts;
}

void StockDict::fail(const std::string& name, const std::string& why) const {
  dict_.fail(fmt::format("tensor {}: {}", in_quotes(prefix_ + name), why));
}

std::unique_ptr<SequenceModel<float>> filled_model(const std::string& name, const Task& task,
                                                   const TensorFile& tensors) {
  auto model = make_model<float>(name, task, 0);
  model->load(tensors);
  return model;
}

std::unique_ptr<SequenceModel<float>> import_stock(StateDict& dict, const ImportOptions& options, const Task& task,
                                                   const StockNames& names) {
  const Place place = place_of(dict, options, names.signature);
  const auto in_block = [&](std::uint32_t layer, std::string_view name) {
    return place.block(layer) + std::string(name);
  };
  const StockKind& kind = *find_stock_kind(names.kind);
  StockShape shape = usual_stock_shape(kind);
  shape.layers = place.layers;
  shape.residual = place.is_numbered && !place.rest.empty() && !names.norm.empty() && dict.has(in_block(0, names.norm));
  shape.final_norm = shape.residual;
  Settings settings(options.settings, options.kind);
  if (place.layers > 1 && !shape.residual &&
      settings.needed_flag("residual", fmt::format("{} layers have no norm beside them, and whether a layer's input is "
                                                   "added to what it gives cannot be seen in the tensors",
                                                   place.layers)))
    throw InputError("--with", "residual=1: residuals around layers without a norm are not read");
  names.describe(shape, StockDict(dict, place.layer(0)), settings, shape.residual);
  settings.require_all_taken();
  if (shape.residual && !names.mlp_gate.empty() && dict.has(in_block(0, names.mlp_gate)))
    shape.mlp = StockDict(dict, place.block(0)).extent(std::string(names.mlp_gate), 2, 0);

  TensorFile own;
  const std::uint64_t width = shape.width, mlp = shape.mlp;
  const auto take = [&](const std::string& from, const std::string& to, const Shape& expected) {
    own.tensors.emplace(to, make_tensor(dict.take(from, expected), expected));
  };
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::string layer = fmt::format("layers.{}.", i);
    for (const StockTensor& tensor : kind.tensors(shape))
      if (std::ranges::count(tensor.shape, 0U) == 0)
        take(place.layer(i) + tensor.name, layer + "mixer." + tensor.name, tensor.shape);
    if (shape.residual) take(in_block(i, names.norm), layer + "norm.weight", {width});
    if (mlp == 0) continue;
    take(in_block(i, names.mlp_norm), layer + "mlp.norm.weight", {width});
    take(in_block(i, names.mlp_gate), layer + "mlp.gate.weight", {mlp, width});
    take(in_block(i, names.mlp_up), layer + "mlp.up.weight", {mlp, width});
    take(in_block(i, names.mlp_down), layer + "mlp.down.weight", {width, mlp});
  }
  if (shape.final_norm) take(place.root() + std::string(names.final_norm), "norm.weight", {width});
  const std::uint64_t letters = task.alphabet().size(), labels = task.labels().size();
  own.tensors.emplace("embedding.weight", make_tensor(import_input_rows(dict, options, task, width), {letters, width}));
  const ImportedHead head = import_head(dict, options, task, width);
  own.tensors.emplace("head.weight", make_tensor(head.weights, {labels, width}));
  own.tensors.emplace("head.bias", make_tensor(head.bias, {labels}));
  return filled_model(to_string(shape), task, own);
}

}  // namespace krohn
