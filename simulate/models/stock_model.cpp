#include "krohn/simulate/models/stock_model.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/operations_gradient.h"
#include "krohn/simulate/models/stock/stock_layers.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {
namespace {

std::vector<ParameterPart> parts_of(const StockShape& shape, Letter letters, std::uint32_t labels) {
  std::vector<ParameterPart> parts;
  for (StockTensor& tensor : stock_tensors(shape, letters, labels))
    parts.push_back({std::move(tensor.name), std::move(tensor.shape)});
  return parts;
}

void require_fit(const StockShape& shape, const ModelParts& parts) {
  const auto has = [&](const char* name) { return shape.numbers.contains(name); };
  if (has("groups") && shape.count("heads") % shape.count("groups") != 0)
    parts.refuse(fmt::format("{} groups do not divide {} heads", shape.count("groups"), shape.count("heads")));
  for (const auto& [name, heads] : shape.numbers)
    if (name.ends_with("-heads") && shape.count("heads") % static_cast<std::size_t>(heads) != 0)
      parts.refuse(fmt::format("{} {} do not divide {} heads", heads, name, shape.count("heads")));
  const auto is_between = [&](const char* name) {
    return has(name) && shape.count(name) != 1 && shape.count(name) != shape.count("heads");
  };
  if (is_between("f-heads") || (is_between("v-heads") && shape.count("skip") != 0))
    parts.refuse("of f-heads, and beside skip of v-heads, there is one, or one for every head");
  for (const StockStep& step : stock_steps(shape))
    if (shape.kind == "stock-slstm" && step.kind == StockStep::Kind::kLayer && step.taken % shape.count("heads") != 0)
      parts.refuse(fmt::format("{} heads do not divide a width of {}", shape.count("heads"), step.taken));
  if (shape.mlp > 0 && !shape.residual) parts.refuse("an MLP without residuals; leave mlp=… out or add residual");
}

/// Takes ",forward=…" out of a name and returns its value, or "".
std::string take_forward(std::string& name) {
  constexpr std::string_view kKey = ",forward=";
  const std::size_t at = name.find(kKey), end = name.find(',', at == std::string::npos ? at : at + 1);
  if (at == std::string::npos) return "";
  const std::string value = name.substr(at + kKey.size(), end - at - kKey.size());
  name.erase(at, end - at);
  return value;
}

}  // namespace

StockShape parse_stock_shape(std::string_view text) {
  std::string others(text);
  const std::string forward = take_forward(others);
  const StockKind* const kind = find_stock_kind(text.substr(0, text.find(':')));
  const bool is_new = kind != nullptr && !text.starts_with(kind->name);
  ModelParts parts(others,
                   is_new ? "layers of another library have layers=L,width=D,mlp=UNITS,bare (without norms and "
                            "residuals),norm-eps=X,logit-cap=C and the numbers of their kind (`krohn train --model "
                            "list`)"
                          : "a stack of another library's layers has "
                            "layers=L,width=D,mlp=UNITS,residual,final-norm,norm-eps=X,"
                            "logit-cap=C, or width=D,forward=PART/PART,norm-eps=X, "
                            "and the numbers of its kind (docs/verify.md)");
  if (kind == nullptr || (is_new && kind->complete == nullptr)) parts.refuse("no such kind of layer is known");
  StockShape shape = usual_stock_shape(*kind);
  shape.width = parts.count("width").value_or(is_new ? 32 : shape.width);
  shape.forward = forward;
  if (forward.empty()) {
    shape.layers = parts.count("layers", 1, 1024).value_or(shape.layers);
    shape.mlp = parts.count("mlp", 0, 1 << 16).value_or(shape.mlp);
    shape.residual = is_new ? !parts.has("bare") : parts.has("residual");
    shape.final_norm = is_new ? shape.residual : parts.has("final-norm");
  }
  shape.norm_epsilon = parts.positive("norm-eps").value_or(shape.norm_epsilon);
  shape.logit_cap = parts.positive("logit-cap", 1e6).value_or(0);
  const std::map<std::string, double, std::less<>> usual = std::exchange(shape.numbers, {});
  for (const StockNumber& number : kind->numbers) {
    std::optional<double> given;
    if (number.type == StockNumber::Type::kFlag)
      given = parts.has(number.name) ? std::optional(1.0) : std::nullopt;
    else if (number.type == StockNumber::Type::kReal)
      given = parts.positive(number.name, 1e6);
    else
      given = parts.count(number.name, number.usual == 0 ? 0 : 1, 1 << 16);
    if (given) shape.numbers.emplace(number.name, *given);
  }
  parts.require_all_taken();
  if (is_new) kind->complete(shape);
  shape.numbers.insert(usual.begin(), usual.end());
  require_fit(shape, parts);
  return shape;
}

std::string to_string(const StockShape& shape) {
  std::string text = shape.forward.empty()
                         ? fmt::format("{}:layers={},width={}", shape.kind, shape.layers, shape.width)
                         : fmt::format("{}:width={},forward={}", shape.kind, shape.width, shape.forward);
  if (shape.mlp > 0) text += fmt::format(",mlp={}", shape.mlp);
  if (shape.residual) text += ",residual";
  if (shape.final_norm) text += ",final-norm";
  if (shape.residual || shape.final_norm || shape.forward.find("-norm") != std::string::npos)
    text += fmt::format(",norm-eps={}", shape.norm_epsilon);
  if (shape.logit_cap != 0) text += fmt::format(",logit-cap={}", shape.logit_cap);
  for (const StockNumber& number : find_stock_kind(shape.kind)->numbers) {
    const double own = shape.number(number.name);
    if (number.type == StockNumber::Type::kFlag)
      text += own != 0 ? fmt::format(",{}", number.name) : "";
    else if (own != number.usual)
      text += fmt::format(",{}={}", number.name, own);
  }
  return text;
}

template <class Real>
StockModel<Real>::StockModel(const StockShape& shape, Letter letters, std::uint32_t labels, std::uint64_t seed)
    : Model(letters, labels, parts_of(shape, letters, labels)), shape_(shape) {
  Random random(seed);
  const std::vector<StockTensor> tensors = stock_tensors(shape, letters, labels);
  for (std::size_t part = 0; part < tensors.size(); ++part) {
    const std::span<Real> numbers = Model::part(part);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<Real>(first_number(tensors[part], i, random));
  }
}

template <class Real>
BatchLoss StockModel<Real>::loss_of(const TrainingBatch& batch, const TwinReading* twin,
                                    std::span<Real> gradient) const {
  const FloatEnvironment environment;  // where the trainer takes subnormal numbers for 0, a list may divide 0 by 0
  const TensorFile tensors = Model::tensors();
  const Precision format = sizeof(Real) == 4 ? Precision::kFp32 : Precision::kFp64;
  const OperationsGradient<Real> list(stock_operations(shape_, tensors, format).operations, tensors, Model::letters());
  Numbers<Real> by = zeros<Real>(gradient.empty() ? 0 : list.size());
  std::vector<std::uint32_t> words(batch.words);
  std::iota(words.begin(), words.end(), 0U);
  const BatchLoss result = loss_of_slices<Real>(
      batch, slices_of(batch, words, {}, list.size()), Model::threads(), by,
      [&](const Slice& slice, std::span<const TrainingBatch::Target> targets, std::span<Real> own) {
        const FloatEnvironment of_thread;
        std::optional<TwinReading> of_slice;
        if (twin != nullptr) of_slice = {twin->weight, twin->noise, Random(twin->seed).next() + slice.words.front()};
        return list.loss(batch, slice.words, targets, of_slice ? &*of_slice : nullptr, own);
      });
  if (gradient.empty()) return result;
  list.finish(by, [&](const std::string& name, std::span<const Real> numbers) {
    Real* const to = gradient.data() + Model::begin_of(std::string_view(name));
    for (std::size_t i = 0; i < numbers.size(); ++i) to[i] += numbers[i];
  });
  return result;
}

template class StockModel<float>;
template class StockModel<double>;

}  // namespace krohn
