// The operations that certificates list of a trained model are the model, number for number.
#include "krohn/simulate/learned/model_operations.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "krohn/simulate/check/recheck_operations.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"

using namespace krohn;

namespace {

template <class Real>
std::vector<double> numbers_of(const LetterReader::Memory& memory) {
  std::vector<Real> numbers(memory.size() * sizeof(std::uint32_t) / sizeof(Real));
  std::memcpy(numbers.data(), memory.data(), numbers.size() * sizeof(Real));
  return {numbers.begin(), numbers.end()};
}

}  // namespace

TEST_CASE("the operations of a model give its memory and its answers, bit for bit") {
  for (const char* name :
       {"bilinear:hidden=6,inputs=3,bias,input-bias", "bilinear:block=2,hidden=6,inputs=3",
        "bilinear:diagonal,hidden=4,inputs=3,bias", "bilinear:rank=4,hidden=5,inputs=3,input-bias",
        "bilinear:rotations,hidden=6,inputs=3,input-bias", "bilinear:block=2,hidden=6,inputs=3,scale-free",
        "fan:blocks=2,size=2", "fan:blocks=2,size=3,generator=4,norm=1", "dense:size=3",
        "deltaproduct:width=4,heads=2,keys=3,values=3,mlp=3",
        "deltaproduct:width=4,heads=1,keys=3,values=8,reflections=2,signed,conv=2,mlp=0",
        "deltaproduct:layers=2,width=4,heads=2,keys=2,values=2,plain,signed,conv=3,mlp=2",
        "deltaproduct:layers=2,width=4,heads=2,keys=2,values=3,reflections=3,conv=1"})
    for (const char* task_name : {"parity", "modadd5"})
      for (const Precision precision : {Precision::kFp32, Precision::kFp64}) {
        CAPTURE(name);
        CAPTURE(task_name);
        CAPTURE(to_string(precision));
        const auto task = make_task(task_name);
        const auto model = make_model<float>(name, *task, 9);
        std::string why;
        const auto operations = model_operations(*model, *task, precision == Precision::kFp64, why);
        REQUIRE_MESSAGE(operations.has_value(), why);
        const auto reader = trained_machine(*model, *task, precision);
        const auto again = rechecked_operations(*operations, model->tensors(), precision == Precision::kFp64);
        LetterReader::Memory memory = reader->start();
        RecheckedReader::Moment moment = again->start();
        std::mt19937_64 random(5);
        for (int t = 0; t < 40; ++t) {
          const auto letter = static_cast<Letter>(random() % reader->letters());
          const LetterReader::Answer answer = reader->step(letter, memory, true);
          moment = again->step(moment, letter);
          REQUIRE(moment.numbers.at(0) ==
                  (precision == Precision::kFp64 ? numbers_of<double>(memory) : numbers_of<float>(memory)));
          REQUIRE(again->read(moment).value_or(LetterReader::kNoAnswer) == answer.output);
        }
      }
}

TEST_CASE("what certificates cannot state has no operations, and says why") {
  const auto task = make_task("parity");
  for (const std::string name :
       {"diagonal:width=3,channels=4,states=2,conv=0", "fan:blocks=2,size=2,layers=2", "lstm"}) {
    CAPTURE(name);
    std::string why;
    CHECK_FALSE(model_operations(*make_model<float>(name, *task, 9), *task, false, why).has_value());
    CHECK(why.starts_with(name.substr(0, name.find(':'))));
    CHECK(why.find("certificates do not state") != std::string::npos);
  }
}
