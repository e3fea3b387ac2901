// The exported bytes are read back by a decoder of the wire format and run by an interpreter of the few operators, both
// written from ONNX's documents: what a runtime would compute is compared with the automaton.

#include "krohn/constructions/files/onnx.h"

#include <doctest/doctest.h>

#include <algorithm>
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

/// Of the last two axes; of the first, the batch, there is one on both sides.
Value product(const Value& a, const Value& b) {
  REQUIRE(a.shape.size() == 3);
  REQUIRE(b.shape.size() == 3);
  REQUIRE(a.shape[0] == b.shape[0]);
  const std::size_t batch = a.shape[0], n = a.shape[1], inner = a.shape[2], d = b.shape[2];
  REQUIRE(b.shape[1] == inner);
  Value result{{batch, n, d}, std::vector<double>(batch * n * d, 0)};
  for (std::size_t one = 0; one < batch; ++one)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < d; ++j)
        for (std::size_t k = 0; k < inner; ++k)
          result.numbers[(one * n + i) * d + j] +=
              a.numbers[(one * n + i) * inner + k] * b.numbers[(one * inner + k) * d + j];
  return result;
}

/// The shape that both are repeated to.
std::vector<std::size_t> broadcast(std::vector<std::size_t> a, std::vector<std::size_t> b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    REQUIRE((a[axis] == b[axis] || a[axis] == 1 || b[axis] == 1));
    a[axis] = std::max(a[axis], b[axis]);
  }
  return a;
}

Value expanded(const Value& value, const std::vector<std::size_t>& shape) {
  Value result{shape, {}};
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i, from = 0, stride = 1;
    for (std::size_t back = 0; back < shape.size(); ++back) {
      const std::size_t axis = shape.size() - 1 - back, at = rest % shape[axis];
      rest /= shape[axis];
      if (back >= value.shape.size()) continue;
      const std::size_t extent = value.shape[value.shape.size() - 1 - back];
      from += (extent == 1 ? 0 : at) * stride;
      stride *= extent;
    }
    result.numbers.push_back(value.numbers.at(from));
  }
  return result;
}

Value by_entry(const Value& a, const Value& b, auto operation) {
  const auto shape = broadcast(a.shape, b.shape);
  Value result = expanded(a, shape);
  const Value other = expanded(b, shape);
  for (std::size_t i = 0; i < result.numbers.size(); ++i)
    result.numbers[i] = operation(result.numbers[i], other.numbers[i]);
  return result;
}

Value reduce_sum(const Value& data, const Value& axes) {
  Value result;
  const auto is_summed = [&](std::size_t axis) {
    return std::find(axes.numbers.begin(), axes.numbers.end(), static_cast<double>(axis)) != axes.numbers.end();
  };
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < data.shape.size(); ++axis)
    if (!is_summed(axis)) {
      result.shape.push_back(data.shape[axis]);
      count *= data.shape[axis];
    }
  result.numbers.assign(count, 0);
  for (std::size_t i = 0; i < data.numbers.size(); ++i) {
    std::size_t rest = i, to = 0, stride = 1;
    for (std::size_t axis = data.shape.size(); axis-- > 0;) {
      const std::size_t at = rest % data.shape[axis];
      rest /= data.shape[axis];
      if (is_summed(axis)) continue;
      to += at * stride;
      stride *= data.shape[axis];
    }
    result.numbers[to] += data.numbers[i];
  }
  return result;
}

/// Along axis 1 of two.
Value extreme(const Value& data, auto better) {
  REQUIRE(data.shape.size() == 2);
  Value result{{data.shape[0]}, {}};
  for (std::size_t row = 0; row < data.rows(); ++row) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < data.shape[1]; ++i)
      if (better(data.numbers[row * data.shape[1] + i], data.numbers[row * data.shape[1] + best])) best = i;
    result.numbers.push_back(static_cast<double>(best));
  }
  return result;
}

Value reshaped(const Value& data, const Value& shape) {
  Value result{{}, data.numbers};
  std::size_t known = 1;
  for (const double extent : shape.numbers) known *= extent < 0 ? 1 : static_cast<std::size_t>(extent);
  for (const double extent : shape.numbers)
    result.shape.push_back(extent < 0 ? data.numbers.size() / known : static_cast<std::size_t>(extent));
  return result;
}

std::vector<std::size_t> extents(const Value& numbers) { return {numbers.numbers.begin(), numbers.numbers.end()}; }

void run(const Message& graph, Values& values);

void scan(const Message& node, Values& values) {
  Message body;
  for (const std::string& text : node.all(5)) {
    const Message attribute = Message::parse(text);
    const std::string name = attribute.bytes.at(1).at(0);
    if (name == "body") body = attribute.child(6);
    if (name.ends_with("axes")) CHECK(attribute.numbers.at(8) == std::vector<std::int64_t>{1});
  }
  const auto inputs = node.all(1), outputs = node.all(2);
  std::vector<std::string> names, results;
  for (const std::string& text : body.all(11)) names.push_back(Message::parse(text).bytes.at(1).at(0));
  for (const std::string& text : body.all(12)) results.push_back(Message::parse(text).bytes.at(1).at(0));
  REQUIRE(names.size() == inputs.size());
  REQUIRE(results.size() == outputs.size());
  std::vector<Value> carried;
  for (std::size_t i = 0; i + 1 < inputs.size(); ++i) carried.push_back(values.at(inputs[i]));
  const Value letters = values.at(inputs.back());
  const std::size_t batch = letters.shape.at(0), length = letters.shape.at(1);
  Value collected{letters.shape, std::vector<double>(letters.numbers.size())};
  for (std::size_t t = 0; t < length; ++t) {
    Values inner = values;
    for (std::size_t i = 0; i < carried.size(); ++i) inner[names[i]] = carried[i];
    Value& letter = inner[names.back()] = {{batch}, {}};
    for (std::size_t row = 0; row < batch; ++row) letter.numbers.push_back(letters.numbers[row * length + t]);
    run(body, inner);
    for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = inner.at(results[i]);
    const Value& found = inner.at(results.back());
    REQUIRE(found.shape == std::vector<std::size_t>{batch});
    for (std::size_t row = 0; row < batch; ++row) collected.numbers[row * length + t] = found.numbers[row];
  }
  values[outputs.back()] = collected;
  for (std::size_t i = 0; i < carried.size(); ++i) values[outputs[i]] = carried[i];
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
    else if (operation == "Reshape")
      result = reshaped(input(0), input(1));
    else if (operation == "Unsqueeze") {
      REQUIRE(input(1).numbers == std::vector<double>{1});
      result = input(0);
      result.shape.insert(result.shape.begin() + 1, 1);
    } else if (operation == "Shape")
      result = {{input(0).shape.size()}, {input(0).shape.begin(), input(0).shape.end()}};
    else if (operation == "Concat") {
      result = input(0);
      result.numbers.insert(result.numbers.end(), input(1).numbers.begin(), input(1).numbers.end());
      result.shape = {result.numbers.size()};
    } else if (operation == "Expand") {
      result = expanded(input(0), broadcast(input(0).shape, extents(input(1))));
    } else
      FAIL("unknown operator " << operation);
  }
}

/// The outputs of a model for words of one length. `before`: what it remembers of letters before these.
Values outputs_of(const std::string& model, const std::vector<Word>& words, const Values& before = {}) {
  const Message graph = Message::parse(model).child(7);
  Values values;
  for (const std::string& text : graph.all(5)) {
    const Message tensor = Message::parse(text);
    values[tensor.bytes.at(8).at(0)] = constant(tensor);
  }
  for (const auto& [name, value] : before) values[name] = value;
  Value& letters = values["letters"] = {{words.size(), words.at(0).size()}, {}};
  for (const Word& word : words) letters.numbers.insert(letters.numbers.end(), word.begin(), word.end());
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
    for (const std::size_t batch : {1U, 3U}) {
      std::vector<Word> words(batch, Word(40));
      for (Word& word : words)
        for (Letter& letter : word) letter = static_cast<Letter>(random() % automaton.letters());
      const Values values = outputs_of(model, words);
      for (std::size_t row = 0; row < batch; ++row) {
        State state = automaton.initial();
        for (std::size_t t = 0; t < words[row].size(); ++t) {
          state = automaton.next(state, words[row][t]);
          CHECK(values.at("states").numbers.at(row * words[row].size() + t) == state);
          CHECK(values.at("outputs").numbers.at(row * words[row].size() + t) == automaton.output(state));
        }
      }
    }
  }
}

TEST_CASE("a word read in pieces, with the memory carried from one to the next, is the word read at once") {
  for (const char* const language : {"name:S4", "name:Z12", "name:modarith5", "regex:(a|b)*abb"}) {
    CAPTURE(language);
    const Dfa automaton = minimise(load_language(language, {}));
    const std::string model = format_onnx(build(automaton, {}));
    const Message graph = Message::parse(model).child(7);
    std::vector<std::string> inputs, outputs;
    for (const std::string& text : graph.all(11)) inputs.push_back(Message::parse(text).bytes.at(1).at(0));
    for (const std::string& text : graph.all(12)) outputs.push_back(Message::parse(text).bytes.at(1).at(0));
    std::mt19937 random(5);
    std::vector<Word> words(3, Word(30));
    for (Word& word : words)
      for (Letter& letter : word) letter = static_cast<Letter>(random() % automaton.letters());
    const Value whole = outputs_of(model, words).at("states");
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
      Values memory;
      for (std::size_t at = 0; at < 30; at += piece) {
        std::vector<Word> part;
        for (const Word& word : words)
          part.emplace_back(word.begin() + static_cast<std::ptrdiff_t>(at),
                            word.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(at + piece, 30)));
        const Values values = outputs_of(model, part, memory);
        const std::size_t length = part[0].size();
        for (std::size_t row = 0; row < 3; ++row)
          for (std::size_t t = 0; t < length; ++t)
            CHECK(values.at("states").numbers.at(row * length + t) == whole.numbers.at(row * 30 + at + t));
        memory.clear();
        for (const std::string& input : inputs)
          if (input != "letters") {
            CHECK(std::ranges::count(outputs, input + ".last") == 1);
            memory[input] = values.at(input + ".last");
          }
      }
    }
    CHECK(inputs.size() + 1 == outputs.size());
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
