#include "krohn/constructions/files/network_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/stated_functions.h"

namespace krohn {
namespace {

using nlohmann::json;
using Matrices = std::vector<Eigen::MatrixXd>;

constexpr const char* kFormat = "krohn.recurrence";
constexpr double kFanNorm = 1.2;
/// softplus takes it to 0 and to itself, and exp its negative to 0, all in fp32.
constexpr float kClosed = -256, kOpen = 256;

std::string prefix_of(std::size_t layer) { return fmt::format("layers.{}.", layer); }

template <class Form>
const Form& form_of(const Matrix& matrix, const char* wanted) {
  if (const auto* form = std::get_if<Form>(&matrix)) return *form;
  throw InputError(fmt::format("its matrices are of the form \"{}\", not {}", form_name(matrix), wanted));
}

Matrices dense_forms(const Layer& layer) {
  Matrices matrices;
  for (const Transition& transition : layer.transitions)
    matrices.push_back(to_dense(transition.a).template cast<double>());
  return matrices;
}

/// A tensor of square matrices, a letter each; the letters are its last axis or its first.
struct LetterMatrices {
  bool letters_last;
  std::uint64_t letters, n;

  Shape shape() const { return letters_last ? Shape{n, n, letters} : Shape{letters, n, n}; }
  std::size_t index(std::uint64_t letter, std::uint64_t i, std::uint64_t j) const {
    return letters_last ? (i * n + j) * letters + letter : (letter * n + i) * n + j;
  }
};

Tensor tensor_of(const Matrices& matrices, bool letters_last) {
  const LetterMatrices order{letters_last, matrices.size(), static_cast<std::uint64_t>(matrices[0].rows())};
  std::vector<double> values(matrices.size() * order.n * order.n);
  for (std::size_t letter = 0; letter < matrices.size(); ++letter)
    for (Eigen::Index i = 0; i < matrices[letter].rows(); ++i)
      for (Eigen::Index j = 0; j < matrices[letter].cols(); ++j)
        values[order.index(letter, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j))] =
            matrices[letter](i, j);
  return make_real_tensor(values, order.shape());
}

/// Block `index` of every action.
std::vector<Matrices> blocks_of(const Layer& layer) {
  std::vector<Matrices> blocks;
  for (const Transition& transition : layer.transitions) {
    const auto& own = form_of<BlockDiagonalMatrix>(transition.a, "blocks").blocks;
    if (blocks.empty()) blocks.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i >= blocks.size() || (!blocks[i].empty() && blocks[i][0].rows() != own[i].rows()))
        throw InputError("its matrices have blocks of different sizes");
      blocks[i].push_back(own[i]);
    }
  }
  return blocks;
}

// ---- Writing, one function for each family: adds the parameters of one layer.

using Write = void (*)(TensorFile&, const std::string&, const Layer&);

void write_bilinear(TensorFile& file, const std::string& at, const Layer& layer) {
  file.tensors[at + "W"] = tensor_of(dense_forms(layer), /*letters_last=*/true);
}

void write_factors(TensorFile& file, const std::string& at, const Layer& layer) {
  const auto& first = form_of<FactoredMatrix>(layer.transitions.at(0).a, "rank-one terms");
  const std::size_t rank = first.outputs.size(), n = layer.dimension, m = layer.transitions.size();
  std::vector<double> u(n * rank, 0), v(n * rank, 0), p(m * rank, 0);
  for (std::size_t term = 0; term < rank; ++term) {
    for (const std::uint32_t i : first.outputs[term]) u[i * rank + term] = 1;
    for (const std::uint32_t j : first.inputs[term]) v[j * rank + term] = 1;
  }
  for (std::size_t action = 0; action < m; ++action) {
    const auto& own = form_of<FactoredMatrix>(layer.transitions[action].a, "rank-one terms");
    if (own.outputs != first.outputs || own.inputs != first.inputs)
      throw InputError("its letters do not share their rank-one terms");
    for (const std::uint32_t term : own.gate) p[action * rank + term] = 1;
  }
  file.tensors[at + "U"] = make_real_tensor(u, {n, rank});
  file.tensors[at + "V"] = make_real_tensor(v, {n, rank});
  file.tensors[at + "P"] = make_real_tensor(p, {m, rank});
}

void write_blocks(TensorFile& file, const std::string& at, const Layer& layer) {
  std::size_t index = 0;
  for (const Matrices& block : blocks_of(layer))
    file.tensors[fmt::format("{}W.{}", at, index++)] = tensor_of(block, /*letters_last=*/true);
}

void write_planes(TensorFile& file, const std::string& at, const Layer& layer) {
  std::vector<double> values;
  for (const Transition& transition : layer.transitions)
    for (const auto& block : form_of<RotationBlocks>(transition.a, "planes").blocks) {
      if (block.is_sign) throw InputError("it has a sign of one dimension beside planes; take the construction r2");
      const auto c = static_cast<double>(block.turn.cosine()), s = static_cast<double>(block.turn.sine());
      values.insert(values.end(), {c, -s, s, c});
    }
  file.tensors[at + "R"] =
      make_real_tensor(values, {layer.transitions.size(), std::uint64_t{layer.dimension} / 2, 2, 2});
}

/// Row and factor of every column, for the forms that have one entry in each.
void write_column_one_hot(TensorFile& file, const std::string& at, const Layer& layer) {
  const std::uint32_t n = layer.dimension;
  std::vector<std::uint32_t> rows;
  std::vector<double> factors;
  for (const Transition& transition : layer.transitions) {
    const auto* map = std::get_if<MapMatrix>(&transition.a);
    const auto* map_with_signs = std::get_if<SignedPermutationMatrix>(&transition.a);
    const auto* diagonal = std::get_if<DiagonalMatrix>(&transition.a);
    const bool is_zero = std::holds_alternative<ZeroMatrix>(transition.a);
    if (!map && !map_with_signs && !diagonal && !is_zero) form_of<MapMatrix>(transition.a, "one entry in each column");
    for (std::uint32_t j = 0; j < n; ++j) {
      rows.push_back(map ? map->map[j] : map_with_signs ? map_with_signs->map[j] : j);
      factors.push_back(map ? 1 : map_with_signs ? map_with_signs->sign[j] : diagonal ? diagonal->values[j] : 0);
    }
  }
  file.tensors[at + "P"] = make_tensor(rows, {layer.transitions.size(), n});
  file.tensors[at + "D"] = make_real_tensor(factors, {layer.transitions.size(), n});
}

/// Δ is 256 or 0, so that ā is exactly 0 or 1, and −1 or 1 where it is signed.
void write_selective(TensorFile& file, const std::string& at, const Layer& layer) {
  const std::size_t n = layer.dimension, m = layer.transitions.size();
  if (layer.columns != 1) throw InputError("its state has several columns");
  std::vector<float> steps, added;
  std::vector<std::uint8_t> is_signed(n, 0);
  const auto value = [&](std::size_t action, std::size_t i) -> double {
    const Matrix& a = layer.transitions[action].a;
    if (std::holds_alternative<ZeroMatrix>(a)) return 0;
    return form_of<DiagonalMatrix>(a, "diagonal").values[i];
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t action = 0; action < m; ++action) is_signed[i] |= value(action, i) == -1;
  for (std::size_t action = 0; action < m; ++action) {
    const Eigen::MatrixXd& b = layer.transitions[action].b;
    for (std::size_t i = 0; i < n; ++i) {
      const double own = value(action, i);
      if (own != 1 && own != (is_signed[i] ? -1 : 0))
        throw InputError(fmt::format("its diagonal has {} beside {}; krohn writes 1 with 0, or 1 with −1", own,
                                     is_signed[i] ? -1 : 0));
      steps.push_back(own == 1 ? kClosed : kOpen);
      const double add = b.size() == 0 ? 0 : b(static_cast<Eigen::Index>(i), 0);
      if (own == 1 && add != 0) throw InputError("it adds to a number that it keeps, and there Δ = 0");
      added.push_back(static_cast<float>(add) / kOpen);
    }
  }
  file.tensors[at + "dt"] = make_tensor(steps, {m, n});
  file.tensors[at + "A_log"] = make_tensor(std::vector<float>(n, 0), {n});
  file.tensors.erase(at + "B.given");
  file.tensors[at + "B"] = make_tensor(added, {m, n, 1});
  file.tensors[at + "signed"] = make_tensor(is_signed, {n});
}

double column_norm(const Eigen::MatrixXd& block, Eigen::Index column, double p) {
  double sum = 0;
  for (Eigen::Index i = 0; i < block.rows(); ++i) sum += stated::pow(std::abs(block(i, column)), p);
  return stated::pow(sum, 1 / p);
}

void write_normalised_blocks(TensorFile& file, const std::string& at, const Layer& layer) {
  const bool has_blocks = std::holds_alternative<BlockDiagonalMatrix>(layer.transitions.at(0).a);
  const std::vector<Matrices> blocks = has_blocks ? blocks_of(layer) : std::vector<Matrices>{dense_forms(layer)};
  std::size_t index = 0;
  for (const Matrices& block : blocks) {
    for (const Eigen::MatrixXd& matrix : block)
      for (Eigen::Index j = 0; j < matrix.cols(); ++j)
        if (column_norm(matrix, j, kFanNorm) > 1)
          throw InputError(fmt::format("column {} of a block has the {}-norm {:.6g}, which the layer would bring to 1",
                                       j, kFanNorm, column_norm(matrix, j, kFanNorm)));
    file.tensors[fmt::format("{}V.{}", at, index++)] = tensor_of(block, /*letters_last=*/false);
  }
  file.tensors[at + "p"] = make_real_tensor({kFanNorm}, {1});
}

// ---- Reading, one function for each family: the dense matrices of a layer, and B when the family computes it.

/// The parameters of one layer; knows which tensors they were.
struct LayerReader {
  TensorReader& reader;
  std::string at;
  std::uint64_t actions, n;
  std::vector<double> b;           ///< [actions, n, 1], of families that compute it
  std::vector<std::string> taken;  ///< names of tensors

  const Shape& shape(const std::string& name) const { return reader.shape(at + name); }
  std::vector<double> reals(const std::string& name, const Shape& expected) {
    taken.push_back(at + name);
    return reader.reals(at + name, expected);
  }
  template <class T>
  std::vector<T> values(const std::string& name, const Shape& expected) {
    taken.push_back(at + name);
    return reader.values<T>(at + name, expected);
  }
  std::vector<double> dense() const { return std::vector<double>(actions * n * n, 0); }
  std::size_t index(std::uint64_t action, std::uint64_t i, std::uint64_t j) const { return (action * n + i) * n + j; }
};

using Read = std::vector<double> (*)(LayerReader&);

/// Writes the matrices of one tensor to the diagonal, from coordinate `first` on.
void read_matrices(LayerReader& layer, const std::string& tensor, const LetterMatrices& order, std::uint64_t first,
                   std::vector<double>& a) {
  const std::vector<double> values = layer.reals(tensor, order.shape());
  for (std::uint64_t action = 0; action < layer.actions; ++action)
    for (std::uint64_t i = 0; i < order.n; ++i)
      for (std::uint64_t j = 0; j < order.n; ++j)
        a[layer.index(action, first + i, first + j)] = values[order.index(action, i, j)];
}

std::vector<double> read_bilinear(LayerReader& layer) {
  std::vector<double> a = layer.dense();
  read_matrices(layer, "W", {/*letters_last=*/true, layer.actions, layer.n}, 0, a);
  return a;
}

std::vector<double> read_factors(LayerReader& layer) {
  const auto u = layer.reals("U", {layer.n, kAnyExtent});
  const std::uint64_t rank = layer.shape("U")[1];
  const auto v = layer.reals("V", {layer.n, rank});
  const auto p = layer.reals("P", {layer.actions, rank});
  std::vector<double> a = layer.dense();
  for (std::uint64_t action = 0; action < layer.actions; ++action)
    for (std::uint64_t term = 0; term < rank; ++term) {
      if (p[action * rank + term] == 0) continue;
      for (std::uint64_t i = 0; i < layer.n; ++i) {
        if (u[i * rank + term] == 0) continue;
        for (std::uint64_t j = 0; j < layer.n; ++j)
          a[layer.index(action, i, j)] += u[i * rank + term] * p[action * rank + term] * v[j * rank + term];
      }
    }
  return a;
}

/// Blocks NAME.0, NAME.1, … of sizes that add up to n.
std::vector<double> read_along_diagonal(LayerReader& layer, const char* name, bool letters_last) {
  std::vector<double> a = layer.dense();
  std::uint64_t first = 0;
  for (std::size_t index = 0; first < layer.n; ++index) {
    const std::string tensor = fmt::format("{}.{}", name, index);
    if (layer.shape(tensor).size() != 3)
      throw InputError(fmt::format("tensor \"{}{}\" is not a list of blocks", layer.at, tensor));
    const std::uint64_t b = layer.shape(tensor)[letters_last ? 0 : 1];
    if (b == 0 || b > layer.n - first)
      throw InputError(fmt::format("tensor \"{}{}\" has blocks of {}, and {} numbers of state are left", layer.at,
                                   tensor, b, layer.n - first));
    read_matrices(layer, tensor, {letters_last, layer.actions, b}, first, a);
    first += b;
  }
  return a;
}

std::vector<double> read_blocks(LayerReader& layer) { return read_along_diagonal(layer, "W", /*letters_last=*/true); }

std::vector<double> read_normalised_blocks(LayerReader& layer) {
  const double p = layer.reals("p", {1})[0];
  if (!(p >= 1)) throw InputError(fmt::format("\"{}p\" is {}, not a norm's 1 or more", layer.at, p));
  std::vector<double> a = read_along_diagonal(layer, "V", /*letters_last=*/false);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto n = static_cast<Eigen::Index>(layer.n);
  for (std::uint64_t action = 0; action < layer.actions; ++action) {
    Eigen::Map<RowMajor> matrix(a.data() + action * layer.n * layer.n, n, n);
    for (Eigen::Index j = 0; j < n; ++j) matrix.col(j) /= std::max(1.0, column_norm(matrix, j, p));
  }
  return a;
}

std::vector<double> read_planes(LayerReader& layer) {
  if (layer.n % 2 != 0)
    throw InputError(fmt::format("\"{}R\": planes have an even dimension, not {}", layer.at, layer.n));
  const auto r = layer.reals("R", {layer.actions, layer.n / 2, 2, 2});
  std::vector<double> a = layer.dense();
  for (std::size_t entry = 0; entry < r.size(); ++entry) {
    const std::uint64_t plane = entry / 4 % (layer.n / 2), action = entry / 4 / (layer.n / 2);
    a[layer.index(action, 2 * plane + entry % 4 / 2, 2 * plane + entry % 2)] = r[entry];
  }
  return a;
}

std::vector<double> read_column_one_hot(LayerReader& layer) {
  const auto rows = layer.values<std::uint32_t>("P", {layer.actions, layer.n});
  const auto factors = layer.reals("D", {layer.actions, layer.n});
  std::vector<double> a = layer.dense();
  for (std::size_t column = 0; column < rows.size(); ++column) {
    if (rows[column] >= layer.n)
      throw InputError(fmt::format("\"{}P\" names row {} of {}", layer.at, rows[column], layer.n));
    a[layer.index(column / layer.n, rows[column], column % layer.n)] = factors[column];
  }
  return a;
}

float exponential(float x) { return static_cast<float>(stated::exp(x)); }
float softplus(float x) { return x > 20 ? x : static_cast<float>(stated::log1p(exponential(x))); }

std::vector<double> read_selective(LayerReader& layer) {
  const auto steps = layer.reals("dt", {layer.actions, layer.n});
  const auto logarithms = layer.reals("A_log", {layer.n});
  const auto added = layer.reals("B", {layer.actions, layer.n, 1});
  const auto is_signed = layer.values<std::uint8_t>("signed", {layer.n});
  std::vector<double> a = layer.dense();
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const std::uint64_t action = at / layer.n, i = at % layer.n;
    const float step = softplus(static_cast<float>(steps[at]));
    const float decay = exponential(-step * exponential(static_cast<float>(logarithms[i])));
    a[layer.index(action, i, i)] = is_signed[i] != 0 ? 2 * decay - 1 : decay;
    layer.b.push_back(step * static_cast<float>(added[at]));
  }
  return a;
}

// ---- The families

struct Family {
  std::string name;
  std::vector<std::string> constructions;
  const char* tensor;  ///< one that every layer has,
  std::size_t axis;    ///< and its axis of actions
  Write write;
  Read read;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"bilinear", {"bilinear"}, "W", 2, write_bilinear, read_bilinear},
      {"bilinear-cp", {"factored"}, "P", 0, write_factors, read_factors},
      {"bilinear-block", {"block-diagonal"}, "W.0", 2, write_blocks, read_blocks},
      {"bilinear-r2", {"r2"}, "R", 0, write_planes, read_planes},
      {"pd-ssm", {"one-hot"}, "P", 0, write_column_one_hot, read_column_one_hot},
      {"mamba", {"diagonal-unit-interval", "diagonal-signed"}, "dt", 0, write_selective, read_selective},
      {"fan", {"block-diagonal", "one-hot"}, "V.0", 0, write_normalised_blocks, read_normalised_blocks}};
  return all;
}

const Family& family_of(std::string_view name) {
  for (const Family& family : families())
    if (family.name == name) return family;
  throw InputError(fmt::format("\"{}\" is not one of {}", name, fmt::join(recurrence_families(), ", ")));
}

/// How many matrices the layer has, when that many of dimension n can be held.
std::uint64_t actions_of(const TensorReader& reader, const Family& family, const std::string& at, std::uint64_t n) {
  const Shape& shape = reader.shape(at + family.tensor);
  if (shape.size() <= family.axis)
    throw InputError(fmt::format("tensor \"{}{}\" has {}", at, family.tensor, counted(shape.size(), "dimension")));
  const std::uint64_t actions = shape[family.axis];
  if (n > kMaxDenseNumbers / n || actions > kMaxDenseNumbers / (n * n))
    throw InputError(
        fmt::format("{} matrices of dimension {} are past the limit of {} numbers", actions, n, kMaxDenseNumbers));
  return actions;
}

/// The network file of the parameters' matrices, and nothing of the parameters.
TensorFile network_file_of(const TensorFile& file, const Family& family) {
  TensorFile network = file;
  network.metadata.erase("family");
  network.metadata["format"] = "krohn.network";
  TensorReader reader(file);
  const auto layers = file.metadata.find("layers");
  if (layers == file.metadata.end()) throw InputError("the metadata lack \"layers\"");
  const std::size_t count = StrictJson::parse(layers->second, "metadata \"layers\"").items().size();
  for (std::size_t k = 0; k < count; ++k) {
    const std::string at = prefix_of(k);
    const Shape& state = reader.shape(at + "H0");
    if (state.size() != 2 || state[0] == 0) throw InputError(fmt::format("tensor \"{}H0\" is not a matrix", at));
    const std::uint64_t n = state[0], actions = actions_of(reader, family, at, n);
    LayerReader layer{reader, at, actions, n, {}, {}};
    const std::vector<double> a = family.read(layer);
    for (const std::string& name : layer.taken) network.tensors.erase(name);
    network.tensors[at + "structured.dense"] = make_real_tensor(a, {actions, n, n});
    network.tensors[at + "form"] = make_tensor(std::vector<std::uint8_t>(actions, 0), {actions});
    if (layer.b.empty()) continue;
    network.tensors[at + "B.given"] = make_tensor(std::vector<std::uint8_t>(actions, 1), {actions});
    network.tensors[at + "B"] = make_real_tensor(layer.b, {actions, n, 1});
  }
  return network;
}

void write_layer(TensorFile& file, const Family& family, std::size_t k, const Layer& layer) {
  try {
    family.write(file, prefix_of(k), layer);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} cannot hold layer {} of this network: {}", family.name, k + 1, error.what()));
  }
}

TensorFile parameters_read(const TensorFile& file, const std::string& family, const std::string& where) {
  try {
    return network_file_of(file, family_of(family));
  } catch (const InputError& error) {
    throw InputError(where, error.what());
  }
}

/// All matrices are dense for a reader.
void name_forms(TensorFile& file) {
  json layers = json::parse(file.metadata.at("layers"));
  for (json& layer : layers) layer["forms"] = {"dense"};
  file.metadata["layers"] = layers.dump();
}

}  // namespace

const std::vector<std::string>& recurrence_families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Family& family : families()) all.push_back(family.name);
    return all;
  }();
  return names;
}

std::vector<std::string> constructions_for(std::string_view family) { return family_of(family).constructions; }

TensorFile to_recurrence(const Network& network, const std::string& family) {
  const FloatEnvironment environment;
  if (network.automaton.letters() == 0)
    throw InputError(
        fmt::format("the language has no letters, and the parameters of {} are those of letters; name some "
                    "with --alphabet",
                    family));
  require_linear(network, "a layer of this architecture");
  TensorFile file = to_tensors(network);
  std::erase_if(file.tensors, [](const auto& entry) {
    const std::string& name = entry.first;
    return name.find(".structured.") != std::string::npos || name.ends_with(".form") || name.ends_with(".A");
  });
  file.metadata["format"] = kFormat;
  file.metadata["family"] = family;
  name_forms(file);
  for (std::size_t k = 0; k < network.layers.size(); ++k) write_layer(file, family_of(family), k, network.layers[k]);
  return file;
}

bool is_recurrence(const TensorFile& file) { return file.text("format") == kFormat; }

Network from_recurrence(const TensorFile& file, const std::string& where) {
  const FloatEnvironment environment;
  const auto name = file.metadata.find("family");
  if (!is_recurrence(file) || name == file.metadata.end())
    throw InputError(where, "the metadata do not name the family of a krohn.recurrence");
  return from_tensors(parameters_read(file, name->second, where), where);
}

}  // namespace krohn
