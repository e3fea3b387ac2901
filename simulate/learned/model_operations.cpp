#include "krohn/simulate/learned/model_operations.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/released_model.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/models/stock/stock_layers.h"
#include "krohn/simulate/models/stock_model.h"
#include "krohn/simulate/operations/stated_lists.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

using List = OperationsBuilder::List;

/// Writes the operations of one model, as the headers of simulate/models/ state its recurrence.
class Writer {
 public:
  Writer(const TensorFile& tensors, Precision format) : tensors_(tensors) { b_.operations.format = format; }

  void bilinear(const BilinearShape& shape, bool rescaled) {
    const std::size_t hidden = shape.hidden, block = shape.block_size();
    rescaled = rescaled && !shape.bias && !shape.input_bias;
    memory_ = b_.memory(hidden + (rescaled ? 2 : 0));
    const List x = b_.row(tensor("embedding"), shape.inputs);
    List matrix = b_.product(x, tensor("weights"));
    if (shape.form == BilinearShape::Form::kRotations) matrix = rotations(matrix);
    if (shape.form == BilinearShape::Form::kFactored) {
      const std::size_t rank = matrix.size;
      const List scaled =
          b_.make("multiply", {hidden, rank}, {b_.view(tensor("left"), {rank, 1}), b_.view(matrix, {0, 1})});
      matrix = b_.make("dot", {hidden, hidden}, {b_.view(scaled, {rank, 0, 1}), b_.view(tensor("right"), {0, rank, 1})},
                       rank);
    }
    List next = b_.make("dot", {hidden / block, block},
                        {b_.view(matrix, {block * block, block, 1}), b_.view(memory_, {block, 0, 1})}, block);
    List added = shape.bias ? tensor("bias") : b_.numbers({0}, hidden);
    if (shape.input_bias) added = b_.product(x, tensor("input_bias"), added);
    next = b_.each("add", next, added);
    const List readout = tensor("readout"),
               bias = shape.scale_free ? b_.numbers({0}, readout.size / hidden) : tensor("readout_bias");
    b_.start(tensor("initial"));
    if (rescaled)
      settle(next);
    else
      b_.keep(next);
    b_.operations.logits = b_.affine(next, readout, bias).number;
    listed_.states = {{0, hidden}};
    listed_.added = added.number;
    acts_by_matrices(matrix, hidden / block, block, 1, block, 1);
  }

  void dense(const DenseShape& shape) {
    const std::size_t n = shape.size;
    const List memory = b_.memory(n * n), a = b_.row(tensor("matrices"), n * n);
    const List next = b_.make("dot", {n, n}, {b_.view(a, {n, 0, 1}), b_.view(memory, {0, 1, n})}, n);
    const List norm = b_.each("greater", b_.numbers({1}), b_.each("root", b_.squares(next, n * n)));
    b_.operations.logits = b_.product(b_.each("divide", next, norm), tensor("readout"), tensor("readout_bias")).number;
    std::vector<double> identity(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) identity[i * (n + 1)] = 1;
    b_.start(b_.numbers(std::move(identity)));
    b_.keep(next);
    listed_.states = {{0, n * n}};
    acts_by_matrices(a, 1, n, n, n, 1);
  }

  /// Layers with norms, residuals and MLPs; one layer of blocks has none of them.
  template <class Mixer>
  void stack(const StackedShape& shape, const Mixer& mixer) {
    const std::size_t own = kept_by(mixer);
    const auto normed = [&](List x, const std::string& gain) { return shape.is_bare() ? x : rms(x, tensor(gain)); };
    memory_ = b_.memory(shape.layers * own);
    List x = b_.row(tensor("embedding"), shape.width());
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const std::string prefix = fmt::format("layer{}.", i);
      const List input = normed(x, prefix + "norm");
      x = mix(mixer, prefix + "mixer.", i * own, input, shape.is_bare() ? b_.numbers({0}, shape.width()) : x);
      if (shape.mlp == 0) continue;
      const List hidden = b_.product(rms(x, tensor(prefix + "mlp.norm")), tensor(prefix + "mlp.in"));
      const List gate = silu(b_.part(hidden, 0, shape.mlp));
      x = b_.product(b_.each("multiply", gate, b_.part(hidden, shape.mlp, shape.mlp)), tensor(prefix + "mlp.out"), x);
    }
    b_.operations.logits = b_.product(normed(x, "norm"), tensor("readout"), tensor("readout_bias")).number;
    if (b_.operations.start.empty()) b_.start(b_.numbers({0}, memory_.size));
  }

  /// Fan et al.'s model as released (simulate/models/released_model.h).
  void released(const ReleasedShape& shape) {
    const std::size_t width = shape.width();
    memory_ = b_.memory(shape.layers * width);
    List x = b_.row(tensor("embedding"), width), state;
    const auto relu = [&](List list) { return b_.each("greater", list, b_.numbers({0})); };
    const auto twice = [&](List list, const std::string& first, const std::string& second) {
      return affine(relu(affine(list, first)), second);
    };
    const auto normed = [&](List list, const std::string& name) {
      const List moved = centred(list, width);
      return b_.each("add", rms(moved, tensor(name)), tensor(name + "_bias"));
    };
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const std::string prefix = fmt::format("layer{}.", i);
      const List input = normed(x, prefix + "norm");
      const List columns = centred(twice(input, prefix + "block_in", prefix + "block_out"), shape.size);
      const List norms = b_.norms(columns, shape.size, shape.norm);
      List greatest = b_.make("copy", {shape.blocks}, {b_.view(norms, {shape.size})});
      for (std::size_t column = 1; column < shape.size; ++column)
        greatest = b_.make("greater", {shape.blocks}, {b_.view(greatest, {1}), b_.view(norms, {shape.size}, column)});
      const List matrix = b_.by_row("divide", columns, b_.each("add", greatest, b_.is_zero(greatest)));
      state = moved(matrix, i * width, twice(input, prefix + "value_in", prefix + "value_out"), shape.size);
      listed_.states.push_back({i * width, width});
      if (i == 0) acts_by_matrices(matrix, shape.blocks, shape.size, 1, 1, shape.size);
      b_.keep(state);
      b_.start(tensor(prefix + "start"));
      x = b_.each("add", state, x);
    }
    b_.operations.logits = affine(relu(affine(normed(state, "norm"), "head")), "readout").number;
  }

  ListedModel take() {
    listed_.operations = std::move(b_.operations);
    return std::move(listed_);
  }

 private:
  /// In the first layer: so many blocks of `size` rows of the state.
  void acts_by_matrices(List list, std::size_t blocks, std::size_t size, std::size_t columns, std::size_t row,
                        std::size_t column) {
    listed_.action = ListedModel::Action::kMatrices;
    listed_.list = list.number;
    listed_.row = row;
    listed_.column = column;
    for (std::size_t block = 0; block < blocks; ++block)
      listed_.blocks.push_back({block * size * columns, size, columns});
  }

  /// Behind the state are remembered its norm, up to the eighth letter, and how many letters are left up to that one.
  void settle(List& next) {
    const List one = b_.constant(1), norm = b_.part(memory_, next.size, 1), left = b_.part(memory_, next.size + 1, 1);
    const List grown = b_.each("root", b_.squares(b_.each("divide", next, norm), next.size)),
               growth = b_.each("add", grown, b_.is_zero(grown)), is_settled = b_.is_zero(left);
    const List divisor = b_.each("add", b_.each("subtract", one, is_settled), b_.each("multiply", is_settled, growth));
    next = b_.each("divide", next, divisor);
    b_.start(b_.numbers({1, 8}));
    b_.keep(next);
    b_.keep(b_.each("multiply", norm, b_.each("divide", growth, divisor)));
    b_.keep(b_.each("greater", b_.each("subtract", left, one), b_.numbers({0})));
  }

  /// A matrix (c −s; s c) for each angle.
  List rotations(List angles) {
    const auto part = [&](const char* function, std::vector<double> place) {
      return outer(b_.each(function, angles), b_.numbers(std::move(place)));
    };
    const List cosines = part("cosine", {1, 0, 0, 1});
    return b_.each("add", cosines, part("sine", {0, -1, 1, 0}));
  }
  /// Every number of a times every number of b.
  List outer(List a, List b) { return b_.make("multiply", {a.size, b.size}, {b_.view(a, {1, 0}), b_.view(b, {0, 1})}); }

  static std::size_t kept_rows(std::size_t taps) { return taps > 0 ? taps - 1 : 0; }
  static std::size_t kept_by(const ReflectionShape& shape) {
    return shape.heads * shape.state_size() + kept_rows(shape.taps) * shape.beta_column();
  }
  static std::size_t kept_by(const BlockShape& shape) { return shape.width(); }
  static std::size_t kept_by(const DiagonalShape& shape) {
    return state_size(shape) + kept_rows(shape.taps) * shape.channels;
  }
  /// Numbers of all states; a complex one has its two parts side by side.
  static std::size_t state_size(const DiagonalShape& shape) {
    return (shape.complex ? std::size_t{2} : 1) * shape.states * shape.channels;
  }

  List tensor(const std::string& name) { return b_.tensor(name, tensors_.tensors.at(name).elements()); }
  /// x W + b, W with a row for each number of x.
  List affine(List x, const std::string& name) { return b_.product(x, tensor(name), tensor(name + "_bias")); }

  List silu(List x) { return b_.each("multiply", x, b_.each("sigmoid", b_.constant(1), x)); }

  /// gain ∘ x / √(mean x² + 10⁻⁵), for every `gain.size` numbers.
  List rms(List x, List gain) {
    const std::size_t width = gain.size;
    const List mean = b_.each("divide", b_.squares(x, width), b_.constant(static_cast<double>(width)));
    const List norm = b_.each("root", b_.each("add", mean, b_.constant(1e-5)));
    return b_.by_row("divide", b_.by_column("multiply", x, gain), norm);
  }
  /// Less their mean, every `width` numbers.
  List centred(List x, std::size_t width) {
    const List ones = b_.constant(1);
    const List sums = b_.make("dot", {x.size / width}, {b_.view(x, {width, 1}), b_.view(ones, {0, 0})}, width);
    return b_.by_row("subtract", x, b_.each("divide", sums, b_.constant(static_cast<double>(width))));
  }

  /// SiLU of q, k and v; then q and k get norm 1. Two lists: q and k, and v.
  std::pair<List, List> activated(const ReflectionShape& shape, List row) {
    if (!shape.plain) row = silu(row);
    const std::size_t count = shape.v_column(0) / shape.keys;
    const List keys = b_.part(row, 0, shape.v_column(0));
    const List norm = b_.each("root", b_.each("add", b_.squares(keys, shape.keys), b_.constant(1e-6)));
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
    if (kept_rows(taps) > 1)
      b_.keep(b_.part(memory_, before + row.size, (kept_rows(taps) - 1) * std::size_t{row.size}));
    if (kept_rows(taps) > 0) b_.keep(row);
    if (listed_.blocks.empty())  // of the first layer
      for (std::size_t i = 0; i < kept_rows(taps); ++i) listed_.rows.emplace_back(before + i * row.size, row.number);
  }

  /// x + what the layer reads; `first`: where its part of the memory begins.
  List mix(const ReflectionShape& shape, const std::string& prefix, std::size_t first, List normed, List x) {
    const std::size_t heads = shape.heads, keys = shape.keys, values = shape.values, turns = shape.reflections;
    const List all = b_.product(normed, tensor(prefix + "in"));
    const List raw = b_.part(all, 0, shape.beta_column());
    const List beta = b_.each("sigmoid", b_.constant(shape.negative ? 2 : 1),
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
    b_.keep(state);
    keep_rows(shape.taps, before, raw);
    for (std::size_t head = 0; head < heads; ++head)
      listed_.states.push_back({first + head * shape.state_size(), shape.state_size()});
    if (first == 0) {
      listed_.action = ListedModel::Action::kReflections;
      listed_.list = k.number;
      listed_.first = heads * keys;
      listed_.more = beta.number;
      for (const StatePart& part : listed_.states) listed_.blocks.push_back({part.first, keys, values});
    }
    return b_.product(rms(read, tensor(prefix + "norm")), tensor(prefix + "out"), x);
  }

  /// Rates, or angles, of all states times the time of the step.
  List timed(const DiagonalShape& shape, List rates, List steps) {
    return shape.fixed ? rates : b_.by_column("multiply", rates, steps);
  }

  /// Columns of blocks one after another times what is remembered from `first` on, and `added`.
  List moved(List columns, std::size_t first, List added, std::size_t size) {
    return b_.make(
        "dot", {added.size / size, size},
        {b_.view(columns, {size * size, 1, size}), b_.view(memory_, {size, 0, 1}, first), b_.view(added, {size, 1})},
        size);
  }

  /// x + the blocks' state.
  List mix(const BlockShape& shape, const std::string& prefix, std::size_t first, List normed, List x) {
    const List hidden = shape.generator > 0 ? silu(b_.product(normed, tensor(prefix + "generator_in"))) : normed;
    const List raw = b_.product(hidden, tensor(prefix + "generator_out"), tensor(prefix + "generator_bias"));
    const List norm = b_.each("greater", b_.constant(1), b_.norms(raw, shape.size, shape.norm));
    const List added = b_.product(normed, tensor(prefix + "input"));
    const List columns = b_.by_row("divide", raw, norm);
    const List next = moved(columns, first, added, shape.size);
    b_.keep(next);
    listed_.states.push_back({first, shape.width()});
    if (first == 0) acts_by_matrices(columns, shape.blocks, shape.size, 1, 1, shape.size);
    b_.start(tensor(prefix + "start"));
    return b_.each("add", x, next);
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
    const List scaled = b_.each("multiply", steps, input);
    const List time = timed(shape, b_.each("exp", tensor(prefix + "decay")), steps);
    const List factor = b_.each("exp", b_.each("subtract", b_.constant(0), time));
    const List a = shape.negative && !shape.complex
                       ? b_.each("subtract", b_.each("multiply", b_.constant(2), factor), b_.constant(1))
                       : factor;
    const List added =
        b_.make("multiply", {states, channels}, {b_.view(selected, {1, 0}, channels), b_.view(scaled, {0, 1})});
    const List before_it = b_.part(memory_, first, state_size(shape));
    List state, read;
    if (shape.complex) {
      const List angle = timed(shape, tensor(prefix + "angle"), steps);
      const List c = b_.each("multiply", a, b_.each("cosine", angle)),
                 s = b_.each("multiply", a, b_.each("sine", angle));
      if (first == 0)
        listed_.action = ListedModel::Action::kRotations, listed_.list = c.number, listed_.more = s.number;
      const auto product = [&](List part, std::size_t of_h) {
        return b_.make("multiply", {part.size}, {b_.view(part, {1}), b_.view(before_it, {2}, of_h)});
      };
      const List real = b_.each("add", b_.each("subtract", product(c, 0), product(s, 1)), added),
                 turned = b_.each("add", product(c, 1), product(s, 0));
      // Side by side: times one and zero, and added.
      const auto beside = [&](List list, std::vector<double> place) {
        return outer(list, b_.numbers(std::move(place)));
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
    b_.keep(state);
    keep_rows(shape.taps, before, raw);
    listed_.states.push_back({first, state_size(shape)});
    if (first == 0) {
      const std::size_t parts = shape.complex ? 2 : 1;
      if (!shape.complex) listed_.action = ListedModel::Action::kFactors, listed_.list = a.number;
      for (std::size_t i = 0; i < state_size(shape); i += parts) listed_.blocks.push_back({i, parts, 1});
    }
    read = b_.each("add", read, b_.each("multiply", tensor(prefix + "skip"), input));
    return b_.product(b_.each("multiply", read, gate), tensor(prefix + "out"), x);
  }

  const TensorFile& tensors_;
  OperationsBuilder b_;
  List memory_;
  ListedModel listed_;
};

ListedModel of_stack(StockOperations made) {
  ListedModel listed;
  listed.operations = std::move(made.operations);
  for (const auto& [first, count] : made.states) listed.states.push_back({first, count});
  return listed;
}

/// body(the model's lists), with numbers of its format.
template <class Body>
auto with_lists(const ListedModel& model, const TensorFile& tensors, const Body& body) {
  if (model.operations.format == Precision::kFp64) return body(StatedLists<double>(model.operations, tensors));
  return body(StatedLists<float>(model.operations, tensors));
}

}  // namespace

ListedModel listed_model(const SequenceModel<float>& model, Precision format, bool rescaled) {
  const TensorFile tensors = model.tensors();
  if (const auto* const cells = dynamic_cast<const CellModel<float>*>(&model))
    return of_stack(cell_operations(cells->shape(), cells->letters(), tensors, format));
  if (const auto* const stock = dynamic_cast<const StockModel<float>*>(&model))
    return of_stack(stock_operations(stock->shape(), tensors, format));
  Writer writer(tensors, format);
  if (const auto* const bilinear = dynamic_cast<const BilinearModel<float>*>(&model)) {
    writer.bilinear(bilinear->shape(), rescaled);
  } else if (const auto* const dense = dynamic_cast<const DenseModel<float>*>(&model)) {
    writer.dense(dense->shape());
  } else if (const auto* const released = dynamic_cast<const ReleasedModel<float>*>(&model)) {
    writer.released(released->shape());
  } else if (const auto* const stacked = dynamic_cast<const StackedModel<float>*>(&model)) {
    const StackedShape& shape = stacked->shape();
    std::visit([&](const auto& mixer) { writer.stack(shape, mixer); }, shape.mixer);
  } else {
    throw InputError(model.name(), "no list of operations is written for this family (model_operations.cpp)");
  }
  return writer.take();
}

ListedModel listed_model(const SequenceModel<float>& model, const Task& task, Precision format) {
  ListedModel listed = listed_model(model, format);
  const TaskAutomaton input = input_machine(task);
  listed.operations.tokens.assign(input.inputs.begin(), input.inputs.end());
  listed.operations.before.assign(input.before.begin(), input.before.end());
  listed.operations.after.assign(input.after.begin(), input.after.end());
  return listed;
}

Operations model_operations(const SequenceModel<float>& model, const Task& task, Precision format) {
  return listed_model(model, task, format).operations;
}

LetterMaps letter_maps(const ListedModel& model, const TensorFile& tensors, Letter token) {
  using enum ListedModel::Action;
  LetterMaps maps;
  if (model.action == kNone) return maps;
  with_lists(model, tensors, [&]<class Real>(StatedLists<Real> lists) {
    lists.read_token(token);
    std::vector<Real> memory(lists.remembered(), 0);
    for (const auto& [place, row] : model.rows)
      std::ranges::copy(lists.values(row), memory.begin() + static_cast<std::ptrdiff_t>(place));
    lists.read_memory(memory);
    const auto number = [&](std::uint32_t list, std::size_t place) {
      return static_cast<double>(lists.values(list)[place]);
    };
    for (std::size_t block = 0; block < model.blocks.size(); ++block) {
      const std::size_t size = model.blocks[block].size;
      const auto rows = static_cast<Eigen::Index>(size);
      Eigen::MatrixXd map = Eigen::MatrixXd::Identity(rows, rows);
      if (model.action == kMatrices) {
        for (std::size_t i = 0; i < size; ++i)
          for (std::size_t j = 0; j < size; ++j)
            map(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
                number(model.list, block * size * size + i * model.row + j * model.column);
      } else if (model.action == kReflections) {
        const std::size_t turns = lists.size(model.more) / model.blocks.size();
        for (std::size_t j = block * turns; j < (block + 1) * turns; ++j) {
          Eigen::VectorXd k(rows);
          for (std::size_t i = 0; i < size; ++i)
            k[static_cast<Eigen::Index>(i)] = number(model.list, model.first + j * size + i);
          maps.betas.push_back(number(model.more, j));
          map -= maps.betas.back() * k * (k.transpose() * map);
        }
      } else {
        map *= number(model.list, block);
        if (model.action == kRotations) map(1, 0) = number(model.more, block), map(0, 1) = -map(1, 0);
      }
      maps.matrices.push_back(std::move(map));
    }
  });
  return maps;
}

bool is_homogeneous(const ListedModel& model, const TensorFile& tensors, Letter tokens) {
  if (!model.added) return false;
  return with_lists(model, tensors, [&]<class Real>(StatedLists<Real> lists) {
    for (Letter token = 0; token < tokens; ++token) {
      lists.read_token(token);
      if (std::ranges::any_of(lists.values(*model.added), [](Real number) { return number != 0; })) return false;
    }
    return true;
  });
}

}  // namespace krohn
