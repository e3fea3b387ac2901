#include "krohn/constructions/files/matrix_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "krohn/groups/error.h"

namespace krohn {
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

}  // namespace

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

std::vector<Matrix> read_structured(TensorReader& reader, const std::string& prefix,
                                    const std::vector<std::string>& forms, std::uint32_t n) {
  const auto codes = reader.values<std::uint8_t>(prefix + ".form", {kAnyExtent});
  std::vector<std::vector<Matrix>> by_form;
  if (std::set<std::string>(forms.begin(), forms.end()).size() != forms.size())
    throw InputError(fmt::format("the forms of \"{}\" repeat a name", prefix));
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

}  // namespace krohn
