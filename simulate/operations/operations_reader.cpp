#include "krohn/simulate/operations/operations_reader.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/operations/plan.h"

namespace krohn {
namespace {

/// How numbers are computed with, and how they are remembered.
struct Fp64Numbers {
  using Real = double;
  using Stored = double;
};
struct Fp32Numbers {
  using Real = float;
  using Stored = float;
};
struct Bf16Numbers {
  using Real = float;
  using Stored = Eigen::bfloat16;
};

/// `best`: no number where a logit is not finite; a tie is no answer, either.
LetterReader::Answer answer_of(std::uint32_t place, double best, double second) {
  if (best != best) return {.missing = LetterReader::Missing::kLogit};
  return best - second > 0 ? LetterReader::Answer{place, best - second} : LetterReader::Answer{};
}

/// The greatest of the logits.
template <class Real>
LetterReader::Answer best_of(const Real* logits, std::size_t count) {
  std::uint32_t best = 0;
  Real second = -std::numeric_limits<Real>::infinity();
  for (std::uint32_t i = 0; i < count; ++i) {
    const Real logit = logits[i];
    if (!std::isfinite(logit)) return {.missing = LetterReader::Missing::kLogit};
    if (i == 0) continue;
    if (logit > logits[best]) {
      second = logits[best];
      best = i;
    } else {
      second = std::max(second, logit);
    }
  }
  return count == 0 ? LetterReader::Answer{} : answer_of(best, logits[best], second);
}

/// Why a logit is not finite: the state may not be either.
template <class Real>
LetterReader::Missing why_missing(const Real* state, std::size_t count, std::size_t stride) {
  std::vector<Real> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = state[i * stride];
  return why_not_finite(numbers);
}

/// A plan's steps with the loops that run them.
template <class Real>
class BoundSteps {
 public:
  BoundSteps(const OperationsPlan<Real>& plan, const typename OperationsPlan<Real>::Steps& steps, bool words,
             StepKernel<Real> (*kernel_of)(const Step&, bool))
      : plan_(plan), steps_(steps) {
    for (const Step& step : steps.list) kernels_.push_back(kernel_of(step, words));
  }

  /// `row`: the token's, where the words do not have it among their own numbers.
  void run(Real* own, const Real* row, bool asked) const { run(own, row, 0, end(asked)); }
  void run(Real* own, const Real* row, std::size_t first, std::size_t end) const {
    StepNumbers<Real> numbers{
        {plan_.constants.data(), row, own}, own, steps_.ends.data(), steps_.places.data(), steps_.weights.data()};
    for (; first < end; ++first) kernels_[first](steps_.list[first], numbers);
  }
  std::size_t end(bool asked) const { return asked ? kernels_.size() : steps_.for_memory; }

 private:
  const OperationsPlan<Real>& plan_;
  const typename OperationsPlan<Real>::Steps& steps_;
  std::vector<StepKernel<Real>> kernels_;
};

/// The parts that readers and words share.
template <class Format>
struct Machine {
  using Real = typename Format::Real;

  Machine(const Operations& operations, const TensorFile& tensors, InstructionSet set)
      : plan(plan_operations<Real>(operations, tensors, true)), kernels(step_kernels(set)) {}

  auto kernel_of() const {
    if constexpr (std::is_same_v<Format, Fp64Numbers>) return kernels.fp64;
    if constexpr (std::is_same_v<Format, Fp32Numbers>) return kernels.fp32;
    if constexpr (std::is_same_v<Format, Bf16Numbers>) return kernels.bf16;
  }
  void look_up(const std::uint32_t* rows, Real* to) const {
    for (const auto& part : plan.looked_up) {
      const Real* const table = plan.columns.data() + std::size_t{part.first} * plan.tokens;
      Real* const numbers = to + std::size_t{part.first} * kPlanWords;
      if constexpr (std::is_same_v<Real, double>)
        kernels.look_up_doubles(table, part.size, plan.tokens, rows, kPlanWords, numbers);
      else
        kernels.look_up_floats(table, part.size, plan.tokens, rows, kPlanWords, numbers);
    }
  }

  /// say(word, answer) for the first words of kPlanWords.
  template <class Say>
  void best(const Real* logits, std::size_t count, std::size_t said, const Say& say) const {
    std::array<std::uint32_t, kPlanWords> places{};
    std::array<Real, kPlanWords> greatest{}, second{};
    if constexpr (std::is_same_v<Real, double>)
      kernels.best_doubles(logits, count, kPlanWords, places.data(), greatest.data(), second.data());
    else
      kernels.best_floats(logits, count, kPlanWords, places.data(), greatest.data(), second.data());
    for (std::size_t word = 0; word < said; ++word)
      say(word, count == 0 ? LetterReader::Answer{} : answer_of(places[word], greatest[word], second[word]));
  }

  /// Fewer words are read one by one: a step of kPlanWords words takes as long whatever is in their lanes.
  std::size_t fewest_words() const { return plan.shares ? kPlanWords / 2 : SIZE_MAX; }

  OperationsPlan<Real> plan;
  StepKernels kernels;
  BoundSteps<Real> one{plan, plan.one, false, kernel_of()}, words{plan, plan.words, true, kernel_of()};
};

template <class Stored, class Real>
void load_numbers(const LetterReader::Memory& memory, std::span<Real> to) {
  const char* const from = reinterpret_cast<const char*>(memory.data());
  for (std::size_t i = 0; i < to.size(); ++i) {
    Stored number;
    std::memcpy(&number, from + i * sizeof(Stored), sizeof(Stored));
    to[i] = static_cast<Real>(number);
  }
}

/// −0 as +0, and one bit pattern for what is no number: an operation gives it the sign of the operand that it looks at
/// first, which is not stated.
template <class Real>
Real remembered(Real number) {
  return number == number ? number + Real{0} : std::numeric_limits<Real>::quiet_NaN();
}

/// The same of many. Returns the end of the result.
template <class Real>
Real* remember(const Real* from, std::size_t count, Real* to) {
  // By vectors in so many words: a loop over single numbers keeps its branch.
  constexpr std::size_t kBytes = 16, kBeside = kBytes / sizeof(Real);
  typedef Real Beside __attribute__((vector_size(kBytes)));
  const Beside none = Beside{} + std::numeric_limits<Real>::quiet_NaN();
  std::size_t i = 0;
  for (; i + kBeside <= count; i += kBeside) {
    Beside numbers;
    std::memcpy(&numbers, from + i, kBytes);
    numbers = numbers == numbers ? numbers + Real{0} : none;
    std::memcpy(to + i, &numbers, kBytes);
  }
  for (; i < count; ++i) to[i] = remembered(from[i]);
  return to + count;
}

/// Number j of row i from number i of row j, for as many as a multiple of four of either; rows are `stride` apart.
template <class Real>
void transpose(const Real* from, std::size_t from_stride, std::size_t rows, std::size_t columns, Real* to,
               std::size_t to_stride) {
  for (std::size_t i = 0; i < rows; i += 4)
    for (std::size_t j = 0; j < columns; j += 4) {
      const Real* const source = from + j * from_stride + i;
      Real* const target = to + i * to_stride + j;
      if constexpr (sizeof(Real) == 4) {
        // The compiler does not find the shuffles of a transposition by itself.
        typedef float Four __attribute__((vector_size(16)));
        typedef std::int32_t Places __attribute__((vector_size(16)));
        Four r[4];
        for (std::size_t k = 0; k < 4; ++k) std::memcpy(&r[k], source + k * from_stride, 16);
        const Places low{0, 4, 1, 5}, high{2, 6, 3, 7};
        const Four a = __builtin_shuffle(r[0], r[2], low), b = __builtin_shuffle(r[1], r[3], low),
                   c = __builtin_shuffle(r[0], r[2], high), d = __builtin_shuffle(r[1], r[3], high);
        const Four columns_of[4] = {__builtin_shuffle(a, b, low), __builtin_shuffle(a, b, high),
                                    __builtin_shuffle(c, d, low), __builtin_shuffle(c, d, high)};
        for (std::size_t k = 0; k < 4; ++k) std::memcpy(target + k * to_stride, &columns_of[k], 16);
      } else {
        for (std::size_t k = 0; k < 16; ++k) target[k / 4 * to_stride + k % 4] = source[k % 4 * from_stride + k / 4];
      }
    }
}

/// Copies into the memory, part after part, the numbers that were remembered beside it.
template <std::size_t kWords, class Parts, class Real>
void write_back(const Parts& parts, const Real* from, Real* own) {
  for (const auto& part : parts)
    if (!part.is_there()) {
      std::copy_n(from, part.size * kWords, own + part.to);
      from += part.size * kWords;
    }
}

template <class Stored, class Real>
void store_number(Real number, std::size_t place, LetterReader::Memory& memory) {
  const auto stored = static_cast<Stored>(remembered(number));
  std::memcpy(reinterpret_cast<char*>(memory.data()) + place * sizeof(Stored), &stored, sizeof(Stored));
}

/// kPlanWords words, a word a lane.
template <class Format>
class Lanes {
 public:
  using Real = typename Format::Real;
  static constexpr std::size_t kWords = kPlanWords;

  explicit Lanes(std::shared_ptr<const Machine<Format>> machine)
      : machine_(std::move(machine)),
        own_(std::max<std::size_t>(plan().words.own, row() * kWords) + StepNumbers<Real>::kPadding),
        next_(memory() * kWords) {}

  void begin() {
    for (std::size_t i = 0; i < memory(); ++i) std::fill_n(own_.begin() + at(i), kWords, plan().start[i]);
    for (const std::uint32_t row : plan().before) read_row(row);
  }

  /// Up to kWords letters; the other words read anything.
  void read(std::span<const Letter> letters, bool asked, std::span<LetterReader::Answer> answers) {
    const FloatEnvironment environment;
    std::array<std::uint32_t, kWords> rows{};
    std::ranges::transform(letters, rows.begin(), [&](Letter letter) { return plan().letters[letter]; });
    const bool asked_behind = asked && !plan().after.empty();
    read_rows(rows, asked && !asked_behind);
    if (asked_behind) {
      const Numbers<Real> before(own_.begin(), own_.begin() + at(memory()));
      for (std::size_t i = 0; i < plan().after.size(); ++i) read_row(plan().after[i], i + 1 == plan().after.size());
      answer(answers);
      std::ranges::copy(before, own_.begin());
    } else if (asked) {
      answer(answers);
    }
  }

  /// Up to kWords words.
  void load(std::span<const LetterReader::Memory> memories) {
    beside_.resize(kWords * row(), Real{0});
    for (std::size_t word = 0; word < memories.size(); ++word)
      load_numbers<typename Format::Stored>(memories[word], std::span(beside_).subspan(word * row(), memory()));
    transpose(beside_.data(), row(), memory(), kWords, own_.data(), kWords);
  }
  void store(std::span<LetterReader::Memory> memories) {
    transpose(own_.data(), kWords, kWords, memory(), beside_.data(), row());
    for (std::size_t word = 0; word < memories.size(); ++word) {
      const Real* const numbers = beside_.data() + word * row();
      if constexpr (std::is_same_v<typename Format::Stored, Real>)  // as they are remembered already
        std::memcpy(memories[word].data(), numbers, memory() * sizeof(Real));
      else
        for (std::size_t i = 0; i < memory(); ++i) store_number<typename Format::Stored>(numbers[i], i, memories[word]);
    }
  }

 private:
  const OperationsPlan<Real>& plan() const { return machine_->plan; }
  std::size_t memory() const { return plan().start.size(); }
  static std::ptrdiff_t at(std::size_t number) { return static_cast<std::ptrdiff_t>(number * kWords); }
  /// Numbers of a word where they lie side by side.
  std::size_t row() const { return (memory() + 3) / 4 * 4; }

  void read_row(std::uint32_t row, bool asked = false) {
    std::array<std::uint32_t, kWords> rows{};
    rows.fill(row);
    read_rows(rows, asked);
  }

  void read_rows(const std::array<std::uint32_t, kWords>& rows, bool asked) {
    machine_->look_up(rows.data(), own_.data() + at(plan().one.own));
    machine_->words.run(own_.data(), nullptr, asked);
    Real* to = next_.data();
    for (const auto& part : plan().words.keep)
      if (part.space == Space::kConstant)
        for (std::size_t i = 0; i < part.size; ++i, to += kWords)
          std::fill_n(to, kWords, remembered(plan().constants[part.first + i]));
      else if (!part.is_there())
        to = remember(own_.data() + part.first, part.size * kWords, to);
    write_back<kWords>(plan().words.keep, next_.data(), own_.data());
  }

  void answer(std::span<LetterReader::Answer> answers) const {
    const auto& logits = plan().words.logits;
    const auto say = [&](std::size_t word, const LetterReader::Answer& answer) {
      answers[word] = answer;
      if (answer.missing == LetterReader::Missing::kLogit)
        answers[word].missing = why_missing(own_.data() + word, memory(), kWords);
    };
    if (logits.space != Space::kConstant)
      return machine_->best(own_.data() + logits.first, logits.size, answers.size(), say);
    for (std::size_t word = 0; word < answers.size(); ++word)
      say(word, best_of(plan().constants.data() + logits.first, logits.size));
  }

  std::shared_ptr<const Machine<Format>> machine_;
  Numbers<Real> own_, next_, beside_;
};

/// One word, its numbers in place.
template <class Format>
class Alone {
 public:
  using Real = typename Format::Real;
  using Stored = typename Format::Stored;

  explicit Alone(const Machine<Format>& machine)
      : machine_(machine), own_(plan().one.own + StepNumbers<Real>::kPadding), next_(memory()) {}

  void load(const LetterReader::Memory& memory) { load_numbers<Stored>(memory, std::span(own_).first(this->memory())); }
  void store(LetterReader::Memory& memory) const {
    for (std::size_t i = 0; i < this->memory(); ++i) store_number<Stored>(own_[i], i, memory);
  }

  LetterReader::Answer read(Letter letter, bool asked) {
    const bool is_behind = !plan().after.empty();
    const LetterReader::Answer answer = read_row(plan().letters[letter], asked && !is_behind);
    return asked && is_behind ? answer_behind() : answer;
  }

  LetterReader::Answer read_row(std::uint32_t row, bool asked) {
    const Real* const of_token = row_of(row);
    machine_.one.run(own_.data(), of_token, asked);
    const auto& logits = plan().one.logits;
    LetterReader::Answer answer = asked ? best_of(numbers_of(logits, of_token), logits.size) : LetterReader::Answer{};
    keep(plan().one.keep, of_token);
    if (answer.missing == LetterReader::Missing::kLogit) answer.missing = why_missing(own_.data(), memory(), 1);
    return answer;
  }

  /// At the last of the tokens behind the word, which are forgotten.
  LetterReader::Answer answer_behind() {
    const Numbers<Real> before(own_.begin(), own_.begin() + static_cast<std::ptrdiff_t>(memory()));
    LetterReader::Answer answer;
    for (const std::uint32_t row : plan().after) answer = read_row(row, true);
    std::ranges::copy(before, own_.begin());
    return answer;
  }

  /// Up to kPlanWords letters, by their rows: in lanes of `beside` what is between the turns of a plan. At the
  /// positions that are `asked` for, say(position, answer).
  template <class Say>
  void read_rows(const std::array<std::uint32_t, kPlanWords>& rows, std::span<const char> asked, Numbers<Real>& beside,
                 const Say& say) {
    const bool is_asked = std::ranges::any_of(asked, [](char is) { return is != 0; });
    const std::size_t end = machine_.one.end(is_asked);
    machine_.look_up(rows.data(), beside.data() + std::size_t{plan().one.own} * kPlanWords);
    std::size_t done = 0;
    for (const auto& turn : plan().turns) {
      machine_.words.run(beside.data(), nullptr, done, std::min(turn.first, end));
      const auto for_parts = [](const auto& parts, const auto& body) {
        std::size_t first = 0;  // in a row of numbers of a letter
        for (const auto& part : parts) {
          body(part, first);
          first += (part.size + 3) / 4 * 4;
        }
        return first;
      };
      const std::size_t takes = for_parts(turn.takes, [](const auto&, std::size_t) {}),
                        gives = for_parts(turn.gives, [](const auto&, std::size_t) {});
      taken_.resize(std::max(taken_.size(), takes * kPlanWords), Real{0});
      given_.resize(std::max(given_.size(), gives * kPlanWords), Real{0});
      for_parts(turn.takes, [&](const auto& part, std::size_t first) {
        transpose(beside.data() + std::size_t{part.first} * kPlanWords, kPlanWords, kPlanWords, part.size,
                  taken_.data() + first, takes);
      });
      for (std::size_t p = 0; p < asked.size(); ++p) {
        const Real* const of_token = row_of(rows[p]);
        for_parts(turn.takes, [&](const auto& part, std::size_t first) {
          std::copy_n(taken_.data() + p * takes + first, part.size, own_.data() + part.first);
        });
        machine_.one.run(own_.data(), of_token, turn.first, std::min(turn.end, end));
        for_parts(turn.gives, [&](const auto& part, std::size_t first) {
          std::copy_n(own_.data() + part.first, part.size, given_.data() + p * gives + first);
        });
        keep(turn.keep, of_token);
      }
      for_parts(turn.gives, [&](const auto& part, std::size_t first) {
        transpose(given_.data() + first, gives, part.size, kPlanWords,
                  beside.data() + std::size_t{part.first} * kPlanWords, kPlanWords);
      });
      done = turn.end;
    }
    machine_.words.run(beside.data(), nullptr, done, end);
    const auto& logits = plan().words.logits;
    if (is_asked)
      machine_.best(beside.data() + logits.first, logits.size, asked.size(),
                    [&](std::size_t p, const LetterReader::Answer& answer) {
                      if (asked[p]) say(p, answer);
                    });
  }

 private:
  const OperationsPlan<Real>& plan() const { return machine_.plan; }
  std::size_t memory() const { return plan().start.size(); }
  const Real* row_of(std::uint32_t row) const { return plan().rows.data() + std::size_t{row} * plan().row; }
  const Real* numbers_of(const typename OperationsPlan<Real>::Part& part, const Real* of_token) const {
    return (part.space == Space::kWord       ? own_.data()
            : part.space == Space::kConstant ? plan().constants.data()
                                             : of_token) +
           part.first;
  }

  void keep(const std::vector<typename OperationsPlan<Real>::Part>& parts, const Real* of_token) {
    Real* to = next_.data();
    for (const auto& part : parts)
      if (!part.is_there()) to = remember(numbers_of(part, of_token), part.size, to);
    write_back<1>(parts, next_.data(), own_.data());
  }

  const Machine<Format>& machine_;
  Numbers<Real> own_, next_, taken_, given_;
};

template <class Format>
class Words final : public OperationsWords {
 public:
  Words(const LetterReader& reader, std::shared_ptr<const Machine<Format>> machine, std::size_t count)
      : machine_(machine), count_(count) {
    for (; !plan().by_letters && count >= machine->fewest_words(); count -= std::min<std::size_t>(count, kPlanWords))
      lanes_.emplace_back(machine).begin();
    for (; count > 0; --count) alone_.emplace_back(*machine).load(reader.start());
    if (!alone_.empty() && !plan().turns.empty()) beside_.resize(plan().words.own + StepNumbers<Real>::kPadding, 0);
  }

  void read(std::span<const Letter> letters, std::span<const char> asked,
            std::span<LetterReader::Answer> answers) override {
    const std::size_t in_lanes = count_ - alone_.size();
    for (std::size_t t = 0; t < asked.size(); ++t)
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const std::size_t first = t * count_ + i * kPlanWords;
        const std::size_t count = std::min<std::size_t>(kPlanWords, in_lanes - i * kPlanWords);
        lanes_[i].read(letters.subspan(first, count), asked[t] != 0, answers.subspan(first, count));
      }
    const FloatEnvironment environment;
    for (std::size_t i = 0; i < alone_.size(); ++i)
      for (std::size_t t = 0; t < asked.size(); t += kPlanWords) {
        const std::size_t count = std::min<std::size_t>(kPlanWords, asked.size() - t);
        const auto at = [&](std::size_t position) { return (t + position) * count_ + in_lanes + i; };
        if (!beside_.empty() && plan().after.empty() && count >= kPlanWords / 2) {
          std::array<std::uint32_t, kPlanWords> rows{};
          for (std::size_t p = 0; p < count; ++p) rows[p] = plan().letters[letters[at(p)]];
          alone_[i].read_rows(rows, asked.subspan(t, count), beside_,
                              [&](std::size_t p, const LetterReader::Answer& answer) { answers[at(p)] = answer; });
        } else {
          for (std::size_t p = 0; p < count; ++p) answers[at(p)] = alone_[i].read(letters[at(p)], asked[t + p] != 0);
        }
      }
  }

 private:
  using Real = typename Format::Real;
  const OperationsPlan<Real>& plan() const { return machine_->plan; }

  std::shared_ptr<const Machine<Format>> machine_;
  std::size_t count_;
  std::vector<Lanes<Format>> lanes_;
  std::vector<Alone<Format>> alone_;
  Numbers<Real> beside_;
};

template <class Format>
class Reader final : public OperationsReader {
 public:
  using Real = typename Format::Real;
  using Stored = typename Format::Stored;

  explicit Reader(std::shared_ptr<const Machine<Format>> machine)
      : machine_(std::move(machine)), start_(words_of(plan().start.size())) {
    for (std::size_t i = 0; i < plan().start.size(); ++i) store_number<Stored>(plan().start[i], i, start_);
    Alone<Format> word(*machine_);
    word.load(start_);
    for (const std::uint32_t row : plan().before) at_start_ = word.read_row(row, true);
    if (!plan().after.empty()) at_start_ = word.answer_behind();
    word.store(start_);
  }

  Letter letters() const override { return static_cast<Letter>(plan().letters.size()); }
  Memory start() const override { return start_; }
  Answer answer_at_start() const override { return at_start_; }

  Answer step(Letter letter, Memory& memory, bool asked) const override {
    const FloatEnvironment environment;
    Alone<Format> word(*machine_);
    word.load(memory);
    const Answer answer = word.read(letter, asked);
    word.store(memory);
    return answer;
  }

  void step_many(std::span<const Letter> letters, std::span<Memory> memories, bool asked,
                 std::span<Answer> answers) const override {
    std::optional<Lanes<Format>> lanes;
    for (std::size_t first = 0; first < letters.size(); first += kPlanWords) {
      const std::size_t count = std::min<std::size_t>(kPlanWords, letters.size() - first);
      if (count < machine_->fewest_words()) {
        LetterReader::step_many(letters.subspan(first), memories.subspan(first), asked, answers.subspan(first));
        return;
      }
      if (!lanes) lanes.emplace(machine_);
      lanes->load(memories.subspan(first, count));
      lanes->read(letters.subspan(first, count), asked, answers.subspan(first, count));
      lanes->store(memories.subspan(first, count));
    }
  }

  std::unique_ptr<OperationsWords> words(std::size_t count) const override {
    return std::make_unique<Words<Format>>(*this, machine_, count);
  }

  std::vector<double> numbers(const Memory& memory) const override {
    std::vector<double> numbers(plan().start.size());
    load_numbers<Stored>(memory, std::span(numbers));
    return numbers;
  }

 private:
  const OperationsPlan<Real>& plan() const { return machine_->plan; }
  static std::size_t words_of(std::size_t numbers) {
    return (numbers * sizeof(Stored) + sizeof(Memory::value_type) - 1) / sizeof(Memory::value_type);
  }

  std::shared_ptr<const Machine<Format>> machine_;
  Memory start_;
  Answer at_start_;
};

}  // namespace

std::unique_ptr<OperationsReader> operations_reader(const Operations& operations, const TensorFile& tensors,
                                                    InstructionSet set) {
  const FloatEnvironment environment;
  const auto reader = [&]<class Format>(Format) -> std::unique_ptr<OperationsReader> {
    return std::make_unique<Reader<Format>>(std::make_shared<const Machine<Format>>(operations, tensors, set));
  };
  switch (operations.format) {
    case Precision::kFp64:
      return reader(Fp64Numbers{});
    case Precision::kFp32:
      return reader(Fp32Numbers{});
    case Precision::kBf16:
      return reader(Bf16Numbers{});
    default:
      throw InputError("operations are in fp64, fp32 or bf16");
  }
}

}  // namespace krohn
