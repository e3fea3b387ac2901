#include "krohn/simulate/models/cells/cell_network.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "krohn/simulate/prove/claims/operations_builder.h"

namespace krohn {
namespace {

using List = OperationsBuilder::List;

class Writer {
 public:
  Writer(const TensorFile& tensors, Precision format) : tensors_(tensors) { b_.operations.format = format; }

  Operations write(const CellShape& shape, Letter letters) {
    const Cell& cell = *find_cell(shape.cell);
    const std::size_t hidden = shape.hidden, kept = cell.kept * hidden;
    memory_ = b_.memory(shape.layers * kept);
    List x;
    if (shape.inputs > 0) {
      x = b_.row(tensor("embedding.weight"), shape.inputs);
    } else {
      std::vector<double> ones(std::size_t{letters} * letters, 0);
      for (Letter letter = 0; letter < letters; ++letter) ones[letter * (std::size_t{letters} + 1)] = 1;
      x = b_.row(b_.numbers(std::move(ones)), letters);
    }
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const auto affine = [&](List from, const char* weights, const char* bias) {
        const List rows = tensor(cell_tensor(weights, i));
        return shape.biased ? b_.affine(from, rows, tensor(cell_tensor(bias, i))) : b_.affine(from, rows);
      };
      const List a = affine(x, "weight_ih", "bias_ih"),
                 b = affine(b_.part(memory_, i * kept, hidden), "weight_hh", "bias_hh");
      x = unit(cell.kind, hidden, a, b, i * kept);
    }
    b_.operations.logits = b_.affine(x, tensor("head.weight"), tensor("head.bias")).number;
    b_.operations.start.push_back(b_.numbers({0}, memory_.size).number);
    b_.operations.tokens.resize(letters);
    std::iota(b_.operations.tokens.begin(), b_.operations.tokens.end(), 0U);
    return std::move(b_.operations);
  }

 private:
  List tensor(const std::string& name) { return b_.tensor(name, tensors_.tensors.at(name).elements()); }
  void keep(List list) { b_.operations.keep.push_back(list.number); }

  /// The units of a layer, whose part of the memory begins at `first`; its output.
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

  const TensorFile& tensors_;
  OperationsBuilder b_;
  List memory_;
};

}  // namespace

std::vector<std::string> cell_names() {
  std::vector<std::string> names;
  for (const Cell& cell : cells()) names.emplace_back(cell.name);
  return names;
}

std::string cell_tensor(const char* what, std::uint32_t layer) { return fmt::format("rnn.{}_l{}", what, layer); }

Operations cell_operations(const CellShape& shape, Letter letters, const TensorFile& tensors, Precision format) {
  return Writer(tensors, format).write(shape, letters);
}

}  // namespace krohn
