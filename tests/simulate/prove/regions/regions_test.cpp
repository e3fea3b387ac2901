// Intervals that hold whatever a runtime computes, regions that close, and what is no proof: never found, never
// accepted.
#include "krohn/simulate/prove/regions/close_regions.h"

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/check/recheck_enclosed.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock/stock_layers.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/prove/regions/interval_lists.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

std::vector<double> floats_of(const Tensor& tensor) {
  std::vector<double> numbers = floating_numbers(tensor).value();
  for (double& x : numbers) x = static_cast<float>(x);
  return numbers;
}

/// One of the runtimes of docs/reference/certificate-file.md, "closed regions": sums in an order of its own, products
/// fused or not, in floats or doubles, functions off by up to 8 units, small numbers flushed or not; of bf16 and
/// fp16 with weights, results and factors rounded to that or not.
class SomeRuntime {
 public:
  SomeRuntime(const Operations& operations, const TensorFile& tensors, Precision format, unsigned seed)
      : operations_(operations), format_(format), random_(seed), lists_(operations.list.size()) {
    rounds_factors_ = random_() % 2 == 0;
    wide_ = random_() % 4 == 0;
    flushes_ = random_() % 2 == 0;
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      const Operation& operation = operations.list[i];
      if (operation.what == "tensor") lists_[i] = floats_of(tensors.tensors.at(operation.tensor));
      for (std::uint32_t t = 0; operation.what == "numbers" && t < operation.size; ++t)
        for (const double x : operation.numbers) lists_[i].push_back(static_cast<float>(x));
      for (double& x : lists_[i]) x = perhaps_coarse(x);
    }
  }

  std::vector<double> read(const std::vector<double>& memory, std::uint32_t token) {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      const Operation& operation = operations_.list[i];
      if (operation.what == "tensor" || operation.what == "numbers") continue;
      if (operation.what == "memory") {
        lists_[i] = memory;
      } else if (operation.what == "row") {
        const auto first = lists_[operation.of[0].list].begin() + std::ptrdiff_t{token} * operation.size;
        lists_[i].assign(first, first + operation.size);
      } else {
        compute(i);
      }
    }
    std::vector<double> kept;
    for (const std::uint32_t list : operations_.keep) kept.insert(kept.end(), lists_[list].begin(), lists_[list].end());
    return kept;
  }
  const std::vector<double>& logits() const { return lists_[operations_.logits]; }

 private:
  double flushed(double x) { return flushes_ && std::fabs(x) < 0x1p-126 && random_() % 2 == 0 ? 0 : x; }
  double rounded(double x) { return flushed(wide_ ? x : static_cast<float>(x)); }
  double coarse(double x) const {
    const auto single = static_cast<float>(x);
    if (format_ == Precision::kFp32) return x;
    return format_ == Precision::kBf16 ? static_cast<double>(Eigen::bfloat16(single))
                                       : static_cast<double>(Eigen::half(single));
  }
  double perhaps_coarse(double x) { return random_() % 2 == 0 ? flushed(coarse(x)) : x; }
  double factor(double x) { return flushed(rounds_factors_ ? coarse(x) : x); }
  double off(double x, double by) {
    return rounded(x + by * (std::uniform_int_distribution<int>(-64, 64)(random_)) / 64.0 * 0.7);
  }
  double function(double x) { return off(x, 0x1p-21 * std::max(1.0, std::fabs(x))); }

  double value(const std::string& what, double a, double b) {
    if (what == "copy") return a;
    a = flushed(a), b = flushed(b);
    if (what == "add") return rounded(a + b);
    if (what == "subtract") return rounded(a - b);
    if (what == "multiply") return rounded(a * b);
    if (what == "greater") return std::max(a, b);
    if (what == "divide") return off(a / b, 0x1p-22 * std::fabs(a / b));
    if (what == "root") return off(std::sqrt(a), 0x1p-22 * std::sqrt(a));
    if (what == "sigmoid" || what == "sigmoid32") return function(a / (1 + std::exp(-b)));
    if (what == "logistic") return function(1 / (1 + std::exp(-a)));
    if (what == "tanh") return function(std::tanh(a));
    if (what == "exp" || what == "exp32") return function(std::exp(a));
    if (what == "log sigmoid") return function(-std::log1p(std::exp(-a)));
    REQUIRE(what.starts_with("softplus"));
    return function(a > 30 ? a : std::log1p(std::exp(a)));
  }

  void compute(std::size_t list) {
    const Operation& operation = operations_.list[list];
    std::size_t size = 1;
    for (const std::uint32_t extent : operation.shape) size *= extent;
    lists_[list].resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      std::array<const double*, 3> from{};
      for (std::size_t view = 0; view < operation.of.size(); ++view) {
        from[view] = lists_[operation.of[view].list].data() + operation.of[view].first;
        std::size_t left = i;
        for (std::size_t axis = operation.shape.size(); axis-- > 0; left /= operation.shape[axis])
          from[view] += left % operation.shape[axis] * operation.of[view].strides[axis];
      }
      if (operation.what != "dot") {
        lists_[list][i] = value(operation.what, *from[0], operation.of.size() > 1 ? *from[1] : 0);
        if (operation.what != "copy") lists_[list][i] = perhaps_coarse(lists_[list][i]);
        continue;
      }
      std::vector<std::size_t> order(operation.terms);
      for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
      std::shuffle(order.begin(), order.end(), random_);
      std::array<double, 2> sums{operation.of.size() == 3 ? *from[2] : 0, 0};  // two parts, added at the end
      for (const std::size_t t : order) {
        const double a = factor(from[0][t * operation.of[0].strides.back()]),
                     b = factor(from[1][t * operation.of[1].strides.back()]);
        double& sum = sums[random_() % 2];
        sum = random_() % 2 == 0 ? rounded(std::fma(a, b, sum)) : rounded(sum + rounded(a * b));
      }
      lists_[list][i] = perhaps_coarse(rounded(perhaps_coarse(sums[0] + sums[1])));
    }
  }

  const Operations& operations_;
  Precision format_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> lists_;
  bool wide_, flushes_, rounds_factors_;
};

/// A number of the interval: an end, or a float between.
double drawn(Ends ends, std::mt19937_64& random) {
  const auto which = random() % 4;
  if (which == 0) return ends.lower;
  if (which == 1) return ends.upper;
  const double x = std::uniform_real_distribution<double>(0, 1)(random);
  return std::clamp<double>(static_cast<float>(ends.lower + x * (ends.upper - ends.lower)), ends.lower, ends.upper);
}

/// Points of the box, read by runtimes of all kinds and as operations state: how many lie outside of what either
/// reading of intervals says.
std::size_t outside(const Operations& operations, const TensorFile& tensors, Precision format, const Box& box,
                    Letter letter, std::size_t points, std::mt19937_64& random) {
  const std::uint32_t token = operations.tokens[letter];
  IntervalLists intervals(operations, tensors, format);
  const Box after = intervals.read(box, token);
  const auto checker = enclosed_operations(operations, tensors, format);
  RecheckedReader::Moment moment = checker->start();
  moment.numbers.assign(2, {});
  for (const Ends& ends : box) {
    moment.numbers[0].push_back(ends.lower);
    moment.numbers[1].push_back(ends.upper);
  }
  moment = checker->step(moment, letter);
  StatedLists<float> stated(operations, tensors);
  stated.read_token(token);
  std::size_t found = 0;
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<double> point;
    for (const Ends& ends : box) point.push_back(drawn(ends, random));
    SomeRuntime runtime(operations, tensors, format, static_cast<unsigned>(random()));
    stated.read_memory(std::vector<float>(point.begin(), point.end()));
    const std::vector<float> as_stated = stated.kept();
    const std::vector<double> computed = runtime.read(point, token);
    for (const std::vector<double>& memory : {computed, std::vector<double>(as_stated.begin(), as_stated.end())})
      for (std::size_t k = 0; k < memory.size(); ++k)
        found += !(memory[k] >= after[k].lower && memory[k] <= after[k].upper && memory[k] >= moment.numbers[0][k] &&
                   memory[k] <= moment.numbers[1][k]);
    std::vector<double> behind = computed;
    for (const std::uint32_t next : operations.after) behind = runtime.read(behind, next);
    if (moment.said) {
      const std::vector<double>& logits = runtime.logits();
      found += std::ranges::max_element(logits) - logits.begin() != static_cast<std::ptrdiff_t>(*moment.said);
    }
    // The prover leaves room for the checker.
    for (std::size_t k = 0; k < after.size(); ++k)
      found += !(after[k].lower <= moment.numbers[0][k] && after[k].upper >= moment.numbers[1][k]);
  }
  return found;
}

}  // namespace

TEST_CASE("every operation is enclosed, at its ends, beside its branches and between") {
  const float tiny = std::numeric_limits<float>::denorm_min();
  std::vector<float> numbers{0, tiny, 0x1p-126F, 1e-20F, 1e-3F, 0.5F, 1, 2, 20, std::nextafterf(20, 30), 40, 80};
  for (const float x : std::vector(numbers)) numbers.push_back(-x);
  std::mt19937_64 random(5);
  std::map<Precision, std::size_t> enclosed;
  for (const char* what :
       {"copy", "add", "subtract", "multiply", "divide", "greater", "root", "sigmoid", "sigmoid32", "exp", "exp32",
        "softplus", "softplus32", "softplus64", "logistic", "tanh", "log sigmoid", "dot"})
    for (const float lower : numbers)
      for (const float width : {0.0F, tiny, 1e-6F, 0.3F, 25.0F}) {
        const Box box{{lower, lower + width}, {-0.75, static_cast<double>(numbers[random() % numbers.size()])}};
        if (box[1].upper < box[1].lower) continue;
        OperationsBuilder b;
        const auto memory = b.memory(2), x = b.part(memory, 0, 1), y = b.part(memory, 1, 1);
        const std::string name = what;
        const bool has_two = name == "add" || name == "subtract" || name == "multiply" || name == "divide" ||
                             name == "greater" || name.starts_with("sigmoid");
        const auto result = name == "dot" ? b.squares(memory, 2) : has_two ? b.each(what, y, x) : b.each(what, x);
        b.keep(result);
        b.keep(b.each("multiply", b.each("subtract", x, result), y));  // and what comes of it
        b.start(b.numbers({0, 0}));
        b.operations.logits = memory.number;
        b.operations.tokens = {0};
        CAPTURE(std::string(what));
        CAPTURE(lower);
        CAPTURE(width);
        for (const Precision format : {Precision::kFp32, Precision::kBf16, Precision::kFp16}) {
          // (x − a result of up to two squares) · y may be too great for fp16.
          const double most = std::max({0.75, std::fabs(box[0].lower), std::fabs(box[0].upper), std::fabs(box[1].upper)});
          const bool may_overflow = format == Precision::kFp16 && (most + 2 * most * most) * most >= 0x1p15;
          try {
            const std::size_t found = outside(b.operations, {}, format, box, 0, 20, random);
            REQUIRE(found == 0);
            ++enclosed[format];
          } catch (const NotEnclosed&) {
            CHECK((may_overflow || name == "divide" || name == "root" || name.starts_with("exp")));
          }
        }
      }
  CHECK(enclosed[Precision::kFp32] > 1'500);
  CHECK(enclosed[Precision::kBf16] > 1'500);
  CHECK(enclosed[Precision::kFp16] > 1'400);
}

TEST_CASE("one rounding to bf16 or fp16 is enclosed to its last place, of results, of weights, and of factors") {
  // 1 + 2^−8 lies between two numbers of bf16 and goes to 1; a little more goes up, 1 + 2^−7.
  const double tie = 1 + 0x1p-8, more = tie + 0x1p-23;
  const auto ends_of =
      [&](double x, const std::function<OperationsBuilder::List(OperationsBuilder&, OperationsBuilder::List)>& result,
          Precision format) {
        OperationsBuilder b;
        const auto memory = b.memory(1);
        b.keep(result(b, memory));
        b.start(b.numbers({0}));
        b.operations.logits = memory.number;
        b.operations.tokens = {0};
        const auto read_by_checker = [&] {
          return enclosed_operations(b.operations, {}, format)->step({{{x}, {x}}, {}, 0}, 0).numbers;
        };
        Ends of_prover;
        try {
          of_prover = IntervalLists(b.operations, {}, format).read({{x, x}}, 0)[0];
        } catch (const NotEnclosed&) {
          CHECK_THROWS_AS(read_by_checker(), NotEstablished);
          throw;
        }
        const auto box = read_by_checker();
        CHECK(of_prover.lower <= box[0][0]);
        CHECK(of_prover.upper >= box[1][0]);
        return Ends{box[0][0], box[1][0]};
      };
  const auto sum = [](OperationsBuilder& b, OperationsBuilder::List x) { return b.each("add", x, b.numbers({0})); };
  const auto given = [&](OperationsBuilder& b, OperationsBuilder::List) { return b.each("copy", b.numbers({more})); };
  const Ends of_tie = ends_of(tie, sum, Precision::kBf16), of_more = ends_of(more, sum, Precision::kBf16);
  CHECK(of_tie.lower <= 1);
  CHECK(of_tie.lower > 1 - 0x1p-14);  // and hardly more is given away: 2^−8 (1 + 2^−8) of it
  CHECK(of_more.upper >= 1 + 0x1p-7);
  CHECK(of_more.upper < 1 + 0x1p-7 + 0x1p-14);
  CHECK(ends_of(tie, sum, Precision::kFp32).lower > tie - 0x1p-22);
  const Ends of_weight = ends_of(0, given, Precision::kBf16);
  CHECK(of_weight.lower == more);
  CHECK(of_weight.upper == 1 + 0x1p-7);
  const Ends as_stored = ends_of(0, given, Precision::kFp32);
  CHECK(as_stored.lower == as_stored.upper);
  // 1 + 2^−11 lies between two numbers of fp16, and 2^−25 between 0 and the least one.
  const Ends of_half = ends_of(1 + 0x1p-11, sum, Precision::kFp16), of_least = ends_of(0x1p-25, sum, Precision::kFp16);
  CHECK(of_half.lower <= 1);
  CHECK(of_half.lower > 1 - 0x1p-20);
  CHECK(of_least.lower <= 0);
  CHECK(of_least.lower > -0x1p-22);
  CHECK(of_least.upper >= 0x1p-24);
  CHECK(ends_of(0x1p-25, sum, Precision::kBf16).lower > 0);
  // All numbers are below 2^15.
  const auto same = [](OperationsBuilder& b, OperationsBuilder::List x) { return b.each("copy", x); };
  const auto weight = [](double x) {
    return [x](OperationsBuilder& b, OperationsBuilder::List) { return b.each("copy", b.numbers({x})); };
  };
  const double most = std::nextafterf(0x1p15F, 0);
  CHECK_NOTHROW(ends_of(most, same, Precision::kFp16));
  CHECK_THROWS_AS(ends_of(0x1p15, same, Precision::kFp16), NotEnclosed);
  CHECK_NOTHROW(ends_of(0x1p15, same, Precision::kBf16));
  CHECK_THROWS_AS(ends_of(most, sum, Precision::kFp16), NotEnclosed);  // nor rounded ones
  CHECK_NOTHROW(ends_of(0x1p15 - 0x1p5, sum, Precision::kFp16));
  CHECK_NOTHROW(ends_of(0, weight(0x1p15 - 0x1p4), Precision::kFp16));
  CHECK_THROWS_AS(ends_of(0, weight(most), Precision::kFp16), NotEnclosed);  // it is rounded to 2^15
}

TEST_CASE("a step of a cell, of several layers, of norms and gates is enclosed, in every runtime") {
  std::mt19937_64 random(7);
  std::map<Precision, int> enclosed;
  for (const char* name :
       {"rnn:hidden=5,inputs=3", "rnn-relu:layers=2,hidden=4,inputs=2", "gru:hidden=6,one-hot", "gru:layers=2,hidden=4",
        "lstm:hidden=5,inputs=3", "lstm:layers=2,hidden=3,unbiased", "deltaproduct:width=8,heads=1,mlp=0",
        "diagonal:width=3,channels=4,states=2,conv=2",
        "stock-m2rnn:width=3,heads=2,q-heads=2,k-heads=2,v-heads=2,f-heads=2,w-heads=2,keys=3,values=2,taps=3,skip"}) {
    CAPTURE(std::string(name));
    const auto task = make_task("modadd3");
    std::unique_ptr<SequenceModel<float>> model;
    try {
      model = make_model<float>(name, *task, 3);
    } catch (const InputError& error) {
      FAIL(error.what());
    }
    for (float& x : model->parameters()) x *= 2;
    const Operations operations = model_operations(*model, *task, Precision::kFp32);
    const TensorFile tensors = model->tensors();
    StatedLists<float> stated(operations, tensors);
    for (int i = 0; i < 40; ++i) {
      std::vector<float> memory = stated.start();
      for (int t = 0; t < i % 7; ++t) {
        stated.read_token(operations.tokens[random() % operations.tokens.size()]);
        stated.read_memory(memory);
        memory = stated.kept();
      }
      const double radius = std::array{0.0, 1e-6, 1e-3, 0.05, 0.5}[static_cast<std::size_t>(i) % 5];
      Box box;
      for (const float x : memory) box.push_back({static_cast<float>(x - radius), static_cast<float>(x + radius)});
      for (const Precision format : {Precision::kFp32, Precision::kBf16, Precision::kFp16}) {
        const bool may_be_open = radius > 1e-3 || format != Precision::kFp32;  // a norm may be 0
        try {
          const Letter letter = static_cast<Letter>(random() % operations.tokens.size());
          const std::size_t found = outside(operations, tensors, format, box, letter, 25, random);
          REQUIRE(found == 0);
          ++enclosed[format];
        } catch (const NotEnclosed&) {
          CHECK(may_be_open);
        } catch (const NotEstablished&) {
          CHECK(may_be_open);
        }
      }
    }
  }
  CHECK(enclosed[Precision::kFp32] > 300);
  CHECK(enclosed[Precision::kBf16] >= 240);
  CHECK(enclosed[Precision::kFp16] >= 240);
}

namespace {

/// A cell that is an automaton with gates that are not shut and units that are not at their ends: it forgets by and by.
struct SoftCell {
  Operations operations;
  TensorFile tensors;
  TrackedAutomaton tracked;
};

SoftCell soft_cell(const std::string& language, const std::string& cell) {
  const Dfa dfa = load_language(language);
  SaturatedCell made = saturated_cell(dfa, cell);
  for (auto& [name, tensor] : made.tensors.tensors) {
    if (!name.starts_with("rnn.")) continue;
    std::vector<float> numbers;
    for (const double x : floats_of(tensor)) {
      const bool is_gate = std::fabs(x) == 1000;
      numbers.push_back(static_cast<float>(is_gate ? std::copysign(4.0, x) : cell == "rnn-relu" ? x : x / 10));
    }
    tensor = make_tensor(numbers, tensor.shape);
  }
  const Dfa least = minimise(dfa);
  SoftCell soft{cell_operations(made.shape, dfa.letters(), made.tensors, Precision::kFp32).operations, made.tensors,
                language_to_write({least, {least.outputs().begin(), least.outputs().end()}})};
  soft.tracked.wanted[0] = TrackedAutomaton::kNotAsked;  // of the empty word no cell says anything
  return soft;
}

Certificate certificate_of(const SoftCell& cell, const ClosedRegions& regions, Precision format = Precision::kFp32) {
  Certificate certificate{.arithmetic = format};
  certificate.claim = Proved{.any_order = true};
  certificate.method = "closed regions";
  certificate.operations = std::make_shared<const Operations>(cell.operations);
  certificate.language = cell.tracked;
  certificate.proof = regions;
  return certificate;
}

Recheck rechecked(const SoftCell& cell, const ClosedRegions& regions, std::uint64_t max_letters = 100'000,
                  Precision format = Precision::kFp32) {
  return recheck(certificate_of(cell, regions, format), cell.tensors, {.max_letters = max_letters});
}

}  // namespace

TEST_CASE("cells that forget are closed by a few regions, which the re-checker establishes and its file keeps") {
  std::map<Precision, int> closed;
  for (const char* language : {"name:parity", "name:Z3", "regex:(a|b)*abb", "name:tomita3", "name:S3"})
    for (const auto& [cell, format] : {std::pair("rnn", Precision::kFp32), std::pair("gru", Precision::kFp32),
                                       std::pair("lstm", Precision::kFp32), std::pair("rnn", Precision::kBf16),
                                       std::pair("gru", Precision::kBf16), std::pair("lstm", Precision::kBf16),
                                       std::pair("rnn", Precision::kFp16), std::pair("gru", Precision::kFp16),
                                       std::pair("lstm", Precision::kFp16)}) {
      CAPTURE(std::string(language));
      CAPTURE(std::string(cell));
      CAPTURE(to_string(format));
      const SoftCell soft = soft_cell(language, cell);
      const RegionSearch search = close_regions(soft.operations, soft.tensors, soft.tracked, format);
      CAPTURE(search.why_not);
      if (!search.closed && format != Precision::kFp32) continue;
      REQUIRE(search.closed);
      ++closed[format];
      CHECK(search.closed->list.size() < 200);
      CHECK(search.edges >= search.closed->list.size() * soft.tracked.automaton.letters());
      const Recheck outcome = rechecked(soft, *search.closed, 100'000, format);
      CAPTURE(outcome.finding);
      REQUIRE(outcome.established);
      const Certificate certificate = certificate_of(soft, *search.closed, format);
      const std::string text = format_certificate(certificate, soft.tensors);
      CHECK(test::contains(text, "\"version\":4"));
      const Certificate read = parse_certificate(text, "file", soft.tensors);
      CHECK(std::get<ClosedRegions>(read.proof) == *search.closed);
      CHECK(read.arithmetic == format);
      CHECK(recheck(read, soft.tensors, {.max_letters = 100'000}).established);
      // Every runtime stays right, for many letters.
      SomeRuntime runtime(soft.operations, soft.tensors, format, 3);
      std::mt19937_64 random(2);
      std::vector<double> memory(search.closed->list[0].lower.size(), 0);
      State state = soft.tracked.automaton.initial();
      std::size_t wrong = 0;
      for (int t = 0; t < 3'000; ++t) {
        const auto letter = static_cast<Letter>(random() % soft.tracked.automaton.letters());
        memory = runtime.read(memory, letter);
        state = soft.tracked.automaton.next(state, letter);
        if (soft.tracked.is_asked(state))
          wrong += std::ranges::max_element(runtime.logits()) - runtime.logits().begin() !=
                   static_cast<std::ptrdiff_t>(soft.tracked.wanted[state]);
      }
      CHECK(wrong == 0);
    }
  CHECK(closed[Precision::kFp32] == 15);
  CHECK(closed[Precision::kBf16] >= 6);
  CHECK(closed[Precision::kFp16] >= closed[Precision::kBf16]);
}

TEST_CASE("regions that are no proof are refused") {
  const SoftCell soft = soft_cell("name:Z3", "gru");
  const RegionSearch search = close_regions(soft.operations, soft.tensors, soft.tracked);
  REQUIRE(search.closed);
  ClosedRegions regions = *search.closed;
  REQUIRE(regions.letters == 1);
  const auto checker = enclosed_operations(soft.operations, soft.tensors, Precision::kFp32);
  const auto inside = [](const std::vector<RecheckedNumbers>& box, const ClosedRegions::Region& region) {
    for (std::size_t k = 0; k < region.lower.size(); ++k)
      if (box[0][k] < region.lower[k] || box[1][k] > region.upper[k]) return false;
    return true;
  };
  const auto down = [](double x) {
    const auto nearest = static_cast<float>(x);
    return nearest <= x ? nearest : std::nextafterf(nearest, -INFINITY);
  };
  // As small as they may be: each the hull of what letters lead into it.
  for (int round = 0; round < 60; ++round) {
    ClosedRegions next = regions;
    for (ClosedRegions::Region& region : next.list) {
      region.lower.assign(region.lower.size(), INFINITY);
      region.upper.assign(region.upper.size(), -INFINITY);
    }
    for (const ClosedRegions::Region& region : regions.list)
      for (Letter letter = 0; letter < soft.tracked.automaton.letters(); ++letter) {
        const State state = soft.tracked.automaton.next(region.state, letter);
        const auto box = checker->step({{region.lower, region.upper}, {}, 0}, letter).numbers;
        for (std::size_t i = 0; i < regions.list.size(); ++i) {
          if (regions.list[i].state != state || !inside(box, regions.list[i])) continue;
          for (std::size_t k = 0; k < region.lower.size(); ++k) {
            next.list[i].lower[k] = std::min<double>(next.list[i].lower[k], down(box[0][k]));
            next.list[i].upper[k] = std::max<double>(next.list[i].upper[k], -down(-box[1][k]));
          }
          break;
        }
      }
    std::erase_if(next.list, [](const ClosedRegions::Region& region) { return region.lower[0] > region.upper[0]; });
    regions = next;
  }
  regions.start = 20;
  REQUIRE(rechecked(soft, regions).established);
  // One unit less, at every end.
  std::size_t refused = 0, ends = 0;
  for (std::size_t i = 0; i < regions.list.size(); ++i)
    for (std::size_t k = 0; k < regions.list[i].lower.size(); ++k)
      for (const bool at_lower : {false, true}) {
        ClosedRegions smaller = regions;
        double& end = at_lower ? smaller.list[i].lower[k] : smaller.list[i].upper[k];
        end = std::nextafterf(static_cast<float>(end), at_lower ? INFINITY : -INFINITY);
        ++ends;
        refused += !rechecked(soft, smaller, 1'000'000).established;
      }
  CHECK(refused == ends);

  const auto refuses = [&](const std::function<void(ClosedRegions&)>& forge, const std::string& why) {
    ClosedRegions forged = *search.closed;
    forge(forged);
    const Recheck outcome = rechecked(soft, forged);
    CHECK_FALSE(outcome.established);
    CHECK(test::contains(outcome.finding, why));
  };
  refuses([](ClosedRegions& r) { r.list.clear(); }, "the start: after");
  refuses([](ClosedRegions& r) { r.start = 0; }, "the start: after 0 letters");
  refuses([](ClosedRegions& r) { r.letters = 0; }, "region 0: after 0 letters");
  refuses([](ClosedRegions& r) { r.list[0].state = 1 - r.list[0].state % 2; }, "region");  // an edge into another state
  refuses([](ClosedRegions& r) { r.list[0].state = 77; }, "no such state");
  refuses([](ClosedRegions& r) { r.list.erase(r.list.begin()); }, "some word's memory lies in no region");
  refuses([](ClosedRegions& r) { std::swap(r.list[0].lower, r.list[0].upper); }, "a lower end above the upper one");
  refuses([](ClosedRegions& r) { r.list[0].lower.pop_back(); }, "not as many numbers");
  refuses([](ClosedRegions& r) { r.list[0].upper.assign(r.list[0].upper.size(), 8); }, "region 0");
  // The claim is that of the method alone.
  Certificate sequential = certificate_of(soft, *search.closed);
  sequential.claim = Proved{};
  CHECK_FALSE(recheck(sequential, soft.tensors).established);
}

TEST_CASE("a read-out that ties at a corner of a region is none") {
  // h ← tanh(h/4 ± 1), and the logits −h and h − 2 bias: the second one leads where h is above the bias.
  const Dfa dfa = minimise(load_language("regex:(a|b)*b"));
  const auto cell = [&](double bias) {
    OperationsBuilder b;
    const auto memory = b.memory(1), token = b.row(b.numbers({-1, 1}), 1);
    const auto h = b.each("tanh", b.each("add", b.each("multiply", memory, b.numbers({0.25})), token));
    b.keep(h);
    b.start(b.numbers({0}));
    b.operations.tokens = {0, 1};
    b.operations.logits = b.product(h, b.numbers({-1, 1}), b.numbers({0, -2 * bias})).number;
    SoftCell soft{b.operations, {}, language_to_write({dfa, {dfa.outputs().begin(), dfa.outputs().end()}})};
    soft.tracked.wanted[0] = TrackedAutomaton::kNotAsked;
    return soft;
  };
  const SoftCell even = cell(0);
  const RegionSearch search = close_regions(even.operations, {}, even.tracked);
  CAPTURE(search.why_not);
  REQUIRE(search.closed);
  const auto checker = enclosed_operations(even.operations, {}, Precision::kFp32);
  double least = 1;  // where h may be behind a b
  for (const ClosedRegions::Region& region : search.closed->list)
    least = std::min(least, checker->step({{region.lower, region.upper}, {}, 0}, 1).numbers[0][0]);
  CHECK(rechecked(cell(least - 1e-5), *search.closed).established);
  const Recheck tied = rechecked(cell(least), *search.closed);
  CHECK_FALSE(tied.established);
  CHECK(test::contains(tied.finding, "read wrongly"));
}

namespace {

/// A word that the cell reads wrongly as its operations state, among random ones of so many letters.
bool fails(const SoftCell& cell, std::size_t words, std::size_t length, std::mt19937_64& random) {
  const auto reader = operations_reader(cell.operations, cell.tensors);
  for (std::size_t i = 0; i < words; ++i) {
    LetterReader::Memory memory = reader->start();
    State state = cell.tracked.automaton.initial();
    Letter letter = 0;
    for (std::size_t t = 0; t < length; ++t) {
      if (t == 0 || i % 2 == 0 || random() % 8 == 0)
        letter = static_cast<Letter>(random() % cell.tracked.automaton.letters());
      state = cell.tracked.automaton.next(state, letter);
      const bool is_asked = cell.tracked.is_asked(state);
      const Output answer = reader->step(letter, memory, is_asked).output;
      if (is_asked && answer != cell.tracked.wanted[state]) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("of cells that some word fails none is proved, nor are other cells' regions, whatever their size") {
  const std::size_t most = 200;
  std::mt19937_64 random(11);
  std::map<std::string, std::optional<ClosedRegions>> regions_of;
  std::size_t planted = 0, proved = 0, accepted = 0, tried = 0;
  for (std::size_t i = 0; planted < most && i < 4 * most; ++i) {
    const std::string language = std::array{"name:parity", "name:Z3", "regex:(a|b)*abb"}[i % 3],
                      kind = std::array{"rnn", "gru", "lstm"}[i / 3 % 3];
    SoftCell soft = soft_cell(language, kind);
    std::optional<ClosedRegions>& right = regions_of[language + kind];
    if (!right) right = close_regions(soft.operations, soft.tensors, soft.tracked).closed;
    REQUIRE(right);
    // One weight moved, by as little as makes a long word fail.
    auto& tensor = soft.tensors.tensors.at(
        std::array{"rnn.weight_hh_l0", "rnn.weight_ih_l0", "rnn.bias_ih_l0", "head.weight"}[random() % 4]);
    const std::vector<double> doubles = floats_of(tensor);
    const std::vector<float> numbers(doubles.begin(), doubles.end());
    const std::size_t at = random() % numbers.size();
    const double sign = random() % 2 == 0 ? 1 : -1;
    const auto move = [&](double by) {
      std::vector<float> moved = numbers;
      moved[at] = static_cast<float>(moved[at] + sign * by);
      tensor = make_tensor(moved, tensor.shape);
    };
    double good = 0, bad = 16;
    move(bad);
    if (!fails(soft, 20, 200, random)) continue;
    for (int step = 0; step < 6; ++step) {
      const double middle = (good + bad) / 2;
      move(middle);
      (fails(soft, 20, 200, random) ? bad : good) = middle;
    }
    move(bad);
    if (!fails(soft, 80, 200, random)) continue;
    ++planted;
    proved +=
        close_regions(soft.operations, soft.tensors, soft.tracked, Precision::kFp32, 2'000'000).closed.has_value();
    for (int mutant = 0; mutant < 10; ++mutant) {
      ClosedRegions regions = *right;
      for (ClosedRegions::Region& region : regions.list)
        for (std::size_t k = 0; k < region.lower.size(); ++k) {
          const double more = std::array{0.0, 1e-3, 0.1, 1.0, -1e-3}[random() % 5];
          region.lower[k] = static_cast<float>(region.lower[k] - more);
          region.upper[k] = static_cast<float>(region.upper[k] + more);
          if (region.lower[k] > region.upper[k]) region.upper[k] = region.lower[k];
        }
      regions.letters = 1 + static_cast<std::uint32_t>(random() % 3);
      regions.start = 20;
      ++tried;
      try {
        accepted += rechecked(soft, regions, 500).established;
      } catch (const LimitError&) {
      }
    }
  }
  CHECK(planted >= 150);
  CHECK(tried >= 1'500);
  CHECK(proved == 0);
  CHECK(accepted == 0);
}

TEST_CASE("what regions cannot hold is said, not searched") {
  const auto why = [](const char* task_name, const char* name, Precision format = Precision::kFp32) {
    const auto task = make_task(task_name);
    const auto model = make_model<float>(name, *task, 1);
    const TrackedAutomaton tracked = language_to_write(tracked_automaton(*task, input_machine(*task).automaton));
    const RegionSearch search = close_regions(model_operations(*model, *task, format), model->tensors(), tracked);
    CHECK_FALSE(search.closed);
    return search.why_not;
  };
  CHECK(test::contains(why("parity", "bilinear:full,hidden=4,inputs=2"), "exact codewords: krohn snap"));
  CHECK(test::contains(why("parity", "bilinear:diagonal,hidden=4,inputs=2"), "the recurrence is linear"));
  CHECK(test::contains(why("parity", "gru:hidden=4", Precision::kBf16), "fp32"));
  CHECK(why("parity", "bilinear:rotations,hidden=4,inputs=2") == "no intervals of cosine");

  struct Fact {
    const char* language;
    std::size_t letters;  ///< of a word that fixes two states; 0: there is none
  };
  for (const auto& [language, letters] :
       {Fact{"name:parity", 1}, Fact{"name:Z3", 1}, Fact{"regex:(a|b)*abb", 0}, Fact{"regex:(a|b)*", 0},
        Fact{"regex:a(a|b)*", 1}, Fact{"regex:(a|b)*b", 0}, Fact{"regex:((a|b)(a|b))*", 2}, Fact{"regex:b*ab*", 1}}) {
    CAPTURE(std::string(language));
    const Dfa dfa = minimise(load_language(language));
    const TrackedAutomaton tracked{dfa, {dfa.outputs().begin(), dfa.outputs().end()}};
    const auto word = word_that_fixes_two_states(tracked);
    REQUIRE(word.has_value() == (letters > 0));
    if (!word) continue;
    std::size_t fixed = 0;
    for (State state = 0; state < dfa.states(); ++state) {
      State end = state;
      for (const Letter letter : *word) end = dfa.next(end, letter);
      fixed += end == state;
    }
    CHECK(fixed >= 2);
  }
}

TEST_CASE("the checker's enclosures end where the page says, one unit on each side") {
  const auto unit_above = [](double x) { return Enclosed::up(x); };
  const auto unit_below = [](double x) { return Enclosed::down(x); };
  const Enclosed one = Enclosed::leaf(1, 1);
  CHECK_NOTHROW(Enclosed::leaf(0, unit_below(0x1p126)).require_below(0x1p126));
  CHECK_THROWS(Enclosed::leaf(0, 0x1p126).require_below(0x1p126));
  CHECK_NOTHROW(one / Enclosed::leaf(0x1p-60, 1));
  CHECK_THROWS(one / Enclosed::leaf(unit_below(0x1p-60), 1));
  CHECK_NOTHROW(one / Enclosed::leaf(-1, -0x1p-60));
  CHECK_THROWS(one / Enclosed::leaf(-1, unit_above(-0x1p-60)));
  CHECK_NOTHROW(sqrt(Enclosed::leaf(0, 1)));
  CHECK_THROWS(sqrt(Enclosed::leaf(unit_below(0), 1)));
  CHECK(Enclosed::leaf(0x1p-126, 1).as_leaf().lower() == 0x1p-126);
  CHECK(Enclosed::leaf(unit_below(0x1p-126), 1).as_leaf().lower() == 0);
  CHECK(Enclosed::leaf(-1, -0x1p-126).as_leaf().upper() == -0x1p-126);
  CHECK(Enclosed::leaf(-1, unit_above(-0x1p-126)).as_leaf().upper() == 0);
  Enclosed sum = Enclosed::leaf(0, 0);
  for (int i = 0; i < 1 << 20; ++i) sum = sum + one;
  CHECK_NOTHROW(sum.require_below(0x1p126));
  CHECK_THROWS((sum + one).require_below(0x1p126));
}
