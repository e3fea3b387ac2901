// The operations that certificates list of a trained model are the model, number for number.
#include "krohn/simulate/learned/model_operations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <tuple>

#include "krohn/groups/error.h"
#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/arithmetic/stated_exp.h"
#include "krohn/simulate/check/not_established.h"
#include "krohn/simulate/check/recheck_operations.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock/stock_kinds.h"
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

/// Letters of a random word after which the model's own reader and the list of its operations remember the same bits
/// and answer the same: all of them, unless a number on the way is not finite.
int letters_alike(const SequenceModel<float>& model, const Task& task, Precision precision, std::uint64_t seed,
                  int letters = 40) {
  const auto reader = trained_machine(model, task, precision);
  int read = 0;
  try {
    const auto again = rechecked_operations(model_operations(model, task, precision), model.tensors());
    LetterReader::Memory memory = reader->start();
    RecheckedReader::Moment moment = again->start();
    for (std::mt19937_64 random(seed); read < letters; ++read) {
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
  } catch (const NotEstablished& why) {
    REQUIRE(why.reason == kNotFinite);
  }
  return read;
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
                           "fan:blocks=2,size=3,layers=2,mlp=0",
                           "fan:blocks=3,size=2,layers=3,generator=4,norm=2.5,mlp=3",
                           "fan-released:layers=1,blocks=2,size=3",
                           "fan-released:layers=3,blocks=2,size=2,norm=1.7",
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
                           "diagonal:layers=2,width=4,channels=3,states=2,conv=2,complex",
                           "lstm:hidden=3,one-hot,unbiased"})
    for (const char* task_name : {"parity", "modadd5"})
      for (const Precision precision : {Precision::kFp32, Precision::kFp64, Precision::kBf16}) {
        CAPTURE(name);
        CAPTURE(task_name);
        CAPTURE(to_string(precision));
        const auto task = make_task(task_name);
        const auto model = make_model<float>(name, *task, 9);
        if (precision == Precision::kBf16 && !is_cell_model(*model)) continue;
        CHECK(letters_alike(*model, *task, precision, 5) == 40);
      }
}

TEST_CASE("the operations of another library's layers are the layers, whatever the weights are") {
  const auto task = make_task("modadd5");
  std::mt19937_64 random(11);
  const std::vector<std::string> names{
      "stock-mamba:width=4,inner=3,states=2,rank=2,taps=3,conv-bias",
      "stock-mamba:layers=2,width=3,residual,final-norm,inner=4,states=3,taps=4,bias",
      "stock-mamba2:width=5,heads=4,per-head=2,states=3,groups=2,taps=4,conv-bias",
      "stock-mamba2:layers=2,width=3,residual,final-norm,heads=3,per-head=2,states=2,taps=2,bias",
      "stock-delta:width=4,heads=2,keys=3,values=2,reflections=1",
      "stock-delta:width=4,heads=2,keys=2,values=3,reflections=3,taps=4,decay,gate,negative",
      "stock-delta:layers=2,width=3,residual,final-norm,mlp=4,heads=2,keys=3,values=2,taps=3,plain-keys",
      "stock-delta:width=3,heads=1,keys=2,values=2,taps=3,decay,gate,one-conv",
      "stock-gla:width=4,heads=2,keys=3,values=2,rank=2",
      "stock-gla:layers=2,width=3,residual,mlp=2,final-norm,norm-eps=1e-06,heads=1,keys=2,values=4,rank=3,normaliser="
      "3",
      "stock-mlstm:width=4,heads=2,keys=3,values=2,cap=15",
      "stock-mlstm:layers=2,width=3,residual,final-norm,mlp=3,logit-cap=30,heads=1,keys=2,values=3",
      "stock-slstm:width=4,heads=2",
      "stock-slstm:layers=2,width=6,residual,mlp=2,heads=3,taps=4,cuda",
      "stock-rwkv7:width=4,heads=2,keys=2,values=3,decay-rank=2,rate-rank=3,gate-rank=2"};
  for (const StockKind& kind : stock_kinds())
    CHECK(std::ranges::any_of(names, [&](const std::string& name) { return name.starts_with(kind.name); }));
  for (const std::string& name : names) {
    int finite = 0, all = 0;
    for (int trial = 0; trial < 30; ++trial)
      for (const Precision precision : {Precision::kFp32, Precision::kFp64}) {
        CAPTURE(name);
        CAPTURE(trial);
        CAPTURE(to_string(precision));
        const auto model = make_model<float>(name, *task, 1);
        // Sizes of weights; of each tensor; and first taps that are 0.
        const double size = std::exp2(trial % 5 == 4 ? 8 : trial % 5 - 2), zeros = trial % 3 == 0 ? 0.5 : 0;
        for (const ParameterPart& part : model->tensor_parts()) {
          std::normal_distribution<double> normal(0, size * std::exp2(static_cast<double>(random() % 5) - 3));
          std::uniform_real_distribution<double> share(0, 1);
          const bool is_convolution = part.name.find("conv1d") != std::string::npos && part.shape.size() == 3;
          const std::size_t taps = is_convolution ? part.shape[2] : 1,
                            silent = is_convolution ? random() % (taps + 1) : 0;
          std::size_t count = 1;
          for (const std::uint64_t extent : part.shape) count *= extent;
          if (count == 0) continue;
          float* const numbers = model->parameters().data() + model->begin_of(part.name);
          for (std::size_t i = 0; i < count; ++i)
            numbers[i] = i % taps < silent || share(random) < zeros ? 0 : static_cast<float>(normal(random));
        }
        finite += letters_alike(*model, *task, precision, random(), 25);
        all += 25;
      }
    CHECK(finite * 2 > all);
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
    CAPTURE(what);
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
  const auto soft64 = listed("softplus64", few, Precision::kFp64),
             soft32 = listed("softplus64", few_singles, Precision::kFp32),
             log_sigmoid64 = listed("log sigmoid", few, Precision::kFp64),
             log_sigmoid32 = listed("log sigmoid", few_singles, Precision::kFp32);
  const auto softplus_of_torch = [](double x) { return x > 20 ? x : stated::log1p(stated::exp(x)); };
  const auto log_sigmoid = [](double x) { return std::min(x, 0.0) - stated::log1p(stated::exp(-std::abs(x))); };
  for (std::size_t i = 0; i < few.size(); ++i) {
    CAPTURE(few[i]);
    REQUIRE(soft64[i] == softplus_of_torch(few[i]));
    REQUIRE(soft32[i] == static_cast<float>(softplus_of_torch(few_singles[i])));
    REQUIRE(log_sigmoid64[i] == log_sigmoid(few[i]));
    REQUIRE(log_sigmoid32[i] == static_cast<float>(log_sigmoid(few_singles[i])));
  }
  // Multiples of eighths of a turn, and what is next to them; where angles are reduced in integers; the greatest.
  std::vector<double> angles = numbers;
  for (const double size : {1.0, 7.0, 100.0, 667'543.0, 667'544.0, 0x1p52, 0x1p60, 0x1p300, 0x1p1020})
    for (int eighths = 0; eighths < 16; ++eighths)
      for (double x = (size + eighths) * (M_PI / 4), i = 0; i < 3; ++i, x = std::nextafter(x, 0))
        angles.insert(angles.end(), {x, -x});
  for (const double x :
       {0x1p20, std::nextafter(0x1p20, 0), 0x1.fffffffffffffp+1023, 0x1.fffffep+127, 6381956970095103 * 0x1p797})
    angles.insert(angles.end(), {x, -x});
  std::vector<double> single_angles;
  for (const double x : angles) single_angles.push_back(static_cast<float>(std::clamp(x, -3e38, 3e38)));
  const auto cosine64 = listed("cosine", angles, Precision::kFp64), sine64 = listed("sine", angles, Precision::kFp64),
             cosine32 = listed("cosine", single_angles, Precision::kFp32),
             sine32 = listed("sine", single_angles, Precision::kFp32);
  for (std::size_t i = 0; i < angles.size(); ++i) {
    CAPTURE(angles[i]);
    REQUIRE(cosine64[i] == stated::cos(angles[i]));
    REQUIRE(sine64[i] == stated::sin(angles[i]));
    REQUIRE(cosine32[i] == static_cast<float>(stated::cos(single_angles[i])));
    REQUIRE(sine32[i] == static_cast<float>(stated::sin(single_angles[i])));
  }
  // Norms of one number, which are two powers, and of three.
  for (const double p : {1.0, 1.2, 2.0, 2.5, 16.0, 1024.0})
    for (const Precision format : {Precision::kFp64, Precision::kFp32})
      for (const std::size_t width : {1, 3}) {
        const double most = std::min(std::exp2(1000 / p), format == Precision::kFp64 ? 1e300 : 1e38);
        std::vector<double> of;
        for (const double x : numbers)
          if (std::abs(x) < most) of.push_back(format == Precision::kFp64 ? x : static_cast<float>(x));
        of.resize(of.size() / (4 * width) * width);
        CAPTURE(p);
        OperationsBuilder b;
        b.operations.format = format;
        const auto list = b.norms(b.numbers(of), width, p), memory = b.memory(list.size);
        b.operations.start = {list.number};
        b.operations.keep = {memory.number};
        b.operations.logits = memory.number;
        const std::vector<double> norms = rechecked_operations(b.operations, TensorFile{})->start().numbers.at(0);
        for (std::size_t i = 0; i < norms.size(); ++i) {
          double sum = 0;
          for (std::size_t t = 0; t < width; ++t) sum += stated::pow(std::abs(of[i * width + t]), p);
          const double norm = stated::pow(sum, 1 / p);
          CAPTURE(of[i * width]);
          REQUIRE(norms[i] == (format == Precision::kFp64 ? norm : static_cast<double>(static_cast<float>(norm))));
        }
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

TEST_CASE("functions of every bf16 number, and at the ends of fp32, are the true ones rounded once") {
  namespace mp = boost::multiprecision;
  using Wide = mp::number<mp::cpp_bin_float<120, mp::digit_base_2>>;
  using Wider = mp::number<mp::cpp_bin_float<320, mp::digit_base_2>>;  // of angles up to 2^128
  // Rounded to nearest; a tie would be a chance of 1 in 2^100.
  const auto nearest = [](const auto& x, int digits) {
    int exponent = 0;
    frexp(x, &exponent);
    const int unit = std::max(exponent - digits, -125 - digits);
    return std::ldexp(static_cast<double>(round(ldexp(x, -unit))), unit);
  };
  struct Function {
    const char* what;
    std::function<double(double, int)> truth;
  };
  const std::vector<Function> functions{
      {"softplus64",
       [&](double x, int digits) { return x > 20     ? x
                                          : x < -300 ? 0
                                                     : nearest(Wide(log1p(exp(Wide(x)))), digits); }},
      {"log sigmoid",
       [&](double x, int digits) { return x < -300  ? x
                                          : x > 300 ? 0
                                                    : -nearest(Wide(log1p(exp(Wide(-x)))), digits); }},
      {"cosine", [&](double x, int digits) { return nearest(Wider(cos(Wider(x))), digits); }},
      {"sine", [&](double x, int digits) { return nearest(Wider(sin(Wider(x))), digits); }},
      {"norm", [&](double x, int) { return std::abs(x); }}};
  std::vector<double> every, singles;
  for (std::uint32_t bits = 0; bits < 1U << 16; ++bits)
    if (const float number = std::bit_cast<float>(bits << 16); std::isfinite(number)) every.push_back(number + 0.0);
  for (const float border : {0x1p-149F, 0x1p-126F, 1.0F, 20.0F, 87.33F, 88.72F, 103.97F, 0x1p20F, 0x1.fffffep+127F})
    for (float x = border, y = border, i = 0; i < 6;
         ++i, x = std::nextafter(x, 0.F), y = std::nextafter(y, 0x1.fffffep+127F))
      singles.insert(singles.end(), {x, -x, y, -y});
  for (const auto& [format, digits, numbers] :
       {std::tuple(Precision::kBf16, 8, &every), std::tuple(Precision::kFp32, 24, &singles)})
    for (const Function& function : functions) {
      OperationsBuilder b;
      b.operations.format = format;
      const auto of = b.numbers(*numbers);
      const auto list = function.what == std::string("norm") ? b.norms(of, 1, 1.2) : b.each(function.what, of);
      const auto memory = b.memory(list.size);
      b.operations.start = {list.number};
      b.operations.keep = {memory.number};
      b.operations.logits = memory.number;
      const std::vector<double> stated = rechecked_operations(b.operations, TensorFile{})->start().numbers.at(0);
      for (std::size_t i = 0; i < numbers->size(); ++i) {
        CAPTURE(function.what);
        CAPTURE((*numbers)[i]);
        REQUIRE(stated[i] == function.truth((*numbers)[i], digits));
      }
    }
}
