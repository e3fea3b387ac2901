// The operations that certificates list of a trained model are the model, number for number.
#include "krohn/simulate/learned/model_operations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "krohn/groups/error.h"
#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/arithmetic/stated_exp.h"
#include "krohn/simulate/check/not_established.h"
#include "krohn/simulate/check/recheck_operations.h"
#include "krohn/simulate/learned/deterministic_cell.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/prove/claims/operations_builder.h"
#include "krohn/simulate/tasks/tasks.h"

using namespace krohn;

namespace {

template <class Real>
std::vector<double> numbers_of(const LetterReader::Memory& memory) {
  std::vector<Real> numbers(memory.size() * sizeof(std::uint32_t) / sizeof(Real));
  std::memcpy(static_cast<void*>(numbers.data()), memory.data(), numbers.size() * sizeof(Real));
  return {numbers.begin(), numbers.end()};
}

}  // namespace

TEST_CASE("the operations of a model give its memory and its answers, bit for bit") {
  for (const char* name : {"bilinear:hidden=6,inputs=3,bias,input-bias",
                           "bilinear:block=2,hidden=6,inputs=3",
                           "bilinear:diagonal,hidden=4,inputs=3,bias",
                           "bilinear:rank=4,hidden=5,inputs=3,input-bias",
                           "bilinear:rotations,hidden=6,inputs=3,input-bias",
                           "bilinear:block=2,hidden=6,inputs=3,scale-free",
                           "fan:blocks=2,size=2",
                           "fan:blocks=2,size=3,generator=4,norm=1",
                           "dense:size=3",
                           "deltaproduct:width=4,heads=2,keys=3,values=3,mlp=3",
                           "deltaproduct:width=4,heads=1,keys=3,values=8,reflections=2,signed,conv=2,mlp=0",
                           "deltaproduct:layers=2,width=4,heads=2,keys=2,values=2,plain,signed,conv=3,mlp=2",
                           "deltaproduct:layers=2,width=4,heads=2,keys=2,values=3,reflections=3,conv=1",
                           "rnn:hidden=5,inputs=3",
                           "rnn:layers=2,hidden=4,one-hot",
                           "rnn-relu:hidden=5,inputs=2",
                           "rnn:hidden=3,inputs=2,unbiased",
                           "gru:layers=2,hidden=4,inputs=3",
                           "gru:hidden=3,one-hot,unbiased",
                           "lstm:layers=3,hidden=4,inputs=3",
                           "diagonal:width=3,channels=4,states=2,conv=0",
                           "diagonal:layers=2,width=3,channels=4,states=3,signed,mlp=2",
                           "diagonal:layers=2,width=4,channels=3,states=2,conv=1",
                           "diagonal:width=3,channels=4,states=2,conv=2,fixed",
                           "diagonal:layers=2,width=3,channels=2,states=3,fixed,complex",
                           "lstm:hidden=3,one-hot,unbiased"})
    for (const char* task_name : {"parity", "modadd5"})
      for (const Precision precision : {Precision::kFp32, Precision::kFp64, Precision::kBf16}) {
        CAPTURE(name);
        CAPTURE(task_name);
        CAPTURE(to_string(precision));
        const auto task = make_task(task_name);
        const auto model = make_model<float>(name, *task, 9);
        if (precision == Precision::kBf16 && !is_cell_model(*model)) continue;
        std::string why;
        const auto operations = model_operations(*model, *task, precision, why);
        REQUIRE_MESSAGE(operations.has_value(), why);
        const auto reader = trained_machine(*model, *task, precision);
        const auto again = rechecked_operations(*operations, model->tensors());
        LetterReader::Memory memory = reader->start();
        RecheckedReader::Moment moment = again->start();
        std::mt19937_64 random(5);
        for (int t = 0; t < 40; ++t) {
          const auto letter = static_cast<Letter>(random() % reader->letters());
          const LetterReader::Answer answer = reader->step(letter, memory, true);
          moment = again->step(moment, letter);
          std::vector<double> numbers = precision == Precision::kFp64   ? numbers_of<double>(memory)
                                        : precision == Precision::kFp32 ? numbers_of<float>(memory)
                                                                        : numbers_of<Eigen::bfloat16>(memory);
          numbers.resize(moment.numbers.at(0).size());  // of bf16, one may be left of the last word
          REQUIRE(moment.numbers.at(0) == numbers);
          REQUIRE(again->read(moment).value_or(LetterReader::kNoAnswer) == answer.output);
        }
      }
}

TEST_CASE("what certificates cannot state has no operations, and says why") {
  const auto task = make_task("parity");
  for (const std::string name : {"diagonal:width=3,channels=4,states=2,complex", "fan:blocks=2,size=2,layers=2"}) {
    CAPTURE(name);
    std::string why;
    CHECK_FALSE(model_operations(*make_model<float>(name, *task, 9), *task, Precision::kFp32, why).has_value());
    CHECK(why.starts_with(name.substr(0, name.find(':'))));
    CHECK(why.find("certificates do not state") != std::string::npos);
  }
}

TEST_CASE("a memory that is named twice is refused, whatever the sizes are") {
  for (const std::size_t first : {0, 1, 2})
    for (const std::size_t second : {0, 1, 2}) {
      OperationsBuilder b;
      b.operations.start = {b.numbers({1}).number};
      const auto one = b.memory(first), other = b.memory(second);
      b.operations.keep = {other.number};
      b.operations.logits = one.number;
      CHECK_THROWS_AS(rechecked_operations(b.operations, TensorFile{}), NotEstablished);
    }
}

TEST_CASE("more numbers than a checker holds are a limit, not a contradiction") {
  for (const std::size_t count : {std::size_t{1} << 26, (std::size_t{1} << 26) + 1}) {
    OperationsBuilder b;
    const auto memory = b.memory(count);
    b.operations.keep = b.operations.start = {memory.number};
    b.operations.logits = memory.number;
    if (count > std::size_t{1} << 26)
      CHECK_THROWS_AS(rechecked_operations(b.operations, TensorFile{}), LimitError);
    else
      CHECK_THROWS_AS(rechecked_operations(b.operations, TensorFile{}),
                      NotEstablished);  // the start depends on letters
  }
}

TEST_CASE("what a file claims to remember and to add up is bounded before it is done") {
  const auto with = [](std::size_t starts, std::size_t terms) {
    OperationsBuilder b;
    const auto memory = b.memory(4), some = b.numbers({1}, 4);
    const auto sum = b.make("dot", {4}, {b.view(some, {0, 0}), b.view(memory, {1, 0})}, terms);
    b.operations.start.assign(starts, some.number);
    b.operations.keep = {sum.number};
    b.operations.logits = sum.number;
    return b.operations;
  };
  CHECK_NOTHROW(rechecked_operations(with(1, 3), TensorFile{}));
  for (const std::size_t starts : {0, 2, 10'000'000})
    CHECK_THROWS_AS(rechecked_operations(with(starts, 3), TensorFile{}), NotEstablished);
  CHECK_NOTHROW(rechecked_operations(with(1, UINT32_MAX), TensorFile{}));  // 2³⁴ products, which none asks for
  OperationsBuilder wide;
  const auto memory = wide.memory(32);
  CHECK_NOTHROW(wide.make("dot", {32}, {wide.view(memory, {1, 0}), wide.view(memory, {1, 0})}, std::size_t{1} << 31));
  wide.operations.start = {wide.numbers({1}, 32).number};
  wide.operations.keep = {1};
  wide.operations.logits = 1;
  CHECK_NOTHROW(rechecked_operations(wide.operations, TensorFile{}));  // 2³⁶
  wide.operations.list[1].terms += 1;
  CHECK_THROWS_AS(rechecked_operations(wide.operations, TensorFile{}), LimitError);
}

TEST_CASE("a checker reads every fp16 number as it is") {
  std::vector<Eigen::half> halves;
  std::vector<double> numbers;
  for (unsigned bits = 0; bits < 1U << 16; ++bits) {
    const auto half = Eigen::numext::bit_cast<Eigen::half>(static_cast<std::uint16_t>(bits));
    if (!std::isfinite(static_cast<float>(half))) continue;
    halves.push_back(half);
    numbers.push_back(static_cast<float>(half) + 0.0F);
  }
  Tensor tensor{"F16", {halves.size()}, std::vector<std::byte>(2 * halves.size())};
  std::memcpy(tensor.bytes.data(), halves.data(), tensor.bytes.size());
  TensorFile file;
  file.tensors["halves"] = tensor;
  OperationsBuilder b;
  const auto list = b.tensor("halves", numbers.size()), memory = b.memory(numbers.size());
  b.operations.start = {list.number};
  b.operations.keep = {memory.number};
  b.operations.logits = memory.number;
  CHECK(rechecked_operations(b.operations, file)->start().numbers.at(0) == numbers);
  file.tensors["halves"].bytes[1] = std::byte{0x7c};  // infinity
  CHECK_THROWS_AS(rechecked_operations(b.operations, file), NotEstablished);
}

TEST_CASE("a checker's functions are those that models are read with, wherever they branch") {
  std::vector<double> numbers{0,  5e-324, 0x1p-1022, 0x1p-540, 1e-160, 1e-20, 20,
                              40, 372.9,  373,       709.9,    710.1,  746.1, 1e300};
  const double half_octave =
      0.34657359027997264;  // from where on e^(−2a) is 2^k (1 + …) with k < 0: odd multiples of a half
  for (const double border : {half_octave / 2, 3 * half_octave / 2, 5 * half_octave / 2, 20.0, 40.0, 355.0, 373.0})
    for (double x = border, y = border, i = 0; i < 300; ++i, x = std::nextafter(x, 0), y = std::nextafter(y, 1e9)) {
      numbers.push_back(x);
      numbers.push_back(y);
    }
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-60, 9.6);
  while (numbers.size() < 30'000) numbers.push_back(std::exp2(exponent(random)));
  for (std::size_t i = 0, count = numbers.size(); i < count; ++i) numbers.push_back(-numbers[i]);

  const auto listed = [&](const char* what, std::vector<double> of, Precision format) {
    OperationsBuilder b;
    b.operations.format = format;
    const auto list = b.numbers(std::move(of)), memory = b.memory(list.size);
    b.operations.start = {b.each(what, list).number};
    b.operations.keep = {memory.number};
    b.operations.logits = memory.number;
    return rechecked_operations(b.operations, TensorFile{})->start().numbers.at(0);
  };
  std::vector<double> few;  // of what is so large that no function of it is finite, and below where exponentials are 0
  for (const double x : numbers)
    if (std::abs(x) < 85) few.push_back(x);
  for (const double x : {-86.0, -103.9, -104.1, -745.0, -746.1}) few.push_back(x);
  std::vector<double> few_singles(few.size());
  std::ranges::transform(few, few_singles.begin(), [](double x) { return static_cast<float>(x); });
  const auto exp64 = listed("exp", few, Precision::kFp64), softplus64 = listed("softplus", few, Precision::kFp64),
             exp32 = listed("exp32", few_singles, Precision::kFp32),
             softplus32 = listed("softplus32", few_singles, Precision::kFp32),
             softplus_single = listed("softplus", few_singles, Precision::kFp32);
  for (std::size_t i = 0; i < few.size(); ++i) {
    CAPTURE(few[i]);
    const auto single = static_cast<float>(few[i]);
    REQUIRE(exp64[i] == stated::exp(few[i]));
    REQUIRE(softplus64[i] == std::max(few[i], 0.0) + stated::log1p(stated::exp(-std::abs(few[i]))));
    REQUIRE(softplus_single[i] == std::max(single, 0.F) + static_cast<float>(stated::log1p(
                                                              stated::exp(-std::abs(static_cast<double>(single))))));
    REQUIRE(exp32[i] == stated_exp(single));
    REQUIRE(softplus32[i] ==
            (single > 20 ? single : static_cast<float>(stated::log1p(static_cast<double>(stated_exp(single))))));
  }
  const auto tanh64 = listed("tanh", numbers, Precision::kFp64),
             logistic64 = listed("logistic", numbers, Precision::kFp64);
  std::vector<double> singles;
  for (const double x : numbers) singles.push_back(static_cast<float>(std::clamp(x, -1e38, 1e38)));
  const auto tanh32 = listed("tanh", singles, Precision::kFp32),
             logistic32 = listed("logistic", singles, Precision::kFp32);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CAPTURE(numbers[i]);
    REQUIRE(tanh64[i] == stated::tanh(numbers[i]));
    REQUIRE(logistic64[i] == 1 / (1 + stated::exp(-numbers[i])));
    REQUIRE(tanh32[i] == static_cast<float>(stated::tanh(singles[i])));
    REQUIRE(logistic32[i] == static_cast<float>(1 / (1 + stated::exp(-singles[i]))));
  }
}
