#include "krohn/simulate/learned/model_operations.h"

#include <fmt/format.h>

#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/learned/deterministic_cell.h"
#include "krohn/simulate/learned/deterministic_layers.h"
#include "krohn/simulate/learned/deterministic_mixer.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/prove/claims/operations_builder.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {
namespace {

using List = OperationsBuilder::List;

/// Writes the operations of one model; the functions are those of simulate/learned/deterministic_layers.h, and of
/// simulate/models/cells/ for cells.
class Writer {
 public:
  Writer(const TensorFile& tensors, Letter letters, Precision format) : tensors_(tensors), letters_(letters) {
    b_.operations.format = format;
  }

  void bilinear(const BilinearShape& shape) {
    const std::size_t hidden = shape.hidden, block = shape.block_size();
    const List memory = b_.memory(hidden), x = b_.row(tensor("embedding"), shape.inputs);
    const bool is_turned = shape.form == BilinearShape::Form::kRotations;
    List matrix = is_turned ? of_letter([&](auto zero, Letter letter) { return rotations(zero, shape, letter); })
                            : b_.product(x, tensor("weights"));
    if (shape.form == BilinearShape::Form::kFactored) {
      const std::size_t rank = matrix.size;
      const List scaled =
          b_.make("multiply", {hidden, rank}, {b_.view(tensor("left"), {rank, 1}), b_.view(matrix, {0, 1})});
      matrix = b_.make("dot", {hidden, hidden}, {b_.view(scaled, {rank, 0, 1}), b_.view(tensor("right"), {0, rank, 1})},
                       rank);
    }
    List next = b_.make("dot", {hidden / block, block},
                        {b_.view(matrix, {block * block, block, 1}), b_.view(memory, {block, 0, 1})}, block);
    List added = shape.bias ? tensor("bias") : b_.numbers({0}, hidden);
    if (shape.input_bias) added = b_.product(x, tensor("input_bias"), added);
    next = b_.each("add", next, added);
    const List readout = tensor("readout"),
               bias = shape.scale_free ? b_.numbers({0}, readout.size / hidden) : tensor("readout_bias");
    b_.operations.logits = b_.affine(next, readout, bias).number;
    start(tensor("initial"));
    keep(next);
  }

  void dense(const DenseShape& shape) {
    const std::size_t n = shape.size;
    const List memory = b_.memory(n * n), a = b_.row(tensor("matrices"), n * n);
    const List next = b_.make("dot", {n, n}, {b_.view(a, {n, 0, 1}), b_.view(memory, {0, 1, n})}, n);
    const List norm = b_.each("greater", b_.numbers({1}), b_.each("root", b_.squares(next, n * n)));
    b_.operations.logits = b_.product(b_.each("divide", next, norm), tensor("readout"), tensor("readout_bias")).number;
    std::vector<double> identity(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) identity[i * (n + 1)] = 1;
    start(b_.numbers(std::move(identity)));
    keep(next);
  }

  /// One layer of Fan et al.'s blocks, whose state is read out as it is.
  void blocks(const BlockShape& shape) {
    const std::size_t size = shape.size, width = shape.width(), count = shape.blocks;
    const std::string prefix = "layer0.mixer.";
    const List memory = b_.memory(width), looked = of_letter([&](auto zero, Letter letter) {
                                            const auto mixer = plain_mixer<decltype(zero)>(shape, tensors_, prefix);
                                            const auto embedding = plain_numbers<decltype(zero)>(tensors_, "embedding");
                                            return mixer->look(std::span(embedding).subspan(letter * width, width));
                                          });
    const List next = b_.make("dot", {count, size},
                              {b_.view(looked, {size * size, 1, size}), b_.view(memory, {size, 0, 1}),
                               b_.view(looked, {size, 1}, count * size * size)},
                              size);
    b_.operations.logits = b_.product(next, tensor("readout"), tensor("readout_bias")).number;
    start(tensor(prefix + "start"));
    keep(next);
  }

  /// Layers of reflections or of gates, with norms, residuals and MLPs.
  template <class Mixer>
  void stack(const StackedShape& shape, const Mixer& mixer) {
    const std::size_t own = kept_by(mixer);
    memory_ = b_.memory(shape.layers * own);
    List x = b_.row(tensor("embedding"), shape.width());
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const std::string prefix = fmt::format("layer{}.", i);
      x = mix(mixer, prefix + "mixer.", i * own, rms(x, tensor(prefix + "norm")), x);
      if (shape.mlp == 0) continue;
      const List hidden = b_.product(rms(x, tensor(prefix + "mlp.norm")), tensor(prefix + "mlp.in"));
      const List gate = silu(b_.part(hidden, 0, shape.mlp));
      x = b_.product(b_.each("multiply", gate, b_.part(hidden, shape.mlp, shape.mlp)), tensor(prefix + "mlp.out"), x);
    }
    b_.operations.logits = b_.product(rms(x, tensor("norm")), tensor("readout"), tensor("readout_bias")).number;
    start(b_.numbers({0}, memory_.size));
  }

  /// One step of every layer, as simulate/models/cells/ has it.
  void cells(const CellShape& shape) {
    const std::size_t hidden = shape.hidden, kept = find_cell<float>(shape.cell)->kept * hidden;
    memory_ = b_.memory(shape.layers * kept);
    List x;
    if (shape.inputs > 0) {
      x = b_.row(tensor("embedding.weight"), shape.inputs);
    } else {
      std::vector<double> ones(std::size_t{letters_} * letters_, 0);
      for (Letter letter = 0; letter < letters_; ++letter) ones[letter * (std::size_t{letters_} + 1)] = 1;
      x = b_.row(b_.numbers(std::move(ones)), letters_);
    }
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const auto affine = [&](List from, const char* weights, const char* bias) {
        const List rows = tensor(cell_tensor(weights, i));
        return shape.biased ? b_.affine(from, rows, tensor(cell_tensor(bias, i))) : b_.affine(from, rows);
      };
      const List a = affine(x, "weight_ih", "bias_ih"),
                 b = affine(b_.part(memory_, i * kept, hidden), "weight_hh", "bias_hh");
      x = unit(find_cell<float>(shape.cell)->kind, hidden, a, b, i * kept);
    }
    b_.operations.logits = b_.affine(x, tensor("head.weight"), tensor("head.bias")).number;
    start(b_.numbers({0}, memory_.size));
  }

  Operations take() { return std::move(b_.operations); }

 private:
  bool is_fp64() const { return b_.operations.format == Precision::kFp64; }

  /// Numbers of the letter alone, whose functions certificates do not state: written down. `of` says which, given a 0
  /// of their format.
  template <class Of>
  List of_letter(const Of& of) {
    std::vector<double> all;
    const auto add = [&](auto zero) {
      for (Letter letter = 0; letter < letters_; ++letter)
        for (const auto number : of(zero, letter)) all.push_back(static_cast<double>(number) + 0.0);
    };
    if (is_fp64())
      add(double{});
    else
      add(float{});
    const std::size_t size = all.size() / letters_;
    return b_.row(b_.numbers(std::move(all)), size);
  }

  template <class Real>
  std::vector<Real> rotations(Real, const BilinearShape& shape, Letter letter) const {
    const auto embedding = plain_numbers<Real>(tensors_, "embedding"),
               weights = plain_numbers<Real>(tensors_, "weights");
    const std::span<const Real> x = std::span(embedding).subspan(letter * shape.inputs, shape.inputs);
    std::vector<Real> matrix;
    for (const Real angle : plain_product(x, weights)) {
      const auto c = static_cast<Real>(stated::cos(static_cast<double>(angle))),
                 s = static_cast<Real>(stated::sin(static_cast<double>(angle)));
      matrix.insert(matrix.end(), {c, -s, s, c});
    }
    return matrix;
  }

  /// The units of a layer of cells, whose part of the memory begins at `first`; its output.
  List unit(CellKind kind, std::size_t hidden, List a, List b, std::size_t first) {
    const auto sum = [&](std::size_t g) {
      return b_.each("add", b_.part(a, g * hidden, hidden), b_.part(b, g * hidden, hidden));
    };
    const auto gate = [&](std::size_t g, const char* function) { return b_.each(function, sum(g)); };
    const auto product = [&](List left, List right) { return b_.each("multiply", left, right); };
    List output;
    switch (kind) {
      case CellKind::kTanh:
        output = gate(0, "tanh");
        break;
      case CellKind::kRelu:
        output = b_.each("greater", sum(0), b_.numbers({0}));
        break;
      case CellKind::kGru: {
        const List r = gate(0, "logistic"), z = gate(1, "logistic");
        const List moved = product(b_.part(b, 2 * hidden, hidden), r);
        const List n = b_.each("tanh", b_.each("add", b_.part(a, 2 * hidden, hidden), moved));
        const List before = b_.part(memory_, first, hidden);
        output = b_.each("add", product(b_.each("subtract", before, n), z), n);
        break;
      }
      case CellKind::kLstm: {
        const List kept = product(gate(1, "logistic"), b_.part(memory_, first + hidden, hidden));
        const List c = b_.each("add", kept, product(gate(0, "logistic"), gate(2, "tanh")));
        output = product(gate(3, "logistic"), b_.each("tanh", c));
        keep(output);
        keep(c);
        return output;
      }
    }
    keep(output);
    return output;
  }

  static std::size_t kept_rows(std::size_t taps) { return taps > 0 ? taps - 1 : 0; }
  static std::size_t kept_by(const ReflectionShape& shape) {
    return shape.heads * shape.state_size() + kept_rows(shape.taps) * shape.beta_column();
  }
  static std::size_t kept_by(const DiagonalShape& shape) {
    return state_size(shape) + kept_rows(shape.taps) * shape.channels;
  }
  /// Numbers of all states; a complex one has its two parts side by side.
  static std::size_t state_size(const DiagonalShape& shape) {
    return (shape.complex ? std::size_t{2} : 1) * shape.states * shape.channels;
  }

  List tensor(const std::string& name) { return b_.tensor(name, tensors_.tensors.at(name).elements()); }
  /// A constant as the model's own numbers hold it.
  List constant(double number) {
    return b_.numbers({is_fp64() ? number : static_cast<double>(static_cast<float>(number))});
  }
  void start(List list) { b_.operations.start.push_back(list.number); }
  void keep(List list) { b_.operations.keep.push_back(list.number); }

  List silu(List x) { return b_.each("multiply", x, b_.each("sigmoid", constant(1), x)); }

  List rms(List x, List gain) {
    const std::size_t width = gain.size, count = x.size / width;
    const List mean = b_.each("divide", b_.squares(x, width), constant(static_cast<double>(width)));
    const List norm = b_.each("root", b_.each("add", mean, constant(1e-5)));
    const List scaled = b_.make("multiply", {count, width}, {b_.view(x, {width, 1}), b_.view(gain, {0, 1})});
    return b_.make("divide", {count, width}, {b_.view(scaled, {width, 1}), b_.view(norm, {1, 0})});
  }

  /// SiLU of q, k and v; then q and k get norm 1. Two lists: q and k, and v.
  std::pair<List, List> activated(const ReflectionShape& shape, List row) {
    if (!shape.plain) row = silu(row);
    const std::size_t count = shape.v_column(0) / shape.keys;
    const List keys = b_.part(row, 0, shape.v_column(0));
    const List norm = b_.each("root", b_.each("add", b_.squares(keys, shape.keys), constant(1e-6)));
    return {b_.make("divide", {count, shape.keys}, {b_.view(keys, {shape.keys, 1}), b_.view(norm, {1, 0})}),
            b_.part(row, shape.v_column(0), shape.beta_column() - shape.v_column(0))};
  }

  /// `before`: where the rows before this one are remembered.
  List convolved(std::size_t count, const std::string& prefix, std::size_t before, List row) {
    if (count == 0) return row;
    const std::size_t width = row.size;
    const List taps = tensor(prefix + "taps");
    List sum = b_.make("dot", {width}, {b_.view(taps, {1, 0}), b_.view(row, {1, 0})}, 1);
    for (std::size_t j = 1; j < count; ++j)
      sum = b_.make("dot", {width},
                    {b_.view(taps, {1, 0}, j * width), b_.view(memory_, {1, 0}, before + (count - 1 - j) * width),
                     b_.view(sum, {1})},
                    1);
    return sum;
  }
  void keep_rows(std::size_t taps, std::size_t before, List row) {
    if (kept_rows(taps) > 1) keep(b_.part(memory_, before + row.size, (kept_rows(taps) - 1) * std::size_t{row.size}));
    if (kept_rows(taps) > 0) keep(row);
  }

  /// x + what the layer reads; `first`: where its part of the memory begins.
  List mix(const ReflectionShape& shape, const std::string& prefix, std::size_t first, List normed, List x) {
    const std::size_t heads = shape.heads, keys = shape.keys, values = shape.values, turns = shape.reflections;
    const List all = b_.product(normed, tensor(prefix + "in"));
    const List raw = b_.part(all, 0, shape.beta_column());
    const List beta = b_.each("sigmoid", constant(shape.negative ? 2 : 1),
                              b_.part(all, shape.beta_column(), shape.columns() - shape.beta_column()));
    const std::size_t before = first + heads * shape.state_size();
    const auto [k, v] = activated(shape, convolved(shape.taps, prefix, before, raw));
    List state = b_.part(memory_, first, heads * shape.state_size());
    for (std::size_t j = 0; j < turns; ++j) {
      const List seen = b_.make(
          "dot", {heads, values},
          {b_.view(k, {turns * keys, 0, 1}, (heads + j) * keys), b_.view(state, {keys * values, 1, values})}, keys);
      const List off = b_.make("subtract", {heads, values},
                               {b_.view(v, {turns * values, 1}, j * values), b_.view(seen, {values, 1})});
      const List lack = b_.make("multiply", {heads, values}, {b_.view(beta, {turns, 0}, j), b_.view(off, {values, 1})});
      state = b_.make("dot", {heads, keys, values},
                      {b_.view(k, {turns * keys, 1, 0, 0}, (heads + j) * keys), b_.view(lack, {values, 0, 1, 0}),
                       b_.view(state, {keys * values, values, 1})},
                      1);
    }
    const List read =
        b_.make("dot", {heads, values}, {b_.view(k, {keys, 0, 1}), b_.view(state, {keys * values, 1, values})}, keys);
    keep(state);
    keep_rows(shape.taps, before, raw);
    return b_.product(rms(read, tensor(prefix + "norm")), tensor(prefix + "out"), x);
  }

  /// Complex factors that no input decides, side by side their two parts, whose cosines certificates do not state.
  template <class Real>
  std::vector<double> turning(const std::string& prefix) const {
    const auto rates = plain_numbers<Real>(tensors_, prefix + "decay"),
               angles = plain_numbers<Real>(tensors_, prefix + "angle");
    std::vector<double> factors;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const Real size = plain_exp(-plain_exp(rates[i]));
      const auto angle = static_cast<double>(angles[i]);
      factors.push_back(size * static_cast<Real>(stated::cos(angle)) + 0.0);
      factors.push_back(size * static_cast<Real>(stated::sin(angle)) + 0.0);
    }
    return factors;
  }

  /// The factors of all states in a step of so long a time.
  List factors(const DiagonalShape& shape, const std::string& prefix, List steps) {
    const std::size_t states = shape.states, channels = shape.channels;
    if (shape.complex) return b_.numbers(is_fp64() ? turning<double>(prefix) : turning<float>(prefix));
    const List rates = b_.each("exp", tensor(prefix + "decay"));
    const List time =
        shape.fixed ? rates
                    : b_.make("multiply", {states, channels}, {b_.view(rates, {channels, 1}), b_.view(steps, {0, 1})});
    const List factor = b_.each("exp", b_.each("subtract", constant(0), time));
    return shape.negative ? b_.each("subtract", b_.each("multiply", constant(2), factor), constant(1)) : factor;
  }

  /// x + what the layer reads; `first`: where its part of the memory begins.
  List mix(const DiagonalShape& shape, const std::string& prefix, std::size_t first, List normed, List x) {
    const std::size_t channels = shape.channels, states = shape.states;
    const List both = b_.product(normed, tensor(prefix + "in"));
    const List raw = b_.part(both, 0, channels), gate = silu(b_.part(both, channels, channels));
    const std::size_t before = first + state_size(shape);
    const List input = silu(convolved(shape.taps, prefix, before, raw));
    const List selected = b_.product(input, tensor(prefix + "select"));
    const List steps = b_.each("softplus", b_.each("add", b_.part(selected, 0, channels), tensor(prefix + "step")));
    const List scaled = b_.each("multiply", steps, input), a = factors(shape, prefix, steps);
    const List added =
        b_.make("multiply", {states, channels}, {b_.view(selected, {1, 0}, channels), b_.view(scaled, {0, 1})});
    const List before_it = b_.part(memory_, first, state_size(shape));
    List state, read;
    if (shape.complex) {
      const std::size_t count = states * channels;
      const auto products = [&](std::size_t of_a, std::size_t of_h) {
        return b_.make("multiply", {count}, {b_.view(a, {2}, of_a), b_.view(before_it, {2}, of_h)});
      };
      const List real = b_.each("add", b_.each("subtract", products(0, 0), products(1, 1)), added),
                 turned = b_.each("add", products(0, 1), products(1, 0));
      // Side by side: times one and zero, and added.
      const auto beside = [&](List list, std::vector<double> place) {
        return b_.make("multiply", {count, 2}, {b_.view(list, {1, 0}), b_.view(b_.numbers(std::move(place)), {0, 1})});
      };
      state = b_.each("add", beside(real, {1, 0}), beside(turned, {0, 1}));
      read = b_.numbers({0}, channels);
      for (std::size_t i = 0; i < states; ++i)
        read = b_.make("dot", {channels},
                       {b_.view(selected, {0, 1}, channels + states + 2 * i), b_.view(state, {2, 1}, 2 * i * channels),
                        b_.view(read, {1})},
                       2);
    } else {
      state = b_.each("add", b_.each("multiply", a, before_it), added);
      read = b_.make("dot", {channels}, {b_.view(selected, {0, 1}, channels + states), b_.view(state, {1, channels})},
                     states);
    }
    keep(state);
    keep_rows(shape.taps, before, raw);
    read = b_.each("add", read, b_.each("multiply", tensor(prefix + "skip"), input));
    return b_.product(b_.each("multiply", read, gate), tensor(prefix + "out"), x);
  }

  const TensorFile& tensors_;
  Letter letters_;
  OperationsBuilder b_;
  List memory_;
};

}  // namespace

std::optional<Operations> model_operations(const SequenceModel<float>& model, const Task& task, Precision format,
                                           std::string& why) {
  const std::string name = model.name(), family = name.substr(0, name.find(':'));
  const TensorFile tensors = model.tensors();
  Writer writer(tensors, model.letters(), format);
  why = fmt::format("{}: certificates do not state the functions of its recurrence yet", name);
  if (family == "bilinear") {
    writer.bilinear(parse_bilinear_shape(name));
  } else if (family == "dense") {
    writer.dense(parse_dense_shape(name));
  } else if (family == "deltaproduct") {
    const StackedShape shape = parse_stacked_shape(name);
    writer.stack(shape, std::get<ReflectionShape>(shape.mixer));
  } else if (family == "diagonal") {
    const StackedShape shape = parse_stacked_shape(name);
    const auto& mixer = std::get<DiagonalShape>(shape.mixer);
    if (mixer.complex && !mixer.fixed) return std::nullopt;
    writer.stack(shape, mixer);
  } else if (family == "fan" && parse_stacked_shape(name).is_bare() && parse_stacked_shape(name).mlp == 0) {
    writer.blocks(std::get<BlockShape>(parse_stacked_shape(name).mixer));
  } else if (is_cell_model(model)) {
    writer.cells(parse_cell_shape(name));
  } else {
    return std::nullopt;
  }
  why.clear();
  Operations operations = writer.take();
  const TaskAutomaton input = input_machine(task);
  operations.tokens.assign(input.inputs.begin(), input.inputs.end());
  operations.before.assign(input.before.begin(), input.before.end());
  operations.after.assign(input.after.begin(), input.after.end());
  return operations;
}

}  // namespace krohn
