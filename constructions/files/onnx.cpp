#include "krohn/constructions/files/network_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"

namespace krohn {

// Writes the wire format of Protocol Buffers: enough for ONNX's messages.
// The format: protobuf.dev/programming-guides/encoding.

/// Fields in the order in which they are added. A message is a string of bytes, so messages nest by `add`.
class ProtobufMessage {
 public:
  ProtobufMessage& add(std::uint32_t field, std::string_view bytes) {
    varint(field << 3 | kLengthDelimited);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  ProtobufMessage& add(std::uint32_t field, const ProtobufMessage& message) { return add(field, message.bytes_); }
  ProtobufMessage& add(std::uint32_t field, const char* text) { return add(field, std::string_view(text)); }
  ProtobufMessage& add(std::uint32_t field, std::int64_t number) {
    varint(field << 3);
    varint(static_cast<std::uint64_t>(number));
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr std::uint32_t kLengthDelimited = 2;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

namespace {

// Field numbers and enumeration values of onnx.proto.
namespace model_field {
constexpr std::uint32_t kIrVersion = 1, kProducer = 2, kGraph = 7, kOperatorSet = 8, kMetadata = 14;
}
namespace graph_field {
constexpr std::uint32_t kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}
namespace node_field {
constexpr std::uint32_t kInput = 1, kOutput = 2, kName = 3, kOperator = 4, kAttribute = 5;
}
namespace attribute_field {
constexpr std::uint32_t kName = 1, kInteger = 3, kGraph = 6, kIntegers = 8, kType = 20;
constexpr std::int64_t kIntegerType = 2, kGraphType = 5, kIntegersType = 7;
}  // namespace attribute_field
namespace tensor_field {
constexpr std::uint32_t kDimension = 1, kType = 2, kName = 8, kRaw = 9;
}
enum class Element : std::int64_t { kFloat = 1, kInteger = 7, kDouble = 11 };
constexpr std::int64_t kIrVersion = 8;

using Extents = std::vector<std::int64_t>;

template <class T>
std::string_view raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

ProtobufMessage attribute(const char* name, std::int64_t value) {
  return ProtobufMessage()
      .add(attribute_field::kName, name)
      .add(attribute_field::kInteger, value)
      .add(attribute_field::kType, attribute_field::kIntegerType);
}

ProtobufMessage attribute(const char* name, const ProtobufMessage& graph) {
  return ProtobufMessage()
      .add(attribute_field::kName, name)
      .add(attribute_field::kGraph, graph)
      .add(attribute_field::kType, attribute_field::kGraphType);
}

ProtobufMessage attribute(const char* name, const Extents& values) {
  ProtobufMessage message;
  message.add(attribute_field::kName, name);
  for (const std::int64_t value : values) message.add(attribute_field::kIntegers, value);
  message.add(attribute_field::kType, attribute_field::kIntegersType);
  return message;
}

/// Extents that inputs decide; `kRows` is 1 or the batch.
constexpr std::int64_t kBatch = -1, kLength = -2, kRows = -3;

/// A named value of stated type and shape.
ProtobufMessage value_info(const std::string& name, Element element, const Extents& shape) {
  ProtobufMessage extents;
  for (const std::int64_t extent : shape) {
    ProtobufMessage dimension;
    if (extent < 0)
      dimension.add(2, extent == kBatch ? "batch" : extent == kLength ? "length" : "rows");
    else
      dimension.add(1, extent);
    extents.add(1, dimension);
  }
  const auto tensor = ProtobufMessage().add(1, static_cast<std::int64_t>(element)).add(2, extents);
  return ProtobufMessage().add(1, name).add(2, ProtobufMessage().add(1, tensor));
}

/// Nodes in the order of their computation; every node's result is named after it.
class Graph {
 public:
  explicit Graph(const char* name) { message_.add(graph_field::kName, name); }

  std::string apply(const char* operation, std::initializer_list<std::string> inputs, const std::string& result,
                    std::initializer_list<ProtobufMessage> attributes = {}) {
    node(operation, inputs, {result}, attributes);
    return result;
  }
  void node(const char* operation, const std::vector<std::string>& inputs, const std::vector<std::string>& results,
            std::initializer_list<ProtobufMessage> attributes = {}) {
    ProtobufMessage node;
    for (const std::string& input : inputs) node.add(node_field::kInput, input);
    for (const std::string& result : results) node.add(node_field::kOutput, result);
    node.add(node_field::kName, results.front() + "." + operation).add(node_field::kOperator, operation);
    for (const ProtobufMessage& one : attributes) node.add(node_field::kAttribute, one);
    message_.add(graph_field::kNode, node);
  }
  void input(const std::string& name, Element element, const Extents& shape) {
    message_.add(graph_field::kInput, value_info(name, element, shape));
  }
  void output(const std::string& name, Element element, const Extents& shape) {
    message_.add(graph_field::kOutput, value_info(name, element, shape));
  }
  void constant(const std::string& name, Element element, const Extents& shape, std::string_view bytes) {
    ProtobufMessage tensor;
    for (const std::int64_t extent : shape) tensor.add(tensor_field::kDimension, extent);
    tensor.add(tensor_field::kType, static_cast<std::int64_t>(element)).add(tensor_field::kName, name);
    tensor.add(tensor_field::kRaw, bytes);
    message_.add(graph_field::kInitializer, tensor);
  }
  void integers(const std::string& name, const std::vector<std::int64_t>& values) {
    constant(name, Element::kInteger, {static_cast<std::int64_t>(values.size())}, raw(values));
  }
  void integer(const std::string& name, std::int64_t value) {
    constant(name, Element::kInteger, {}, raw(std::vector<std::int64_t>{value}));
  }
  const ProtobufMessage& message() const { return message_; }

 private:
  ProtobufMessage message_;
};

template <class T>
std::vector<std::int64_t> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

/// Matrices as rows of numbers, one after another.
void append(std::vector<double>& numbers, const auto& matrix) {
  for (Eigen::Index row = 0; row < matrix.rows(); ++row)
    for (Eigen::Index column = 0; column < matrix.cols(); ++column)
      numbers.push_back(static_cast<double>(matrix(row, column)));
}

/// The dense numbers of one layer.
struct DenseLayer {
  std::vector<double> a, b, initial, codewords;
  std::vector<std::int64_t> label_of;
  std::vector<double> foreign;  ///< book × codeword: a distance that rules the codeword out, or 0; empty: one book
};

DenseLayer dense_layer(const Layer& layer) {
  DenseLayer dense;
  bool has_addition = false;
  for (const Transition& transition : layer.transitions) {
    append(dense.a, to_dense(transition.a));
    has_addition = has_addition || transition.b.size() > 0;
    append(dense.b, transition.b.size() > 0 ? transition.b : Eigen::MatrixXd::Zero(layer.dimension, layer.columns));
  }
  if (!has_addition) dense.b.clear();
  append(dense.initial, layer.initial);
  if (layer.decoder.unit_copies > 0) return dense;
  std::uint32_t books = 1;
  for (const std::uint32_t book : layer.decoder.book) books = std::max(books, book + 1);
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    append(dense.codewords, codeword(layer, i));
    dense.label_of.push_back(codeword_label(layer, i));
  }
  if (books == 1) return dense;
  for (std::uint32_t book = 0; book < books; ++book)
    for (std::size_t i = 0; i < codeword_count(layer); ++i)
      dense.foreign.push_back(codeword_book(layer, i) == book ? 0 : 1e30);
  return dense;
}

std::uint64_t dense_numbers(const Network& network) {
  std::uint64_t numbers = 0;
  for (const Layer& layer : network.layers)
    numbers +=
        std::uint64_t{layer.dimension} * (layer.dimension * layer.transitions.size() +
                                          layer.columns * (layer.decoder.unit_copies > 0 ? 0 : codeword_count(layer)));
  return numbers;
}

/// Builds the body of the Scan and the constants that it refers to.
class Exporter {
 public:
  explicit Exporter(const Network& network) : network_(network), graph_("krohn"), body_("letter") {
    for (const Layer& layer : network.layers) dense_.push_back(dense_layer(layer));
    real_ = fits_float() ? Element::kFloat : Element::kDouble;
  }

  std::string model() {
    add_constants();
    add_body();
    add_scan();
    return ProtobufMessage()
        .add(model_field::kIrVersion, kIrVersion)
        .add(model_field::kProducer, "krohn")
        .add(model_field::kOperatorSet, ProtobufMessage().add(1, "").add(2, kOnnxOperatorSet))
        .add(model_field::kMetadata, metadata("alphabet", network_.automaton.alphabet().names()))
        .add(model_field::kMetadata, metadata("output_names", network_.automaton.output_names()))
        .add(model_field::kGraph, graph_.message())
        .bytes();
  }

 private:
  static std::string name(const char* what, std::size_t layer) { return fmt::format("{}.{}", what, layer); }

  static ProtobufMessage metadata(const char* key, const auto& texts) {
    return ProtobufMessage().add(1, key).add(
        2, nlohmann::json(std::vector<std::string>(texts.begin(), texts.end())).dump());
  }

  bool fits_float() const {
    const auto fits = [](const std::vector<double>& numbers) {
      for (const double number : numbers)
        if (static_cast<double>(static_cast<float>(number)) != number) return false;
      return true;
    };
    for (const DenseLayer& layer : dense_)
      if (!fits(layer.a) || !fits(layer.b) || !fits(layer.initial) || !fits(layer.codewords)) return false;
    return true;
  }

  void reals(const std::string& name, const Extents& shape, const std::vector<double>& values) {
    if (real_ == Element::kDouble) return graph_.constant(name, real_, shape, raw(values));
    graph_.constant(name, real_, shape, raw(std::vector<float>(values.begin(), values.end())));
  }

  void add_constants() {
    graph_.integer("zero", 0);
    graph_.integers("first", {0});
    if (std::any_of(network_.layers.begin(), network_.layers.end(),
                    [](const Layer& layer) { return layer.decoder.unit_copies == 0; }))
      graph_.integers("one", {1});
    for (std::size_t k = 0; k < network_.layers.size(); ++k) {
      const Layer& layer = network_.layers[k];
      const DenseLayer& dense = dense_[k];
      const std::int64_t n = layer.dimension, d = layer.columns, copies = layer.decoder.unit_copies;
      const auto actions = static_cast<std::int64_t>(layer.transitions.size());
      reals(name("A", k), {actions, n, n}, dense.a);
      if (!dense.b.empty()) reals(name("B", k), {actions, n, d}, dense.b);
      reals(name("H0", k), {1, n, d}, dense.initial);
      graph_.integers(name("label0", k), {layer.initial_label});
      graph_.integer(name("labels", k), layer.labels);
      graph_.integers(name("action_of", k), widened(layer.wiring.action_of));
      if (k + 1 < network_.layers.size()) graph_.integers(name("next", k), widened(layer.wiring.next));
      graph_.integers(name("readout", k), widened(network_.readout.next[k]));
      if (copies > 0) {
        graph_.integers(name("copies_by_labels", k), {-1, copies, n / copies});  // a batch of them
        graph_.integers(name("summed", k), {1});
        continue;
      }
      const auto codewords = static_cast<std::int64_t>(dense.label_of.size());
      reals(name("codewords", k), {codewords, n, d}, dense.codewords);
      graph_.integers(name("label_of", k), dense.label_of);
      graph_.integers(name("summed", k), {2, 3});
      if (dense.foreign.empty()) continue;
      reals(name("foreign", k), {static_cast<std::int64_t>(dense.foreign.size()) / codewords, codewords},
            dense.foreign);
      graph_.integers(name("book_of", k), widened(layer.book_of_context));
    }
    std::vector<std::int64_t> outputs(network_.automaton.outputs().begin(), network_.automaton.outputs().end());
    graph_.integers("output_of", outputs);
  }

  /// H and label of layer k after the letter; returns the name of the label.
  std::string add_decoder(std::size_t k, const std::string& state, const std::string& context) {
    const Layer& layer = network_.layers[k];
    if (layer.decoder.unit_copies > 0) {
      const std::string copies = body_.apply("Reshape", {state, name("copies_by_labels", k)}, name("copies", k));
      const std::string sums =
          body_.apply("ReduceSum", {copies, name("summed", k)}, name("sums", k), {attribute("keepdims", 0)});
      return body_.apply("ArgMax", {sums}, name("label", k), {attribute("axis", 1), attribute("keepdims", 0)});
    }
    const std::string beside = body_.apply("Unsqueeze", {state, "one"}, name("beside", k));
    const std::string difference = body_.apply("Sub", {beside, name("codewords", k)}, name("difference", k));
    const std::string square = body_.apply("Mul", {difference, difference}, name("square", k));
    std::string distance =
        body_.apply("ReduceSum", {square, name("summed", k)}, name("distance", k), {attribute("keepdims", 0)});
    if (!dense_[k].foreign.empty()) {
      const std::string book = layer.book_of_context.empty()
                                   ? std::string("zero")  // one row for the whole batch
                                   : body_.apply("Gather", {name("book_of", k), context}, name("book", k));
      const std::string foreign = body_.apply("Gather", {name("foreign", k), book}, name("ruled_out", k));
      distance = body_.apply("Add", {distance, foreign}, name("distance_in_book", k));
    }
    const std::string nearest =
        body_.apply("ArgMin", {distance}, name("nearest", k), {attribute("axis", 1), attribute("keepdims", 0)});
    return body_.apply("Gather", {name("label_of", k), nearest}, name("label", k));
  }

  /// table[row · labels of layer k + column]
  std::string look_up(const std::string& table, const std::string& row, const std::string& column, std::size_t k,
                      const std::string& result) {
    const std::string start = body_.apply("Mul", {row, name("labels", k)}, result + ".row");
    const std::string index = body_.apply("Add", {start, column}, result + ".index");
    return body_.apply("Gather", {table, index}, result);
  }

  void add_body() {
    const std::size_t layers = network_.layers.size();
    for (std::size_t k = 0; k < layers; ++k)
      body_.input(name("H_before", k), real_, {kBatch, network_.layers[k].dimension, network_.layers[k].columns});
    for (std::size_t k = 0; k < layers; ++k) body_.input(name("label_before", k), Element::kInteger, {kBatch});
    body_.input("letter", Element::kInteger, {kBatch});
    std::string context = "letter", node = "zero";
    for (std::size_t k = 0; k < layers; ++k) {
      const std::string action = body_.apply("Gather", {name("action_of", k), context}, name("action", k));
      const std::string a = body_.apply("Gather", {name("A", k), action}, name("A_of_action", k));
      const bool has_addition = !dense_[k].b.empty();
      std::string state = body_.apply("MatMul", {a, name("H_before", k)}, name(has_addition ? "AH" : "H", k));
      if (has_addition) {
        const std::string b = body_.apply("Gather", {name("B", k), action}, name("B_of_action", k));
        state = body_.apply("Add", {state, b}, name("H", k));
      }
      const std::string label = add_decoder(k, state, context);
      node = look_up(name("readout", k), node, label, k, name("node", k));
      if (k + 1 < layers)
        context = look_up(name("next", k), context, name("label_before", k), k, name("context", k + 1));
    }
    for (std::size_t k = 0; k < layers; ++k)
      body_.output(name("H", k), real_, {kBatch, network_.layers[k].dimension, network_.layers[k].columns});
    for (std::size_t k = 0; k < layers; ++k) body_.output(name("label", k), Element::kInteger, {kBatch});
    body_.output(node, Element::kInteger, {kBatch});
  }

  void add_scan() {
    graph_.input("letters", Element::kInteger, {kBatch, kLength});
    const std::string shape = graph_.apply("Shape", {"letters"}, "shape");
    const std::string batch = graph_.apply("Gather", {shape, "first"}, "batch");
    std::vector<std::string> inputs, results;
    for (const char* what : {"H0", "label0"})
      for (std::size_t k = 0; k < network_.layers.size(); ++k) {
        const Layer& layer = network_.layers[k];
        const std::string start = name(what, k);
        const bool is_label = std::string_view(what) == "label0";
        const Element element = is_label ? Element::kInteger : real_;
        std::string extents = batch;
        if (!is_label) {
          graph_.integers(name("extents", k), {layer.dimension, layer.columns});
          extents =
              graph_.apply("Concat", {batch, name("extents", k)}, name("batch_extents", k), {attribute("axis", 0)});
        }
        // An input that is a constant too may be left out.
        graph_.input(start, element, is_label ? Extents{kRows} : Extents{kRows, layer.dimension, layer.columns});
        inputs.push_back(graph_.apply("Expand", {start, extents}, start + ".batch"));
        results.push_back(start + ".last");
      }
    inputs.push_back("letters");
    results.push_back("states");
    graph_.node("Scan", inputs, results,
                {attribute("body", body_.message()), attribute("num_scan_inputs", 1),
                 attribute("scan_input_axes", Extents{1}), attribute("scan_output_axes", Extents{1})});
    graph_.apply("Gather", {"output_of", "states"}, "outputs");
    graph_.output("states", Element::kInteger, {kBatch, kLength});
    graph_.output("outputs", Element::kInteger, {kBatch, kLength});
    for (std::size_t k = 0; k < network_.layers.size(); ++k) {
      graph_.output(name("H0", k) + ".last", real_, {kBatch, network_.layers[k].dimension, network_.layers[k].columns});
      graph_.output(name("label0", k) + ".last", Element::kInteger, {kBatch});
    }
  }

  const Network& network_;
  std::vector<DenseLayer> dense_;
  Element real_ = Element::kFloat;
  Graph graph_, body_;
};

}  // namespace

std::string format_onnx(const Network& network) {
  require_linear(network, "ONNX");
  if (dense_numbers(network) > kMaxDenseNumbers)
    throw LimitError(
        fmt::format("an ONNX model holds dense matrices, here {} numbers, and krohn writes at most {}; "
                    "take a smaller construction (`krohn compile --explain`)",
                    dense_numbers(network), kMaxDenseNumbers));
  return Exporter(network).model();
}

}  // namespace krohn
