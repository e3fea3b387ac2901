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

namespace {

/// Everything that a reading says, where the state is asked about, of words of which no more is wanted after `most`
/// letters.
std::vector<std::vector<Output>> heard_of(const WordReading& reading, const TrackedAutomaton& tracked,
                                          std::span<const Word> words, std::size_t most) {
  std::vector<std::vector<Output>> all(words.size());
  reading(words, [&](std::size_t word, std::size_t t, State state, Output answer) {
    if (t != all[word].size() || state != tracked.automaton.run(std::span(words[word]).first(t))) FAIL("out of order");
    all[word].push_back(tracked.is_asked(state) ? answer : TrackedAutomaton::kNotAsked);
    return t < most;
  });
  return all;
}

}  // namespace

TEST_CASE("given words are answered as one after another, side by side, by threads, and as a device reads them") {
  std::mt19937_64 random(5);
  std::size_t asked = 0, ended = 0;
  for_listed_models([&](SequenceModel<float>& model, const Task& task, Precision format) {
    const double size = std::array{0.0, 0.5, 8.0}[random() % 3];
    if (size > 0) scatter(model, random, size);
    const ReadModel read = subject_of(trained_machine(model, task, format), task);
    std::vector<Word> words{{}, {0}};
    while (words.size() < 75) {  // some begin alike, some are the same
      Word word = words[random() % words.size()];
      word.resize(random() % (word.size() + 1));
      for (std::uint64_t left = random() % 9; left > 0; --left)
        word.push_back(static_cast<Letter>(random() % read.reader.letters()));
      words.push_back(std::move(word));
    }
    std::vector<std::vector<Output>> wanted;
    for (const Word& word : words) {
      ReaderRun run(read.reader, read.tracked);
      wanted.emplace_back();
      for (std::size_t t = 0;; ++t) {
        wanted.back().push_back(run.is_asked() ? run.answer().output : TrackedAutomaton::kNotAsked);
        if (t == word.size()) break;
        if (!run.read(word[t])) {
          ++ended;
          break;
        }
      }
      asked += wanted.back().size();
    }
    for (const unsigned threads : {1, 3})
      CHECK(heard_of(word_reading(read, threads), read.tracked, words, 99) == wanted);
    const auto there =
        word_reading(Place::kProcessor, read, word_reading(read, 1), kLayouts[random() % std::size(kLayouts)]);
    CHECK(heard_of(there, read.tracked, words, 99) == wanted);
    words.resize(20);
    wanted.resize(20);
    for (std::vector<Output>& answers : wanted) answers.resize(std::min<std::size_t>(answers.size(), 4));
    CHECK(heard_of(word_reading(read, 2), read.tracked, words, 3) == wanted);
    CHECK(heard_of(there, read.tracked, words, 3) == wanted);
    CHECK(heard_of(there, read.tracked, {}, 3).empty());
  });
  CHECK(asked > 40'000);
  CHECK(ended > 1000);
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
