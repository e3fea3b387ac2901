#include "krohn/simulate/models/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>

#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/groups/near_miss.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/released_model.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/models/stock_model.h"

namespace krohn {
namespace {

struct UsualName {
  std::string_view name, family, parts;
};

/// What other people call one of these families, or a corner of it.
constexpr std::array<UsualName, 4> kUsualNames = {{{"mamba", "diagonal", ""},
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
  // Layers of other libraries: read from files, never begun here, and so in no list of families to train.
  if (find_stock_kind(wanted) != nullptr)
    return made<Real, StockModel<Real>, parse_stock_shape>(name, letters, labels, seed);
  unknown_family(given, wanted);
}

template std::unique_ptr<SequenceModel<float>> make_model(std::string_view, Letter, std::uint32_t, std::uint64_t);
template std::unique_ptr<SequenceModel<double>> make_model(std::string_view, Letter, std::uint32_t, std::uint64_t);

}  // namespace krohn
