#include "krohn/simulate/imports/import_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/imports/around.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock_model.h"

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

/// True if the input is the first argument of torch.nn.Bilinear; where both are as wide the user says so.
bool is_input_first(const StateDict& dict, const std::string& name, Settings& settings) {
  const Shape& shape = dict.shape(name);
  const bool says = settings.flag("input-first");
  if (shape[1] != shape[0] && shape[2] != shape[0])
    dict.fail(fmt::format("tensor {} has shape {}; one of its arguments must be the state, of {} as its result",
                          in_quotes(name), shape_text(shape), counted(shape[0], "number")));
  return shape[1] == shape[2] ? says : shape[2] == shape[0];
}

/// The model of that name, which files will have, too, with those tensors and the file's read-out of `width` numbers.
std::unique_ptr<SequenceModel<float>> filled_model(const std::string& name, StateDict& dict,
                                                   const ImportOptions& options, const Task& task, TensorFile tensors,
                                                   std::uint64_t width, const char* weights = "head.weight",
                                                   const char* bias = "head.bias") {
  const ImportedHead head = import_head(dict, options, task, width);
  tensors.tensors.emplace(weights, make_tensor(head.weights, {task.labels().size(), width}));
  tensors.tensors.emplace(bias, make_tensor(head.bias, {task.labels().size()}));
  auto model = make_model<float>(name, task, 0);
  model->load(tensors);
  return model;
}

/// A bilinear recurrence h ← A(x) h + b: a matrix a letter, or torch.nn.Bilinear.
std::unique_ptr<SequenceModel<float>> import_bilinear(StateDict& dict, const ImportOptions& options, const Task& task) {
  const std::string name = tensor_of(dict, options);
  const bool is_torch = name == "weight" || name.ends_with(".weight");
  const std::string prefix = name.substr(0, name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
  const Shape extents = dict.shape(name);
  Settings settings(options.settings, options.kind);
  const bool input_first = is_torch && is_input_first(dict, name, settings);
  settings.require_all_taken();
  const std::uint64_t letters = task.alphabet().size(), hidden = is_torch ? extents[0] : extents[1],
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
  return filled_model(to_string(shape), dict, options, task, std::move(own), hidden, "readout", "readout_bias");
}

/// The text before and after "weight_ih", "weight_hh", … in the names of the first layer.
struct CellPlace {
  std::string prefix;
  bool is_numbered = true;  ///< "_l0" is behind: a module of layers, no single cell

  std::string name(const char* what, std::uint32_t layer) const {
    return is_numbered ? fmt::format("{}{}_l{}", prefix, what, layer) : prefix + what;
  }
};

/// The beginnings of names of tensors called `last`, with a dot or empty.
std::vector<std::string> prefixes_of(const StateDict& dict, std::string_view last) {
  std::vector<std::string> prefixes;
  for (const std::string& name : dict.left())
    if (name.ends_with(last) && (name.size() == last.size() || name[name.size() - last.size() - 1] == '.'))
      prefixes.push_back(name.substr(0, name.size() - last.size()));
  return prefixes;
}

CellPlace place_of(const StateDict& dict, const ImportOptions& options) {
  std::vector<CellPlace> places;
  for (const std::string_view last : {"weight_ih_l0", "weight_ih"})
    for (const std::string& prefix : prefixes_of(dict, last))
      if (options.cell.empty() || prefix == options.cell || prefix == options.cell + ".")
        places.push_back({prefix, last.back() == '0'});
  if (places.empty())
    dict.fail(fmt::format("no tensor is called {}weight_ih_l0 or {}weight_ih, as those of a torch.nn.{} are; it has {}",
                          options.cell.empty() ? "…" : options.cell + ".",
                          options.cell.empty() ? "…" : options.cell + ".",
                          options.kind == "gru"    ? "GRU"
                          : options.kind == "lstm" ? "LSTM"
                                                   : "RNN",
                          fmt::join(dict.left(), ", ")));
  if (places.size() > 1)
    dict.fail(fmt::format("{} and {} both begin a recurrence; name the one to read with --cell PREFIX{}",
                          places[0].name("weight_ih", 0), places[1].name("weight_ih", 0), kMoreModules));
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
    dict.fail(fmt::format("{} has shape {}, {} rows for each of {}; --as {} needs {}", in_quotes(state), shape_text(hh),
                          static_cast<double>(hh[0]) / static_cast<double>(hh[1]), counted(hh[1], "unit"), kind,
                          gates));
  CellShape shape{kind, static_cast<std::uint32_t>(hh[1]), 1, 0, dict.has(place.name("bias_ih", 0))};
  while (place.is_numbered && dict.has(place.name("weight_ih", shape.layers))) ++shape.layers;
  return shape;
}

/// PyTorch's torch.nn.RNN, GRU and LSTM by their state dicts, and their single cells (torch.nn.GRUCell …):
/// weight_ih_l0 [gates · H, inputs], weight_hh_l0 [gates · H, H], bias_ih_l0 and bias_hh_l0 [gates · H] or neither, _l1
/// …; an embedding or one-hot input; a linear read-out of the last layer's output.
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
  const std::uint64_t letters = task.alphabet().size();
  shape.inputs = embedding.width;
  if (embedding.width > 0) {
    own.tensors.emplace("embedding.weight", make_tensor(embedding.rows, {letters, inputs}));
  } else {
    Tensor& first = own.tensors.at(cell_tensor("weight_ih", 0));
    const std::vector<float> weights = TensorReader(own).values<float>(cell_tensor("weight_ih", 0), {rows, inputs});
    first = make_tensor(columns_for_letters(dict, options, task, weights, inputs), {rows, letters});
  }
  return filled_model(to_string(shape), dict, options, task, std::move(own), hidden);
}

// Stacks of another library's layers (simulate/models/stock/): one bare layer, or blocks of norm, layer and MLP with
// residuals, as its language models have them.

/// The first layer's tensors, by their names in it.
class StockDict {
 public:
  StockDict(const StateDict& dict, std::string prefix) : dict_(dict), prefix_(std::move(prefix)) {}

  bool has(const std::string& name) const { return dict_.has(prefix_ + name); }
  /// Extent `index` of a tensor of `rank` extents. Throws InputError naming it when it is missing or has another rank.
  std::uint32_t extent(const std::string& name, std::size_t rank, std::size_t index) const {
    const Shape& shape = dict_.shape(prefix_ + name);
    if (shape.size() != rank ||
        std::ranges::any_of(shape, [](std::uint64_t extent) { return extent == 0 || extent > 1 << 20; }))
      fail(name, fmt::format("it has shape {}, and needs {} extents from 1 to {}", shape_text(shape), rank, 1 << 20));
    return static_cast<std::uint32_t>(shape[index]);
  }
  /// `all` over `parts`. Throws InputError naming the tensor when they do not divide it.
  std::uint32_t part(const std::string& name, std::uint32_t all, std::uint32_t parts) const {
    if (parts == 0 || all % parts != 0 || all < parts)
      fail(name, fmt::format("{} numbers are not {} equal parts", all, parts));
    return all / parts;
  }
  [[noreturn]] void fail(const std::string& name, const std::string& why) const {
    dict_.fail(fmt::format("tensor {}: {}", in_quotes(prefix_ + name), why));
  }

 private:
  const StateDict& dict_;
  std::string prefix_;
};

/// How a library calls things.
struct StockNames {
  std::string_view kind;       ///< among stock_kinds
  std::string_view signature;  ///< a tensor that every layer has
  /// In a block beside the layer; a block without `norm` is the layer alone. The MLP's may be empty: there is none.
  std::string_view norm, mlp_norm, mlp_gate, mlp_up, mlp_down;
  std::string_view final_norm;  ///< in the model beside the list of blocks
  /// Sets width and the kind's numbers. `is_stack`: blocks with residuals, so that the library's model has set its ε.
  using Describe = void (*)(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack);
  Describe describe = nullptr;
};

/// The layers' names: "backbone.layers." 0 "mixer.", or one layer without a number.
struct StockPlace {
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
  StockPlace place;
  std::uint32_t number = 0;
};

/// Split at the last component that is a number.
Numbered split(const std::string& prefix) {
  for (std::size_t end = prefix.size(); end > 0;) {
    const std::size_t dot = prefix.rfind('.', end - 1);
    const std::size_t before = dot == 0 || dot == std::string::npos ? std::string::npos : prefix.rfind('.', dot - 1);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    if (dot == std::string::npos) break;
    if (const auto number = number_in<std::uint32_t>(std::string_view(prefix).substr(first, dot - first)))
      return {{prefix.substr(0, first), prefix.substr(dot + 1), true, 1}, *number};
    end = first;
  }
  return {{prefix, "", false, 1}, 0};
}

StockPlace place_of(const StateDict& dict, const ImportOptions& options, std::string_view signature) {
  std::vector<Numbered> found;
  for (const std::string& prefix : prefixes_of(dict, signature))
    if (options.cell.empty() || prefix.starts_with(options.cell)) found.push_back(split(prefix));
  if (found.empty())
    dict.fail(fmt::format("no tensor is called {}{}, as every layer of kind {} has one; it has {}",
                          options.cell.empty() ? "…" : options.cell + "….", signature, options.kind,
                          fmt::join(dict.left(), ", ")));
  std::ranges::sort(found, {}, &Numbered::number);
  StockPlace place = found.front().place;
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

/// The tensors of a stack that are called `own`… are `from`…`behind` in the file.
struct Source {
  std::string own, from, behind = {};
  bool may_lack = false;  ///< biases that are 0, and gains that are 1
};

/// The number that stands for a list which a module leaves out. A cell has both biases or none.
std::optional<float> left_out(const StateDict& dict, const Source& source, const std::string& name) {
  const auto has = [&](const char* tensor) { return dict.has(source.from + tensor + source.behind); };
  if (dict.has(name) || has("bias_ih") || has("bias_hh")) return std::nullopt;
  return name.ends_with("weight") ? 1.0F : 0.0F;
}

/// A stack with its tensors from `sources`, the embedding and the read-out.
std::unique_ptr<SequenceModel<float>> filled_stack(StateDict& dict, const ImportOptions& options, const Task& task,
                                                   const StockShape& shape, const std::vector<Source>& sources) {
  TensorFile own;
  std::uint64_t width = shape.width;
  const std::uint64_t letters = task.alphabet().size();
  for (const StockTensor& tensor : stock_tensors(shape, letters, 1)) {
    if (tensor.name == "head.weight") width = tensor.shape[1];
    const auto source =
        std::ranges::find_if(sources, [&](const Source& each) { return tensor.name.starts_with(each.own); });
    if (source == sources.end() || std::ranges::count(tensor.shape, 0U) > 0) continue;
    const std::string name = source->from + tensor.name.substr(source->own.size()) + source->behind;
    const bool may_lack = source->may_lack && tensor.shape.size() == 1;
    const std::optional<float> filled = may_lack ? left_out(dict, *source, name) : std::nullopt;
    own.tensors.emplace(
        tensor.name, make_tensor(filled ? std::vector<float>(tensor.shape[0], *filled) : dict.take(name, tensor.shape),
                                 tensor.shape));
  }
  own.tensors.emplace("embedding.weight",
                      make_tensor(import_input_rows(dict, options, task, shape.width), {letters, shape.width}));
  return filled_model(to_string(shape), dict, options, task, std::move(own), width);
}

std::unique_ptr<SequenceModel<float>> import_stock(StateDict& dict, const ImportOptions& options, const Task& task,
                                                   const StockNames& names) {
  const StockPlace place = place_of(dict, options, names.signature);
  const auto in_block = [&](std::uint32_t layer, std::string_view name) {
    return place.block(layer) + std::string(name);
  };
  StockShape shape = usual_stock_shape(*find_stock_kind(names.kind));
  shape.layers = place.layers;
  shape.residual = place.is_numbered && !place.rest.empty() && !names.norm.empty() && dict.has(in_block(0, names.norm));
  shape.final_norm = shape.residual;
  Settings settings(options.settings, options.kind);
  if (place.layers > 1 && !shape.residual &&
      settings.needed_flag("residual", fmt::format("{} layers have no norm beside them, and whether a layer's input is "
                                                   "added to what it gives cannot be seen in the tensors",
                                                   place.layers)))
    for (std::uint32_t i = 0; i < place.layers; ++i) shape.forward += i == 0 ? "(/layer/)" : "/(/layer/)";
  names.describe(shape, StockDict(dict, place.layer(0)), settings, shape.residual);
  settings.require_all_taken();
  if (shape.residual && !names.mlp_gate.empty() && dict.has(in_block(0, names.mlp_gate)))
    shape.mlp = StockDict(dict, place.block(0)).extent(std::string(names.mlp_gate), 2, 0);

  std::vector<Source> sources{{"norm.weight", place.root() + std::string(names.final_norm)}};
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::string layer = fmt::format("layers.{}.", i);
    const std::initializer_list<std::pair<const char*, std::string_view>> around{{"norm.weight", names.norm},
                                                                                 {"mlp.norm.weight", names.mlp_norm},
                                                                                 {"mlp.gate.weight", names.mlp_gate},
                                                                                 {"mlp.up.weight", names.mlp_up},
                                                                                 {"mlp.down.weight", names.mlp_down}};
    for (const auto& [own, name] : around) sources.push_back({layer + own, in_block(i, name)});
    sources.push_back({shape.forward.empty() ? layer + "mixer." : fmt::format("steps.{}.", 3 * i + 1), place.layer(i)});
  }
  return filled_stack(dict, options, task, shape, sources);
}

/// A model by ImportOptions::modules.
class ModuleList {
 public:
  ModuleList(StateDict& dict, const ImportOptions& options, const StockNames& names)
      : dict_(dict),
        options_(options),
        names_(names),
        settings_(options.settings, options.kind),
        shape_(usual_stock_shape(*find_stock_kind(names.kind))) {
    shape_.width = 0;
    settings_.own_epsilon = "head-eps";
  }

  std::unique_ptr<SequenceModel<float>> read(const Task& task) && {
    std::span<const std::string> modules = options_.modules;
    if (!options_.embedding.empty() || !options_.head.empty() || !options_.cell.empty())
      fail("it names all modules; leave out --embedding, --head and --cell");
    if (rank(modules.back()) != 2)
      fail(fmt::format("{} comes last and is no linear read-out: it has no matrix of the name \"weight\"",
                       in_quotes(modules.back())));
    options_.head = modules.back();
    modules = modules.first(modules.size() - 1);
    if (!modules.empty() && rank(modules.front()) == 2) {
      options_.embedding = modules.front();
      take_width(options_.embedding + kWeight, 1);
      modules = modules.subspan(1);
    }
    for (const std::string& block : modules) {
      const bool is_added = block.starts_with('+');
      if (is_added) words_.emplace_back("(");
      for (std::size_t at = is_added ? 1 : 0, end = 0; end != std::string::npos; at = end + 1) {
        end = block.find(':', at);
        add(block.substr(at, end - at));
      }
      if (is_added) words_.emplace_back(")");
    }
    if (!has_layer_) fail(fmt::format("there is no recurrence of kind {} among them", options_.kind));
    settings_.require_all_taken();
    shape_.forward = fmt::format("{}", fmt::join(words_, "/"));
    return filled_stack(dict_, options_, task, shape_, sources_);
  }

 private:
  static constexpr const char* kWeight = ".weight";

  [[noreturn]] static void fail(const std::string& why) { throw InputError("--modules", why); }
  /// The rank of the tensor "weight"; 0 where there is none.
  std::size_t rank(const std::string& module) const {
    return dict_.has(module + kWeight) ? dict_.shape(module + kWeight).size() : 0;
  }
  /// The numbers of an embedding's row, or without one those of the first module.
  void take_width(const std::string& tensor, std::size_t extent) {
    if (shape_.width == 0) shape_.width = static_cast<std::uint32_t>(dict_.shape(tensor)[extent]);
  }
  void step(std::string word, std::string from, std::string behind, bool may_lack) {
    sources_.push_back({fmt::format("steps.{}.", words_.size()), std::move(from), std::move(behind), may_lack});
    words_.push_back(std::move(word));
  }

  void add(const std::string& module) {
    const std::string from = module + ".";
    if (is_layer(from)) {
      cell_of(shape_) != nullptr ? add_cells(from) : add_layer(from);
    } else if (rank(module) == 2) {
      step(fmt::format("linear-{}", dict_.shape(module + kWeight)[0]), from, "", true);
    } else if (rank(module) == 1 || module == "layer-norm" || module == "rms-norm") {
      const bool is_rms = is_rms_norm(module);
      if (rank(module) == 1) take_width(module + kWeight, 0);
      shape_.norm_epsilon = settings_.real("norm-eps", is_rms ? 0 : 1e-5);
      if (shape_.norm_epsilon == 0)
        throw InputError("--with",
                         "the ε of an RMS norm cannot be seen in the tensors: say --with norm-eps=X "
                         "(torch.nn.RMSNorm's own is 1.1920929e-07)");
      step(is_rms ? "rms-norm" : "layer-norm", from, "", true);
    } else if (std::ranges::count(kStockFunctions, module) > 0) {
      step(module, from, "", false);
    } else {
      fail(fmt::format(
          "{} is no recurrence, norm or linear layer of {}, which has {}; nor is it layer-norm, rms-norm "
          "or one of {}",
          in_quotes(module), dict_.where(), fmt::join(dict_.left(), ", "), fmt::join(kStockFunctions, ", ")));
    }
  }

  bool is_layer(const std::string& from) const {
    if (cell_of(shape_) == nullptr) return dict_.has(from + std::string(names_.signature));
    return dict_.has(from + "weight_ih_l0") || dict_.has(from + "weight_ih");
  }
  void add_cells(const std::string& from) {
    has_layer_ = true;
    const CellPlace place{from, dict_.has(from + "weight_ih_l0")};
    refuse_variants(dict_, place);
    const CellShape cells = shape_of(dict_, place, options_.kind);
    take_width(place.name("weight_ih", 0), 1);
    for (std::uint32_t i = 0; i < cells.layers; ++i)
      step(fmt::format("layer-{}", cells.hidden), from, place.is_numbered ? fmt::format("_l{}", i) : "", true);
  }
  void add_layer(const std::string& from) {
    if (!std::exchange(has_layer_, true)) {
      const StockShape before = shape_;
      names_.describe(shape_, StockDict(dict_, from), settings_, false);
      if (before.width != 0) shape_.width = before.width;
      shape_.norm_epsilon = before.norm_epsilon;
    }
    step("layer", from, "", false);
  }
  bool is_rms_norm(const std::string& module) {
    if (rank(module) == 0) return module == "rms-norm";
    return !dict_.has(module + ".bias") &&
           settings_.needed_flag("rms-norm", fmt::format("whether the norm {}, which has no bias, takes the mean away "
                                                         "(torch.nn.LayerNorm) or not (torch.nn.RMSNorm) cannot be "
                                                         "seen in the tensors",
                                                         in_quotes(module)));
  }

  StateDict& dict_;
  ImportOptions options_;
  const StockNames& names_;
  Settings settings_;
  StockShape shape_;
  std::vector<std::string> words_;  ///< of StockShape::forward
  std::vector<Source> sources_;
  bool has_layer_ = false;
};

// Layers of other libraries: the extents of their tensors are the numbers of the kind.

/// "width", or a number of the kind.
struct ExtentOf {
  const char *number, *tensor;
  std::size_t rank, index;
};
void take(StockShape& shape, const StockDict& layer, std::initializer_list<ExtentOf> extents) {
  for (const auto& [number, tensor, rank, index] : extents) {
    const std::uint32_t extent = layer.extent(tensor, rank, index);
    if (number == std::string_view("width"))
      shape.width = extent;
    else
      shape.numbers[number] = extent;
  }
}
/// Flags of the kind that are set where a layer has a tensor.
void take_flags(StockShape& shape, const StockDict& layer,
                std::initializer_list<std::pair<const char*, const char*>> flags) {
  for (const auto& [flag, tensor] : flags) shape.numbers[flag] = layer.has(tensor);
}
/// The taps of an optional convolution.
void take_taps(StockShape& shape, const StockDict& layer, const char* tensor) {
  shape.numbers["taps"] = layer.has(tensor) ? layer.extent(tensor, 3, 2) : 0;
}
/// The ε of the layer's norms and of those around it.
void take_epsilon(StockShape& shape, Settings& settings, double usual, const char* of_layer = "eps",
                  const char* setting = "eps") {
  shape.norm_epsilon = settings.real(setting, usual);
  shape.numbers[of_layer] = shape.norm_epsilon;
}

/// Widths that all three have in common; `heads` and `reflections` are known.
void describe_widths(StockShape& shape, const StockDict& layer, Settings& settings, std::uint32_t heads,
                     std::uint32_t reflections, bool is_stack) {
  take(shape, layer, {{"width", "q_proj.weight", 2, 1}});
  shape.numbers["heads"] = heads;
  shape.numbers["reflections"] = reflections;
  shape.numbers["keys"] = layer.part("q_proj.weight", layer.extent("q_proj.weight", 2, 0), heads);
  shape.numbers["values"] = layer.part("o_proj.weight", layer.extent("o_proj.weight", 2, 1), heads);
  take_flags(shape, layer, {{"decay", "a_proj.weight"}, {"gate", "g_proj.weight"}, {"one-conv", "conv1d.weight"}});
  take_taps(shape, layer, layer.has("conv1d.weight") ? "conv1d.weight" : "q_conv1d.weight");
  shape.numbers["negative"] = settings.needed_flag(
      "negative", "whether β goes up to 2 cannot be seen in the tensors (allow_neg_eigval in the model's config)");
  take_epsilon(shape, settings, is_stack ? 1e-6 : 1e-5);
}

void describe_deltanet(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  describe_widths(shape, layer, settings, layer.extent("b_proj.weight", 2, 0), 1, is_stack);
  shape.numbers["plain-keys"] = settings.flag("plain-keys");
  if (shape.count("decay") != 0) layer.fail("a_proj.weight", "DeltaNet does not forget; import it --as gated-deltanet");
}

/// Keys may serve several heads of values, which changes no shape that would show it.
std::uint32_t heads_of(const StockDict& layer, Settings& settings, std::uint32_t reflections) {
  const std::uint32_t heads = settings.count("heads", "the heads of keys cannot be seen in the tensors"),
                      betas = layer.extent("b_proj.weight", 2, 0);
  if (betas != heads * reflections)
    layer.fail("b_proj.weight", fmt::format("it has {} for {}: heads of values that share keys are not read",
                                            counted(betas, "row"), counted(heads, "head")));
  return heads;
}

void describe_product(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  const std::uint32_t queries = layer.extent("q_proj.weight", 2, 0), keys = layer.extent("k_proj.weight", 2, 0);
  const std::uint32_t reflections = layer.part("k_proj.weight", keys, queries);
  describe_widths(shape, layer, settings, heads_of(layer, settings, reflections), reflections, is_stack);
}

void describe_gated(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  describe_widths(shape, layer, settings, heads_of(layer, settings, 1), 1, is_stack);
  if (shape.count("decay") == 0) layer.fail("b_proj.weight", "there is no a_proj beside it; import it --as deltanet");
}

void describe_gla(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  const std::uint32_t values = layer.extent("g_norm_swish_gate.weight", 1, 0),
                      heads = layer.part("o_proj.weight", layer.extent("o_proj.weight", 2, 1), values);
  take(shape, layer, {{"width", "q_proj.weight", 2, 1}, {"rank", "gk_proj.0.weight", 2, 0}});
  shape.numbers["heads"] = heads;
  shape.numbers["values"] = values;
  shape.numbers["keys"] = layer.part("q_proj.weight", layer.extent("q_proj.weight", 2, 0), heads);
  shape.numbers["normaliser"] = settings.real("normaliser", 16);
  take_epsilon(shape, settings, is_stack ? 1e-6 : 1e-5);
}

void describe_mamba(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  take(shape, layer,
       {{"width", "in_proj.weight", 2, 1},
        {"inner", "A_log", 2, 0},
        {"states", "A_log", 2, 1},
        {"rank", "dt_proj.weight", 2, 1},
        {"taps", "conv1d.weight", 3, 2}});
  take_flags(shape, layer, {{"bias", "in_proj.bias"}, {"conv-bias", "conv1d.bias"}});
  if (is_stack) shape.norm_epsilon = settings.real("eps", 1e-5);
}

void describe_mamba2(StockShape& shape, const StockDict& layer, Settings& settings, bool) {
  const std::uint32_t heads = layer.extent("A_log", 1, 0), inner = layer.extent("norm.weight", 1, 0),
                      convolved = layer.extent("conv1d.weight", 3, 0);
  const std::uint32_t groups = settings.count(
      "groups", "how many groups share B and C cannot be seen in the tensors (n_groups in the model's config)");
  if (convolved <= inner) layer.fail("conv1d.weight", "it has no channels for B and C");
  take(shape, layer, {{"width", "in_proj.weight", 2, 1}, {"taps", "conv1d.weight", 3, 2}});
  shape.numbers["heads"] = heads;
  shape.numbers["per-head"] = layer.part("norm.weight", inner, heads);
  shape.numbers["groups"] = groups;
  shape.numbers["states"] = layer.part("conv1d.weight", convolved - inner, 2 * groups);
  take_flags(shape, layer, {{"bias", "in_proj.bias"}, {"conv-bias", "conv1d.bias"}});
  take_epsilon(shape, settings, 1e-5);
}

void describe_rwkv7(StockShape& shape, const StockDict& layer, Settings& settings, bool) {
  take(shape, layer,
       {{"width", "r_proj.weight", 2, 1},
        {"heads", "r_k", 2, 0},
        {"keys", "r_k", 2, 1},
        {"decay-rank", "w_lora.lora.0.weight", 2, 0},
        {"rate-rank", "a_lora.lora.0.weight", 2, 0},
        {"gate-rank", "g_lora.lora.0.weight", 2, 0}});
  shape.numbers["values"] = layer.part("v_proj.weight", layer.extent("v_proj.weight", 2, 0), layer.extent("r_k", 2, 0));
  shape.numbers["eps"] = settings.real("eps", shape.number("keys") * 1e-5);
}

void describe_mlstm(StockShape& shape, const StockDict& layer, Settings& settings, bool is_stack) {
  const std::uint32_t heads = layer.extent("igate_preact.weight", 2, 0);
  shape.width = layer.extent("q.weight", 2, 1);
  shape.numbers["heads"] = heads;
  shape.numbers["keys"] = layer.part("q.weight", layer.extent("q.weight", 2, 0), heads);
  shape.numbers["values"] = layer.part("v.weight", layer.extent("v.weight", 2, 0), heads);
  shape.numbers["cap"] = settings.real("cap", 15, true);
  shape.numbers["eps"] = settings.real("eps", 1e-6);
  take_epsilon(shape, settings, 1e-6, "head-eps", settings.own_epsilon);
  if (is_stack) shape.logit_cap = settings.real("logit-cap", 30, true);
}

void describe_m2rnn(StockShape& shape, const StockDict& layer, Settings& settings, bool) {
  const std::uint32_t heads = layer.extent("decay_gate.A_log", 1, 0), values = layer.extent("state_weight", 3, 1);
  const auto shared = [&](const char* name) {
    const auto own = static_cast<std::uint32_t>(settings.real(name, heads));
    if (own == 0 || heads % own != 0)
      throw InputError("--with", fmt::format("{}={}: {} heads cannot share so many", name, own, heads));
    shape.numbers[name] = own;
    return own;
  };
  const std::uint32_t q = shared("q-heads"), k = shared("k-heads"), v = shared("v-heads"), f = shared("f-heads"),
                      rows = layer.extent("input_projection.weight", 2, 0), others = v * values + f + heads * values;
  if (rows <= others) layer.fail("input_projection.weight", "it has no rows for queries and keys");
  shape.width = layer.extent("input_projection.weight", 2, 1);
  shape.numbers["heads"] = heads;
  shape.numbers["values"] = values;
  shape.numbers["keys"] = layer.part("input_projection.weight", rows - others, q + k);
  shape.numbers["w-heads"] = layer.extent("state_weight", 3, 0);
  layer.part("decay_gate.A_log", heads, layer.extent("state_weight", 3, 0));
  take_taps(shape, layer, "conv1d.weight");
  take_flags(shape, layer, {{"bias", "input_projection.bias"}, {"conv-bias", "conv1d.bias"}, {"skip", "D"}});
  shape.numbers["eps"] = settings.real("eps", 1e-5);
}

void describe_slstm(StockShape& shape, const StockDict& layer, Settings& settings, bool) {
  const char* const kernel = "slstm_cell._recurrent_kernel_";
  const std::uint32_t heads = layer.extent(kernel, 3, 0), rows = layer.extent(kernel, 3, 1);
  shape.width = layer.extent("group_norm.weight", 1, 0);
  shape.numbers["heads"] = heads;
  shape.numbers["cuda"] = rows < layer.extent(kernel, 3, 2);
  take_taps(shape, layer, "conv1d.conv.weight");
  shape.numbers["head-eps"] = settings.real(settings.own_epsilon, 1e-5);
  layer.part("group_norm.weight", shape.width, heads);
}

/// flash-linear-attention's names.
constexpr StockNames of_fla(std::string_view kind, std::string_view signature, StockNames::Describe describe) {
  return {kind,
          signature,
          "attn_norm.weight",
          "mlp_norm.weight",
          "mlp.gate_proj.weight",
          "mlp.up_proj.weight",
          "mlp.down_proj.weight",
          "norm.weight",
          describe};
}
/// One layer alone, or blocks of a norm and the layer.
constexpr StockNames alone(std::string_view kind, std::string_view signature, StockNames::Describe describe,
                           std::string_view norm = "", std::string_view final_norm = "") {
  return {kind, signature, norm, "", "", "", "", final_norm, describe};
}

struct Kind {
  std::string_view name;
  StockNames layers = {};  ///< of a stack
  /// Reads a file of which nothing is said of the modules; null: import_stock.
  std::unique_ptr<SequenceModel<float>> (*read)(StateDict&, const ImportOptions&, const Task&) = nullptr;
};

/// GLA and the delta rule: flash-linear-attention's language models or one bare layer of them (gated DeltaNet:
/// transformers' OlmoHybridGatedDeltaNet, too). Mamba and Mamba-2: transformers' and state-spaces' models. mLSTM:
/// transformers' xLSTMForCausalLM; sLSTM: the layer of the package xlstm.
constexpr std::array kKinds{
    Kind{"rnn", alone("stock-rnn", "weight_ih", nullptr), import_cell},
    Kind{"rnn-relu", alone("stock-rnn-relu", "weight_ih", nullptr), import_cell},
    Kind{"gru", alone("stock-gru", "weight_ih", nullptr), import_cell},
    Kind{"lstm", alone("stock-lstm", "weight_ih", nullptr), import_cell},
    Kind{.name = "bilinear", .read = import_bilinear},
    Kind{"deltanet", of_fla("stock-delta", "b_proj.weight", describe_deltanet)},
    Kind{"deltaproduct", of_fla("stock-delta", "b_proj.weight", describe_product)},
    Kind{"gated-deltanet", of_fla("stock-delta", "b_proj.weight", describe_gated)},
    Kind{"gla", of_fla("stock-gla", "gk_proj.0.weight", describe_gla)},
    Kind{"mamba", alone("stock-mamba", "x_proj.weight", describe_mamba, "norm.weight", "norm_f.weight")},
    Kind{"mamba2", alone("stock-mamba2", "dt_bias", describe_mamba2, "norm.weight", "norm_f.weight")},
    Kind{"mlstm",
         {"stock-mlstm", "igate_preact.weight", "norm_mlstm.weight", "norm_ffn.weight", "ffn.proj_up_gate.weight",
          "ffn.proj_up.weight", "ffn.proj_down.weight", "out_norm.weight", describe_mlstm}},
    Kind{"slstm", alone("stock-slstm", "slstm_cell._recurrent_kernel_", describe_slstm)},
    Kind{"rwkv7", alone("stock-rwkv7", "r_k", describe_rwkv7)},
    Kind{"m2rnn", alone("stock-m2rnn", "state_weight", describe_m2rnn)}};

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

namespace {

std::unique_ptr<SequenceModel<float>> read_model(const TensorFile& tensors, const ImportOptions& options,
                                                 const Task& task, const std::string& where) {
  const auto kind = std::ranges::find(kKinds, options.kind, &Kind::name);
  if (const auto refused = std::ranges::find(kRefused, options.kind, &Refused::name); refused != kRefused.end())
    throw InputError("--as", fmt::format("{} is not read: {}", refused->name, refused->why));
  if (kind == kKinds.end())
    throw InputError("--as", fmt::format("\"{}\" is not known.{} krohn imports {}", options.kind,
                                         did_you_mean(options.kind, import_kinds()), fmt::join(import_kinds(), ", ")));
  StateDict dict(tensors, where);
  const bool is_listed = !options.modules.empty();
  if (is_listed && kind->layers.kind.empty())
    throw InputError(
        "--modules",
        fmt::format("a model of kind {} is an embedding, the recurrence and a linear read-out", options.kind));
  auto model = is_listed               ? ModuleList(dict, options, kind->layers).read(task)
               : kind->read != nullptr ? kind->read(dict, options, task)
                                       : import_stock(dict, options, task, kind->layers);
  dict.require_all_taken(fmt::format("a model of kind {}", options.kind));
  return model;
}

/// Every number of the model is one of the file's, or stands for what the module does not have: tensors of halves, a
/// number that stands for nothing, show which.
void fix_others(SequenceModel<float>& model, TensorFile tensors, const ImportOptions& options, const Task& task,
                const std::string& where) {
  constexpr float kOfFile = 0.5;
  for (auto& [name, tensor] : tensors.tensors)
    tensor = make_tensor(std::vector<float>(tensor.elements(), kOfFile), tensor.shape);
  const auto shown = read_model(tensors, options, task, where);
  const std::span<const float> numbers = shown->parameters();
  for (std::size_t first = 0, end = 0; first < numbers.size(); first = std::max(end, first + 1)) {
    for (end = first; end < numbers.size() && numbers[end] != kOfFile;) ++end;
    if (end > first) model.fix(first, end - first);
  }
}

}  // namespace

std::unique_ptr<SequenceModel<float>> import_model(const TensorFile& tensors, const ImportOptions& options,
                                                   const Task& task, const std::string& where) {
  auto model = read_model(tensors, options, task, where);
  fix_others(*model, tensors, options, task, where);
  return model;
}

}  // namespace krohn
