// Needs a CUDA device; CTest reads "skipped:" and reports the test as skipped where there is none. Everything that runs
// on a device is compared with the processor's own code for it, number by number.

#include <cstdio>

#include "krohn/automata/language.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "krohn/gpu/training/device_training.h"
#include "krohn/gpu/training/stepper.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/run/run_dfa.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/gpu/operations/listed_words.h"
#include "tests/gpu/samples.h"
#include "tests/simulate/formed_networks.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::formed_networks;

namespace {

bool is_skipped() {
  if (cuda_available()) return false;
  std::printf("skipped: %s\n", cuda_status().c_str());
  return true;
}

/// One of every kind, for tests of many runs.
const ArithmeticName kKinds[] = {Precision::kFp64, Precision::kBf16, ArithmeticName::fused(Precision::kFp32),
                                 ArithmeticName::accumulated_in_fp32(Precision::kFp16), ArithmeticName::tf32()};

}  // namespace

TEST_CASE("the kernel counts what the processor counts") {
  if (is_skipped()) return;
  // Tables in shared memory and beyond it, entries of one, two and four bytes, counts in shared memory and beyond.
  for (const State states : {5U, 300U, 5'000U, 100'000U})
    for (const Letter letters : {1U, 2U, 5U, 300U}) {
      CAPTURE(states);
      CAPTURE(letters);
      const Dfa dfa = krohn::random_automaton(states, letters, /*seed=*/states);
      const RandomSample sample{.words = 3'001, .length = 1'003, .seed = 11};
      CHECK(cuda_final_state_counts(dfa, sample) == reference_final_state_counts(dfa, sample));
    }
}

TEST_CASE("one long word on the device ends where it ends on the processor") {
  if (is_skipped()) return;
  for (const Dfa& dfa :
       {circle(3, 1), krohn::random_automaton(8, 2, 1), krohn::random_automaton(16, 3, 2),
        krohn::random_automaton(31, 200, 3), circle(120, 120), circle(31, 300), circle(200, 200),
        krohn::random_automaton(40, 2, 4), krohn::random_automaton(5'000, 2, 4), random_permutations(40, 2, 8)}) {
    CAPTURE(dfa.states());
    CAPTURE(dfa.letters());
    const SlicedRunner runner(dfa, cuda_slice_reader);
    const RandomWord word(dfa.letters(), /*seed=*/5);
    for (const std::uint64_t length : {0ULL, 1ULL, 31ULL, 32ULL, 33ULL, 127'323ULL, 50'000'001ULL}) {
      CAPTURE(length);
      CHECK(runner.run(word, 7, length, 1) == Runner(dfa).run(word, 7, length, 1));
    }
  }
}

TEST_CASE("a stored word on the device ends and passes where it does on the processor") {
  if (is_skipped()) return;
  for (const Dfa& dfa :
       {circle(3, 1), krohn::random_automaton(8, 2, 1), krohn::random_automaton(16, 3, 2),
        krohn::random_automaton(31, 200, 3), circle(120, 120), circle(250, 2), krohn::random_automaton(40, 2, 4)}) {
    CAPTURE(dfa.states());
    CAPTURE(dfa.letters());
    const StoredWordRunner runner(Place::kDevice, dfa), here(Place::kProcessor, dfa);
    const RandomWord random(dfa.letters(), /*seed=*/5);
    for (const std::uint64_t length :
         {0ULL, 1ULL, 2ULL, 31ULL, 32ULL, 33ULL, 127'323ULL, 1'000'003ULL, 50'000'001ULL}) {
      CAPTURE(length);
      const PackedWord word(random, length);
      CHECK(runner.run(word, 1) == Runner(dfa).run(word, 1));
      if (length > 1'000'003) continue;
      CHECK(runner.states(PlacedWord(Place::kDevice, word), 1).values() ==
            here.states(PlacedWord(Place::kProcessor, word), 1).values());
    }
  }
}

TEST_CASE("networks on the device answer as on the processor, bit for bit") {
  if (is_skipped()) return;
  std::vector<Network> networks = meaningful_networks();
  networks.push_back(failing_cascade());
  for (std::uint64_t seed = 1; seed < 12; ++seed)
    networks.push_back(random_network(seed, static_cast<std::uint32_t>(1 + seed % 9),
                                      static_cast<std::uint32_t>(1 + seed % 3), 7, std::nullopt));
  networks.push_back(one_hot(krohn::random_automaton(120, 3, 8)));  // too large for a block's shared memory
  for (const Network& network : networks)
    for (const ArithmeticName arithmetic : ArithmeticName::all()) {
      CAPTURE(to_string(arithmetic));
      const SampleOptions options = sample_of({0, 33, 500}, 133, 3);
      CHECK(sample_words(Place::kDevice, network, arithmetic, options) == sample(network, arithmetic, options));
    }
}

TEST_CASE("trained models on the device answer as on the processor") {
  if (is_skipped()) return;
  for (const char* name : {"modarith5", "parity", "modarith-equals5", "S5/tokens=4", "modadd10", "ltrarith10"})
    for (const char* shape : {"gru:hidden=9,inputs=4", "deltaproduct:layers=2,width=8,heads=2,keys=3,values=6,mlp=7",
                              "bilinear:hidden=9,inputs=4", "bilinear:hidden=8,inputs=3,rotations",
                              "bilinear:hidden=5,inputs=4,rank=3,input-bias", "bilinear:hidden=120,inputs=3",
                              "bilinear:hidden=130,inputs=3"}) {
      CAPTURE(name);
      CAPTURE(shape);
      const auto task = make_task(name, {});
      const auto model = make_model<float>(shape, *task, 3);
      const EvaluateModelOptions options{.words = 100};
      const ModelAccuracy expected = evaluate_model(*model, *task, 333, options);
      const ModelAccuracy found = evaluate_words(Place::kDevice, *model, *task, 333, options);
      CHECK(found.right == expected.right);
      CHECK(found.targets == expected.targets);
      CHECK(found.right_words == expected.right_words);
    }
}

TEST_CASE("words of every kind of model on the device have the numbers of the processor's machine") {
  if (is_skipped()) return;
  std::uint64_t left = 0, all = 0;
  for_listed_models([&](const SequenceModel<float>& model, const Task& task, Precision format) {
    const TrackedAutomaton tracked = tracked_automaton(task, input_machine(task).automaton);
    for (const WordLayout layout : {WordLayout{}, WordLayout{1, 32}, WordLayout{8, 96}, WordLayout{32, 256}})
      left += check_listed_words(Place::kDevice, model_operations(model, task, format), model.tensors(), tracked,
                                 layout, 37, 50);
    all += 4 * 37;
  });
  CHECK(left * 20 < all);
  for (const auto precision : {Precision::kFp32, Precision::kBf16}) {
    const Checkpoint checkpoint = gated_delta_product_checkpoint(named_language("S3", {}));
    const CheckpointModel model(checkpoint, precision);
    CHECK(check_listed_words(Place::kDevice, checkpoint_operations(checkpoint, model), tensors_in_file(checkpoint),
                             tracked_by(checkpoint), {}, 70, 100) == 0);
  }
}

TEST_CASE("scans on the device make the products that the order names") {
  if (is_skipped()) return;
  std::vector<Network> networks{rotation(7, all_residues(7)), symmetric(4, 3, Swap::kMap)};
  for (std::uint64_t seed = 1; seed < 5; ++seed) networks.push_back(random_network(seed, 4, 2, 3, std::nullopt));
  for (const Network& network : networks)
    for (const ArithmeticName arithmetic : kKinds)
      for (const char* order : {"scan", "doubling", "chunked:17", "scan:100", "doubling:130"})
        for (const std::uint64_t length : {1, 33, 127, 4097, 20'000}) {
          CAPTURE(to_string(arithmetic));
          CAPTURE(order);
          CAPTURE(length);
          SampleOptions options = sample_of({length}, length < 200 ? 200 : 1, 9, Form::kDense);
          options.order = parse_order(order);
          CHECK(sample_words_in_order(Place::kDevice, network, arithmetic, options) ==
                sample(network, arithmetic, options));
        }
}

TEST_CASE("chunks of reflections, and layer after layer, on the device") {
  if (is_skipped()) return;
  std::vector<Network> networks = meaningful_networks();
  networks.push_back(failing_cascade());
  networks.push_back(symmetric(4, 3, Swap::kUnit));
  for (std::uint64_t seed = 1; seed < 4; ++seed) networks.push_back(random_network(seed, 5, 2, 4, Kind::kReflections));
  for (const Network& network : networks)
    for (const ArithmeticName arithmetic : kKinds)
      for (const char* order : {"scan", "chunked:16", "chunked:64", "doubling:130"})
        for (const std::uint64_t words : {1, 70}) {
          CAPTURE(to_string(arithmetic));
          CAPTURE(order);
          CAPTURE(words);
          SampleOptions options = sample_of({4097 / words}, words, 9);
          options.order = parse_order(order);
          CHECK(sample_words_in_order(Place::kDevice, network, arithmetic, options) ==
                sample(network, arithmetic, options));
        }
}

TEST_CASE("searches on the device find the pairs and the words of the processor") {
  if (is_skipped()) return;
  for (const std::uint32_t m : {3U, 5U, 12U, 60U})
    for (const ArithmeticName arithmetic : kKinds) {
      CAPTURE(m);
      CAPTURE(to_string(arithmetic));
      const Network network = rotation(m, all_residues(m));
      const CertifyOptions options{.arithmetic = arithmetic, .max_pairs = 200'000};
      const Certificate expected = certify_reachable_set(network, options);
      const Certificate found = search_pairs(Place::kDevice, network, options);
      CHECK((found.claim == expected.claim));
      CHECK(found.pairs == expected.pairs);
      CHECK((found.proof == expected.proof));
    }
}

TEST_CASE("steps of training on the device are the processor's, and have the same bits in a graph and without one") {
  if (is_skipped()) return;
  constexpr std::uint32_t kWords = 40;
  const auto task = make_task("modadd5", {});
  for (const char* shape : kTrainedShapes) {
    CAPTURE(shape);
    const auto model = make_model<float>(shape, *task, 1);
    const std::vector<float> zeros(model->parameters().size(), 0);
    struct Run {
      std::vector<float> gradient, parameters;
    };
    const auto run = [&](Place place, std::uint32_t models, bool graph) {
      Stepper stepper(place, *model, models, kWords, 1);
      for (std::uint32_t m = 0; m < models; ++m) stepper.load(m, model->parameters(), zeros, zeros);
      for (std::uint64_t step = 0; step < 4; ++step) {
        std::vector<ModelStep> steps;
        for (std::uint32_t m = 0; m < models; ++m)
          steps.push_back({draw_batch(*task, {1, 20}, 1, (step + 100 * m) * kWords, kWords), 1e-3F, 0.99F});
        graph ? stepper.step(steps) : stepper.step_one_by_one(steps);
      }
      Run result{stepper.gradient(0), std::vector<float>(zeros.size())};
      stepper.store_parameters(0, result.parameters);
      return result;
    };
    const Run alone = run(Place::kDevice, 1, true), here = run(Place::kProcessor, 1, true);
    CHECK(run(Place::kDevice, 1, false).parameters == alone.parameters);
    CHECK(run(Place::kDevice, 5, true).parameters == alone.parameters);
    double greatest = 0, error = 0;
    for (std::size_t i = 0; i < zeros.size(); ++i) {
      greatest = std::max(greatest, double{std::fabs(here.gradient[i])});
      error = std::max(error, std::fabs(double{here.gradient[i]} - double{alone.gradient[i]}));
    }
    CHECK(error < 1e-3 * greatest);  // after three steps of AdamW, which divides by small numbers
  }
}

TEST_CASE("too little memory is said in one line, and the device goes on") {
  if (is_skipped()) return;
  CHECK_THROWS_AS(Buffer<double>(Place::kDevice, std::size_t{1} << 50), SystemError);
  CHECK(Buffer<int>(Place::kDevice, 3).values() == std::vector<int>{0, 0, 0});
}
