#include "krohn/simulate/models/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/released_model.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/models/stock_model.h"

namespace krohn {
namespace {

/// 1 GB of floats; training holds five times that, and what its words take.
constexpr double kMaxParameters = 1 << 28;

}  // namespace

template <class Real>
SequenceModel<Real>::SequenceModel(Letter letters, std::uint32_t labels, std::vector<ParameterPart> parts)
    : letters_(letters), labels_(labels), parts_(std::move(parts)), begin_{0} {
  for (const ParameterPart& part : parts_) {
    double count = 1;
    for (const std::uint64_t extent : part.shape) count *= static_cast<double>(extent);
    if (static_cast<double>(begin_.back()) + count > kMaxParameters)
      throw LimitError(fmt::format("a model of more than {} parameters (\"{}\" alone has {}); make it smaller",
                                   kMaxParameters, part.name, count));
    begin_.push_back(begin_.back() + static_cast<std::size_t>(count));
  }
  parameters_.resize(begin_.back());
}

template <class Real>
unsigned SequenceModel<Real>::used_threads() const {
  return threads_ > 0 ? threads_ : static_cast<unsigned>(omp_get_max_threads());
}

template <class Real>
std::size_t SequenceModel<Real>::index_of(std::string_view name) const {
  const auto part = std::ranges::find(parts_, name, &ParameterPart::name);
  if (part == parts_.end()) throw InputError(std::string(name), "no tensor of the model has this name");
  return static_cast<std::size_t>(part - parts_.begin());
}

template <class Real>
TensorFile SequenceModel<Real>::tensors() const {
  TensorFile file;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::span<const Real> numbers = part(i);
    if (numbers.empty()) continue;
    file.tensors.emplace(parts_[i].name,
                         make_tensor(std::vector<Real>(numbers.begin(), numbers.end()), parts_[i].shape));
  }
  return file;
}

template <class Real>
void SequenceModel<Real>::load(const TensorFile& file) {
  TensorReader reader(file);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::span<Real> own = part(i);
    if (own.empty()) continue;
    const std::vector<Real> values = reader.template values<Real>(parts_[i].name, parts_[i].shape);
    std::ranges::copy(values, own.begin());
  }
}

template <class Real>
BatchLoss SequenceModel<Real>::twin_loss(const TrainingBatch& batch, const TwinReading& twin,
                                         std::span<Real> gradient) const {
  if (!reads_twice()) throw InputError(fmt::format("{} has no loss of two readings", name()));
  return loss_of(batch, &twin, gradient);
}

template class SequenceModel<float>;
template class SequenceModel<double>;

ModelParts::ModelParts(std::string_view text, std::string grammar) : text_(text), grammar_(std::move(grammar)) {
  std::string_view rest = text_;
  family_ = rest.substr(0, rest.find(':'));
  rest.remove_prefix(std::min(rest.size(), family_.size() + 1));
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    Part read{part, part.substr(0, equals), {}};
    if (equals != std::string_view::npos) read.value = part.substr(equals + 1);
    for (const Part& other : parts_)
      if (other.key == read.key) refuse(read, "is given twice");
    parts_.push_back(read);
  }
}

ModelParts::Part* ModelParts::take(std::string_view key, bool valued) {
  for (Part& part : parts_)
    if (part.key == key) {
      if (part.value.has_value() != valued) refuse(part, valued ? "needs a value" : "takes no value");
      part.taken = true;
      return &part;
    }
  return nullptr;
}

bool ModelParts::has(std::string_view part) { return take(part, false) != nullptr; }

std::optional<std::uint32_t> ModelParts::count(std::string_view key, std::uint32_t least, std::uint32_t greatest) {
  const Part* const part = take(key, true);
  if (part == nullptr) return std::nullopt;
  const auto value = number_in<std::uint32_t>(*part->value);
  if (!value || *value < least || *value > greatest)
    refuse(*part, fmt::format("needs a number from {} to {}", least, greatest));
  return value;
}

std::optional<double> ModelParts::positive(std::string_view key, double greatest, double least) {
  const Part* const part = take(key, true);
  if (part == nullptr) return std::nullopt;
  const auto value = number_in<double>(*part->value);
  if (!value || !(*value > 0) || *value < least || *value > greatest)
    refuse(*part, least > 0 ? fmt::format("needs a number from {} to {}", least, greatest)
                            : fmt::format("needs a number above 0 and at most {}", greatest));
  return value;
}

void ModelParts::require_all_taken() const {
  for (const Part& part : parts_)
    if (!part.taken) refuse(part, "is not known");
}

void ModelParts::refuse(std::string_view why) const { throw InputError(fmt::format("model \"{}\": {}", text_, why)); }

void ModelParts::refuse(const Part& part, std::string_view needed) const {
  throw InputError(fmt::format("model part \"{}\" {}; {}", part.text, needed, grammar_));
}

namespace {

constexpr std::uint32_t kMaxExtent = 1 << 20;

std::string text_of(const TensorFile& file, const char* key) {
  if (!file.metadata.contains(key))
    throw InputError(
        fmt::format("its metadata has no \"{}\"; `krohn train` writes models, and `krohn import` takes in "
                    "those trained elsewhere",
                    key));
  return file.text(key);
}

std::uint32_t extent_of(const TensorFile& file, const char* key) {
  const auto value = number_in<std::uint32_t>(text_of(file, key));
  if (!value || *value < 1 || *value > kMaxExtent)
    throw InputError(fmt::format("metadata \"{}\" is not a number from 1 to {}", key, kMaxExtent));
  return *value;
}

TensorFile file_of(const std::string& task, const SequenceModel<float>& model,
                   const std::map<std::string, std::string>& metadata) {
  TensorFile file = model.tensors();
  file.metadata = {{"format", "krohn.model"},
                   {"version", "1"},
                   {"task", task},
                   {"model", model.name()},
                   {"letters", std::to_string(model.letters())},
                   {"labels", std::to_string(model.labels())}};
  for (const auto& fixed : model.fixed()) {
    std::string& text = file.metadata["fixed"];
    text += fmt::format("{}{}+{}", text.empty() ? "" : ",", fixed.first, fixed.numbers.size());
  }
  file.metadata.insert(metadata.begin(), metadata.end());
  return file;
}

void fix_numbers(SequenceModel<float>& model, const TensorFile& file) {
  const auto found = file.metadata.find("fixed");
  if (found == file.metadata.end()) return;
  const std::size_t all = model.parameters().size();
  std::size_t end = 0;  // of those before
  for (std::string_view text = found->second; !text.empty();) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t plus = std::min(part.find('+'), part.size());
    const auto first = number_in<std::size_t>(part.substr(0, plus)),
               count = number_in<std::size_t>(part.substr(std::min(plus + 1, part.size())));
    if (!first || !count || *first < end || *first > all || *count > all - *first)
      throw InputError(fmt::format("metadata \"fixed\": \"{}\" are no numbers of the model", visible(part)));
    model.fix(*first, *count);
    end = *first + *count;
  }
}

}  // namespace

std::string format_model(const std::string& task, const SequenceModel<float>& model,
                         const std::map<std::string, std::string>& metadata) {
  return format_safetensors(file_of(task, model, metadata));
}

void save_model(const std::string& task, const SequenceModel<float>& model, const std::string& path,
                const std::map<std::string, std::string>& metadata) {
  write_safetensors(file_of(task, model, metadata), path);
}

namespace {

/// Throws InputError without the file's name.
TrainedModel model_in(const TensorFile& file) {
  const std::string format = text_of(file, "format");
  if (format == "krohn.network")
    throw InputError("a network that `krohn compile` or `krohn snap` made; `krohn run` and `krohn verify` take it");
  if (format != "krohn.model" || text_of(file, "version") != "1") throw InputError("not a trained model of version 1");
  TrainedModel trained{
      text_of(file, "task"), file.metadata,
      make_model<float>(text_of(file, "model"), extent_of(file, "letters"), extent_of(file, "labels"), 0)};
  trained.model->load(file);
  fix_numbers(*trained.model, file);
  for (const float number : trained.model->parameters())
    if (!std::isfinite(number)) throw InputError("holds a number that is not finite");
  return trained;
}

}  // namespace

TrainedModel load_model(const std::string& path) {
  const FloatEnvironment environment;
  const TensorFile file = read_safetensors(path);
  try {
    return model_in(file);
  } catch (const InputError& error) {
    throw InputError(path, error.what());
  }
}

namespace {

struct UsualName {
  std::string_view name, family, parts;
};

/// Other names of these families, or of special cases.
constexpr std::array<UsualName, 5> kUsualNames = {{{"mamba", "diagonal", ""},
                                                   {"gated-deltanet", "delta", "decay,gate"},
                                                   {"s4d", "diagonal", "fixed,complex"},
                                                   {"lru", "diagonal", "fixed,complex"},
                                                   {"deltanet", "deltaproduct", "reflections=1"}}};

/// "mamba:width=16" as "diagonal:width=16"; any other name as it is.
std::string in_our_names(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const auto found = std::ranges::find(kUsualNames, name.substr(0, colon), &UsualName::name);
  if (found == kUsualNames.end()) return std::string(name);
  const std::string_view parts = name.substr(std::min(colon + 1, name.size()));
  return fmt::format("{}:{}{}{}", found->family, found->parts, found->parts.empty() || parts.empty() ? "" : ",", parts);
}

[[noreturn]] void unknown_family(std::string_view name, std::string_view family) {
  if (const std::string hint = did_you_mean(family, model_names()); !hint.empty())
    throw InputError(fmt::format("there is no model \"{}\".{} `krohn train --model list` describes them", name, hint));
  throw InputError(
      fmt::format("there is no model \"{}\". krohn trains recurrences: {}. "
                  "`krohn train --model list` describes them",
                  name, fmt::join(model_names(), ", ")));
}

}  // namespace

std::vector<ModelFamily> model_families() {
  std::vector<ModelFamily> families = {
      {"bilinear:full|diagonal|rotations|block=B|rank=R,hidden=H,inputs=D,bias,input-bias,spread=S,bias-spread=S,"
       "frozen,scale-free",
       "h ← A(x) h + b(x), A linear in the letter's embedding", "Ebrahimi & Memisevic 2025"},
      {"deltaproduct:layers=L,width=D,heads=H,keys=N,values=M,reflections=K,signed,conv=TAPS,mlp=UNITS,plain",
       "products of generalised Householder matrices in layers", "Yang et al. 2024; Siems et al. 2025"},
      {"diagonal:layers=L,width=D,channels=C,states=N,signed,complex,fixed,conv=TAPS,mlp=UNITS",
       "diagonal matrices that depend on the input, as Mamba's, or with `fixed` do not", "Gu & Dao 2023"},
      {"dense:size=N", "H ← A(x) H, any matrices in the unit ball", "Grazzi et al. 2025, E.2.1"},
      {"fan:layers=L,blocks=H,size=B,norm=P,generator=UNITS,mlp=UNITS", "blocks whose columns have p-norm at most 1",
       "Fan et al. 2024"},
      {"fan-released:layers=L,blocks=H,size=B,norm=P", "the same model as its code has it, norms and MLPs around it",
       "Fan et al. 2024, the released code"},
      {"rnn:layers=L,hidden=H,inputs=D,one-hot,unbiased", "h ← tanh(W x + b + U h + c), as torch.nn.RNN", "Elman 1990"},
      {"rnn-relu:…", "h ← relu(W x + b + U h + c)", "Le et al. 2015"},
      {"gru:…", "gated recurrent units, as torch.nn.GRU", "Cho et al. 2014"},
      {"lstm:…", "long short-term memory, as torch.nn.LSTM", "Hochreiter & Schmidhuber 1997"}};
  for (const StockKind& kind : stock_kinds()) {
    if (kind.complete == nullptr) continue;
    std::string pattern = fmt::format("{}:layers=L,width=D,mlp=UNITS,bare,norm-eps=X,logit-cap=X",
                                      kind.name.substr(kind.name.find('-') + 1));
    for (const auto& [name, usual, type] : kind.numbers)
      pattern += fmt::format(",{}{}", name,
                             type == StockNumber::Type::kSize   ? "=N"
                             : type == StockNumber::Type::kReal ? "=X"
                                                                : "");
    families.push_back({std::move(pattern), std::string(kind.description), std::string(kind.source)});
  }
  for (const UsualName& each : kUsualNames)
    families.push_back(
        {fmt::format("{}:…", each.name), fmt::format("{}:{}, by its usual name", each.family, each.parts), ""});
  return families;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelFamily& family : model_families())
    names.push_back(family.pattern.substr(0, family.pattern.find(':')));
  return names;
}

namespace {

template <class Real>
struct Family {
  std::string_view name;
  std::unique_ptr<SequenceModel<Real>> (*make)(std::string_view name, Letter letters, std::uint32_t labels,
                                               std::uint64_t seed);
};

/// Makes a Model of the shape that kParse reads from the name.
template <class Real, class Model, auto kParse>
std::unique_ptr<SequenceModel<Real>> made(std::string_view name, Letter letters, std::uint32_t labels,
                                          std::uint64_t seed) {
  return std::make_unique<Model>(kParse(name), letters, labels, seed);
}

/// A family is a line here, and one for people in model_families (docs/reference/adding.md).
template <class Real>
constexpr std::array kFamilies{
    Family<Real>{"bilinear", made<Real, BilinearModel<Real>, parse_bilinear_shape>},
    Family<Real>{"deltaproduct", made<Real, StackedModel<Real>, parse_stacked_shape>},
    Family<Real>{"diagonal", made<Real, StackedModel<Real>, parse_stacked_shape>},
    Family<Real>{"dense", made<Real, DenseModel<Real>, parse_dense_shape>},
    Family<Real>{"fan", made<Real, StackedModel<Real>, parse_stacked_shape>},
    Family<Real>{"fan-released", made<Real, ReleasedModel<Real>, parse_released_shape>},
    Family<Real>{"rnn", made<Real, CellModel<Real>, parse_cell_shape>},
    Family<Real>{"rnn-relu", made<Real, CellModel<Real>, parse_cell_shape>},
    Family<Real>{"gru", made<Real, CellModel<Real>, parse_cell_shape>},
    Family<Real>{"lstm", made<Real, CellModel<Real>, parse_cell_shape>},
};

}  // namespace

template <class Real>
std::unique_ptr<SequenceModel<Real>> make_model(std::string_view given, Letter letters, std::uint32_t labels,
                                                std::uint64_t seed) {
  const FloatEnvironment environment;
  const std::string name = in_our_names(given);
  const std::string wanted = name.substr(0, name.find(':'));
  for (const Family<Real>& family : kFamilies<Real>)
    if (family.name == wanted) return family.make(name, letters, labels, seed);
  if (find_stock_kind(wanted) != nullptr)
    return made<Real, StockModel<Real>, parse_stock_shape>(name, letters, labels, seed);
  unknown_family(given, wanted);
}

template std::unique_ptr<SequenceModel<float>> make_model(std::string_view, Letter, std::uint32_t, std::uint64_t);
template std::unique_ptr<SequenceModel<double>> make_model(std::string_view, Letter, std::uint32_t, std::uint64_t);

}  // namespace krohn
