#include "krohn/simulate/models/stock_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/error.h"
#include "krohn/simulate/models/cross_entropy.h"
#include "krohn/simulate/models/linear_model_step.h"
#include "krohn/simulate/models/model_parts.h"

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
  if (shape.kind == "stock-slstm" && shape.width % shape.count("heads") != 0)
    parts.refuse(fmt::format("{} heads do not divide a width of {}", shape.count("heads"), shape.width));
  if (shape.mlp > 0 && !shape.residual) parts.refuse("an MLP without residuals; leave mlp=… out or add residual");
}

}  // namespace

StockShape parse_stock_shape(std::string_view text) {
  ModelParts parts(text,
                   "a stack of another library's layers has layers=L,width=D,mlp=UNITS,residual,final-norm,norm-eps=X,"
                   "logit-cap=C "
                   "and the numbers of its kind (docs/imports.md)");
  const StockKind* const kind = find_stock_kind(parts.family());
  if (kind == nullptr) parts.refuse("no such kind of layer is known");
  StockShape shape = usual_stock_shape(*kind);
  shape.layers = parts.count("layers", 1, 1024).value_or(shape.layers);
  shape.width = parts.count("width").value_or(shape.width);
  shape.mlp = parts.count("mlp", 0, 1 << 16).value_or(shape.mlp);
  shape.residual = parts.has("residual");
  shape.final_norm = parts.has("final-norm");
  shape.norm_epsilon = parts.positive("norm-eps").value_or(shape.norm_epsilon);
  shape.logit_cap = parts.positive("logit-cap", 1e6).value_or(0);
  for (const StockNumber& number : kind->numbers) {
    double& own = shape.numbers.find(number.name)->second;
    if (number.type == StockNumber::Type::kFlag)
      own = parts.has(number.name) ? 1 : 0;
    else if (number.type == StockNumber::Type::kReal)
      own = parts.positive(number.name, 1e6).value_or(number.usual);
    else
      own = parts.count(number.name, number.name == "taps" ? 0 : 1, 1 << 16)
                .value_or(static_cast<std::uint32_t>(number.usual));
  }
  parts.require_all_taken();
  require_fit(shape, parts);
  return shape;
}

std::string to_string(const StockShape& shape) {
  std::string text = fmt::format("{}:layers={},width={}", shape.kind, shape.layers, shape.width);
  if (shape.mlp > 0) text += fmt::format(",mlp={}", shape.mlp);
  if (shape.residual) text += ",residual";
  if (shape.final_norm) text += ",final-norm";
  if (shape.residual || shape.final_norm) text += fmt::format(",norm-eps={}", shape.norm_epsilon);
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
StockModel<Real>::StockModel(const StockShape& shape, Letter letters, std::uint32_t labels, std::uint64_t)
    : Model(letters, labels, parts_of(shape, letters, labels)), shape_(shape) {}

template <class Real>
BatchLoss StockModel<Real>::loss(const TrainingBatch& batch, std::span<Real> gradient) const {
  if (!gradient.empty())
    throw InputError(
        fmt::format("{} is a model of another library, read as it is: krohn has no gradient of it and "
                    "cannot train it",
                    name()));
  const StockNetwork<Real> network(shape_, Model::tensors());
  const std::size_t labels = Model::labels();
  std::vector<Real> memories(batch.words * network.memory(), 0), logits(batch.targets.size() * labels), row(labels);
  std::size_t target = 0;
  for (std::uint32_t t = 0; t < batch.positions; ++t)
    for (std::uint32_t word = 0; word < batch.words; ++word) {
      if (t >= batch.lengths[word]) continue;
      network.read(batch.letters[std::size_t{t} * batch.words + word],
                   std::span(memories).subspan(word * network.memory(), network.memory()), row);
      for (; target < batch.targets.size() && batch.targets[target].position == t && batch.targets[target].word == word;
           ++target)
        std::ranges::copy(row, logits.begin() + static_cast<std::ptrdiff_t>(target * labels));
    }
  return cross_entropy<Real>(logits, Model::labels(), batch.targets);
}

template <class Real>
class StockModel<Real>::Reader : public ModelReader {
 public:
  Reader(std::shared_ptr<const StockNetwork<Real>> network, std::uint32_t labels, std::uint32_t words)
      : network_(std::move(network)), logits_(labels), memories_(words * network_->memory(), 0) {}

  void read(const TrainingBatch& batch, std::span<TaskLabel> answers) override {
    std::size_t target = 0;
    for (std::uint32_t t = 0; t < batch.positions; ++t)
      for (std::uint32_t word = 0; word < batch.words; ++word) {
        if (t >= batch.lengths[word]) continue;
        const auto asks = [&] {
          return target < batch.targets.size() && batch.targets[target].position == t &&
                 batch.targets[target].word == word;
        };
        network_->read(batch.letters[std::size_t{t} * batch.words + word],
                       std::span(memories_).subspan(word * network_->memory(), network_->memory()),
                       std::span(logits_).first(asks() ? logits_.size() : 0));
        for (; asks(); ++target)
          answers[target] = answer_of(logits_.data(), static_cast<std::uint32_t>(logits_.size()));
      }
  }

 private:
  std::shared_ptr<const StockNetwork<Real>> network_;
  std::vector<Real> logits_, memories_;
};

template <class Real>
std::function<std::unique_ptr<ModelReader>(std::uint32_t words)> StockModel<Real>::readers(bool) const {
  const auto network = std::make_shared<const StockNetwork<Real>>(shape_, Model::tensors());
  return [network, labels = Model::labels()](std::uint32_t words) {
    return std::make_unique<Reader>(network, labels, words);
  };
}

template class StockModel<float>;
template class StockModel<double>;

}  // namespace krohn
