// Nonlinear cells: their functions against a wider format, and cells that saturate into automata.

#include "krohn/automata/language.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock/stock_layers.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/automata/random_automata.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

long double true_tanh(long double x) { return std::tanh(x); }
long double true_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

/// Neither neighbour is nearer; the wide value itself is within 2^-60.
template <class Real>
bool is_nearest(Real given, long double wanted, Real above, Real below) {
  const long double slack = std::fabs(wanted) * 0x1p-60L;
  const auto distance = [&](Real x) { return std::fabs(static_cast<long double>(static_cast<double>(x)) - wanted); };
  return distance(given) <= distance(above) + slack && distance(given) <= distance(below) + slack;
}

float neighbour(float x, float towards) { return std::nextafter(x, towards); }
Eigen::bfloat16 neighbour(Eigen::bfloat16 x, float towards) {
  const float wide = static_cast<float>(x);  // values of both functions lie in [−1, 1]
  if (wide == 0) return Eigen::bfloat16(std::copysign(0x1p-133f, towards));
  auto bits = std::bit_cast<std::uint16_t>(x);
  bits = static_cast<std::uint16_t>((wide < towards) == (wide > 0) ? bits + 1 : bits - 1);
  return std::bit_cast<Eigen::bfloat16>(bits);
}

template <class Real>
void check_functions_at(Real x) {
  const long double wide = static_cast<double>(x);
  const Real tanh = cell_tanh<Real>(x), sigmoid = cell_sigmoid<Real>(x);
  CAPTURE(static_cast<double>(x));
  REQUIRE(is_nearest(tanh, true_tanh(wide), neighbour(tanh, 2), neighbour(tanh, -2)));
  REQUIRE(is_nearest(sigmoid, true_sigmoid(wide), neighbour(sigmoid, 2), neighbour(sigmoid, -2)));
}

std::unique_ptr<SequenceModel<float>> model_of(const SaturatedCell& cell, const Task& task) {
  auto model = make_model<float>(to_string(cell.shape), task, 0);
  model->load(cell.tensors);
  return model;
}

/// The search alone: the replay of a whole verdict would take minutes for all of them.
Certificate verdict(const SequenceModel<float>& model, const Task& task, Precision precision) {
  const auto machine = trained_machine(model, task, precision);
  ReaderLimits limits{.max_pairs = 100'000, .long_letters = 0};
  return certify_reader(*machine, tracked_automaton(task, input_machine(task).automaton), limits);
}

const std::vector<const char*> kCells = {"rnn", "rnn-relu", "gru", "lstm"};

}  // namespace

TEST_CASE("tanh and sigmoid are rounded correctly at every bf16") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto x = std::bit_cast<Eigen::bfloat16>(static_cast<std::uint16_t>(bits));
    if (std::isfinite(static_cast<float>(x))) check_functions_at(x);
  }
}

TEST_CASE("tanh and sigmoid are rounded correctly at 260,000 floats of every size") {
  for (std::uint64_t bits = 0; bits < 0x7F800000; bits += 16'411)
    for (const std::uint32_t sign : {0u, 0x80000000u})
      check_functions_at(std::bit_cast<float>(static_cast<std::uint32_t>(bits) | sign));
  // The last float whose tanh is below 1, and the one after it.
  CHECK(cell_tanh(0x1.205966p+3f) == std::nextafter(1.f, 0.f));
  CHECK(cell_tanh(0x1.205968p+3f) == 1.f);
}

TEST_CASE("a number is rounded to bf16 once, where a way by float would round twice") {
  const double tie = 1 + 0x1p-8;  // halfway between 1 and the next bf16
  CHECK(static_cast<float>(rounded<Eigen::bfloat16>(tie)) == 1);
  CHECK(static_cast<float>(rounded<Eigen::bfloat16>(tie + 0x1p-40)) == 1 + 0x1p-7f);
  CHECK(static_cast<float>(rounded<Eigen::bfloat16>(tie - 0x1p-40)) == 1);
  CHECK(static_cast<float>(Eigen::bfloat16(static_cast<float>(tie + 0x1p-40))) == 1);  // which it does
  CHECK(static_cast<float>(rounded<Eigen::bfloat16>(1 + 3 * 0x1p-8 - 0x1p-40)) == 1 + 0x1p-7f);
  CHECK(static_cast<float>(rounded<Eigen::bfloat16>(-tie - 0x1p-40)) == -1 - 0x1p-7f);
}

TEST_CASE("every cell is every small automaton, proved for words of every length") {
  for (const char* name : {"parity", "Z5", "S3", "tomita1", "tomita4", "tomita7"}) {
    const auto task = make_task(std::string("name:") + name);
    const Dfa automaton = named_language(name);
    for (const char* cell : kCells) {
      CAPTURE(name);
      CAPTURE(cell);
      const SaturatedCell made = saturated_cell(automaton, cell);
      const auto model = model_of(made, *task);
      for (const Precision precision : {Precision::kFp32, Precision::kFp64, Precision::kBf16}) {
        const Certificate certificate = verdict(*model, *task, precision);
        CHECK(certificate.is<Proved>());
        CHECK(certificate.pairs <= made.shape.hidden + 1);
      }
    }
  }
}

TEST_CASE("a saturated cell answers as its automaton does, word by word and at the start") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Dice dice(seed);
    const Dfa automaton = random_moore(dice, 5, 2, 3);
    for (const char* cell : kCells) {
      const SaturatedCell made = saturated_cell(automaton, cell);
      const auto reader = operations_reader(
          cell_operations(made.shape, automaton.letters(), made.tensors, Precision::kFp32).operations, made.tensors);
      // Before the first letter the units are 0, so that the biases answer.
      const std::vector<double> biases = floating_numbers(made.tensors.tensors.at("head.bias")).value();
      const auto first = std::ranges::max_element(biases);
      CHECK(static_cast<Output>(first - biases.begin()) == automaton.output(automaton.initial()));
      CHECK(std::ranges::count_if(biases, [&](double bias) { return bias > *first - 0.5; }) == 1);
      for (const Word& word : short_words(automaton.letters(), 4)) {
        if (word.empty()) continue;
        LetterReader::Memory memory = reader->start();
        LetterReader::Answer answer;
        State state = automaton.initial();
        for (const Letter letter : word)
          answer = reader->step(letter, memory, true), state = automaton.next(state, letter);
        CAPTURE(cell);
        REQUIRE(answer.output == automaton.output(state));
        REQUIRE(answer.margin > 0.5);
      }
    }
  }
}

TEST_CASE("one weight of a saturated cell less, and a shortest word refutes it") {
  const auto task = make_task("name:parity");
  for (const char* cell : kCells) {
    SaturatedCell made = saturated_cell(named_language("parity"), cell);
    // The unit for "1" read in the even state is on at the start; its bias keeps it shut from now on.
    Tensor& bias = made.tensors.tensors.at(cell_tensor("bias_ih", 0));
    std::vector<float> numbers(bias.elements());
    std::memcpy(numbers.data(), bias.bytes.data(), bias.bytes.size());
    const std::size_t deciding = std::string_view(cell) == "gru" || std::string_view(cell) == "lstm" ? 2 : 0;
    numbers[deciding * made.shape.hidden + 1] -= 100;
    std::memcpy(bias.bytes.data(), numbers.data(), bias.bytes.size());
    const auto model = model_of(made, *task);
    const Certificate certificate = verdict(*model, *task, Precision::kFp32);
    CAPTURE(cell);
    REQUIRE(certificate.is<Refuted>());
    const auto machine = trained_machine(*model, *task, Precision::kFp32);
    const TrackedAutomaton tracked = tracked_automaton(*task, input_machine(*task).automaton);
    // No shorter word fails, by trying them all.
    for (const Word& word : short_words(2, static_cast<std::uint32_t>(certificate.failing_word()->size()))) {
      ReaderRun run(*machine, tracked);
      for (const Letter letter : word) run.read(letter);
      if (run.is_wrong()) CHECK(word.size() == certificate.failing_word()->size());
    }
  }
}

TEST_CASE("cells of too many units are refused before they are built") {
  CHECK_THROWS_AS(saturated_cell(named_language("Z4096"), "gru"), LimitError);
}
