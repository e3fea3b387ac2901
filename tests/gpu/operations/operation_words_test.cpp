#include "krohn/gpu/operations/operation_words.h"
#include "krohn/automata/language.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/gpu/device/device.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/learned/model_operations.h"
#include "tests/gpu/operations/listed_words.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

constexpr WordLayout kLayouts[] = {{1, 32, false}, {4, 64, true}, {8, 32, false}, {32, 64, true}, {0, 0, false}};

/// Every weight a normal number, of another size in every tensor.
void scatter(SequenceModel<float>& model, std::mt19937_64& random, double size) {
  for (const ParameterPart& part : model.tensor_parts()) {
    std::normal_distribution<double> normal(0, size * std::exp2(static_cast<double>(random() % 5) - 3));
    std::size_t count = 1;
    for (const std::uint64_t extent : part.shape) count *= extent;
    float* const numbers = model.parameters().data() + model.begin_of(part.name);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(normal(random));
  }
}

}  // namespace

TEST_CASE("words of every kind of model have the numbers of the processor's machine, whatever the layout") {
  std::mt19937_64 random(3);
  std::uint64_t left = 0, all = 0;
  for_listed_models([&](SequenceModel<float>& model, const Task& task, Precision format) {
    const TrackedAutomaton tracked = tracked_automaton(task, input_machine(task).automaton);
    for (const double size : {0.0, 0.5, 8.0}) {
      if (size > 0) scatter(model, random, size);
      left += check_listed_words(Place::kProcessor, model_operations(model, task, format), model.tensors(), tracked,
                                 kLayouts[random() % std::size(kLayouts)], 5, 13);
      all += 5;
    }
  });
  CHECK(left * 20 < all);
}

TEST_CASE("every layout gives the same numbers, with few constants and with many") {
  const auto task = make_task("S3");
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  std::mt19937_64 random(4);
  for (const char* shape : {"gru:hidden=41,inputs=5", "lstm:hidden=37,inputs=2",
                            "deltaproduct:layers=2,width=8,heads=2,keys=3,values=6,signed,conv=3,mlp=9"})
    for (const bool has_zeros : {false, true}) {
      const auto model = make_model<float>(shape, *task, 9);
      if (has_zeros)
        for (float& number : model->parameters())
          if (random() % 4 > 0) number = 0;
      for (const WordLayout layout : kLayouts)
        CHECK(check_listed_words(Place::kProcessor, model_operations(*model, *task, Precision::kFp32), model->tensors(),
                                 tracked, layout, 35, 9) == 0);
    }
  // Too large for a block's memory, and large enough for fewer words of it.
  for (const char* shape :
       {"deltaproduct:layers=2,width=64,heads=4,keys=16,values=16,reflections=2,signed,conv=4,mlp=128",
        "lstm:layers=2,hidden=512"}) {
    const auto model = make_model<float>(shape, *task, 9);
    CHECK(check_listed_words(Place::kProcessor, model_operations(*model, *task, Precision::kFp32), model->tensors(),
                             tracked, {}, 3, 4) == 0);
  }
}

TEST_CASE("checkpoints, exact and moved, in fp32 and bf16") {
  std::mt19937_64 random(7);
  for (const char* name : {"parity", "S3", "tomita3"})
    for (const auto precision : {Precision::kFp32, Precision::kBf16})
      for (const float by : {0.0F, 0.05F}) {
        CAPTURE(name);
        CAPTURE(to_string(precision));
        CAPTURE(by);
        Checkpoint checkpoint = gated_delta_product_checkpoint(named_language(name, {}));
        std::normal_distribution<float> normal(0, by);
        for (auto& [tensor_name, tensor] : checkpoint.tensors.tensors) {
          std::vector<float> values(tensor.elements());
          std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
          for (float& value : values) value += by > 0 ? normal(random) : 0;
          tensor = make_tensor(values, tensor.shape);
        }
        const CheckpointModel model(checkpoint, precision);
        CHECK(check_listed_words(Place::kProcessor, checkpoint_operations(checkpoint, model),
                                 tensors_in_file(checkpoint), tracked_by(checkpoint), {}, 5, 31) == 0);
      }
}

TEST_CASE("the first failure is that of the processor, by the least letter and then the least word") {
  const auto task = make_task("modadd5");
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto model = make_model<float>("gru:hidden=5,inputs=3", *task, seed);
    const ReadModel read = subject_of(trained_machine(*model, *task, Precision::kFp32), *task);
    const RandomTest asked{.length = 40, .words = 70, .seed = seed};
    const ReadModel without_operations{read.reader, read.tracked};
    if (seed == 3) CHECK_THROWS_AS(first_failure(Place::kProcessor, without_operations, asked), NotOnDevice);
    const auto found = first_failure(Place::kProcessor, read, asked),
               wanted = first_failure(read.reader, read.tracked, asked);
    REQUIRE(found.has_value() == wanted.has_value());
    if (!found) continue;
    CHECK(found->at == wanted->at);
    CHECK(found->word == wanted->word);
    if (!cuda_available()) CHECK_THROWS_AS(first_failure(Place::kDevice, read, asked), SystemError);
  }
}
