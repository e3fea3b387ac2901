// The exported bytes are read back by a decoder of the wire format and run by an interpreter of the few operators, both
// written from ONNX's documents: what a runtime would compute is compared with the automaton.

#include "krohn/constructions/files/onnx.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/error.h"

using namespace krohn;

namespace {

/// One message: every field with its values, numbers or bytes.
struct Message {
  std::map<std::uint32_t, std::vector<std::string>> bytes;
  std::map<std::uint32_t, std::vector<std::int64_t>> numbers;

  static Message parse(const std::string& data) {
    Message message;
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        REQUIRE(at < data.size());
        const auto byte = static_cast<std::uint8_t>(data[at++]);
        value |= std::uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) return value;
      }
    };
    while (at < data.size()) {
      const std::uint64_t key = varint();
      const auto field = static_cast<std::uint32_t>(key >> 3);
      if ((key & 7) == 0) {
        message.numbers[field].push_back(static_cast<std::int64_t>(varint()));
        continue;
      }
      REQUIRE((key & 7) == 2);
      const std::uint64_t size = varint();
      REQUIRE(at + size <= data.size());
      message.bytes[field].push_back(data.substr(at, size));
      at += size;
    }
    return message;
  }
  Message child(std::uint32_t field) const { return parse(bytes.at(field).at(0)); }
  std::vector<std::string> all(std::uint32_t field) const {
    return bytes.contains(field) ? bytes.at(field) : std::vector<std::string>();
  }
};

/// Integers are held in doubles too: all are far below 2^53.
struct Value {
  std::vector<std::size_t> shape;
  std::vector<double> numbers;
  std::size_t rows() const { return shape.empty() ? 1 : shape[0]; }
  std::size_t per_row() const { return numbers.size() / rows(); }
};
using Values = std::map<std::string, Value>;

Value constant(const Message& tensor) {
  Value value;
  std::size_t count = 1;
  if (tensor.numbers.contains(1))
    for (const std::int64_t extent : tensor.numbers.at(1)) {
      value.shape.push_back(static_cast<std::size_t>(extent));
      count *= value.shape.back();
    }
  const std::string& raw = tensor.bytes.at(9).at(0);
  const std::int64_t type = tensor.numbers.at(2).at(0);
  const auto read = [&]<class T>(T) {
    REQUIRE(raw.size() == count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      T number;
      std::memcpy(&number, raw.data() + i * sizeof(T), sizeof(T));
      value.numbers.push_back(static_cast<double>(number));
    }
  };
  if (type == 1) read(float{});
  if (type == 7) read(std::int64_t{});
  if (type == 11) read(double{});
  REQUIRE(value.numbers.size() == count);
  return value;
}

Value gather(const Value& data, const Value& indices) {
  Value result;
  result.shape = indices.shape;
  result.shape.insert(result.shape.end(), data.shape.begin() + 1, data.shape.end());
  for (const double index : indices.numbers) {
    REQUIRE(index >= 0);
    REQUIRE(index < static_cast<double>(data.rows()));
    const auto begin =
        data.numbers.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(index) * data.per_row());
    result.numbers.insert(result.numbers.end(), begin, begin + static_cast<std::ptrdiff_t>(data.per_row()));
  }
  return result;
}

Value product(const Value& a, const Value& b) {
  const std::size_t n = a.shape[0], inner = a.shape[1], d = b.shape[1];
  Value result{{n, d}, std::vector<double>(n * d, 0)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t k = 0; k < inner; ++k)
        result.numbers[i * d + j] += a.numbers[i * inner + k] * b.numbers[k * d + j];
  return result;
}

/// Broadcasting where one shape is the end of the other.
Value by_entry(const Value& a, const Value& b, auto operation) {
  const Value& large = a.numbers.size() >= b.numbers.size() ? a : b;
  Value result{large.shape, {}};
  for (std::size_t i = 0; i < large.numbers.size(); ++i)
    result.numbers.push_back(operation(a.numbers[i % a.numbers.size()], b.numbers[i % b.numbers.size()]));
  return result;
}

/// Sums over the first axis, or over all but the first.
Value reduce_sum(const Value& data, const Value& axes) {
  const bool over_first = axes.numbers == std::vector<double>{0};
  const std::size_t rows = data.rows(), width = data.per_row();
  Value result{{over_first ? width : rows}, std::vector<double>(over_first ? width : rows, 0)};
  for (std::size_t i = 0; i < data.numbers.size(); ++i)
    result.numbers[over_first ? i % width : i / width] += data.numbers[i];
  return result;
}

Value extreme(const Value& data, auto better) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < data.numbers.size(); ++i)
    if (better(data.numbers[i], data.numbers[best])) best = i;
  return {{}, {static_cast<double>(best)}};
}

void run(const Message& graph, Values& values);

void scan(const Message& node, Values& values) {
  Message body;
  for (const std::string& text : node.all(5)) {
    const Message attribute = Message::parse(text);
    if (attribute.bytes.at(1).at(0) == "body") body = attribute.child(6);
  }
  const auto inputs = node.all(1), outputs = node.all(2);
  std::vector<std::string> names, results;
  for (const std::string& text : body.all(11)) names.push_back(Message::parse(text).bytes.at(1).at(0));
  for (const std::string& text : body.all(12)) results.push_back(Message::parse(text).bytes.at(1).at(0));
  REQUIRE(names.size() == inputs.size());
  REQUIRE(results.size() == outputs.size());
  std::vector<Value> carried;
  for (std::size_t i = 0; i + 1 < inputs.size(); ++i) carried.push_back(values.at(inputs[i]));
  Value collected;
  for (const double letter : values.at(inputs.back()).numbers) {
    Values inner = values;
    for (std::size_t i = 0; i < carried.size(); ++i) inner[names[i]] = carried[i];
    inner[names.back()] = {{}, {letter}};
    run(body, inner);
    for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = inner.at(results[i]);
    collected.numbers.push_back(inner.at(results.back()).numbers.at(0));
  }
  collected.shape = {collected.numbers.size()};
  values[outputs.back()] = collected;
}

void run(const Message& graph, Values& values) {
  for (const std::string& text : graph.all(1)) {
    const Message node = Message::parse(text);
    const std::string operation = node.bytes.at(4).at(0);
    if (operation == "Scan") {
      scan(node, values);
      continue;
    }
    const auto input = [&](std::size_t i) -> const Value& { return values.at(node.bytes.at(1).at(i)); };
    Value& result = values[node.bytes.at(2).at(0)];
    if (operation == "Gather")
      result = gather(input(0), input(1));
    else if (operation == "MatMul")
      result = product(input(0), input(1));
    else if (operation == "Add")
      result = by_entry(input(0), input(1), std::plus<>());
    else if (operation == "Sub")
      result = by_entry(input(0), input(1), std::minus<>());
    else if (operation == "Mul")
      result = by_entry(input(0), input(1), std::multiplies<>());
    else if (operation == "ReduceSum")
      result = reduce_sum(input(0), input(1));
    else if (operation == "ArgMin")
      result = extreme(input(0), std::less<>());
    else if (operation == "ArgMax")
      result = extreme(input(0), std::greater<>());
    else if (operation == "Reshape") {
      const Value& shape = input(1);
      result = {{static_cast<std::size_t>(shape.numbers[0]), static_cast<std::size_t>(shape.numbers[1])},
                input(0).numbers};
    } else
      FAIL("unknown operator " << operation);
  }
}

/// The outputs of a model for a word.
Values outputs_of(const std::string& model, const Word& word) {
  const Message graph = Message::parse(model).child(7);
  Values values;
  for (const std::string& text : graph.all(5)) {
    const Message tensor = Message::parse(text);
    values[tensor.bytes.at(8).at(0)] = constant(tensor);
  }
  values["letters"] = {{word.size()}, {word.begin(), word.end()}};
  run(graph, values);
  return values;
}

}  // namespace

TEST_CASE("exported models compute the automaton, letter by letter") {
  struct Fact {
    const char* language;
    const char* construction;
  };
  for (const Fact& fact : {Fact{"regex:(a|b)*abb", "one-hot"}, Fact{"name:modarith5", "cascade-holonomy"},
                           Fact{"name:tomita3", "cascade-chain"}, Fact{"name:Z7", "two-layer-reflections"},
                           Fact{"name:Z5", "rotation"}, Fact{"name:S4", "permutation-base-reflections"},
                           Fact{"name:tomita4", "diagonal-unit-interval"}, Fact{"name:Z12", "signed-permutation"}}) {
    CAPTURE(fact.language);
    CAPTURE(fact.construction);
    const Dfa automaton = minimise(load_language(fact.language, {}));
    BuildOptions wishes;
    wishes.construction = fact.construction;
    const std::string model = format_onnx(build(automaton, wishes));
    std::mt19937 random(3);
    Word word(60);
    for (Letter& letter : word) letter = static_cast<Letter>(random() % automaton.letters());
    const Values values = outputs_of(model, word);
    State state = automaton.initial();
    for (std::size_t t = 0; t < word.size(); ++t) {
      state = automaton.next(state, word[t]);
      CHECK(values.at("states").numbers.at(t) == state);
      CHECK(values.at("outputs").numbers.at(t) == automaton.output(state));
    }
  }
}

TEST_CASE("the model names its operator set, its letters and its outputs") {
  const Dfa automaton = minimise(load_language("regex:(a|b)*abb", {}));
  const Message model = Message::parse(format_onnx(build(automaton, {})));
  CHECK(model.child(8).numbers.at(2) == std::vector<std::int64_t>{kOnnxOperatorSet});
  std::map<std::string, std::string> metadata;
  for (const std::string& text : model.all(14)) {
    const Message entry = Message::parse(text);
    metadata[entry.bytes.at(1).at(0)] = entry.bytes.at(2).at(0);
  }
  CHECK(metadata.at("alphabet") == R"(["a","b"])");
  CHECK(metadata.at("output_names") == R"(["reject","accept"])");
}

TEST_CASE("networks with too many dense numbers are refused") {
  BuildOptions wishes;
  wishes.construction = "one-hot";
  CHECK_THROWS_AS(format_onnx(build(load_language("name:random:m=3000,letters=2,seed=1", {}), wishes)), LimitError);
}
