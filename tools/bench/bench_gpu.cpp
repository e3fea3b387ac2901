// bench_gpu FIGURES.json [PYTORCH.json] — rates of a CUDA device: the truth, networks, scans, searches and training, each
// beside what docs/results/gpu.md derives as its bound, the processor in the same run, and PyTorch: in the same run, by the
// file that tools/bench/peer_gpu.py wrote, or else as that page has it. Prints a table and writes the figures to the first
// file. Ends with status 1 where a figure is below one of these rivals', or was not measured. tools/bench/gpu runs it.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/formats/json.h"
#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "krohn/gpu/operations/operation_words.h"
#include "krohn/gpu/training/device_training.h"
#include "krohn/gpu/training/stepper.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/parallel_for.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/run/run_dfa.h"
#include "krohn/simulate/tasks/tasks.h"

namespace {

using namespace krohn;
using Clock = std::chrono::steady_clock;

/// Beside what a figure is printed.
struct Beside {
  double bound = 0;      ///< the rate that docs/results/gpu.md derives for this device, or 0 where it derives none
  double processor = 0;  ///< the processor's rate in the same run, or 0 where it was not measured
  double pytorch = 0;    ///< PyTorch's on the same kind of device, or 0
};

/// PyTorch's rates by the name of the work, letters or steps of one model a second.
using PyTorchRates = std::map<std::string, double>;

/// docs/results/gpu.md, an H100 on 27 November 2026.
const PyTorchRates kOnThePage{{"S5 by reflections, 10 letters", 1.47e10},
                              {"Z60 by rotations", 2.07e10},
                              {"Ebrahimi, full, H = 256", 1'251},
                              {"reflections, n = 32", 3'008}};

/// Rows of the table and of the file.
class Figures {
 public:
  explicit Figures(PyTorchRates pytorch) : pytorch_(std::move(pytorch)) {}

  /// 0 for work that PyTorch was not asked for.
  double pytorch(const std::string& work) const {
    const auto found = pytorch_.find(work);
    return found == pytorch_.end() ? 0 : found->second;
  }
  void print_head() const {
    fmt::print("{:<14} {:<66} {:>10} {:<12} {:>8} {:>11} {:>9}\n", "group", "work", "rate", "unit", "of bound",
               "× processor", "× PyTorch");
  }
  void add(const std::string& group, const std::string& what, double rate, const std::string& unit,
           const Beside& beside) {
    nlohmann::ordered_json row{{"group", group}, {"what", what}, {"rate", rate}, {"unit", unit}};
    const auto ratio = [&](const char* key, double other) {
      if (other <= 0) return std::string();
      row[key] = rate / other;
      return fmt::format("{:.2f}", rate / other);
    };
    const std::string of_bound = ratio("of_bound", beside.bound),
                      of_processor = ratio("of_processor", beside.processor),
                      of_pytorch = ratio("of_pytorch", beside.pytorch);
    fmt::print("{:<14} {:<66} {:>10.3e} {:<12} {:>8} {:>11} {:>9}\n", group, what, rate, unit, of_bound, of_processor,
               of_pytorch);
    std::fflush(stdout);
    if (rate < beside.processor) slower_.push_back(fmt::format("{}: {} is slower than the processor", group, what));
    if (rate < beside.pytorch) slower_.push_back(fmt::format("{}: {} is slower than PyTorch", group, what));
    rows_.push_back(std::move(row));
  }
  void add(const std::string& group, const std::string& what, double rate, const std::string& unit, double bound) {
    add(group, what, rate, unit, Beside{.bound = bound});
  }
  void refuse(const std::string& group, const std::string& what, const std::string& why) {
    fmt::print("{:<14} {:<66} {}\n", group, what, why);
    rows_.push_back({{"group", group}, {"what", what}, {"failed", why}});
    slower_.push_back(fmt::format("{}: {} failed: {}", group, what, why));
  }
  const nlohmann::ordered_json& rows() const { return rows_; }
  /// The names of those that failed, or are slower than a rival.
  const std::vector<std::string>& slower() const { return slower_; }

 private:
  PyTorchRates pytorch_;
  std::vector<std::string> slower_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
};

/// Seconds of the fastest of three runs, after one that nobody counts.
template <class Body>
double seconds_of(Body&& body) {
  body();
  double best = 1e300;
  for (int round = 0; round < 3; ++round) {
    const auto start = Clock::now();
    body();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

/// Runs a measurement; what fails is a row too, and the others go on.
template <class Body>
void measure(Figures& figures, const std::string& group, const std::string& what, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    figures.refuse(group, what, error.what());
  }
}

Network network(const std::string& name, const std::string& construction) {
  BuildOptions wishes;
  wishes.construction = construction;
  if (construction == "permutation-base-reflections") wishes.keys = KeyStyle::kUnnormalised;
  return build(named_language(name), wishes);
}

SampleOptions sample_of(std::uint64_t length, std::uint64_t words, Order order = {}) {
  return {.lengths = {length}, .words = words, .order = order, .progress = {}};
}

template <class Subject>
using Subjects = std::vector<std::pair<std::string, Subject>>;

void measure_truth(Figures& figures) {
  const Subjects<Dfa> subjects{{"5 states, 2 letters", named_language("random:m=5,letters=2,seed=1")},
                               {"16 states, 2 letters", named_language("random:m=16,letters=2,seed=1")},
                               {"32 states, 2 letters", named_language("random:m=32,letters=2,seed=1")},
                               {"S5, 120 states, 120 letters", named_language("S5")},
                               {"modarith5, 25 states, 8 letters", named_language("modarith5")},
                               {"10,000 states, 2 letters", named_language("random:m=10000,letters=2,seed=1")}};
  for (const auto& [name, dfa] : subjects) {
    measure(figures, "truth", name, [&] {
      const RandomSample sample{.words = 1 << 20, .length = 1 << 17, .seed = 1};
      const double seconds = seconds_of([&] { cuda_final_state_counts(dfa, sample); });
      figures.add("truth", name + ", 2^20 words", static_cast<double>(sample.words * sample.length) / seconds,
                  "letters/s", 0);
    });
    measure(figures, "truth", name, [&] {
      constexpr std::uint64_t kLetters = std::uint64_t{1} << 36;
      const SlicedRunner runner(dfa, cuda_slice_reader);
      constexpr std::uint64_t kOnProcessor = std::uint64_t{1} << 30;
      const RandomWord word(dfa.letters(), 1);
      const double seconds = seconds_of([&] { runner.run(word, 0, kLetters, dfa.initial()); });
      const Runner here(dfa);
      const double here_seconds = seconds_of([&] { here.run(word, 0, kOnProcessor, dfa.initial()); });
      figures.add("truth", name + ", one word, " + runner.tables().description(),
                  static_cast<double>(kLetters) / seconds, "letters/s",
                  Beside{.processor = static_cast<double>(kOnProcessor) / here_seconds});
    });
  }
}

/// Words of a gigabyte, as packed, that lie in the device's memory; beside what a copy of them within the device reads
/// and writes in the same run.
void measure_stored_words(Figures& figures) {
  const Subjects<Dfa> subjects{{"parity", named_language("parity")},
                               {"8 states, 2 letters", named_language("random:m=8,letters=2,seed=1")},
                               {"16 states, 2 letters", named_language("random:m=16,letters=2,seed=1")},
                               {"32 states, 2 letters", named_language("random:m=32,letters=2,seed=1")},
                               {"Z60", named_language("Z60")},
                               {"S5, 120 states, 120 letters", named_language("S5")}};
  const double copied = cuda_copy_rate();
  for (const auto& [name, dfa] : subjects)
    measure(figures, "stored words", name, [&] {
      constexpr std::uint64_t kBytes = std::uint64_t{1} << 30, kWritten = std::uint64_t{1} << 27;
      const StoredWordRunner runner(Place::kDevice, dfa);
      const RandomWord random(dfa.letters(), 1);
      const PlacedWord word(Place::kDevice, PackedWord(random, kBytes * letters_per_byte(dfa.letters())));
      const double seconds = seconds_of([&] { runner.run(word, dfa.initial()); });
      figures.add("stored words", name + ", bytes read, beside a copy's", static_cast<double>(kBytes) / seconds,
                  "bytes/s", copied);
      const PlacedWord beginning(Place::kDevice, PackedWord(random, kWritten * letters_per_byte(dfa.letters())));
      PlacedStates states = runner.states(beginning, dfa.initial());
      const double writing = seconds_of([&] { runner.write_states(beginning, dfa.initial(), states); });
      figures.add("stored words", name + ", all states: bytes read and written",
                  static_cast<double>(kWritten * (1 + letters_per_byte(dfa.letters()))) / writing, "bytes/s", copied);
    });
}

void measure_networks(Figures& figures) {
  struct Subject {
    std::string name;
    Network network;
    double accesses;  ///< of shared memory a letter, as docs/results/gpu.md counts them
  };
  const std::vector<Subject> subjects{
      {"S5 by reflections, 10 letters", network("S5/transpositions", "permutation-base-reflections"), 100},
      {"Z60 by rotations", network("Z60", "rotation"), 17},
      {"modarith5 by a one-hot cascade", network("modarith5", "cascade-holonomy"), 0},
      {"parity", network("parity", "rotation"), 0}};
  const std::vector<ArithmeticName> arithmetics{Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16,
                                                ArithmeticName::accumulated_in_fp32(Precision::kBf16)};
  for (const auto& [name, subject, accesses] : subjects)
    for (const ArithmeticName arithmetic : arithmetics) {
      const std::string what = name + ", " + to_string(arithmetic);
      measure(figures, "networks", what, [&] {
        const SampleOptions options = sample_of(20'000, 1 << 18);
        const double seconds = seconds_of([&] { sample_words(Place::kDevice, subject, arithmetic, options); });
        const double bound = accesses > 0 ? shared_accesses_per_second() / accesses : 0;
        const bool compared = arithmetic == ArithmeticName(Precision::kFp32);
        figures.add("networks", what, static_cast<double>(options.words * 20'000) / seconds, "letters/s",
                    Beside{.bound = bound, .pytorch = compared ? figures.pytorch(name) : 0});
      });
    }
}

void measure_trained_models(Figures& figures) {
  const auto task = make_task("modadd5", {});
  for (const char* shape : {"bilinear:hidden=16,inputs=16,rotations", "bilinear:hidden=256,inputs=64"})
    measure(figures, "trained models", shape, [&] {
      const bool large = std::string(shape).find("256") != std::string::npos;
      const std::uint64_t length = large ? 2'000 : 100'000;
      const auto model = make_model<float>(shape, *task, 1);
      EvaluateModelOptions options;
      const double seconds = seconds_of([&] { evaluate_words(Place::kDevice, *model, *task, length, options); });
      figures.add("trained models", std::string(shape) + ", 1000 words",
                  static_cast<double>(options.words * length) / seconds, "letters/s", large ? 2e7 : 3e9);
    });
}

/// Random words through a model's operations: on the device, and beside them on all of the processor's threads. The
/// bound is that of additions and products that are rounded apart, 64 of each a clock and multiprocessor.
void measure_operations(Figures& figures, const std::string& name, const Operations& operations,
                        const TensorFile& tensors, const TrackedAutomaton& tracked) {
  measure(figures, "operations", name, [&] {
    constexpr std::uint64_t kWords = 132 * 128;
    const auto reader = operation_words(Place::kDevice, operations, tensors, drawn_tokens(tracked, 1));
    const std::uint64_t words = std::min(kWords, reader->words_at_once());
    const std::uint64_t letters = std::clamp<std::uint64_t>(500'000'000'000 / (reader->products() * words), 20, 5'000);
    reader->start(0, words);
    reader->read(2);
    const double seconds = seconds_of([&] {
      reader->read(letters);
      reader->records();
    });
    const auto here = operations_reader(operations, tensors);
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
    const std::uint64_t fewer = std::max<std::uint64_t>(letters / 20, 2);
    constexpr std::size_t kSideBySide = 64;
    const double beside = seconds_of([&] {
      parallel_for(threads, 0, [&](std::size_t) {
        const auto read = here->words(kSideBySide);
        std::vector<LetterReader::Answer> answers(kSideBySide);
        const std::array asked{char{true}};
        for (std::uint64_t t = 0; t < fewer; ++t)
          read->read(std::vector<Letter>(kSideBySide, static_cast<Letter>(t % here->letters())), asked, answers);
      });
    });
    const double clocks = shared_accesses_per_second() / 32;
    figures.add("operations", name, static_cast<double>(words * letters) / seconds, "letters/s",
                Beside{.bound = 64 * clocks / static_cast<double>(reader->products()),
                       .processor = static_cast<double>(threads * kSideBySide * fewer) / beside});
  });
}

void measure_listed_models(Figures& figures) {
  const auto task = make_task("modadd5", {});
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  for (const char* shape :
       {"lstm:hidden=64", "gru:hidden=64", "rnn:hidden=64", "gru:hidden=16", "lstm:layers=2,hidden=256",
        "deltaproduct:layers=2,width=64,heads=4,keys=16,values=16,reflections=2,signed,conv=4,mlp=128",
        "stock-mamba2:width=64,heads=4,per-head=32,states=16,taps=4,conv-bias"}) {
    const auto model = make_model<float>(shape, *task, 1);
    measure_operations(figures, shape, model_operations(*model, *task, Precision::kFp32), model->tensors(), tracked);
  }
  for (const Precision precision : {Precision::kFp32, Precision::kBf16})
    for (const char* language_name : {"S3", "S5"}) {
      const Checkpoint checkpoint = gated_delta_product_checkpoint(named_language(language_name));
      const CheckpointModel model(checkpoint, precision);
      measure_operations(figures, fmt::format("{} as gated DeltaProduct, {}", language_name, to_string(precision)),
                         checkpoint_operations(checkpoint, model), tensors_in_file(checkpoint), tracked_by(checkpoint));
    }
}

void measure_scans(Figures& figures) {
  const Subjects<Network> subjects{{"S5 by maps", network("S5", "permutation-base")},
                                   {"S5 by reflections", network("S5/transpositions", "permutation-base-reflections")},
                                   {"Z60 by rotations", network("Z60", "rotation")},
                                   {"modarith5 by a cascade of two layers", network("modarith5", "cascade-holonomy")}};
  for (const auto& [name, subject] : subjects)
    for (const char* order : {"scan", "scan:4", "doubling", "chunked:64"})
      for (const std::uint64_t words : {1, 10'000}) {
        const std::string what = fmt::format("{}, {}, fp32{}", name, order, words > 1 ? ", words of 1000 letters" : "");
        measure(figures, "scans", what, [&] {
          const Order parsed = parse_order(order);
          // On the processor a thread has whole words.
          const SampleOptions options = sample_of(10'000'000 / words, words, parsed),
                              here = words > 1 ? sample_of(1000, 64, parsed) : sample_of(100'000, 1, parsed);
          const double seconds =
              seconds_of([&] { sample_words_in_order(Place::kDevice, subject, Precision::kFp32, options); });
          const double here_seconds = seconds_of([&] { sample(subject, Precision::kFp32, here); });
          figures.add("scans", what, 1e7 / seconds, "letters/s",
                      Beside{.processor = static_cast<double>(here.lengths[0] * here.words) / here_seconds});
        });
      }
}

/// The searches that two processor cores left open, as far as a minute and the memory go.
void measure_searches(Figures& figures) {
  for (const char* name : {"Z5", "Z7", "Z10"}) {
    const std::string what = std::string(name) + " by rotations, fp32";
    measure(figures, "certificates", what, [&] {
      CertifyOptions options;
      options.max_pairs = 1'000'000'000;
      options.max_bytes = UINT64_MAX;
      const TimeLimit time(45, "45 s");
      const auto start = Clock::now();
      const Certificate found = search_pairs(Place::kDevice, network(name, "rotation"), options);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      figures.add("certificates", fmt::format("{}: {}, {} pairs", what, to_string(found.claim), found.pairs),
                  static_cast<double>(found.pairs) / seconds, "pairs/s", 0);
    });
  }
}

/// Steps of whole models; a bound where docs/results/gpu.md derives one.
void measure_training(Figures& figures) {
  constexpr std::uint32_t kWords = 64, kSteps = 50;
  struct Subject {
    const char *name, *task, *shape;
    LengthRange lengths;
    double bound;  ///< models · steps a second, with many models at once
  };
  const Subject subjects[]{
      {"Ebrahimi, full, H = 256", "modadd5", "bilinear:hidden=256,inputs=256", {2, 10}, 5e3},
      {"reflections, n = 32",
       "S5",
       "deltaproduct:width=32,heads=1,keys=32,values=32,signed,mlp=0",
       {40, 40},
       6e4},
      {"reflections, 2 layers, 4 a token", "S5", "deltaproduct:layers=2,reflections=4,signed,conv=4", {40, 40}, 0},
      {"Mamba, signed", "parity", "diagonal:signed", {40, 40}, 0},
      {"Fan et al., 8 blocks of 8", "parity", "fan:", {40, 40}, 0},
      {"dense, n = 32", "S5", "dense:size=32", {40, 40}, 0}};
  for (const Subject& subject : subjects)
    for (const std::uint32_t models : {1U, 64U}) {
      const std::string what = fmt::format("{}, batch 64, {} at once", subject.name, models);
      measure(figures, "training", what, [&] {
        const auto task = make_task(subject.task, {});
        const auto labels = static_cast<std::uint32_t>(task->labels().size());
        const auto first = make_model<float>(subject.shape, task->alphabet().size(), labels, 1);
        Stepper stepper(Place::kDevice, *first, models, kWords, 0);
        const std::vector<float> zeros(first->parameters().size(), 0);
        std::vector<ModelStep> steps;
        for (std::uint32_t m = 0; m < models; ++m) {
          const auto model = make_model<float>(subject.shape, task->alphabet().size(), labels, m + 1);
          stepper.load(m, model->parameters(), zeros, zeros);
          steps.push_back({draw_batch(*task, subject.lengths, m + 1, 0, kWords), 1e-4F, 1});
        }
        const double seconds = seconds_of([&] {
          for (std::uint32_t i = 0; i < kSteps; ++i) stepper.step(steps);
          stepper.has_failed(0);  // waits
        });
        figures.add("training", what, kSteps * models / seconds, "steps/s",
                    Beside{.bound = models > 1 ? subject.bound : 0, .pytorch = figures.pytorch(subject.name)});
      });
    }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "bench_gpu: name the JSON file to write, and perhaps that of tools/bench/peer_gpu.py\n");
    return 2;
  }
  if (!cuda_available()) {
    fmt::print(stderr, "bench_gpu: {}; nothing was measured\n", cuda_status());
    return 2;
  }
  nlohmann::ordered_json beside{{"measured", "27 November 2026, an H100 (docs/results/gpu.md)"}, {"rates", kOnThePage}};
  if (argc == 3) beside = nlohmann::ordered_json::parse(std::ifstream(argv[2]));
  Figures figures(beside.at("rates").get<PyTorchRates>());
  fmt::print("{}\nPyTorch: {}\n", cuda_status(), beside.dump());
  figures.print_head();
  measure(figures, "memory", "copies", [&] {
    figures.add("memory", "copies within the device, bytes read and written", cuda_copy_rate(), "bytes/s", 0);
  });
  measure_truth(figures);
  measure_stored_words(figures);
  measure_networks(figures);
  measure_trained_models(figures);
  measure_listed_models(figures);
  measure_scans(figures);
  measure_training(figures);
  measure_searches(figures);
  const nlohmann::ordered_json json{{"device", cuda_status()},
                                    {"date", fmt::format("{:%F}", fmt::gmtime(std::time(nullptr)))},
                                    {"pytorch", beside},
                                    {"figures", figures.rows()}};
  std::ofstream(argv[1]) << json.dump(2) << '\n';
  for (const std::string& why : figures.slower()) fmt::print(stderr, "bench_gpu: {}\n", why);
  return figures.slower().empty() ? 0 : 1;
}
