// One word or many side by side, on every instruction set: the numbers of the definition, bit for bit.
#include <Eigen/Core>

#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/operations/stated_lists.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

using List = OperationsBuilder::List;

constexpr Precision kFormats[] = {Precision::kFp32, Precision::kFp64, Precision::kBf16};

/// No number is as good as another.
bool is_same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// The definition, letter by letter.
template <class Real>
class Definition {
 public:
  Definition(const Operations& operations, const TensorFile& tensors)
      : operations_(operations), lists_(operations, tensors), memory_(lists_.start()) {
    for (const std::uint32_t token : operations.before) read(token);
  }
  void begin(const std::vector<double>& memory) { memory_.assign(memory.begin(), memory.end()); }
  void step(Letter letter) { read(operations_.tokens[letter]); }
  std::vector<double> numbers() const { return {memory_.begin(), memory_.end()}; }
  Output answer() const {
    const std::vector<Real>& logits = lists_.values(operations_.logits);
    if (!std::ranges::all_of(logits, [](Real logit) { return std::isfinite(logit); })) return LetterReader::kNoAnswer;
    const auto best = std::ranges::max_element(logits);
    return std::ranges::count(logits, *best) > 1 ? LetterReader::kNoAnswer : static_cast<Output>(best - logits.begin());
  }

 private:
  void read(std::uint32_t token) {
    lists_.read_token(token);
    lists_.read_memory(memory_);
    memory_ = lists_.kept();
  }

  const Operations& operations_;
  StatedLists<Real> lists_;
  std::vector<Real> memory_;
};

/// So many words of so many letters, read one by one and side by side on every set.
template <class Real>
void check_words(const Operations& operations, const TensorFile& tensors, std::size_t words, std::size_t length,
                 unsigned seed) {
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    const auto reader = operations_reader(operations, tensors, set);
    std::mt19937_64 random(seed);
    std::vector<Definition<Real>> definitions(words, Definition<Real>(operations, tensors));
    std::vector<LetterReader::Memory> alone(words, reader->start()), together = alone;
    std::vector<LetterReader::Answer> answers(words);
    REQUIRE(reader->letters() == operations.tokens.size());
    std::vector<Letter> all;
    std::vector<LetterReader::Answer> said;
    for (std::size_t t = 0; t < length; ++t) {
      std::vector<Letter> letters(words);
      for (Letter& letter : letters) letter = static_cast<Letter>(random() % operations.tokens.size());
      all.insert(all.end(), letters.begin(), letters.end());
      reader->step_many(letters, together, true, answers);
      said.insert(said.end(), answers.begin(), answers.end());
      for (std::size_t word = 0; word < words; ++word) {
        const LetterReader::Answer answer = reader->step(letters[word], alone[word], true);
        definitions[word].step(letters[word]);
        REQUIRE(alone[word] == together[word]);
        const std::vector<double> found = reader->numbers(alone[word]), wanted = definitions[word].numbers();
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          CAPTURE(i);
          CAPTURE(wanted[i]);
          CAPTURE(found[i]);
          REQUIRE(is_same(found[i], wanted[i]));
        }
        if (!operations.after.empty()) continue;
        REQUIRE(answer.output == definitions[word].answer());
        REQUIRE(answers[word].output == answer.output);
        REQUIRE(is_same(answers[word].margin, answer.margin));
      }
    }
    std::vector<char> asked(length, 1);
    for (std::size_t t = 0; t + 2 < length; t += 3) asked[t] = 0;
    const auto at_once = reader->words(words);
    for (std::size_t first = 0, end = length - length / 3; first < length; first = std::exchange(end, length)) {
      std::vector<LetterReader::Answer> found((end - first) * words);
      at_once->read(std::span(all).subspan(first * words, found.size()), std::span(asked).subspan(first, end - first),
                    found);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (asked[first + i / words] == 0) continue;
        CAPTURE(first + i / words);
        const LetterReader::Answer& wanted = said[first * words + i];
        REQUIRE(found[i].output == wanted.output);
        REQUIRE(is_same(found[i].margin, wanted.margin));
      }
    }
  }
}

void check_words(const Operations& operations, const TensorFile& tensors, std::size_t words, std::size_t length,
                 unsigned seed) {
  if (operations.format == Precision::kFp64)
    check_words<double>(operations, tensors, words, length, seed);
  else
    check_words<float>(operations, tensors, words, length, seed);
}

double as_kept(double x, Precision format) {
  if (format == Precision::kFp64) return x;
  if (format == Precision::kFp32) return static_cast<float>(x);
  return static_cast<float>(Eigen::bfloat16(static_cast<float>(x)));
}

/// Zeros, the borders of every function and of every format, what is no number, and numbers of every size. The e^−x of
/// 0x1.03d5bep0 and the e^x of 0x1.060e1ep6 are next to the middle of two floats: the quick function alone rounds to
/// the wrong one.
std::vector<double> hard_numbers(Precision format, unsigned seed) {
  std::vector<double> numbers{0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
  for (const double border : {5e-324,       0x1p-1074,    0x1p-1022,
                              0x1p-149,     0x1p-133,     0x1p-126,
                              0x1p-60,      0x1p-54,      0x1p-24,
                              0.5,          1.0,          0.34657359027997264,
                              0x1.03d5bep0, 0x1.060e1ep6, 1.0397207708399179,
                              10.5,         16.6,         17.0,
                              20.0,         21.0,         37.0,
                              40.0,         87.3,         88.72283172607422,
                              103.972,      110.0,        355.0,
                              372.9,        709.78,       710.0,
                              745.13,       746.0,        800.0,
                              1e4,          0x1p64,       0x1.fffffep127,
                              1e300})
    for (double x : {std::nextafter(border, 0), border, std::nextafter(border, 1e308), border * 1.001}) {
      numbers.push_back(x);
      numbers.push_back(as_kept(x, Precision::kFp32));
      numbers.push_back(std::nextafter(static_cast<float>(x), 1e38F));
      numbers.push_back(std::nextafter(static_cast<float>(x), 0.F));
    }
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-30, 10), any(-140, 127);
  for (int i = 0; i < 2000; ++i) numbers.push_back(std::exp2(i % 4 == 0 ? any(random) : exponent(random)));
  for (std::size_t i = 0, count = numbers.size(); i < count; ++i) numbers.push_back(-numbers[i]);
  for (double& x : numbers) x = as_kept(x, format);
  return numbers;
}

LetterReader::Memory memory_of(const std::vector<double>& numbers, Precision format) {
  const std::size_t width = format == Precision::kFp64 ? 8 : format == Precision::kFp32 ? 4 : 2;
  LetterReader::Memory memory((numbers.size() * width + 3) / 4);
  char* to = reinterpret_cast<char*>(memory.data());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto single = static_cast<float>(numbers[i]);
    const Eigen::bfloat16 half(single);
    const void* from = width == 8   ? static_cast<const void*>(&numbers[i])
                       : width == 4 ? static_cast<const void*>(&single)
                                    : &half;
    std::memcpy(to + i * width, from, width);
  }
  return memory;
}

/// A list of operations drawn at random: views that overlap, strides of 0 and apart, matrices of mostly zeros.
class Drawn {
 public:
  Drawn(unsigned seed, Precision format) : random_(seed) {
    b_.operations.format = format;
    const std::size_t size = 1 + below(40);
    memory_ = b_.memory(size);
    lists_.push_back(memory_);
    const List table = constant(5 * 24, 0);
    row_ = b_.row(table, 24);
    lists_.push_back(row_);
    for (int i = 0; i < 3; ++i) lists_.push_back(constant(1 + below(200), i == 2 ? 3 : i));
    for (int i = 0; i < 14; ++i) lists_.push_back(draw());
    std::size_t left = size;
    while (left > 0) {
      const List from = lists_[lists_.size() - 1 - below(10)];
      const std::size_t part = std::min<std::size_t>(left, 1 + below(from.size));
      // Bounded, so that numbers stay finite.
      b_.operations.keep.push_back(b_.each("tanh", b_.part(from, below(from.size - part + 1), part)).number);
      left -= part;
    }
    const List last = lists_.back();
    b_.operations.logits = b_.part(last, 0, std::min<std::size_t>(last.size, 5)).number;
    b_.operations.start = {constant(size, 0).number};
    b_.operations.tokens = {1, 0, 3};
    if (seed % 2 == 0) b_.operations.before = {4};
    if (seed % 3 == 0) b_.operations.after = {2, 3};
  }

  const Operations& operations() const { return b_.operations; }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  List constant(std::size_t size, std::size_t zeros) {
    std::vector<double> numbers(size);
    std::normal_distribution<double> normal(0, 0.5);
    for (double& x : numbers) x = below(zeros + 1) > 0 ? 0 : as_kept(normal(random_), b_.operations.format);
    return b_.numbers(numbers);
  }

  /// Draws one of the last lists that are large enough, or any.
  List draw() {
    const char* const of_two[] = {"add", "subtract", "multiply", "divide", "greater", "sigmoid", "sigmoid32"};
    const char* const of_one[] = {"copy", "bf16", "exp",        "exp32",       "softplus", "softplus32", "logistic",
                                  "tanh", "root", "softplus64", "log sigmoid", "cosine",   "sine"};
    const std::size_t rank = below(4);
    std::vector<std::size_t> shape;
    for (std::size_t i = 0; i < rank; ++i) shape.push_back(1 + below(i + 1 == rank ? 20 : 4));
    const std::size_t kind = below(3), terms = 1 + below(9);
    const auto view = [&](bool is_summed) {
      const List list = lists_[below(2) == 0 ? lists_.size() - 1 - below(std::min<std::size_t>(4, lists_.size()))
                                             : below(lists_.size())];
      std::vector<std::size_t> strides(rank + (is_summed ? 1 : 0), 0);
      std::size_t last = 0;
      for (std::size_t axis = strides.size(); axis-- > 0;) {
        const std::size_t extent = axis < rank ? shape[axis] : terms;
        const std::size_t most = extent < 2 ? 3 : (list.size - 1 - last) / (extent - 1);
        strides[axis] = std::min(most, below(3) == 0 ? below(most + 1) : below(2));
        last += strides[axis] * (extent - 1);
      }
      return b_.view(list, strides, below(list.size - last));
    };
    if (kind == 0 && below(8) == 0) {
      const List norm = b_.make("norm", shape, {view(true)}, terms);
      b_.operations.list.back().numbers = {1 + 0.5 * static_cast<double>(below(4))};
      return norm;
    }
    if (kind == 0) {
      std::vector<Operation::View> of{view(true), view(true)};
      if (below(2) == 0) of.push_back(view(false));
      return b_.make("dot", shape, of, terms);
    }
    if (kind == 1) return b_.make(of_two[below(std::size(of_two))], shape, {view(false), view(false)});
    const char* const what = of_one[below(std::size(of_one))];
    return b_.make(what, shape, {view(false)});
  }

  std::mt19937_64 random_;
  OperationsBuilder b_;
  List memory_, row_;
  std::vector<List> lists_;
};

}  // namespace

TEST_CASE("every function of every format is the stated one, wherever it branches") {
  for (const Precision format : kFormats) {
    const std::vector<double> numbers = hard_numbers(format, 1);
    std::vector<double> others = numbers;
    std::mt19937_64 random(2);
    std::ranges::shuffle(others, random);
    for (const char* what :
         {"copy",       "add",         "subtract", "multiply", "divide",   "greater",    "root",     "bf16",
          "sigmoid",    "sigmoid32",   "exp",      "exp32",    "softplus", "softplus32", "logistic", "tanh",
          "softplus64", "log sigmoid", "cosine",   "sine",     "norm",     "dot"}) {
      CAPTURE(to_string(format));
      CAPTURE(what);
      OperationsBuilder b;
      b.operations.format = format;
      const std::size_t count = numbers.size();
      const List memory = b.memory(2 * count), one = b.numbers({1});
      const std::string name = what;
      const bool has_two = name == "add" || name == "subtract" || name == "multiply" || name == "divide" ||
                           name == "greater" || name == "sigmoid" || name == "sigmoid32";
      const List x = b.part(memory, 0, count), y = b.part(memory, count, count);
      const List made = name == "dot"
                            ? b.make("dot", {count}, {b.view(x, {1, 0}), b.view(y, {1, 0}), b.view(one, {0})}, 1)
                        : name == "norm" ? b.norms(x, 1, 2.5)
                        : has_two        ? b.each(what, x, y)
                                         : b.each(what, x);
      b.operations.start = {b.numbers({0}, 2 * count).number};
      b.operations.keep = {made.number, y.number};
      b.operations.logits = one.number;
      b.operations.tokens = {0};
      std::vector<double> both = numbers;
      both.insert(both.end(), others.begin(), others.end());
      std::vector<double> wanted;
      const auto define = [&]<class Real>(Real) {
        Definition<Real> definition(b.operations, {});
        definition.begin(both);
        definition.step(0);
        wanted = definition.numbers();
      };
      if (format == Precision::kFp64)
        define(double{});
      else
        define(float{});
      for (const InstructionSet set : available_instruction_sets()) {
        CAPTURE(to_string(set));
        const auto reader = operations_reader(b.operations, {}, set);
        LetterReader::Memory alone = memory_of(both, format);
        std::vector<LetterReader::Memory> together(20, alone);
        std::vector<LetterReader::Answer> answers(together.size());
        reader->step(0, alone, false);
        reader->step_many(std::vector<Letter>(together.size(), 0), together, false, answers);
        for (const LetterReader::Memory& memory_after : {alone, together.front(), together.back()}) {
          const std::vector<double> found = reader->numbers(memory_after);
          for (std::size_t i = 0; i < count; ++i) {
            CAPTURE(both[i]);
            CAPTURE(both[count + i]);
            CAPTURE(wanted[i]);
            CAPTURE(found[i]);
            REQUIRE(is_same(found[i], wanted[i]));
          }
        }
      }
    }
  }
}

TEST_CASE("products with zeros are left out only where the other factors are finite") {
  constexpr std::size_t kSize = 48;
  for (const Precision format : kFormats) {
    OperationsBuilder b;
    b.operations.format = format;
    const List memory = b.memory(kSize);
    std::vector<double> weights(kSize * kSize, 0);
    for (std::size_t i = 0; i < kSize; i += 3) weights[i * kSize + i * 7 % kSize] = i % 2 == 0 ? 0.75 : -1.5;
    const List next = b.product(memory, b.numbers(weights));
    b.keep(next);
    b.start(b.numbers({0}, kSize));
    b.operations.logits = next.number;
    b.operations.tokens = {0};
    for (const double last : {1.25, -0.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
      std::vector<double> numbers(kSize, last), wanted;
      for (std::size_t i = 0; i + 1 < kSize; ++i) numbers[i] = 0.25 * static_cast<double>(i * 7 % 13) - 1.5;
      const auto define = [&]<class Real>(Real) {
        Definition<Real> definition(b.operations, {});
        definition.begin(numbers);
        definition.step(0);
        wanted = definition.numbers();
      };
      format == Precision::kFp64 ? define(double{}) : define(float{});
      for (const InstructionSet set : available_instruction_sets()) {
        CAPTURE(to_string(format));
        CAPTURE(to_string(set));
        CAPTURE(last);
        const auto reader = operations_reader(b.operations, {}, set);
        LetterReader::Memory alone = memory_of(numbers, format);
        std::vector<LetterReader::Memory> together(20, alone);
        std::vector<LetterReader::Answer> answers(together.size());
        reader->step(0, alone, false);
        reader->step_many(std::vector<Letter>(together.size(), 0), together, false, answers);
        for (const LetterReader::Memory& memory_after : {alone, together.back()}) {
          const std::vector<double> found = reader->numbers(memory_after);
          for (std::size_t i = 0; i < kSize; ++i) REQUIRE(is_same(found[i], wanted[i]));
        }
      }
    }
  }
}

TEST_CASE("lists drawn at random are read as the definition says, one word or many") {
  for (const Precision format : kFormats)
    for (unsigned seed = 1; seed <= 60; ++seed) {
      CAPTURE(to_string(format));
      CAPTURE(seed);
      check_words(Drawn(seed, format).operations(), {}, 17, 2, seed);
    }
}

TEST_CASE("words side by side are words alone, however many there are") {
  for (const Precision format : kFormats)
    for (const std::size_t words : {1, 2, 15, 16, 31, 32, 33, 47, 48, 63, 64, 65})
      check_words(Drawn(7, format).operations(), {}, words, 3, 9);
}

TEST_CASE("letters side by side between a model's turns are letters alone") {
  for (const char* spec : {"deltaproduct:layers=2,width=8,heads=2,keys=4,values=16,mlp=24",
                           "deltaproduct:layers=2,width=8,heads=1,keys=4,values=16,reflections=2,conv=3,mlp=24",
                           "deltaproduct:layers=2,width=8,heads=2,keys=3,values=5,mlp=24",
                           "diagonal:layers=2,width=8,channels=16,states=2,conv=3,mlp=24", "lstm:layers=2,hidden=6"})
    for (const Precision format : kFormats) {
      CAPTURE(spec);
      const auto model = make_model<float>(spec, 5, 3, 7);
      Operations operations = listed_model(*model, format).operations;
      operations.tokens = {0, 1, 2, 3, 4};
      check_words(operations, model->tensors(), 1, 75, 3);
      check_words(operations, model->tensors(), 33, 4, 4);
    }
}

TEST_CASE("what a list does not have is refused, and said") {
  OperationsBuilder b;
  const List memory = b.memory(4);
  b.operations.start = {b.numbers({0}, 4).number};
  b.operations.keep = {memory.number};
  b.operations.logits = memory.number;
  CHECK_NOTHROW(operations_reader(b.operations, {}));
  const auto refused = [&](const auto& change) {
    Operations operations = b.operations;
    change(operations.list);
    CHECK_THROWS_AS(operations_reader(operations, {}), InputError);
  };
  refused([](auto& list) { list.push_back({"tensor", "absent"}); });
  refused([](auto& list) { list.push_back({"cube", {}, {}, 0, {4}, 0, {{0, 0, {1}}}}); });
  refused([](auto& list) { list.push_back({"copy", {}, {}, 0, {4}, 0, {{0, 1, {1}}}}); });
  refused([](auto& list) { list.push_back({"copy", {}, {}, 0, {4}, 0, {{2, 0, {1}}}}); });
}
