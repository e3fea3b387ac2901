#include "krohn/constructions/files/network_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/constructions/network/matrix.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"

namespace krohn {

// The structured forms of a layer's matrices as tensors; names and shapes are in
// docs/reference/network-file.md.

namespace {

using Offsets = std::vector<std::uint64_t>;
using Supports = std::vector<std::vector<std::uint32_t>>;

/// Lists laid end to end.
template <class T>
struct Lists {
  Offsets offsets{0};
  std::vector<T> values;

  template <class Range>
  void append(const Range& range) {
    values.insert(values.end(), range.begin(), range.end());
    close();
  }
  void close() { offsets.push_back(values.size()); }

  void add_to(TensorFile& file, const std::string& name) const {
    file.tensors[name] = make_tensor(values, {values.size()});
    file.tensors[name + ".offsets"] = make_tensor(offsets, {offsets.size()});
  }
};

/// Cuts one tensor into `count` lists.
template <class T>
std::vector<std::vector<T>> read_lists(TensorReader& reader, const std::string& name, std::uint64_t count) {
  const std::vector<T> values = reader.values<T>(name, {kAnyExtent});
  const Offsets offsets = reader.offsets(name + ".offsets", count, values.size());
  std::vector<std::vector<T>> lists;
  for (std::uint64_t i = 0; i < count; ++i)
    lists.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
                       values.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]));
  return lists;
}

void append_row_major(std::vector<double>& values, const Eigen::MatrixXd& matrix) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) values.push_back(matrix(i, j));
}

/// n×n from row-major numbers that were checked to be there.
Eigen::MatrixXd square(const double* values, std::uint64_t n) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto size = static_cast<Eigen::Index>(n);
  return Eigen::Map<const RowMajor>(values, size, size);
}

// ---- One codec per form: `add` writes all matrices of the form, `read` gives them back.

template <class Form>
using Pointers = std::vector<const Form*>;

void add(TensorFile& file, const std::string& at, const Pointers<MapMatrix>& matrices) {
  std::vector<std::uint32_t> images;
  for (const MapMatrix* m : matrices) images.insert(images.end(), m->map.images().begin(), m->map.images().end());
  file.tensors[at + ".map"] = make_tensor(images, {matrices.size(), matrices.front()->map.degree()});
}

std::vector<Matrix> read_maps(TensorReader& reader, const std::string& at, std::uint64_t count, std::uint32_t n) {
  const auto images = reader.values<std::uint32_t>(at + ".map", {count, n});
  std::vector<Matrix> result;
  for (auto row = images.begin(); result.size() < count; row += n)
    result.push_back(MapMatrix{Transformation::from_images({row, row + n})});
  return result;
}

void add(TensorFile& file, const std::string& at, const Pointers<SignedPermutationMatrix>& matrices) {
  std::vector<std::uint32_t> images;
  std::vector<std::int8_t> signs;
  for (const SignedPermutationMatrix* m : matrices) {
    images.insert(images.end(), m->map.images().begin(), m->map.images().end());
    signs.insert(signs.end(), m->sign.begin(), m->sign.end());
  }
  const Shape shape{matrices.size(), matrices.front()->map.degree()};
  file.tensors[at + ".signed.map"] = make_tensor(images, shape);
  file.tensors[at + ".signed.sign"] = make_tensor(signs, shape);
}

std::vector<Matrix> read_signed(TensorReader& reader, const std::string& at, std::uint64_t count, std::uint32_t n) {
  const auto images = reader.values<std::uint32_t>(at + ".signed.map", {count, n});
  const auto signs = reader.values<std::int8_t>(at + ".signed.sign", {count, n});
  std::vector<Matrix> result;
  auto sign = signs.begin();
  for (auto row = images.begin(); result.size() < count; row += n, sign += n)
    result.push_back(SignedPermutationMatrix{Permutation::from_images({row, row + n}), {sign, sign + n}});
  return result;
}

void add(TensorFile& file, const std::string& at, const Pointers<ReflectionProduct>& matrices) {
  Offsets factors{0};
  Lists<std::uint32_t> positions;
  std::vector<std::int32_t> values;
  std::vector<std::int64_t> scales, angles;
  std::vector<std::uint32_t> planes;
  std::vector<double> betas;
  for (const ReflectionProduct* product : matrices) {
    for (const Reflection& r : product->factors) {
      for (const Reflection::Entry& entry : r.entries) {
        positions.values.push_back(entry.position);
        values.push_back(entry.value);
      }
      positions.close();
      scales.insert(scales.end(), {r.scale_squared_numerator, r.scale_squared_denominator});
      angles.insert(angles.end(), {r.angle.numerator, r.angle.denominator});
      planes.push_back(r.plane);
      betas.push_back(r.beta);
    }
    factors.push_back(betas.size());
  }
  const std::uint64_t count = betas.size();
  const std::string here = at + ".reflections";
  file.tensors[here + ".offsets"] = make_tensor(factors, {factors.size()});
  positions.add_to(file, here + ".position");
  file.tensors[here + ".value"] = make_tensor(values, {values.size()});
  file.tensors[here + ".scale_squared"] = make_tensor(scales, {count, 2});
  file.tensors[here + ".angle"] = make_tensor(angles, {count, 2});
  file.tensors[here + ".plane"] = make_tensor(planes, {count});
  file.tensors[here + ".beta"] = make_real_tensor(betas, {count});
}

std::vector<Reflection> read_factors(TensorReader& reader, const std::string& here) {
  const std::vector<double> betas = reader.reals(here + ".beta", {kAnyExtent});
  const std::uint64_t count = betas.size();
  const auto positions = read_lists<std::uint32_t>(reader, here + ".position", count);
  const auto values = reader.values<std::int32_t>(here + ".value", reader.shape(here + ".position"));
  const auto scales = reader.values<std::int64_t>(here + ".scale_squared", {count, 2});
  const auto angles = reader.values<std::int64_t>(here + ".angle", {count, 2});
  const auto planes = reader.values<std::uint32_t>(here + ".plane", {count});
  std::vector<Reflection> factors(count);
  auto value = values.begin();
  for (std::size_t i = 0; i < count; ++i) {
    Reflection& r = factors[i];
    for (const std::uint32_t position : positions[i]) r.entries.push_back({position, *value++});
    r.scale_squared_numerator = scales[2 * i];
    r.scale_squared_denominator = scales[2 * i + 1];
    r.plane = planes[i];
    r.angle = {angles[2 * i], angles[2 * i + 1]};
    r.beta = betas[i];
  }
  return factors;
}

std::vector<Matrix> read_reflections(TensorReader& reader, const std::string& at, std::uint64_t count,
                                     std::uint32_t n) {
  const std::vector<Reflection> factors = read_factors(reader, at + ".reflections");
  const Offsets offsets = reader.offsets(at + ".reflections.offsets", count, factors.size());
  std::vector<Matrix> result;
  for (std::uint64_t i = 0; i < count; ++i)
    result.push_back(ReflectionProduct{n,
                                       {factors.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
                                        factors.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1])}});
  return result;
}

void add(TensorFile& file, const std::string& at, const Pointers<RotationBlocks>& matrices) {
  Offsets offsets{0};
  std::vector<std::uint8_t> is_sign;
  std::vector<std::int64_t> turns;
  for (const RotationBlocks* m : matrices) {
    for (const RotationBlocks::Block& block : m->blocks) {
      is_sign.push_back(block.is_sign ? 1 : 0);
      turns.insert(turns.end(), {block.turn.numerator, block.turn.denominator});
    }
    offsets.push_back(is_sign.size());
  }
  file.tensors[at + ".rotation.offsets"] = make_tensor(offsets, {offsets.size()});
  file.tensors[at + ".rotation.is_sign"] = make_tensor(is_sign, {is_sign.size()});
  file.tensors[at + ".rotation.turn"] = make_tensor(turns, {is_sign.size(), 2});
}

std::vector<Matrix> read_rotations(TensorReader& reader, const std::string& at, std::uint64_t count, std::uint32_t) {
  const std::string here = at + ".rotation";
  const auto is_sign = reader.values<std::uint8_t>(here + ".is_sign", {kAnyExtent});
  const auto turns = reader.values<std::int64_t>(here + ".turn", {is_sign.size(), 2});
  const Offsets offsets = reader.offsets(here + ".offsets", count, is_sign.size());
  if (std::any_of(is_sign.begin(), is_sign.end(), [](std::uint8_t flag) { return flag > 1; }))
    throw InputError(fmt::format("tensor \"{}.is_sign\" holds a number other than 0 and 1", here));
  std::vector<Matrix> result;
  for (std::uint64_t i = 0; i < count; ++i) {
    RotationBlocks m;
    for (std::uint64_t b = offsets[i]; b < offsets[i + 1]; ++b)
      m.blocks.push_back({is_sign[b] == 1, {turns[2 * b], turns[2 * b + 1]}});
    result.push_back(std::move(m));
  }
  return result;
}

void add(TensorFile& file, const std::string& at, const Pointers<DiagonalMatrix>& matrices) {
  std::vector<double> values;
  for (const DiagonalMatrix* m : matrices) values.insert(values.end(), m->values.begin(), m->values.end());
  file.tensors[at + ".diagonal"] = make_real_tensor(values, {matrices.size(), matrices.front()->values.size()});
}

std::vector<Matrix> read_diagonals(TensorReader& reader, const std::string& at, std::uint64_t count, std::uint32_t n) {
  const std::vector<double> values = reader.reals(at + ".diagonal", {count, n});
  std::vector<Matrix> result;
  for (auto row = values.begin(); result.size() < count; row += n) result.push_back(DiagonalMatrix{{row, row + n}});
  return result;
}

/// A zero matrix is all in its form and dimension.
void add(TensorFile&, const std::string&, const Pointers<ZeroMatrix>&) {}

std::vector<Matrix> read_zeros(TensorReader&, const std::string&, std::uint64_t count, std::uint32_t n) {
  return std::vector<Matrix>(count, ZeroMatrix{n});
}

void add(TensorFile& file, const std::string& at, const Pointers<DenseMatrix>& matrices) {
  std::vector<double> values;
  for (const DenseMatrix* m : matrices) append_row_major(values, m->values);
  const auto n = static_cast<std::uint64_t>(matrices.front()->values.rows());
  file.tensors[at + ".dense"] = make_real_tensor(values, {matrices.size(), n, n});
}

std::vector<Matrix> read_dense(TensorReader& reader, const std::string& at, std::uint64_t count, std::uint32_t n) {
  const std::vector<double> values = reader.reals(at + ".dense", {count, n, n});
  std::vector<Matrix> result;
  for (const double* first = values.data(); result.size() < count; first += std::uint64_t{n} * n)
    result.push_back(DenseMatrix{square(first, n)});
  return result;
}

void add(TensorFile& file, const std::string& at, const Pointers<BlockDiagonalMatrix>& matrices) {
  Lists<std::uint32_t> sizes;
  std::vector<double> values;
  for (const BlockDiagonalMatrix* m : matrices) {
    for (const Eigen::MatrixXd& block : m->blocks) {
      sizes.values.push_back(static_cast<std::uint32_t>(block.rows()));
      append_row_major(values, block);
    }
    sizes.close();
  }
  sizes.add_to(file, at + ".blocks.size");
  file.tensors[at + ".blocks.values"] = make_real_tensor(values, {values.size()});
}

std::vector<Matrix> read_blocks(TensorReader& reader, const std::string& at, std::uint64_t count, std::uint32_t) {
  const auto sizes = read_lists<std::uint32_t>(reader, at + ".blocks.size", count);
  const std::vector<double> values = reader.reals(at + ".blocks.values", {kAnyExtent});
  std::uint64_t used = 0;
  std::vector<Matrix> result;
  for (const std::vector<std::uint32_t>& blocks : sizes) {
    BlockDiagonalMatrix m;
    for (const std::uint64_t size : blocks) {
      if (size * size > values.size() - used)
        throw InputError(fmt::format("tensor \"{}.blocks.values\" is too short for its blocks", at));
      m.blocks.push_back(square(values.data() + used, size));
      used += size * size;
    }
    result.push_back(std::move(m));
  }
  if (used != values.size())
    throw InputError(fmt::format("tensor \"{}.blocks.values\" is too long for its blocks", at));
  return result;
}

void add(TensorFile& file, const std::string& at, const Pointers<FactoredMatrix>& matrices) {
  Offsets terms{0};
  Lists<std::uint32_t> outputs, inputs, gates;
  for (const FactoredMatrix* m : matrices) {
    for (const auto& support : m->outputs) outputs.append(support);
    for (const auto& support : m->inputs) inputs.append(support);
    terms.push_back(terms.back() + m->outputs.size());
    gates.append(m->gate);
  }
  file.tensors[at + ".factored.offsets"] = make_tensor(terms, {terms.size()});
  outputs.add_to(file, at + ".factored.output");
  inputs.add_to(file, at + ".factored.input");
  gates.add_to(file, at + ".factored.gate");
}

std::vector<Matrix> read_factored(TensorReader& reader, const std::string& at, std::uint64_t count, std::uint32_t n) {
  const std::string here = at + ".factored";
  const auto gates = read_lists<std::uint32_t>(reader, here + ".gate", count);
  const Shape& bounds = reader.shape(here + ".output.offsets");
  const std::uint64_t total = bounds.size() == 1 && bounds[0] > 0 ? bounds[0] - 1 : 0;
  const auto outputs = read_lists<std::uint32_t>(reader, here + ".output", total);
  const auto inputs = read_lists<std::uint32_t>(reader, here + ".input", total);
  const Offsets terms = reader.offsets(here + ".offsets", count, total);
  std::vector<Matrix> result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(terms[i]), last = static_cast<std::ptrdiff_t>(terms[i + 1]);
    result.push_back(FactoredMatrix{n, Supports(outputs.begin() + first, outputs.begin() + last),
                                    Supports(inputs.begin() + first, inputs.begin() + last), gates[i]});
  }
  return result;
}

// ---- All forms, in the order of the variant.

template <std::size_t Form>
void add_form(TensorFile& file, const std::string& at, const std::vector<const Matrix*>& matrices) {
  Pointers<std::variant_alternative_t<Form, Matrix>> chosen;
  for (const Matrix* m : matrices)
    if (const auto* form = std::get_if<Form>(m)) chosen.push_back(form);
  add(file, at, chosen);
}

struct Codec {
  void (*add)(TensorFile&, const std::string&, const std::vector<const Matrix*>&);
  std::vector<Matrix> (*read)(TensorReader&, const std::string&, std::uint64_t count, std::uint32_t n);
  Matrix example;  ///< gives the name
};

const std::array<Codec, std::variant_size_v<Matrix>>& codecs() {
  static const std::array<Codec, std::variant_size_v<Matrix>> all{{
      {add_form<0>, read_maps, MapMatrix{}},
      {add_form<1>, read_signed, SignedPermutationMatrix{}},
      {add_form<2>, read_reflections, ReflectionProduct{}},
      {add_form<3>, read_rotations, RotationBlocks{}},
      {add_form<4>, read_diagonals, DiagonalMatrix{}},
      {add_form<5>, read_zeros, ZeroMatrix{}},
      {add_form<6>, read_dense, DenseMatrix{}},
      {add_form<7>, read_blocks, BlockDiagonalMatrix{}},
      {add_form<8>, read_factored, FactoredMatrix{}},
  }};
  return all;
}

const Codec& codec_named(const std::string& form) {
  for (const Codec& codec : codecs())
    if (form_name(codec.example) == form) return codec;
  throw InputError(fmt::format("unknown form of matrix \"{}\"", form));
}

/// Adds `PREFIX.form` and `PREFIX.structured.*`: the matrices of each form lie one after the other, in the order of the
/// actions. Returns the names of the forms that occur, which `PREFIX.form` counts through.
std::vector<std::string> add_structured(TensorFile& file, const std::string& prefix,
                                        const std::vector<const Matrix*>& matrices) {
  std::vector<std::string> forms;
  std::vector<std::uint8_t> codes;
  for (std::size_t index = 0; index < codecs().size(); ++index) {
    const auto has_form = [index](const Matrix* m) { return m->index() == index; };
    if (std::none_of(matrices.begin(), matrices.end(), has_form)) continue;
    codecs()[index].add(file, prefix + ".structured", matrices);
    forms.push_back(form_name(codecs()[index].example));
  }
  for (const Matrix* m : matrices)
    codes.push_back(static_cast<std::uint8_t>(std::find(forms.begin(), forms.end(), form_name(*m)) - forms.begin()));
  file.tensors[prefix + ".form"] = make_tensor(codes, {codes.size()});
  return forms;
}

/// The inverse, for matrices of dimension n, which is not trusted: nothing is allocated from it. The result is not
/// validated beyond what it takes to build it. Throws InputError naming the tensor.
std::vector<Matrix> read_structured(TensorReader& reader, const std::string& prefix,
                                    const std::vector<std::string>& forms, std::uint32_t n) {
  const auto codes = reader.values<std::uint8_t>(prefix + ".form", {kAnyExtent});
  std::vector<std::vector<Matrix>> by_form;
  // Canonical weights are the bytes of the file: what can be said in one way is said in that.
  for (std::size_t form = 1; form < forms.size(); ++form)
    if (&codec_named(forms[form]) <= &codec_named(forms[form - 1]))
      throw InputError(fmt::format("the forms of \"{}\" repeat a name, or are in another order than that of {}", prefix,
                                   "docs/reference/network-file.md"));
  for (const std::uint8_t code : codes)
    if (code >= forms.size())
      throw InputError(fmt::format("\"{}.form\" holds {}; {} forms are named", prefix, code, forms.size()));
  for (std::size_t form = 0; form < forms.size(); ++form) {
    const auto count = static_cast<std::uint64_t>(std::count(codes.begin(), codes.end(), form));
    if (count == 0) throw InputError(fmt::format("\"{}.form\" never uses the form \"{}\"", prefix, forms[form]));
    by_form.push_back(codec_named(forms[form]).read(reader, prefix + ".structured", count, n));
  }
  std::vector<Matrix> result;
  std::vector<std::size_t> used(forms.size(), 0);
  for (const std::uint8_t code : codes) result.push_back(std::move(by_form[code][used[code]++]));
  return result;
}

using nlohmann::json;

constexpr const char* kFormat = "krohn.network";
constexpr const char* kVersion = "1";
constexpr const char* kSnapEvery = "snap_every";  ///< readers that do not know it must refuse: the network is another

std::string layer_prefix(std::size_t k) { return fmt::format("layers.{}", k); }

// ---- Writing

json alphabet_json(const Alphabet& alphabet) {
  json symbols = json::array();
  for (const Symbol& symbol : alphabet.symbols()) {
    json ranges = json::array();
    for (const CodePointRange& range : symbol.characters)
      ranges.push_back({static_cast<std::uint32_t>(range.first), static_cast<std::uint32_t>(range.last)});
    symbols.push_back({{"name", symbol.name}, {"characters", std::move(ranges)}});
  }
  return symbols;
}

void add_automaton(TensorFile& file, const Dfa& dfa) {
  file.metadata["automaton"] =
      json{{"alphabet", alphabet_json(dfa.alphabet())},
           {"initial", dfa.initial()},
           {"output_names", std::vector<std::string>(dfa.output_names().begin(), dfa.output_names().end())},
           {"state_names", std::vector<std::string>(dfa.state_names().begin(), dfa.state_names().end())}}
          .dump();
  file.tensors["automaton.table"] =
      make_tensor(std::vector<std::uint32_t>(dfa.table().begin(), dfa.table().end()), {dfa.states(), dfa.letters()});
  file.tensors["automaton.outputs"] =
      make_tensor(std::vector<std::uint32_t>(dfa.outputs().begin(), dfa.outputs().end()), {dfa.states()});
}

/// `count` matrices n×d, one after the other, each row by row.
Tensor stacked(std::size_t count, const Layer& layer, const std::vector<const Eigen::MatrixXd*>& matrices) {
  std::vector<double> values;
  for (const Eigen::MatrixXd* m : matrices)
    for (Eigen::Index i = 0; i < Eigen::Index{layer.dimension}; ++i)
      for (Eigen::Index j = 0; j < Eigen::Index{layer.columns}; ++j) values.push_back(m->size() == 0 ? 0 : (*m)(i, j));
  return make_real_tensor(values, {count, layer.dimension, layer.columns});
}

/// B of all actions and which of them have one, unless none has.
void add_offsets(TensorFile& file, const std::string& prefix, const Layer& layer) {
  std::vector<const Eigen::MatrixXd*> b;
  std::vector<std::uint8_t> given;
  for (const Transition& transition : layer.transitions) {
    b.push_back(&transition.b);
    given.push_back(transition.b.size() != 0);
  }
  if (std::find(given.begin(), given.end(), 1) == given.end()) return;
  file.tensors[prefix + ".B"] = stacked(b.size(), layer, b);
  file.tensors[prefix + ".B.given"] = make_tensor(given, {given.size()});
}

void add_dense(TensorFile& file, const std::string& prefix, const Layer& layer) {
  std::vector<double> values;
  for (const Transition& transition : layer.transitions) {
    const LongMatrix a = to_dense(transition.a);
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      for (Eigen::Index j = 0; j < a.cols(); ++j) values.push_back(static_cast<double>(a(i, j)));
  }
  file.tensors[prefix + ".A"] = make_real_tensor(values, {layer.transitions.size(), layer.dimension, layer.dimension});
}

void add_decoder(TensorFile& file, const std::string& prefix, const Layer& layer) {
  const Decoder& decoder = layer.decoder;
  if (decoder.unit_copies > 0) return;
  std::vector<const Eigen::MatrixXd*> codewords;
  for (const Eigen::MatrixXd& word : decoder.codewords) codewords.push_back(&word);
  file.tensors[prefix + ".codewords"] = stacked(codewords.size(), layer, codewords);
  if (!decoder.label_of.empty())
    file.tensors[prefix + ".codewords.label"] = make_tensor(decoder.label_of, {decoder.label_of.size()});
  if (!decoder.book.empty())
    file.tensors[prefix + ".codewords.book"] = make_tensor(decoder.book, {decoder.book.size()});
}

void add_wiring(TensorFile& file, const std::string& prefix, const Layer& layer, bool last) {
  const std::uint64_t contexts = layer.wiring.action_of.size();
  file.tensors[prefix + ".action_of"] = make_tensor(layer.wiring.action_of, {contexts});
  if (!last) file.tensors[prefix + ".next"] = make_tensor(layer.wiring.next, {contexts, layer.labels});
  if (!layer.book_of_context.empty())
    file.tensors[prefix + ".book_of_context"] = make_tensor(layer.book_of_context, {contexts});
}

/// Adds the tensors of one layer; what its metadata say.
json add_layer(TensorFile& file, std::size_t k, const Layer& layer, bool last, bool dense) {
  const std::string prefix = layer_prefix(k);
  std::vector<const Matrix*> matrices;
  for (const Transition& transition : layer.transitions) matrices.push_back(&transition.a);
  const std::vector<std::string> forms = add_structured(file, prefix, matrices);
  if (dense) add_dense(file, prefix, layer);
  add_offsets(file, prefix, layer);
  file.tensors[prefix + ".H0"] = stacked(1, layer, {&layer.initial});
  file.tensors[prefix + ".H0"].shape.erase(file.tensors[prefix + ".H0"].shape.begin());
  add_decoder(file, prefix, layer);
  add_wiring(file, prefix, layer, last);
  return {{"dimension", layer.dimension},
          {"columns", layer.columns},
          {"labels", layer.labels},
          {"initial_label", layer.initial_label},
          {"unit_copies", layer.decoder.unit_copies},
          {"forms", forms}};
}

std::uint64_t dense_numbers(const Network& network) {
  std::uint64_t numbers = 0;
  for (const Layer& layer : network.layers)
    numbers += layer.transitions.size() * std::uint64_t{layer.dimension} * layer.dimension;
  return numbers;
}

void add_weights(TensorFile& file, const Network& network, bool dense) {
  json layers = json::array();
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const bool last = k + 1 == network.layers.size();
    layers.push_back(add_layer(file, k, network.layers[k], last, dense));
    const std::vector<Context>& readout = network.readout.next[k];
    file.tensors[fmt::format("readout.{}", k)] =
        make_tensor(readout, {readout.size() / network.layers[k].labels, network.layers[k].labels});
  }
  file.metadata["layers"] = layers.dump();
  if (network.snap_every > 0) file.metadata[kSnapEvery] = std::to_string(network.snap_every);
}

TensorFile to_tensors_unguarded(const Network& network) {
  TensorFile file;
  file.metadata["format"] = kFormat;
  file.metadata["version"] = kVersion;
  add_automaton(file, network.automaton);
  add_weights(file, network, dense_numbers(network) <= kMaxDenseNumbers);
  const Provenance& from = network.provenance;
  file.metadata["provenance"] = json{
      {"construction", from.construction},
      {"source", from.source},
      {"theorem", from.theorem},
      {"note", from.note}}.dump();
  return file;
}

template <class Write>
decltype(auto) with_valid_text(Write&& write) {
  try {
    return write();
  } catch (const json::exception&) {
    throw InputError("the provenance or the automaton holds text that is not valid UTF-8");
  }
}

// ---- Reading

const std::string& metadata(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw InputError(fmt::format("the metadata lack \"{}\"", key));
  return found->second;
}

void require_format(const TensorFile& file) {
  if (file.text("format") == "krohn.model")
    throw InputError(
        "the parameters of a trained model, not a network; `krohn verify`, `eval`, `extract`, `snap` and `compare` "
        "take "
        "them or the folder that they are in");
  if (file.text("format") != kFormat)
    throw InputError(
        "not a network of krohn: the metadata do not say \"format\": \"krohn.network\"; `krohn import` takes in the "
        "weights of a model trained elsewhere");
  if (metadata(file, "version") != kVersion)
    throw InputError(fmt::format("format version {}; this program reads version {}",
                                 in_quotes(metadata(file, "version")), kVersion));
  for (const auto& [key, value] : file.metadata)
    if (key != "format" && key != "version" && key != "automaton" && key != "layers" && key != "provenance" &&
        key != kSnapEvery)
      throw InputError("the metadata have the unknown key " + in_quotes(key));
}

Symbol read_symbol(const StrictJson& description) {
  description.require_keys({"name", "characters"});
  Symbol symbol{description["name"].text(), {}};
  for (const StrictJson& range : description["characters"].items()) {
    const std::vector<StrictJson> ends = range.items();
    if (ends.size() != 2)
      throw InputError(fmt::format("symbol {} has a range without two ends", in_quotes(symbol.name)));
    symbol.characters.push_back({static_cast<char32_t>(ends[0].number()), static_cast<char32_t>(ends[1].number())});
  }
  return symbol;
}

Dfa read_automaton(const TensorFile& file, TensorReader& reader) {
  const StrictJson description = StrictJson::parse(metadata(file, "automaton"), "metadata \"automaton\"");
  description.require_keys({"alphabet", "initial", "output_names", "state_names"});
  std::vector<Symbol> symbols;
  for (const StrictJson& symbol : description["alphabet"].items()) symbols.push_back(read_symbol(symbol));
  Alphabet alphabet = Alphabet::from_symbols(symbols);
  if (!std::ranges::equal(alphabet.symbols(), symbols))
    throw InputError("metadata \"automaton\": characters have to be increasing ranges with gaps between them");
  std::vector<Output> outputs = reader.values<std::uint32_t>("automaton.outputs", {kAnyExtent});
  std::vector<State> table = reader.values<std::uint32_t>("automaton.table", {outputs.size(), alphabet.size()});
  return Dfa::moore(std::move(alphabet), std::move(table), description["initial"].number(), std::move(outputs),
                    description["output_names"].texts())
      .with_state_names(description["state_names"].texts());
}

/// The inverse of `stacked`.
std::vector<Eigen::MatrixXd> unstacked(const std::vector<double>& values, std::size_t count, const Layer& layer) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = Eigen::Index{layer.dimension}, columns = Eigen::Index{layer.columns};
  std::vector<Eigen::MatrixXd> result;
  for (const double* at = values.data(); result.size() < count; at += rows * columns)
    result.emplace_back(Eigen::Map<const RowMajor>(at, rows, columns));
  return result;
}

void read_offsets(TensorReader& reader, const std::string& prefix, Layer& layer) {
  const std::size_t actions = layer.transitions.size();
  if (!reader.has(prefix + ".B")) return;
  const auto b = unstacked(reader.reals(prefix + ".B", {actions, layer.dimension, layer.columns}), actions, layer);
  const auto given = reader.values<std::uint8_t>(prefix + ".B.given", {actions});
  for (std::size_t action = 0; action < actions; ++action) {
    // +0, bit for bit: canonical weights are the bytes of the file.
    const auto numbers = b[action].reshaped();
    const bool is_nothing =
        std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0 && !std::signbit(x); });
    if (given[action] > 1 || (given[action] == 0 && !is_nothing))
      throw InputError(fmt::format("tensor \"{}.B.given\" does not fit B of action {}", prefix, action));
    if (given[action] == 1) layer.transitions[action].b = b[action];
  }
  if (std::ranges::count(given, 1) == 0)
    throw InputError(fmt::format("tensor \"{}.B.given\" gives no action a B; leave both tensors out", prefix));
}

void read_decoder(TensorReader& reader, const std::string& prefix, Layer& layer) {
  if (layer.decoder.unit_copies > 0) return;
  const std::vector<double> values = reader.reals(prefix + ".codewords", {kAnyExtent, layer.dimension, layer.columns});
  const std::uint64_t count = reader.shape(prefix + ".codewords")[0];
  layer.decoder.codewords = unstacked(values, count, layer);
  layer.decoder.label_of = reader.optional_values<std::uint32_t>(prefix + ".codewords.label", {count});
  layer.decoder.book = reader.optional_values<std::uint32_t>(prefix + ".codewords.book", {count});
}

void read_wiring(TensorReader& reader, const std::string& prefix, Layer& layer, bool last) {
  layer.wiring.action_of = reader.values<std::uint32_t>(prefix + ".action_of", {kAnyExtent});
  const std::uint64_t contexts = layer.wiring.action_of.size();
  if (!last) layer.wiring.next = reader.values<std::uint32_t>(prefix + ".next", {contexts, layer.labels});
  layer.book_of_context = reader.optional_values<std::uint32_t>(prefix + ".book_of_context", {contexts});
}

Layer read_layer(TensorReader& reader, const std::string& prefix, const StrictJson& description, bool last) {
  description.require_keys({"dimension", "columns", "labels", "initial_label", "unit_copies", "forms"});
  Layer layer;
  layer.dimension = description["dimension"].number();
  layer.columns = description["columns"].number();
  layer.labels = description["labels"].number();
  layer.initial_label = description["initial_label"].number();
  layer.decoder.unit_copies = description["unit_copies"].number();
  if (layer.dimension == 0 || layer.columns == 0)
    throw InputError(fmt::format("\"{}\" has a state of {}×{} numbers", prefix, layer.dimension, layer.columns));
  // First the one tensor whose size is that of the state, so that no dimension is believed that the file cannot back.
  layer.initial = unstacked(reader.reals(prefix + ".H0", {layer.dimension, layer.columns}), 1, layer).front();
  for (Matrix& a : read_structured(reader, prefix, description["forms"].texts(), layer.dimension))
    layer.transitions.push_back({std::move(a), {}});
  read_offsets(reader, prefix, layer);
  read_decoder(reader, prefix, layer);
  read_wiring(reader, prefix, layer, last);
  return layer;
}

/// The dense forms, when the file has them, must be those of the structured forms, to the last bit: a reader of the one
/// and a proof about the other must not speak of two networks. Needs a validated network.
void check_dense(const Network& network, const TensorFile& file) {
  TensorReader reader(file);
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const std::string name = layer_prefix(k) + ".A";
    if (!reader.has(name)) continue;
    const Layer& layer = network.layers[k];
    const auto stored = reader.reals(name, {layer.transitions.size(), layer.dimension, layer.dimension});
    std::size_t at = 0;
    for (std::size_t action = 0; action < layer.transitions.size(); ++action) {
      const LongMatrix a = to_dense(layer.transitions[action].a);
      for (Eigen::Index i = 0; i < a.rows(); ++i)
        for (Eigen::Index j = 0; j < a.cols(); ++j, ++at)
          if (const auto derived = static_cast<double>(a(i, j)); stored[at] != derived)
            throw InputError(
                fmt::format("tensor \"{}\" has {} for action {}, row {}, column {}; its structured form gives {}. "
                            "Leave \"{}\" out, since it is derived, or store the action in the form \"dense\"",
                            name, stored[at], action, i, j, derived, name));
    }
  }
}

Provenance read_provenance(const TensorFile& file) {
  const StrictJson from = StrictJson::parse(metadata(file, "provenance"), "metadata \"provenance\"");
  from.require_keys({"construction", "source", "theorem", "note"});
  return {from["construction"].text(), from["source"].text(), from["theorem"].text(), from["note"].text()};
}

/// A decimal number without signs, spaces or leading zeros, at least 1; 0 when the file has none.
std::uint64_t read_snap_every(const TensorFile& file) {
  if (!file.metadata.contains(kSnapEvery)) return 0;
  const std::string text = file.text(kSnapEvery);
  const auto number = number_in<std::uint64_t>(text);
  if (!number || text[0] == '0')
    throw InputError(
        fmt::format("metadata \"{}\" is {}; it must be a number of letters, at least 1", kSnapEvery, in_quotes(text)));
  return *number;
}

Network read_network(const TensorFile& file) {
  require_format(file);
  TensorReader reader(file);
  Network network{read_automaton(file, reader), {}, {}, read_provenance(file), read_snap_every(file)};
  const std::vector<StrictJson> layers = StrictJson::parse(metadata(file, "layers"), "metadata \"layers\"").items();
  for (std::size_t k = 0; k < layers.size(); ++k) {
    network.layers.push_back(read_layer(reader, layer_prefix(k), layers[k], k + 1 == layers.size()));
    network.readout.next.push_back(
        reader.values<std::uint32_t>(fmt::format("readout.{}", k), {kAnyExtent, network.layers[k].labels}));
    reader.leave_for_later(layer_prefix(k) + ".A");
  }
  reader.require_all_taken();
  validate(network);
  check_dense(network, file);
  return network;
}

/// A network file, or one of another architecture's parameters.
Network from_either(const TensorFile& file, const std::string& where) {
  const FloatEnvironment environment;
  return is_recurrence(file) ? from_recurrence(file, where) : from_tensors(file, where);
}

}  // namespace

TensorFile to_tensors(const Network& network) {
  const FloatEnvironment environment;
  validate(network);
  return with_valid_text([&] { return to_tensors_unguarded(network); });
}

std::string canonical_weights(const Network& network) {
  const FloatEnvironment environment;
  validate(network);
  TensorFile file;
  add_weights(file, network, false);
  return format_safetensors(file);
}

std::string canonical_automaton(const Dfa& dfa) {
  TensorFile file;
  with_valid_text([&] { add_automaton(file, Dfa(dfa).with_state_names({})); });
  return format_safetensors(file);
}

Network from_tensors(const TensorFile& file, const std::string& where) {
  const FloatEnvironment environment;
  try {
    return read_network(file);
  } catch (const InputError& error) {
    throw InputError(where, error.what());
  }
}

void save_network(const Network& network, const std::string& path) { write_safetensors(to_tensors(network), path); }

Network load_network(const std::string& path) { return from_either(read_safetensors(path), path); }

Network parse_network(std::span<const std::byte> bytes, const std::string& where) {
  return from_either(parse_safetensors(bytes, where), where);
}

}  // namespace krohn
