#include <boost/multiprecision/cpp_bin_float.hpp>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/arithmetic/stated_exp.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/learned/extract_automaton.h"
#include "krohn/simulate/learned/initialise_model.h"
#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock/stock_layers.h"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "krohn/simulate/train/trainer.h"
#include "krohn/simulate/words/word.h"
#include "tests/simulate/plain_model.h"
#include "tests/testing.h"

using namespace krohn;

// Checkpoints as machines that read letters: their automaton, the maps of their letters, and wrong ones found.

namespace {

Dfa swaps_of_s3() { return named_language("S3", LanguageOptions{.generators = "transpositions"}); }

/// The first state of this name, as it stands in tokens.json, says what the second says.
Checkpoint confused(Checkpoint checkpoint, State first, State second) {
  Tensor& head = checkpoint.tensors.tensors.at("lm_head.weight");
  const std::size_t row = head.bytes.size() / head.shape[0];
  std::byte* const bytes = head.bytes.data();
  const auto at = [&](State state) { return bytes + checkpoint.tokens.of_state[state] * row; };
  std::vector<std::byte> kept(at(first), at(first) + row);
  std::memcpy(at(first), at(second), row);
  std::memcpy(at(second), kept.data(), row);
  return checkpoint;
}

}  // namespace

TEST_CASE("the automaton of an exact checkpoint is extracted, and compared for words of every length") {
  for (const CheckpointFamily family : {CheckpointFamily::kOlmoHybrid, CheckpointFamily::kKda}) {
    const Checkpoint checkpoint = gated_checkpoint(swaps_of_s3(), family);
    const auto task = checkpoint_task(checkpoint);
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      const auto machine = checkpoint_machine(checkpoint, precision);
      const Extraction found = extract_checkpoint(*machine, *task, {});
      CHECK(found.is_exact());
      CHECK(!distinguishing_word(found.automaton, swaps_of_s3()));
    }
    ExtractOptions few;  // fewer than it has: asked by words
    few.max_network_states = 3;
    few.length = 8, few.words = 50, few.beyond = 0;
    const Extraction asked = extract_checkpoint(*checkpoint_machine(checkpoint, Precision::kFp32), *task, few);
    CHECK(!asked.network_states);
    CHECK(!distinguishing_word(asked.automaton, swaps_of_s3()));
  }
}

TEST_CASE("a checkpoint whose answers are exchanged has another automaton, and is right where it still is") {
  const Checkpoint right = gated_checkpoint(swaps_of_s3(), CheckpointFamily::kOlmoHybrid);
  const Checkpoint wrong = confused(right, 1, 2);
  const Extraction found =
      extract_checkpoint(*checkpoint_machine(wrong, Precision::kFp32), *checkpoint_task(wrong), {});
  CHECK(distinguishing_word(found.automaton, swaps_of_s3()));
  const CheckpointModel model(wrong, Precision::kFp32), good(right, Precision::kFp32);
  const CheckpointSampleOptions asked{50, 20, 1, {}};
  const CheckpointScore score = krohn::score(wrong, model, asked), full = krohn::score(right, good, asked);
  CHECK(full.right == full.letters);
  CHECK(full.right_words == 20);
  CHECK(full.letters == 1000);
  // Counted letter by letter with the automaton.
  std::uint64_t expected = 0;
  for (std::uint64_t word = 0; word < asked.words; ++word) {
    RandomWord letters(3, asked.seed, word);
    std::vector<Letter> all(asked.length);
    letters.fill(0, all);
    State state = wrong.automaton->initial();
    for (const Letter letter : all) {
      state = wrong.automaton->next(state, letter);
      expected += state != 1 && state != 2;
    }
  }
  CHECK(score.right == expected);
}

TEST_CASE("a letter's map is the reflection that its key is, and a reset's is zero") {
  const auto checkpoint = gated_checkpoint(swaps_of_s3(), CheckpointFamily::kOlmoHybrid);
  const auto machine = checkpoint_machine(checkpoint, Precision::kFp32);
  REQUIRE(machine->blocks().size() == 6);
  for (Letter letter = 0; letter < 3; ++letter)
    for (const Eigen::MatrixXd& matrix : machine->letter_maps(letter).matrices) {
      CHECK(matrix * matrix == Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols()));
      CHECK(matrix.trace() == static_cast<double>(matrix.rows()) - 2);
    }
  // The keys of tomita3 are no letter's alone.
  const auto several = gated_checkpoint(minimise(named_language("tomita3", {})), CheckpointFamily::kOlmoHybrid);
  CHECK(checkpoint_machine(several, Precision::kFp32)->letters() == 2);
  Checkpoint none = checkpoint;
  none.automaton.reset();
  CHECK(test::contains(test::error_of([&] { checkpoint_task(none); }), "automaton.json"));
  CHECK(test::contains(test::error_of([&] { checkpoint_machine(none, Precision::kFp32); }), "automaton.json"));
}

// The extracted automaton is the one that the network computes: the minimal automaton of a compiled language, and of a
// network that drifts the one it follows for a while, with a word that shows where it leaves.

namespace {

Network built(const Dfa& dfa, const char* construction) {
  BuildOptions wishes;
  if (*construction != '\0') wishes.construction = construction;
  return build(dfa, wishes);
}

/// A machine that answers as the automaton does.
WordsOracle oracle_of(const Dfa& dfa) {
  return [&dfa](std::span<const Word> words, const Heard& heard) {
    for (std::size_t word = 0; word < words.size(); ++word) {
      State state = dfa.initial();
      for (std::size_t t = 0; heard(word, t, dfa.output(state)) && t < words[word].size(); ++t)
        state = dfa.next(state, words[word][t]);
    }
  };
}

/// Z_m in one plane that letter w turns by w/m and a little more.
Network drifting(const Dfa& group, double error) {
  Network network = build_rotation(group);
  for (Transition& transition : network.layers[0].transitions) {
    Eigen::MatrixXd a = to_dense(transition.a).cast<double>();
    const double c = std::cos(error), s = std::sin(error);
    transition.a = DenseMatrix{(Eigen::Matrix2d() << c, -s, s, c).finished() * a};
  }
  return network;
}

ExtractOptions quick() { return {.length = 30, .words = 200, .beyond = 2000}; }

}  // namespace

TEST_CASE("extracting a compiled language gives its minimal automaton, exactly") {
  struct Fact {
    const char *language, *construction;
  };
  for (const auto& [language, construction] :
       {Fact{"regex:(a|b)*abb", ""}, Fact{"regex:(ab)*", "cascade-holonomy"}, Fact{"regex:a*", ""},
        Fact{"name:parity", ""}, Fact{"name:tomita1", ""}, Fact{"name:tomita4", "cascade-chain"},
        Fact{"name:tomita5", ""}, Fact{"name:tomita6", "one-hot"}, Fact{"name:Z5", ""},
        Fact{"name:Z6", "rotation-primary"}, Fact{"name:S3", "permutation"}, Fact{"name:D4", ""}, Fact{"name:Q8", ""},
        Fact{"name:modarith3", ""}, Fact{"name:sum5", ""}, Fact{"name:random:m=6,seed=2", "one-hot"}}) {
    CAPTURE(language);
    CAPTURE(construction);
    const Dfa dfa = load_language(language);
    const Network network = built(dfa, construction);
    const Extraction found = extract_automaton(network, Precision::kFp32, quick());
    CHECK(found.automaton == minimise(dfa));
    CHECK(!found.beyond);
    if (std::string(construction) != "rotation-primary") CHECK(found.is_exact());
  }
}

TEST_CASE("the automaton in the file is not looked at") {
  const Dfa five = load_language("name:Z5");
  Network network = built(five, "permutation");
  // The same outputs by name, but a file that claims that every letter does nothing.
  std::vector<State> table;
  for (State state = 0; state < five.states(); ++state) table.insert(table.end(), five.letters(), state);
  network.automaton = Dfa::moore(five.alphabet(), table, five.initial(), {five.outputs().begin(), five.outputs().end()},
                                 {five.output_names().begin(), five.output_names().end()});
  CHECK(extract_automaton(network, Precision::kFp32, quick()).automaton == minimise(five));
}

TEST_CASE("the least distance of two points is that of all pairs") {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const Eigen::Index rows = 1 + round % 4, columns = round % 9;
    Eigen::MatrixXd points(rows, columns);
    // Few values, so that points coincide and many agree in the row that is looked at first.
    const int values = round % 3 == 0 ? 1000 : 3;
    for (double& number : points.reshaped()) number = static_cast<int>(random() % static_cast<unsigned>(values)) - 1;
    double least = std::numeric_limits<double>::infinity();
    for (Eigen::Index i = 0; i < columns; ++i)
      for (Eigen::Index j = 0; j < i; ++j) least = std::min(least, (points.col(i) - points.col(j)).norm());
    if (least_distance(points) != (columns < 2 ? 0 : least)) {
      CAPTURE(points);
      FAIL("another distance");
    }
  }
  CHECK(least_distance(Eigen::MatrixXd::Identity(50, 50)) == std::sqrt(2.0));
}

TEST_CASE("a network that drifts is followed as far as it holds, and the word where it leaves is shown") {
  const Dfa five = load_language("name:Z5");
  const Network network = drifting(five, 2 * std::numbers::pi / 5 / 2 / 100);  // half a state away after 100 letters
  const Extraction found = extract_automaton(network, Precision::kFp64, quick());
  CHECK(found.automaton == minimise(five));
  CHECK(!found.is_exact());
  CHECK(found.all_up_to >= 5);
  REQUIRE(found.beyond);
  CHECK(found.beyond->word.size() >= 99);
  CHECK(found.beyond->word.size() <= 102);
  CHECK(found.beyond->machine != found.beyond->automaton);
  const StateCentres centres = state_centres(network, found.automaton, Precision::kFp64);
  CHECK(centres.spread > 0.01);
  CHECK(centres.spread < least_distance(centres.centres));

  // bf16 refutes the rotation itself after 249 letters (MATH.md §5); where its states are finitely many, no shorter
  // word than the one found is wrong.
  const Extraction rounded = extract_automaton(build_rotation(five), Precision::kBf16, quick());
  CHECK(rounded.automaton == minimise(five));
  REQUIRE(rounded.beyond);
  CHECK(rounded.beyond->word.size() >= 249);
  if (rounded.network_states) CHECK(rounded.beyond->word.size() == 249);
}

TEST_CASE("the learner finds random automata by asking") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Dfa dfa = load_language("name:random:m=12,seed=" + std::to_string(seed));
    const std::vector<std::string> names(dfa.output_names().begin(), dfa.output_names().end());
    const Extraction found = extract_by_asking(dfa.alphabet(), names, oracle_of(dfa), quick(), &dfa);
    CHECK(found.automaton == minimise(dfa));
    CHECK(found.is_exact());
  }
}

TEST_CASE("the learner asks about many words at once, and as many as it counts") {
  const Dfa five = minimise(load_language("name:S3"));
  std::uint64_t asked = 0, calls = 0;
  AutomatonLearner learner(
      five.letters(),
      [&](std::span<const Word> words, std::span<Output> answers) {
        REQUIRE(words.size() == answers.size());
        ++calls, asked += words.size();
        for (std::size_t i = 0; i < words.size(); ++i) answers[i] = five.output(five.run(words[i]));
      },
      100);
  CHECK(asked == learner.questions());
  // The empty word, the successors of the start, and those of all the other elements.
  CHECK(calls == 3);
  CHECK(asked == 1 + std::uint64_t{five.states()} * five.letters());
  CHECK(learner.hypothesis(five.alphabet(), {five.output_names().begin(), five.output_names().end()}) == five);
}

namespace {

/// All that was found, or why nothing was.
template <class Extract>
std::string all_of(const Extract& extract) {
  try {
    const Extraction found = extract();
    std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {}", found.automaton.states(), found.length, found.limit,
                                   found.questions, found.words, found.letters, found.all_up_to, found.refuted_guesses,
                                   found.beyond_words, found.beyond_letters);
    for (const State state : found.automaton.table()) text += fmt::format(" {}", state);
    for (const Output output : found.automaton.outputs()) text += " " + found.automaton.output_names()[output];
    if (!found.beyond) return text;
    text += fmt::format(": {} {}", found.beyond->machine, found.beyond->automaton);
    for (const Letter letter : found.beyond->word) text += fmt::format(" {}", letter);
    return text;
  } catch (const LimitError& error) {
    return error.what();
  }
}

/// extract_trained, by a machine that reads one word after another, letter by letter.
Extraction extract_one_by_one(const TrainedReader& machine, const Task& task, ExtractOptions options) {
  const Dfa own = input_machine(task).automaton;
  const TrackedAutomaton tracked = tracked_automaton(task, own);
  std::vector<std::string> names(own.output_names().begin(), own.output_names().end());
  const auto none = static_cast<Output>(names.size());
  names.emplace_back("no answer");
  options.at_once = 1;
  Extraction found = extract_by_asking(
      own.alphabet(), names,
      [&](std::span<const Word> words, const Heard& heard) {
        for (std::size_t word = 0; word < words.size(); ++word) {
          ReaderRun run(machine, tracked);
          State state = own.initial();
          bool is_input = true;
          for (std::size_t t = 0;; ++t) {
            const bool is_asked = is_input && run.is_asked();
            if (!heard(word, t, is_asked ? std::min(run.answer().output, none) : own.output(state))) break;
            if (t == words[word].size()) break;
            state = own.next(state, words[word][t]);
            is_input = is_input && run.read(words[word][t]);
          }
        }
      },
      options);
  found.automaton = without_last_output(found.automaton);
  return found;
}

/// The larger its weights are, the more words the model tells apart.
std::unique_ptr<SequenceModel<float>> shaken(const std::string& shape, const Task& task, std::uint64_t seed) {
  auto model = make_model<float>(shape, task, seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 0.15F * static_cast<float>(seed * seed));
  for (float& number : model->parameters()) number = normal(random);
  return model;
}

}  // namespace

TEST_CASE("words that are read many at once, by any number of threads, find what one after another does") {
  std::size_t limits = 0, refuted = 0, left = 0;
  for (const auto& [shape, name] :
       {std::pair("gru:hidden=5,inputs=3", "parity"), std::pair("lstm:hidden=4,inputs=3", "S3"),
        std::pair("rnn-relu:hidden=4,inputs=3", "modadd3"), std::pair("gru:hidden=6,inputs=3", "modarith-equals5"),
        std::pair("deltaproduct:width=4,heads=2,keys=3,values=5,signed,mlp=3", "S3/tokens=3"),
        std::pair("bilinear:hidden=6,inputs=3,bias,input-bias", "parity"),
        std::pair("stock-mamba2:width=5,heads=4,per-head=2,states=3,groups=2,taps=4,conv-bias", "parity")})
    for (const std::uint64_t seed : {1, 2, 3}) {
      CAPTURE(shape);
      CAPTURE(name);
      CAPTURE(seed);
      const auto task = make_task(name);
      const auto model = shaken(shape, *task, seed);
      const auto machine = trained_machine(*model, *task, Precision::kFp32);
      ExtractOptions options{.length = 12, .words = 150, .beyond = 90, .max_states = 60, .seed = seed};
      const std::string wanted = all_of([&] {
        const Extraction found = extract_one_by_one(*machine, *task, options);
        refuted += found.refuted_guesses > 2, left += found.beyond.has_value(), limits += !found.limit.empty();
        return found;
      });
      for (const std::uint64_t at_once : {1, 3, 100, 0})
        for (const unsigned threads : {1, 3}) {
          CAPTURE(at_once);
          CAPTURE(threads);
          options.at_once = at_once, options.threads = threads;
          REQUIRE(all_of([&] { return extract_trained(*machine, *task, options); }) == wanted);
        }
    }
  // Each of the ways in which words can end something.
  CHECK(refuted > 2);
  CHECK(left > 2);
  CHECK(limits > 1);
}

TEST_CASE("networks and checkpoints of too many states to compare exactly are read many words at once, too") {
  const Network network = drifting(load_language("name:Z5"), 0.01);
  ExtractOptions options = quick();
  options.max_network_states = 10;
  options.at_once = 1, options.threads = 1;
  const auto extracted = [&] { return extract_automaton(network, Precision::kFp64, options); };
  const std::string wanted = all_of(extracted);
  const Checkpoint checkpoint = confused(gated_checkpoint(swaps_of_s3(), CheckpointFamily::kOlmoHybrid), 1, 2);
  const auto task = checkpoint_task(checkpoint);
  const auto machine = checkpoint_machine(checkpoint, Precision::kFp32);
  ExtractOptions few{.length = 8, .words = 50, .beyond = 40, .max_network_states = 3};
  const std::string wanted_of_checkpoint = all_of([&] { return extract_one_by_one(*machine, *task, few); });
  CHECK(!extract_checkpoint(*machine, *task, few).network_states);
  for (const std::uint64_t at_once : {1, 7, 0})
    for (const unsigned threads : {1, 3}) {
      options.at_once = few.at_once = at_once, options.threads = few.threads = threads;
      CHECK(all_of(extracted) == wanted);
      CHECK(all_of([&] { return extract_checkpoint(*machine, *task, few); }) == wanted_of_checkpoint);
    }
}

TEST_CASE("more states than the limit are refused") {
  ExtractOptions options = quick();
  options.max_states = 4;
  const Network network = built(load_language("name:Z5"), "permutation");
  CHECK_THROWS_WITH_AS(extract_automaton(network, Precision::kFp32, options), doctest::Contains("more than 4 states"),
                       LimitError);
}

// Models that begin with constructions: every family and form that takes them computes the task at once, those that do
// not say why, and training brings a perturbed one back.

namespace {

/// For a language by name, or for the task's own automaton; by name, or the planner's choice.
Network construction(const Task& task, const std::string& language, const std::string& name) {
  BuildOptions wishes;
  if (!name.empty()) wishes.construction = name;
  return build(language.empty() ? input_machine(task).automaton : named_language(language), wishes);
}

std::unique_ptr<SequenceModel<float>> started(const char* model, const Task& task, const Network& network) {
  auto result = make_model<float>(model, task, 3);
  initialise_from(*result, network, task);
  return result;
}

double accuracy(const SequenceModel<float>& model, const Task& task, std::uint64_t length) {
  return evaluate_model(model, task, length, EvaluateModelOptions{.words = 100, .threads = 1}).accuracy();
}

struct Fit {
  const char *task, *language, *construction, *model;
};

}  // namespace

TEST_CASE("a model that begins with a construction is right on long words without a step") {
  for (const auto& [task_name, language, name, model_name] :
       {Fit{"modadd5", "Z5", "permutation", "bilinear:full,hidden=5,inputs=7"},
        Fit{"modadd5", "Z5", "permutation", "bilinear:full,hidden=11,inputs=16,bias,input-bias"},
        Fit{"modadd5", "Z5", "rotation", "bilinear:rotations,hidden=8,inputs=8"},
        Fit{"modadd5", "Z5", "rotation", "bilinear:block=2,hidden=6,inputs=8"},
        Fit{"modadd5", "Z5", "rotation", "bilinear:block=2,hidden=6,inputs=8,scale-free"},
        Fit{"modadd5", "Z5", "permutation", "bilinear:rank=30,hidden=8,inputs=8"},
        Fit{"modadd5", "Z5", "permutation", "dense:size=6"}, Fit{"modadd5", "Z5", "permutation", "fan:blocks=2,size=6"},
        Fit{"modadd5", "Z5", "rotation", "fan:blocks=4,size=2,norm=2"},
        Fit{"parity", "parity", "parity-scalar", "bilinear:diagonal,hidden=4,inputs=4"},
        Fit{"parity", "parity", "parity-scalar", "bilinear:rotations,hidden=4,inputs=4"},
        Fit{"parity", "parity", "", "bilinear:block=2,hidden=4,inputs=4"},
        Fit{"S3", "S3", "", "bilinear:full,hidden=24,inputs=12"}, Fit{"S3", "S3", "", "dense:size=16"},
        Fit{"rsm:m=5,seed=1", "", "one-hot", "bilinear:full,hidden=24,inputs=16"},
        Fit{"rsm:m=5,seed=1", "", "one-hot", "fan:blocks=2,size=12"}}) {
    CAPTURE(model_name);
    CAPTURE(task_name);
    const auto task = make_task(task_name);
    CHECK(accuracy(*started(model_name, *task, construction(*task, language, name)), *task, 300) == 1);
  }
}

TEST_CASE("constructions and models that do not fit say so") {
  struct Fact {
    const char *task, *language, *construction, *model, *why;
  };
  for (const auto& [task_name, language, name, model_name, why] :
       {Fact{"modadd5", "Z5", "permutation", "bilinear:full,hidden=4,inputs=8", "larger"},
        Fact{"modadd5", "Z5", "permutation", "bilinear:full,hidden=8,inputs=6", "inputs=7"},
        Fact{"modadd5", "Z5", "permutation", "bilinear:rotations,hidden=16,inputs=8", "mix 5"},
        Fact{"modadd5", "Z5", "permutation", "bilinear:diagonal,hidden=16,inputs=8", "blocks of 1"},
        Fact{"modadd5", "Z5", "permutation", "bilinear:rank=9,hidden=16,inputs=8", "rank=25"},
        Fact{"modadd5", "Z5", "permutation", "dense:size=4", "size=5"},
        Fact{"modadd5", "Z5", "rotation", "fan:blocks=4,size=2", "norm=2"},
        Fact{"modadd5", "Z5", "permutation", "fan:blocks=2,size=6,generator=4", "generator"},
        Fact{"modadd5", "Z5", "permutation", "fan:blocks=2,size=6,layers=2", "norms"},
        Fact{"modadd5", "Z5", "permutation", "deltaproduct:width=16,heads=1", "fla-deltanet"},
        Fact{"modadd5", "Z5", "permutation", "diagonal:width=16", "norms"},
        Fact{"modadd5", "parity", "", "bilinear:full,hidden=16,inputs=8", "no letter \"2\""},
        Fact{"modadd5", "evenpair5", "", "bilinear:full,hidden=64,inputs=8", "language"}}) {
    CAPTURE(model_name);
    const auto task = make_task(task_name);
    CHECK_THROWS_WITH_AS(started(model_name, *task, construction(*task, language, name)), doctest::Contains(why),
                         InputError);
  }
}

TEST_CASE("a perturbed construction comes back by training") {
  const auto task = make_task("modadd5");
  const Network network = construction(*task, "Z5", "permutation");
  TrainOptions options{.optimiser = {.learning_rate = 1e-3, .schedule = Schedule::kCosine}, .smoothing = 0.1};
  options.stop_at = 0;
  constexpr char kModel[] = "bilinear:full,hidden=8,inputs=8";
  const auto prepare = [&](SequenceModel<float>& model) {
    initialise_from(model, network, *task);
    perturb(model, 0.1, 5);
  };
  options.optimiser.steps = 0;
  const Trainer before(*task, kModel, options, prepare);
  CHECK(before.state() == Trainer::State::kFinished);
  const double wrong = accuracy(before.model(), *task, 60);
  options.optimiser.steps = 600;
  Trainer after(*task, kModel, options, prepare);
  while (after.state() == Trainer::State::kRunning) after.step();
  const double right = accuracy(after.model(), *task, 60);
  CAPTURE(wrong);
  CAPTURE(right);
  CHECK(wrong < 0.9);
  CHECK(right > 0.99);
}

TEST_CASE("noise has the stated deviation, of every tensor, and is the seed's") {
  const auto task = make_task("modadd5");
  const auto model = make_model<float>("bilinear:full,hidden=32,inputs=16", 7, 5, 1);
  const std::vector<float> first(model->parameters().begin(), model->parameters().end());
  const auto again = make_model<float>("bilinear:full,hidden=32,inputs=16", 7, 5, 1);
  perturb(*model, 0.2, 8);
  perturb(*again, 0.2, 8);
  CHECK(std::ranges::equal(model->parameters(), again->parameters()));
  const std::size_t begin = 7 * 16, count = 16 * 32 * 32;  // the weights, after the embedding
  double squares = 0, noise = 0;
  for (std::size_t i = begin; i < begin + count; ++i) {
    squares += double{first[i]} * first[i];
    const double change = double{model->parameters()[i]} - first[i];
    noise += change * change;
  }
  CHECK(std::sqrt(noise / squares) == doctest::Approx(0.2).epsilon(0.03));
}

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

constexpr double kNear = 1e-9;

/// Returns a matrix of rank `rank`, with singular values between about 1/4 and 4.
MatrixXd random_matrix(Index rows, Index columns, Index rank, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const auto draw = [&](Index m, Index n) {
    return MatrixXd::NullaryExpr(m, n, [&] { return normal(random); }).eval();
  };
  if (rank == 0) return MatrixXd::Zero(rows, columns);
  const SingularValues left = singular_value_decomposition(draw(rows, rank)),
                       right = singular_value_decomposition(draw(columns, rank));
  const MatrixXd sizes = MatrixXd::NullaryExpr(rank, 1, [&] { return std::exp2(2 * std::sin(normal(random))); });
  return left.left.leftCols(rank) * sizes.col(0).asDiagonal() * right.left.leftCols(rank).transpose();
}

bool is_orthonormal(const MatrixXd& columns) { return (columns.transpose() * columns).isIdentity(kNear); }

template <class Body>
void for_all_shapes(Body body) {
  std::mt19937_64 random(3);
  // 16 columns are where the division into parts begins.
  for (const Index rows : {1, 2, 3, 5, 8, 15, 16, 17, 40})
    for (const Index columns : {1, 2, 3, 5, 8, 15, 16, 17, 40})
      for (const Index rank : {Index{0}, Index{1}, std::min(rows, columns) / 2, std::min(rows, columns)}) {
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(rank);
        body(random_matrix(rows, columns, rank, random), rank, random);
      }
}

}  // namespace

TEST_CASE("singular values and their vectors make up the matrix") {
  for_all_shapes([](const MatrixXd& a, Index, std::mt19937_64&) {
    const Index least = std::min(a.rows(), a.cols());
    const SingularValues thin = thin_singular_values(a), full = singular_value_decomposition(a);
    REQUIRE(thin.left.cols() == least);
    REQUIRE(thin.right.cols() == least);
    REQUIRE((full.left.cols() == a.rows() && full.right.cols() == a.cols()));
    for (const SingularValues* of : {&thin, &full}) {
      REQUIRE(is_orthonormal(of->left));
      REQUIRE(is_orthonormal(of->right));
      REQUIRE((of->left.leftCols(least) * of->values.asDiagonal() * of->right.leftCols(least).transpose() - a).norm() <
              kNear);
      for (Index i = 1; i < least; ++i) REQUIRE(of->values(i - 1) >= of->values(i));
    }
    REQUIRE((thin.values - singular_values(a)).norm() < kNear);
  });
}

TEST_CASE("QR with pivots, the basis of columns, and ranks") {
  for_all_shapes([](const MatrixXd& a, Index rank, std::mt19937_64&) {
    const PivotedQr qr = pivoted_qr(a);
    REQUIRE(is_orthonormal(qr.q));
    REQUIRE(qr.q.cols() == a.rows());
    REQUIRE(qr.diagonal.size() == std::min(a.rows(), a.cols()));
    std::vector<Index> sorted = qr.order;
    std::ranges::sort(sorted);
    REQUIRE(sorted.size() == static_cast<std::size_t>(a.cols()));
    for (Index i = 0; i < a.cols(); ++i) REQUIRE(sorted[static_cast<std::size_t>(i)] == i);
    const MatrixXd r = qr.q.transpose() * a(Eigen::all, qr.order);
    for (Index i = 0; i < qr.diagonal.size(); ++i) {
      REQUIRE(std::abs(r(i, i) - qr.diagonal(i)) < kNear);
      if (i > 0) REQUIRE(std::abs(qr.diagonal(i)) <= std::abs(qr.diagonal(i - 1)) + kNear);
      REQUIRE(r.col(i).tail(a.rows() - i - 1).norm() < kNear);
    }
    REQUIRE((qr.diagonal.cwiseAbs().array() > 1e-7).count() == rank);
    REQUIRE(numerical_rank(a, 1e-7) == rank);
    if (rank == a.cols()) {
      const MatrixXd basis = orthonormal_basis(a);
      REQUIRE(is_orthonormal(basis));
      REQUIRE((basis * basis.transpose() * a - a).norm() < kNear);
    }
  });
}

TEST_CASE("solutions of square systems, of ill-conditioned ones, and of least squares") {
  for_all_shapes([](const MatrixXd& a, Index rank, std::mt19937_64& random) {
    const MatrixXd b = random_matrix(a.rows(), 3, std::min<Index>(a.rows(), 3), random);
    const MatrixXd x = least_squares(a, b, 1e-9);
    REQUIRE((a.transpose() * (a * x - b)).norm() < kNear);
    // The least norm: no part of it is in the kernel.
    const SingularValues svd = singular_value_decomposition(a);
    REQUIRE((svd.right.rightCols(a.cols() - rank).transpose() * x).norm() < kNear);
    if (rank == std::min(a.rows(), a.cols())) REQUIRE((least_squares(a, b) - x).norm() < kNear);
    if (rank == std::min(a.rows(), a.cols())) REQUIRE((pseudo_inverse(a) * b - x).norm() < kNear);
    if (a.rows() != a.cols()) return;
    const auto conditioned =
        solution_if_conditioned(a.cast<std::complex<double>>(), b.cast<std::complex<double>>(), 1e-6);
    REQUIRE(conditioned.has_value() == (rank == a.cols()));
    if (rank < a.cols()) return;
    REQUIRE((a * solution(a, b) - b).norm() < kNear);
    REQUIRE((a.cast<std::complex<double>>() * *conditioned - b.cast<std::complex<double>>()).norm() < kNear);
    // As nearly singular as is said, and a little more.
    if (a.cols() < 2) return;
    MatrixXd near = MatrixXd::Identity(a.cols(), a.cols());
    near(0, 0) = 1e-3;
    REQUIRE(solution_if_conditioned(near.cast<std::complex<double>>(), b.cast<std::complex<double>>(), 0.99e-3));
    REQUIRE(!solution_if_conditioned(near.cast<std::complex<double>>(), b.cast<std::complex<double>>(), 1.01e-3));
  });
}

TEST_CASE("eigenvalues, real and complex; nothing where there are none") {
  for_all_shapes([](const MatrixXd& a, Index, std::mt19937_64&) {
    if (a.rows() != a.cols()) return;
    const MatrixXd symmetric = a + a.transpose();
    const auto real = symmetric_eigen(symmetric);
    REQUIRE(real);
    REQUIRE(is_orthonormal(real->vectors));
    REQUIRE((symmetric * real->vectors - real->vectors * real->values.asDiagonal()).norm() < kNear);
    for (Index i = 1; i < a.rows(); ++i) REQUIRE(real->values(i - 1) <= real->values(i));
    const auto complex = complex_eigen(a);
    REQUIRE(complex);
    REQUIRE((a * complex->vectors - complex->vectors * complex->values.asDiagonal()).norm() < 1e-7);
    for (Index i = 0; i < a.rows(); ++i) REQUIRE(complex->vectors.col(i).norm() == doctest::Approx(1));
  });
  MatrixXd none = MatrixXd::Identity(3, 3);
  none(2, 1) = none(1, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK(!symmetric_eigen(none));
  CHECK(!complex_eigen(none));
}

// The operations that certificates list of a trained model are the model, number for number.

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
  for (const char* name : kSmallModels)
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

TEST_CASE("the measured contraction is that of the Jacobians, where these are known") {
  const auto task = make_task("parity");
  const auto measured = [&](const char* name, const std::vector<float>& diagonal) {
    const auto model = make_model<float>(name, *task, 1);
    std::ranges::fill(model->parameters(), 0.0F);  // every memory stays 0
    const std::size_t first = model->begin_of("rnn.weight_hh_l0");
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      model->parameters()[first + i * (diagonal.size() + 1)] = diagonal[i];
    return measured_contraction(*model, *task);
  };
  struct Fact {
    const char* name;
    std::vector<float> diagonal;
    double share, factor = 1;
  };
  // Gates of ½: h ← h / 2; c ← c / 2 and h = tanh(c) / 2, where a disturbance of c is one of h, too.
  for (const auto& [name, diagonal, share, factor] :
       {Fact{"rnn:hidden=3", {0.5F, 0.25F, -0.75F}, 0.75}, Fact{"rnn:hidden=40", std::vector<float>(40, 0.9F), 0.9},
        Fact{"rnn:hidden=80", std::vector<float>(80, -1.0F), 1}, Fact{"rnn:hidden=2", {1.25F, 0}, 1.25},
        Fact{"gru:hidden=3", {}, 0.5}, Fact{"lstm:hidden=2", {}, 0.5, std::sqrt(1.25)}}) {
    CAPTURE(name);
    const Contraction found = measured(name, diagonal);
    CHECK(found.after_8 == doctest::Approx(factor * std::pow(share, 8)).epsilon(1e-4));
    CHECK(found.after_24 == doctest::Approx(factor * std::pow(share, 24)).epsilon(1e-3));
    CHECK(found.words == (diagonal.size() > 64 ? 8 : 32));
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
      "stock-m2rnn:width=3,heads=2,q-heads=2,k-heads=2,v-heads=2,f-heads=2,w-heads=2,keys=3,values=2,taps=3,skip",
      "stock-m2rnn:width=3,heads=4,q-heads=2,k-heads=1,v-heads=1,f-heads=1,w-heads=2,keys=2,values=3,bias",
      "stock-slstm:width=4,heads=2",
      "stock-slstm:layers=2,width=6,residual,mlp=2,heads=3,taps=4,cuda",
      "stock-rwkv7:width=4,heads=2,keys=2,values=3,decay-rank=2,rate-rank=3,gate-rank=2",
      "stock-rnn:width=4,forward=layer-norm/layer-3/gelu/rms-norm/linear-5/gelu-tanh",
      "stock-rnn-relu:layers=2,width=3,residual,mlp=2",
      "stock-gru:width=4,forward=(/layer-norm/layer-4/silu/)/layer-3/layer-norm/linear-6/relu/linear-2/tanh,norm-eps="
      "0.001",
      "stock-lstm:width=3,forward=layer-2/(/linear-2/sigmoid/)/layer-3"};
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
          const bool is_convolution = test::contains(part.name, "conv1d") && part.shape.size() == 3;
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

namespace {

/// The numbers of a list of constants, as the checker reads them.
std::vector<double> rechecked_numbers(OperationsBuilder& b, const OperationsBuilder::List& list,
                                      const TensorFile& tensors = {}) {
  const auto memory = b.memory(list.size);
  b.operations.start = {list.number};
  b.operations.keep = {memory.number};
  b.operations.logits = memory.number;
  return rechecked_operations(b.operations, tensors)->start().numbers.at(0);
}

}  // namespace

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
  CHECK(rechecked_numbers(b, b.tensor("halves", numbers.size()), file) == numbers);
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

  std::vector<double> few;  // of what is so large that no function of it is finite, and below where exponentials are 0
  for (const double x : numbers)
    if (std::abs(x) < 85) few.push_back(x);
  for (const double x : {-86.0, -103.9, -104.1, -745.0, -746.1}) few.push_back(x);
  // Multiples of eighths of a turn, and what is next to them; where angles are reduced in integers; the greatest.
  std::vector<double> angles = numbers;
  for (const double size : {1.0, 7.0, 100.0, 667'543.0, 667'544.0, 0x1p52, 0x1p60, 0x1p300, 0x1p1020})
    for (int eighths = 0; eighths < 16; ++eighths)
      for (double x = (size + eighths) * (M_PI / 4), i = 0; i < 3; ++i, x = std::nextafter(x, 0))
        angles.insert(angles.end(), {x, -x});
  for (const double x :
       {0x1p20, std::nextafter(0x1p20, 0), 0x1.fffffffffffffp+1023, 0x1.fffffep+127, 6381956970095103 * 0x1p797})
    angles.insert(angles.end(), {x, -x});

  const auto softplus_of_torch = [](double x) { return x > 20 ? x : stated::log1p(stated::exp(x)); };
  const auto log_sigmoid = [](double x) { return std::min(x, 0.0) - stated::log1p(stated::exp(-std::abs(x))); };
  constexpr double kGreatest = std::numeric_limits<float>::max();
  struct Function {
    const char* name;
    const std::vector<double>& of;
    std::function<double(double)> truth;  ///< in double; of fp32 it is rounded once
    std::vector<Precision> formats{Precision::kFp64, Precision::kFp32};
  };
  for (const Function& function : std::initializer_list<Function>{
           {"exp", few, [](double x) { return stated::exp(x); }, {Precision::kFp64}},
           {"exp32", few, [](double x) { return stated_exp(static_cast<float>(x)); }, {Precision::kFp32}},
           {"softplus",
            few,
            [](double x) { return std::max(x, 0.0) + stated::log1p(stated::exp(-std::abs(x))); },
            {Precision::kFp64}},
           {"softplus",
            few,
            [](double x) {
              return std::max(static_cast<float>(x), 0.F) +
                     static_cast<float>(stated::log1p(stated::exp(-std::abs(x))));
            },
            {Precision::kFp32}},
           {"softplus32",
            few,
            [](double x) { return x > 20 ? x : stated::log1p(double{stated_exp(static_cast<float>(x))}); },
            {Precision::kFp32}},
           {"softplus64", few, softplus_of_torch},
           {"log sigmoid", few, log_sigmoid},
           {"cosine", angles, [](double x) { return stated::cos(x); }},
           {"sine", angles, [](double x) { return stated::sin(x); }},
           {"tanh", numbers, [](double x) { return stated::tanh(x); }},
           {"logistic", numbers, [](double x) { return 1 / (1 + stated::exp(-x)); }}})
    for (const Precision format : function.formats) {
      CAPTURE(function.name);
      const bool is_single = format == Precision::kFp32;
      std::vector<double> of = function.of;
      for (double& x : of)
        if (is_single) x = static_cast<float>(std::clamp(x, -kGreatest, kGreatest));
      OperationsBuilder b;
      b.operations.format = format;
      const std::vector<double> found = rechecked_numbers(b, b.each(function.name, b.numbers(of)));
      for (std::size_t i = 0; i < of.size(); ++i) {
        CAPTURE(of[i]);
        const double truth = function.truth(of[i]);
        REQUIRE(found[i] == (is_single ? static_cast<float>(truth) : truth));
      }
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
        const std::vector<double> norms = rechecked_numbers(b, b.norms(b.numbers(of), width, p));
        for (std::size_t i = 0; i < norms.size(); ++i) {
          double sum = 0;
          for (std::size_t t = 0; t < width; ++t) sum += stated::pow(std::abs(of[i * width + t]), p);
          const double norm = stated::pow(sum, 1 / p);
          CAPTURE(of[i * width]);
          REQUIRE(norms[i] == (format == Precision::kFp64 ? norm : static_cast<double>(static_cast<float>(norm))));
        }
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
      const std::vector<double> stated =
          rechecked_numbers(b, function.what == std::string("norm") ? b.norms(of, 1, 1.2) : b.each(function.what, of));
      for (std::size_t i = 0; i < numbers->size(); ++i) {
        CAPTURE(function.what);
        CAPTURE((*numbers)[i]);
        REQUIRE(stated[i] == function.truth((*numbers)[i], digits));
      }
    }
}
