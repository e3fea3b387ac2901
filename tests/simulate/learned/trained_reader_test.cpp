// Trained models letter by letter: the plain arithmetic against the training kernels, and claims against brute force.

#include "krohn/simulate/learned/trained_reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/learned/snap_network.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/released_model.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/machine/reader_run.h"
#include "krohn/simulate/tasks/task_automaton.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"
#include "tests/automata/random_automata.h"
#include "tests/simulate/asked_reader.h"
#include "tests/simulate/plain_model.h"

using namespace krohn;

namespace {

const std::vector<const char*> kModels = {
    "bilinear:hidden=6,inputs=3,bias,input-bias",
    "bilinear:block=2,hidden=6,inputs=3",
    "bilinear:rank=4,hidden=5,inputs=3,bias",
    "bilinear:rotations,hidden=6,inputs=3,input-bias",
    "dense:size=3",
    "deltaproduct:width=4,heads=2,keys=3,values=3,mlp=3",
    "deltaproduct:width=4,heads=1,keys=3,values=8,reflections=2,signed,conv=2,mlp=0",
    "deltaproduct:layers=2,width=4,heads=2,keys=2,values=2,plain,signed,conv=3,mlp=2",
    "diagonal:width=3,channels=4,states=2,conv=0",
    "diagonal:width=3,channels=4,states=2,signed,conv=3,mlp=2",
    "diagonal:layers=2,width=3,channels=3,states=2,fixed,conv=2",
    "diagonal:width=3,channels=3,states=2,complex,conv=2",
    "diagonal:layers=2,width=3,channels=3,states=2,complex,fixed,conv=0",
    "fan:blocks=2,size=2",
    "fan:blocks=2,size=3,generator=4,norm=1,layers=2",
    "fan:blocks=2,size=2,layers=2,mlp=3",
    "fan-released:blocks=2,size=3,norm=1.5",
    "fan-released:layers=2,blocks=2,size=2",
    "rnn:hidden=4,inputs=3",
    "gru:layers=2,hidden=3,one-hot,unbiased",
    "lstm:layers=2,hidden=3,inputs=2"};

template <class Real>
std::unique_ptr<SequenceModel<Real>> made(const char* name, const Task& task, std::uint64_t seed = 9) {
  return make_model<Real>(name, task, seed);
}

/// The mean cross-entropy of a batch, word by word.
template <class Real>
double plain_loss(PlainModel<Real>& plain, const TrainingBatch& batch, std::size_t labels) {
  double sum = 0;
  for (std::uint32_t word = 0; word < batch.words; ++word) {
    std::vector<Real> memory = plain.start(), logits(labels);
    for (std::uint32_t t = 0; t < batch.lengths[word]; ++t) {
      const auto due = std::ranges::find_if(
          batch.targets, [&](const auto& target) { return target.word == word && target.position == t; });
      plain.read(batch.letters[std::size_t{t} * batch.words + word], memory,
                 due == batch.targets.end() ? std::span<Real>() : std::span<Real>(logits));
      if (due == batch.targets.end()) continue;
      double all = 0;
      for (const Real logit : logits) all += std::exp(static_cast<double>(logit));
      sum += std::log(all) - static_cast<double>(logits[due->label]);
    }
  }
  return sum / static_cast<double>(batch.targets.size());
}

std::unique_ptr<SequenceModel<float>> trained(const Task& task, const char* name, std::uint64_t steps, double rate,
                                              LengthRange lengths, std::uint64_t seed = 1) {
  TrainOptions options;
  options.optimiser.steps = steps;
  options.optimiser.learning_rate = rate;
  options.lengths = lengths;
  options.seed = seed;
  options.stop_at = 0;
  Trainer trainer(task, name, options);
  while (trainer.state() == Trainer::State::kRunning) trainer.step();
  auto model = made<float>(name, task);
  model->load(trainer.model().tensors());
  return model;
}

/// Sets numbers of a part of the model.
void set(SequenceModel<float>& model, const std::string& part, const std::vector<float>& values) {
  TensorFile file = model.tensors();
  Tensor& tensor = file.tensors.at(part);
  REQUIRE(tensor.bytes.size() == values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  model.load(file);
}

/// Parity by one generalized Householder matrix a letter: S ← S + β e₁ (v − Sᵀe₁)ᵀ with β = 2 and v = (w, 0) for "1",
/// so that the first row of S goes from 0 to (2w, 0) and back, bit for bit; for "0", β = 2 / (1 + e^(−`logit`)). Keys
/// of length 2^20 have norm 1 after they are divided by √(2^40 + 10⁻⁶).
std::unique_ptr<SequenceModel<float>> parity_by_hand(const Task& task, float logit) {
  auto model = made<float>("deltaproduct:width=2,heads=1,keys=2,values=2,plain,signed,mlp=0", task);
  constexpr float kLong = 0x1p20f;
  const float root = std::sqrt(2.f);  // of every normed embedding's only coordinate
  set(*model, "embedding", {1, 0, 0, 1});
  set(*model, "layer0.norm", {1, 1});
  // A row for each letter; columns q, k, v, β.
  set(*model, "layer0.mixer.in", {kLong, 0, kLong, 0, 0, 0, logit / root, kLong, 0, kLong, 0, 0.001f, 0, 1024});
  set(*model, "layer0.mixer.norm", {1, 1});
  set(*model, "layer0.mixer.out", {16, 16, 0, 0});
  // Both coordinates of the normed residual are large after an odd word, otherwise one: their sum is near 2 or √2.
  set(*model, "norm", {1, 1});
  set(*model, "readout", {0, 1, 0, 1});
  set(*model, "readout_bias", {1.7f, 0});
  return model;
}
constexpr float kNever = -1024;  ///< β = 0

/// The answers of a machine along a word, compared with the automaton's.
bool is_right_everywhere(const TrainedReader& machine, const TrackedAutomaton& tracked, const Word& word) {
  ReaderRun run(machine, tracked);
  for (const Letter letter : word) {
    if (!run.read(letter)) return true;
    if (run.is_wrong()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("scale-free models answer as their loss counts, word by word") {
  const auto task = make_task("S3");
  const TrainingBatch batch = draw_batch(*task, {2, 20}, 5, 0, 40);
  for (const char* name : {"bilinear:hidden=6,inputs=3,scale-free", "bilinear:block=2,hidden=6,inputs=3,scale-free",
                           "bilinear:rank=4,hidden=5,inputs=3,scale-free"}) {
    CAPTURE(name);
    const auto model = made<float>(name, *task);
    const auto plain = plain_model<float>(*model);
    std::uint64_t right = 0;
    for (const TrainingBatch::Target& target : batch.targets) {
      std::vector<float> memory = plain->start(), logits(model->labels());
      for (std::uint32_t t = 0; t <= target.position; ++t)
        plain->read(batch.letters[std::size_t{t} * batch.words + target.word], memory, logits);
      right += std::ranges::max_element(logits) - logits.begin() == static_cast<std::ptrdiff_t>(target.label);
    }
    CHECK(right == model->loss(batch, {}).right);
  }
}

TEST_CASE("plain arithmetic is the model's, whatever its family") {
  for (const char* task_name : {"modadd3", "parity"}) {
    const auto task = make_task(task_name);
    const TrainingBatch batch = draw_batch(*task, {2, 9}, 5, 0, 6);
    for (const char* name : kModels) {
      CAPTURE(name);
      const auto model = made<float>(name, *task);
      const auto precise = made<double>(name, *task);
      std::ranges::copy(model->parameters(), precise->parameters().begin());
      const double loss = precise->loss(batch, {}).loss;
      CHECK(plain_loss(*plain_model<double>(*model), batch, model->labels()) == doctest::Approx(loss).epsilon(1e-12));
      CHECK(plain_loss(*plain_model<float>(*model), batch, model->labels()) == doctest::Approx(loss).epsilon(1e-4));
    }
  }
}

TEST_CASE("blocks whose columns are constant are 0, in training and in plain arithmetic") {
  const auto task = make_task("modadd3");
  const TrainingBatch batch = draw_batch(*task, {2, 9}, 5, 0, 6);
  for (const char* name : {"fan-released:blocks=2,size=3,norm=1.2", "fan-released:layers=2,blocks=1,size=4,norm=2",
                           "fan-released:blocks=1,size=2,norm=1", "fan-released:blocks=1,size=2,norm=9"}) {
    CAPTURE(name);
    const auto model = made<float>(name, *task);
    const ReleasedShape shape = parse_released_shape(name);
    const std::size_t numbers = shape.width() * shape.size;
    set(*model, "layer0.block_out", std::vector<float>(numbers * numbers, 0));
    // Columns of 1s in every block but, where there are two, the last, which differs in one number.
    std::vector<float> bias(numbers, 1);
    if (shape.blocks == 2) bias.back() = 3;
    set(*model, "layer0.block_out_bias", bias);
    const auto precise = made<double>(name, *task);
    std::ranges::copy(model->parameters(), precise->parameters().begin());
    std::vector<double> gradient(precise->parameters().size());
    const double loss = precise->loss(batch, gradient).loss;
    REQUIRE(std::isfinite(loss));
    CHECK(plain_loss(*plain_model<double>(*model), batch, model->labels()) == doctest::Approx(loss).epsilon(1e-12));
    CHECK(plain_loss(*plain_model<float>(*model), batch, model->labels()) == doctest::Approx(loss).epsilon(1e-4));
    std::vector<float> rounded(gradient.size());
    CHECK(model->loss(batch, rounded).loss == doctest::Approx(loss).epsilon(1e-4));
    CHECK(std::ranges::all_of(gradient, [](double each) { return std::isfinite(each); }));
    CHECK(std::ranges::all_of(rounded, [](float each) { return std::isfinite(each); }));
    const auto maps = plain_model<float>(*model)->letter_maps(0);
    CHECK(maps.matrices.front().isZero(0));
    CHECK(maps.matrices.back().isZero(0) == (shape.blocks == 1));
  }
}

TEST_CASE("a machine answers where its task asks, with the tokens around the word") {
  for (const char* task_name :
       {"modadd3", "ltrarith3", "modarith-equals3", "evenpair3", "modarith3", "S3", "S3/tokens=2", "tomita3"}) {
    CAPTURE(task_name);
    const auto task = make_task(task_name);
    for (const char* name : {"deltaproduct:width=4,heads=1,keys=3,values=3,mlp=0", "fan:blocks=2,size=2"}) {
      const auto model = made<float>(name, *task);
      const auto machine = trained_machine(*model, *task, Precision::kFp64);
      const TaskAutomaton input = input_machine(*task);
      const TrackedAutomaton tracked = tracked_automaton(*task, input.automaton);
      const auto plain = plain_model<double>(*model);
      for (std::uint64_t index = 0; index < 5; ++index) {
        const std::uint64_t length = task->info().least_length + 3 * task->info().length_step;
        std::vector<double> memory = plain->start(), logits(model->labels());
        ReaderRun run(*machine, tracked);
        for (const TaskToken& token : task->sample(length, 3, index)) {
          plain->read(token.letter, memory, logits);
          const auto letter = std::ranges::find(input.inputs, token.letter);
          if (letter != input.inputs.end()) REQUIRE(run.read(static_cast<Letter>(letter - input.inputs.begin())));
          if (!token.target) continue;
          REQUIRE(run.is_asked());
          CHECK(tracked.wanted[run.state()] == *token.target);
          CHECK(run.answer().output == static_cast<Output>(std::ranges::max_element(logits) - logits.begin()));
        }
      }
    }
  }
}

TEST_CASE("words that no sample has are not asked about") {
  const auto task = make_task("ltrarith3");
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  const Dfa& dfa = tracked.automaton;
  const Letter digit = 0, plus = 3;
  State state = dfa.initial();
  CHECK_FALSE(tracked.is_asked(state));
  CHECK(tracked.wanted[dfa.next(state, plus)] == TrackedAutomaton::kNoSuchWord);
  state = dfa.next(state, digit);
  CHECK(tracked.is_asked(state));
  CHECK(tracked.wanted[dfa.next(state, digit)] == TrackedAutomaton::kNoSuchWord);
  state = dfa.next(state, plus);
  CHECK_FALSE(tracked.is_asked(state));
  CHECK(tracked.is_asked(dfa.next(state, digit)));
  // From two integers on.
  const TrackedAutomaton longer = tracked_automaton(*task, input_machine(*task).automaton, 2);
  state = longer.automaton.next(longer.automaton.initial(), digit);
  CHECK_FALSE(longer.is_asked(state));
  state = longer.automaton.next(longer.automaton.next(state, plus), digit);
  CHECK(longer.is_asked(state));
  CHECK(longer.wanted[longer.automaton.next(state, digit)] == TrackedAutomaton::kNoSuchWord);
}

TEST_CASE("a letter of the language's own may be called like a special token, and is read") {
  for (const char* const name : {"regex:a=b", "regex:(a|=)*=", "regex:=+"}) {
    CAPTURE(name);
    const auto task = make_task(name);
    const TaskAutomaton machine = input_machine(*task);
    const Dfa language = load_language(name);
    CHECK(machine.automaton.letters() == language.letters());
    CHECK_FALSE(distinguishing_word(machine.automaton, language));
    CHECK(machine.before.empty());
    CHECK(machine.after.empty());
    // One that rejects every word.
    const auto model = make_model<float>("rnn:hidden=2,inputs=2", *task, 1);
    std::ranges::fill(model->parameters(), 0.0F);
    const auto reject = std::ranges::find(task->labels(), "reject") - task->labels().begin();
    model->parameters()[model->begin_of("head.bias") + static_cast<std::size_t>(reject)] = 1;
    const auto reader = trained_machine(*model, *task, Precision::kFp32);
    const Certificate certificate = ask_reader(*reader, tracked_automaton(*task, machine.automaton), Precision::kFp32);
    REQUIRE(certificate.is<Refuted>());
    CHECK(*certificate.failing_word() == *shortest_accepted_word(language));
  }
  // Those of a task's own are none of its inputs.
  for (const auto& [name, letters, before, after] :
       {std::tuple("modadd5", 5, 1, 1), std::tuple("modarith-equals5", 8, 0, 1), std::tuple("S3/swaps", 4, 1, 0)}) {
    CAPTURE(name);
    const auto task = make_task(name);
    const TaskAutomaton machine = input_machine(*task);
    CHECK(task->input_letters() == static_cast<Letter>(letters));
    CHECK(machine.automaton.letters() == static_cast<Letter>(letters));
    CHECK(machine.before.size() == static_cast<std::size_t>(before));
    CHECK(machine.after.size() == static_cast<std::size_t>(after));
  }
}

TEST_CASE("a model whose memory closes is proved for words of every length") {
  const auto task = make_task("parity");
  const auto model = parity_by_hand(*task, kNever);
  for (const Precision precision : {Precision::kFp32, Precision::kFp64}) {
    const auto machine = trained_machine(*model, *task, precision);
    const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
    for (const Word& word : short_words(2, 10)) REQUIRE(is_right_everywhere(*machine, tracked, word));
    const Certificate certificate = ask_reader(*machine, tracked, precision);
    CHECK(certificate.is<Proved>());
    CHECK(certificate.arithmetic == precision);
    CHECK(certificate.pairs == 3);
    // Against another language it is refuted by a shortest word.
    const Dfa other = named_language("parity");
    const Dfa flipped =
        Dfa::acceptor(other.alphabet(), {other.table().begin(), other.table().end()}, other.initial(), {true, false});
    const Certificate refuted = ask_reader(*machine, tracked_automaton(*task, flipped), precision);
    CHECK(refuted.is<Refuted>());
    CHECK(refuted.failing_word()->size() == 1);
  }
}

TEST_CASE("what a closing model has learned is extracted, snapped and proved") {
  const auto task = make_task("parity");
  const auto model = parity_by_hand(*task, kNever);
  const auto machine = trained_machine(*model, *task, Precision::kFp32);
  ExtractOptions extract;
  extract.words = 100;
  extract.length = 20;
  extract.beyond = 500;
  const Extraction learned = extract_trained(*machine, *task, extract);
  CHECK(learned.automaton.states() == 2);
  CHECK_FALSE(learned.beyond);
  CHECK(equivalent(learned.automaton, named_language("parity")));
  const StateCentres centres = trained_centres(*machine, *task, learned.automaton);
  CHECK(centres.spread < 1e-6);
  CHECK(least_distance(centres.centres) > 0.1);
  const SnapResult snapped = snap_network(learned.automaton, centres);
  CHECK(snapped.choices[snapped.chosen].explained > 0.99);
  CHECK(certify(snapped.network, {}).is<Proved>());
}

TEST_CASE("the letters of a reflection, and what is alive of its state") {
  const auto task = make_task("parity");
  const auto model = parity_by_hand(*task, kNever);
  const auto machine = trained_machine(*model, *task, Precision::kFp64);
  CHECK(machine->letter_maps(0).betas == std::vector<double>{0});
  CHECK(machine->letter_maps(1).betas == std::vector<double>{2});
  CHECK(machine->letter_maps(0).matrices[0] == Eigen::MatrixXd::Identity(2, 2));
  const Spectrum found = trained_spectrum(*machine, *task);
  CHECK(found.coordinates == 2);
  CHECK(found.alive == 1);
  CHECK(found.letters[1].modes[0].value == std::complex<double>(-1, 0));
  CHECK(found.letters[1].modes[0].weight == 1);
  CHECK(found.letters[1].modes[1].weight < 1e-12);
  CHECK(found.letters[1].orthogonality_defect < 1e-12);
}

TEST_CASE("letter maps are what the letters do to the difference of two memories") {
  for (const char* name : {"dense:size=3", "deltaproduct:width=4,heads=2,keys=3,values=2,reflections=2,signed,mlp=2",
                           "diagonal:width=3,channels=4,states=2,signed,conv=0", "fan:blocks=2,size=3,layers=2",
                           "bilinear:block=2,hidden=6,inputs=3,bias"}) {
    CAPTURE(std::string(name));
    const auto task = make_task("modadd3");
    const auto plain = plain_model<double>(*made<float>(name, *task));
    for (Letter letter = 0; letter < 3; ++letter) {
      std::vector<double> one = plain->start(), other = one;
      plain->read(2, one, {});
      plain->read(1, other, {});
      const std::vector<double> one_before = one, other_before = other;
      plain->read(letter, one, {});
      plain->read(letter, other, {});
      const LetterMaps maps = plain->letter_maps(letter);
      const std::vector<StateBlock> blocks = plain->blocks();
      REQUIRE(maps.matrices.size() == blocks.size());
      for (std::size_t b = 0; b < blocks.size(); ++b)
        for (std::size_t row = 0; row < blocks[b].size; ++row)
          for (std::size_t column = 0; column < blocks[b].columns; ++column) {
            double expected = 0;
            for (std::size_t k = 0; k < blocks[b].size; ++k) {
              const std::size_t at = blocks[b].first + k * blocks[b].columns + column;
              expected += maps.matrices[b](static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(k)) *
                          (one_before[at] - other_before[at]);
            }
            const std::size_t at = blocks[b].first + row * blocks[b].columns + column;
            CHECK(one[at] - other[at] == doctest::Approx(expected).epsilon(1e-9));
          }
    }
  }
}

TEST_CASE("a memory that fades is refuted by a long word, which ends at its first wrong answer") {
  const auto task = make_task("parity");
  const auto model = parity_by_hand(*task, -12);  // β ≈ 10⁻⁵: so much of the memory goes with every "0"
  const auto machine = trained_machine(*model, *task, Precision::kFp32);
  const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
  for (const Word& word : short_words(2, 10)) REQUIRE(is_right_everywhere(*machine, tracked, word));
  const Certificate bounded = ask_reader(*machine, tracked, Precision::kFp32, 200);
  CHECK(bounded.is<ProvedUpTo>());
  CHECK(bounded.length() >= 6);
  const Certificate certificate = ask_reader(*machine, tracked, Precision::kFp32, 200, 300'000);
  REQUIRE(certificate.is<Refuted>());
  CHECK_FALSE(certificate.is_shortest());
  Word word = *certificate.failing_word();
  CHECK(word.size() > 1000);
  CHECK(word.size() < 10'000);
  CHECK_FALSE(is_right_everywhere(*machine, tracked, word));
  word.pop_back();
  CHECK(is_right_everywhere(*machine, tracked, word));
}

TEST_CASE("a model that is wrong is refuted by a word that no shorter one is") {
  struct Fact {
    const char *task, *model;
  };
  for (const Fact& fact :
       {Fact{"parity", "deltaproduct:width=4,heads=1,keys=2,values=2,mlp=0"}, Fact{"parity", "dense:size=2"},
        Fact{"S3", "diagonal:width=4,channels=4,states=2,conv=2"}, Fact{"modadd3", "fan:blocks=2,size=2,layers=2"},
        Fact{"ltrarith3", "bilinear:block=2,hidden=4,inputs=2"}}) {
    CAPTURE(std::string(fact.task));
    CAPTURE(std::string(fact.model));
    const auto task = make_task(fact.task);
    const auto model = trained(*task, fact.model, 60, 0.02, {1, 4});
    const auto machine = trained_machine(*model, *task, Precision::kFp32);
    const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
    const Certificate certificate = ask_reader(*machine, tracked, Precision::kFp32);
    REQUIRE(certificate.is<Refuted>());
    CHECK(certificate.is_shortest());
    const Word& word = *certificate.failing_word();
    CAPTURE(word.size());
    CHECK_FALSE(is_right_everywhere(*machine, tracked, word));
    if (word.empty()) continue;
    for (const Word& shorter : short_words(machine->letters(), std::min<std::size_t>(word.size(), 6) - 1))
      REQUIRE(is_right_everywhere(*machine, tracked, shorter));
  }
}

TEST_CASE("a trained reflection of parity is extracted, snapped and proved") {
  const auto task = make_task("parity");
  const auto model = trained(*task, "deltaproduct:width=8,heads=1,keys=4,values=4,signed,mlp=8", 600, 0.01, {2, 20});
  const auto machine = trained_machine(*model, *task, Precision::kFp32);
  ExtractOptions extract;
  extract.words = 200;
  extract.length = 16;
  extract.beyond = 0;
  const Extraction learned = extract_trained(*machine, *task, extract);
  CHECK(equivalent(learned.automaton, named_language("parity")));
  const SnapResult snapped = snap_network(learned.automaton, trained_centres(*machine, *task, learned.automaton));
  CHECK(certify(snapped.network, {}).is<Proved>());
}

TEST_CASE("models and tasks that do not fit are refused") {
  const auto parity = make_task("parity"), s3 = make_task("S3");
  const auto model = made<float>("dense:size=3", *s3);
  CHECK_THROWS_WITH_AS(trained_machine(*model, *parity, Precision::kFp32), doctest::Contains("letters"), InputError);
  CHECK_THROWS_WITH_AS(trained_machine(*model, *s3, Precision::kBf16), doctest::Contains("fp64"), InputError);
  CHECK_THROWS_AS(tracked_automaton(*s3, named_language("parity")), InputError);
  CHECK_THROWS_AS(trained_machine(*model, *make_task("modarith-brackets5"), Precision::kFp32), InputError);
}
