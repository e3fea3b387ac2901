#include "krohn/gpu/operations/operation_words.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/operations/plan.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"

namespace krohn {
namespace {

/// A block's memory where there is no device: an H100's.
constexpr std::size_t kBlockBytes = 227 * 1024;
constexpr std::uint32_t kMaxWordsOfBlock = 32, kMaxThreads = 512;
constexpr std::uint64_t kMaxWords = std::uint64_t{1} << 16, kMaxBytes = std::uint64_t{1} << 32;
/// Products between two looks at the clock and the user.
constexpr std::uint64_t kProductsAtOnce = std::uint64_t{1} << 36;

struct Range {
  std::uint32_t first = 0, end = 0;
  bool meets(const Range& other) const { return first < other.end && other.first < end; }
};

/// The numbers that an operand has, from the first to the last.
Range range_of(const PlacedStep& step, const PlacedOperand& operand) {
  std::uint32_t last = operand.first + (step.terms > 0 ? operand.term * (step.terms - 1) : 0);
  for (std::size_t axis = 0; axis < 3; ++axis) last += operand.strides[axis] * (step.extents[axis] - 1);
  return {operand.first, last + 1};
}

/// Output o is made of number first + o.
bool runs_along(const PlacedStep& step, const PlacedOperand& operand) {
  std::uint32_t stride = 1;
  for (std::size_t axis = 3; axis-- > 0; stride *= step.extents[axis])
    if (step.extents[axis] > 1 && operand.strides[axis] != stride) return false;
  return true;
}

/// Which steps have to wait for those before them: where other threads have made what they read, or still read what
/// they overwrite.
class Waits {
 public:
  /// True where the threads have to wait before this step.
  bool before(const PlacedStep& step) {
    const Range to{step.to, step.to + step.outputs};
    bool waits = meets(written_, to) || meets(read_, to);
    std::vector<Range> reads;
    for (std::uint32_t v = 0; v < step.operands; ++v) {
      const PlacedOperand& operand = step.of[v];
      if (operand.space != Space::kWord) continue;
      reads.push_back(range_of(step, operand));
      // A thread need not wait for its own results.
      const bool is_own = is_each(step) && runs_along(step, operand);
      for (const Written& written : written_)
        waits = waits ||
                (written.meets(reads.back()) &&
                 !(is_own && written.is_each && written.first == operand.first && written.end >= reads.back().end));
    }
    if (waits) {
      written_.clear();
      read_.clear();
    }
    written_.push_back({to, is_each(step)});
    read_.insert(read_.end(), reads.begin(), reads.end());
    return waits;
  }

 private:
  struct Written : Range {
    Written(Range range, bool each) : Range(range), is_each(each) {}
    bool is_each;
  };

  static bool is_each(const PlacedStep& step) {
    return step.function != StepFunction::kDot || step.few != Step::kDense;
  }
  template <class Ranges>
  static bool meets(const Ranges& ranges, const Range& range) {
    return std::ranges::any_of(ranges, [&](const Range& other) { return other.meets(range); });
  }

  std::vector<Written> written_;
  std::vector<Range> read_;
};

template <class Real, bool kIsBf16>
class Reader final : public OperationWordsReader {
 public:
  using Plan = OperationsPlan<Real>;

  Reader(Place place, const Operations& operations, const TensorFile& tensors, const DrawnTokens& tokens,
         const WordLayout& layout)
      : place_(place), layout_(layout) {
    const Plan plan = plan_operations<Real>(operations, tensors, false);
    auto& model = job_.model;
    model.memory = static_cast<std::uint32_t>(plan.start.size());
    model.own = plan.one.own;
    model.constants = placed(std::span<const Real>(plan.constants));
    model.columns = placed(std::span<const Real>(plan.columns));
    model.weights = placed(std::span<const Real>(plan.words.weights));
    model.tokens = plan.tokens;
    model.letters = placed(std::span<const std::uint32_t>(plan.letters));
    model.after = placed(std::span<const std::uint32_t>(plan.after));
    model.after_count = static_cast<std::uint32_t>(plan.after.size());
    model.ends = placed(std::span<const std::uint32_t>(plan.words.ends));
    place_steps(plan);
    place_parts(plan);
    if (model.after_count > 0) {
      model.saved = model.own;
      model.own += model.memory;
    }
    // The tokens before every word are read on the processor.
    const auto reader = operations_reader(operations, tensors);
    const std::vector<double> start = reader->numbers(reader->start());
    require_finite(start);
    const std::vector<Real> numbers(start.begin(), start.end());
    model.start = placed(std::span<const Real>(numbers));
    place_words(tokens);
    choose_layout();
  }

  std::uint64_t words_at_once() const override {
    const std::uint64_t bytes = (std::uint64_t{job_.model.memory} + (is_roomy_ ? 0 : job_.model.own)) * sizeof(Real);
    return std::clamp<std::uint64_t>(kMaxBytes / std::max<std::uint64_t>(bytes, 1), words_of_block(), kMaxWords);
  }

  void give(std::span<const Word> words) override {
    std::vector<std::uint32_t> letters;
    std::vector<std::uint64_t> begins{0};
    for (const Word& word : words) {
      letters.insert(letters.end(), word.begin(), word.end());
      begins.push_back(letters.size());
    }
    given_ = Buffer<std::uint32_t>(place_, letters);
    given_at_ = Buffer<std::uint64_t>(place_, begins);
    said_ = Buffer<std::uint32_t>(place_, letters.size());
    job_.plan.given = given_.data();
    job_.plan.given_at = given_at_.data();
    job_.plan.said = said_.data();
  }
  std::vector<Output> said() const override { return said_.values(); }

  void start(std::uint64_t first, std::uint64_t words) override {
    blocks_ = (words + words_of_block() - 1) / words_of_block();
    const std::uint64_t all = blocks_ * words_of_block();
    memories_ = Buffer<Real>(place_, all * job_.model.memory);
    own_ = Buffer<Real>(place_, is_roomy_ ? 0 : all * job_.model.own);
    records_ = Buffer<WordRecord>(place_, words);
    job_.memories = memories_.data();
    job_.own = is_roomy_ ? nullptr : own_.data();
    job_.records = records_.data();
    job_.first_word = first;
    job_.words = words;
    job_.end = 0;
  }

  void read(std::uint64_t tokens) override {
    job_.begin = job_.end;
    job_.end = job_.begin + tokens;
#ifdef KROHN_WITH_CUDA
    if (place_ == Place::kDevice) return cuda_read_operation_words(job_, blocks_, layout_.threads);
#endif
    std::vector<std::max_align_t> shared(job_.bytes() / sizeof(std::max_align_t) + 1);
    for (std::uint64_t block = 0; block < blocks_; ++block)
      job_.read_block(HostThreads{layout_.threads, layout_.backwards}, block, shared.data());
  }

  std::vector<WordRecord> records() const override { return records_.values(); }

  std::vector<double> memory(std::uint64_t word) const override {
    const std::uint64_t of_block = words_of_block(), first = word / of_block * of_block * job_.model.memory;
    std::vector<Real> block(of_block * job_.model.memory);
    memories_.read(block, first);
    std::vector<double> numbers;
    for (std::uint32_t n = 0; n < job_.model.memory; ++n)
      numbers.push_back(static_cast<double>(block[n * of_block + word % of_block]));
    return numbers;
  }

  std::uint64_t products() const override { return products_; }

 private:
  std::uint64_t words_of_block() const { return std::uint64_t{1} << job_.shift; }

  template <class T>
  const T* placed(std::span<const T> values) {
    auto& buffers = std::get<std::vector<Buffer<T>>>(buffers_);
    buffers.emplace_back(place_, values);
    return buffers.back().data();
  }

  static void require_finite(const auto& numbers) {
    for (const auto number : numbers)
      if (!std::isfinite(static_cast<double>(number)))
        throw NotOnDevice("a number that every word begins with is not finite; take --device cpu");
  }

  /// A step of words side by side, for one of them.
  static PlacedStep alone(const Step& step, std::uint32_t row_first) {
    PlacedStep placed;
    placed.function = step.function;
    placed.operands = static_cast<std::uint8_t>(step.operands);
    placed.terms = step.terms;
    std::ranges::copy_n(step.extents, 3, placed.extents);
    placed.outputs = step.extents[0] * step.extents[1] * step.extents[2];
    placed.to = step.to / kPlanWords;
    placed.few = step.few;
    for (std::uint32_t v = 0; v < step.operands; ++v) {
      const StepOperand& of = step.of[v];
      const std::uint32_t by = of.space == Space::kConstant ? 1 : kPlanWords;
      PlacedOperand& to = placed.of[v];
      to.space = of.space;
      to.first = of.first / by;
      to.term = of.term / by;
      for (std::size_t axis = 0; axis < 3; ++axis) to.strides[axis] = of.strides[axis] / by;
      if (to.space == Space::kWord && to.first >= row_first) {
        to.space = Space::kToken;
        to.first -= row_first;
      }
    }
    // The word's own factor is the second one: a product is the same either way.
    if (step.function == StepFunction::kDot) {
      const std::uint32_t own = step.few != Step::kDense ? step.by : placed.of[1].space == Space::kWord ? 1 : 0;
      if (own == 0) std::swap(placed.of[0], placed.of[1]);
    }
    const PlacedOperand& first = placed.of[0];
    placed.is_wide = step.function == StepFunction::kDot && first.space == Space::kConstant && first.strides[2] == 1 &&
                     (first.first | first.term | first.strides[0] | first.strides[1]) % 4 == 0;
    return placed;
  }

  void place_steps(const Plan& plan) {
    std::vector<PlacedStep> steps;
    std::vector<Range> watched;
    double weighted = 0;
    for (const Step& step : plan.words.list) {
      using enum StepFunction;
      if (step.function == kCosine || step.function == kSine || step.function == kNorm)
        throw NotOnDevice(
            "the model takes sines, cosines or norms of numbers that depend on the word, which devices "
            "leave to the processor; take --device cpu");
      const PlacedStep placed = alone(step, plan.one.own);
      const std::uint64_t of_output = step.function == kDot ? step.terms : step.function >= kSigmoid ? 110 : 1;
      products_ += placed.outputs * of_output;
      const double at_once = step.function != kDot ? 2 : step.few != Step::kDense ? 4 : 8;
      weighted += placed.outputs / at_once * static_cast<double>(placed.outputs * of_output);
      steps.push_back(placed);
      if (step.few == Step::kDense) continue;
      watched.push_back(range_of(placed, placed.of[1]));
    }
    const auto is_watched = [&](std::uint32_t first, std::uint32_t size) {
      const Range made{first, first + size};
      return std::ranges::any_of(watched, [&](const Range& range) { return range.meets(made); });
    };
    units_ = static_cast<std::uint32_t>(weighted / static_cast<double>(products_));
    Waits waits;
    std::vector<std::uint32_t> ends;
    std::uint32_t memory_groups = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].is_watched = is_watched(steps[i].to, steps[i].outputs);
      const bool is_behind_memory = i == plan.words.for_memory;
      if (i > 0 && (waits.before(steps[i]) || is_behind_memory)) ends.push_back(static_cast<std::uint32_t>(i));
      if (i == 0) waits.before(steps[i]);
      if (is_behind_memory) memory_groups = static_cast<std::uint32_t>(ends.size());
    }
    if (!steps.empty()) ends.push_back(static_cast<std::uint32_t>(steps.size()));
    if (plan.words.for_memory >= steps.size()) memory_groups = static_cast<std::uint32_t>(ends.size());
    std::vector<std::uint32_t> places = plan.words.places;
    for (std::uint32_t& place : places) place /= kPlanWords;
    auto& model = job_.model;
    model.places = placed(std::span<const std::uint32_t>(places));
    model.steps = placed(std::span<const PlacedStep>(steps));
    model.group_ends = placed(std::span<const std::uint32_t>(ends));
    model.groups = static_cast<std::uint32_t>(ends.size());
    model.memory_groups = memory_groups;
    watched_ = std::move(watched);
  }

  void place_parts(const Plan& plan) {
    auto& model = job_.model;
    const auto in_memory = [&](const auto& part) { return part.space == Space::kWord && part.first < model.memory; };
    std::vector<PlacedPart> keep, moved;
    std::uint32_t at = 0;
    for (const auto& part : plan.one.keep) {
      PlacedPart to{part.space, part.first, at, part.size, false};
      at += part.size;
      to.is_watched = std::ranges::any_of(watched_, [&](const Range& range) { return range.meets({to.to, at}); });
      if (in_memory(part) && part.first == to.to) continue;
      if (in_memory(part)) {
        moved.push_back({Space::kWord, part.first, model.own, part.size, false});
        to.first = model.own;
        model.own += part.size;
      }
      keep.push_back(to);
    }
    model.keep = placed(std::span<const PlacedPart>(keep));
    model.keep_count = static_cast<std::uint32_t>(keep.size());
    model.moved = placed(std::span<const PlacedPart>(moved));
    model.moved_count = static_cast<std::uint32_t>(moved.size());
    const auto& logits = plan.one.logits;
    model.logits = {logits.space, logits.first, 0, logits.size, false};
    model.answers_from_memory = in_memory(logits);
  }

  void place_words(const DrawnTokens& tokens) {
    const SamplePlan& plan = tokens.plan;
    const Dfa& oracle = *tokens.oracle;
    job_.plan = {plan.letters,
                 placed(std::span<const std::uint32_t>(plan.before)),
                 placed(std::span<const std::uint32_t>(plan.after)),
                 plan.before.size(),
                 plan.content,
                 plan.after.size(),
                 plan.place == TargetPlace::kEveryPosition,
                 placed(std::span<const std::uint32_t>(oracle.table())),
                 placed(std::span<const std::uint32_t>(tokens.wanted)),
                 oracle.letters(),
                 oracle.initial(),
                 tokens.seed};
    job_.leaves_out = std::ranges::find(tokens.wanted, TrackedAutomaton::kNoSuchWord) != tokens.wanted.end();
  }

  std::size_t block_bytes() const {
#ifdef KROHN_WITH_CUDA
    if (place_ == Place::kDevice) return cuda_block_bytes();
#endif
    return kBlockBytes;
  }

  /// A warp is words, so that they share what they read. Their numbers lie in a block's memory where there is room for
  /// another block beside it, which works while this one waits; a model with steps for all threads of a block has fewer
  /// words there instead. Threads are as many as have eight outputs of a product each, or two of a function, where most
  /// is spent.
  void choose_layout() {
    const auto has_room = [&](std::uint32_t words, std::size_t blocks) {
      job_.shift = static_cast<std::uint32_t>(std::countr_zero(words));
      return job_.bytes() <= block_bytes() / blocks - 1024;
    };
    std::uint32_t words = layout_.words == 0 ? kMaxWordsOfBlock : layout_.words;
    is_roomy_ = has_room(words, layout_.words == 0 ? 2 : 1);
    if (!is_roomy_ && layout_.words == 0) {
      while (words > 1 && units_ * (words / 2) >= kMaxThreads && !is_roomy_) is_roomy_ = has_room(words /= 2, 1);
      if (!is_roomy_) has_room(words = kMaxWordsOfBlock, 1);
    }
    if (layout_.threads == 0)
      layout_.threads = std::clamp(std::bit_ceil(std::min(units_, kMaxThreads)) * words, 64U, kMaxThreads);
  }

  Place place_;
  WordLayout layout_;
  std::tuple<std::vector<Buffer<Real>>, std::vector<Buffer<std::uint32_t>>, std::vector<Buffer<PlacedStep>>,
             std::vector<Buffer<PlacedPart>>>
      buffers_;
  Buffer<Real> memories_{place_}, own_{place_};
  Buffer<WordRecord> records_{place_};
  Buffer<std::uint32_t> given_{place_}, said_{place_};
  Buffer<std::uint64_t> given_at_{place_};
  OperationWords<Real, kIsBf16> job_;
  std::vector<Range> watched_;
  std::uint64_t blocks_ = 0, products_ = 1;
  std::uint32_t units_ = 1;  ///< threads for a word of which each has enough outputs, on average over what they cost
  bool is_roomy_ = true;
};

}  // namespace

std::unique_ptr<OperationWordsReader> operation_words(Place place, const Operations& operations,
                                                      const TensorFile& tensors, const DrawnTokens& tokens,
                                                      const WordLayout& layout) {
  const FloatEnvironment environment;
  switch (operations.format) {
    case Precision::kFp64:
      return std::make_unique<Reader<double, false>>(place, operations, tensors, tokens, layout);
    case Precision::kFp32:
      return std::make_unique<Reader<float, false>>(place, operations, tensors, tokens, layout);
    case Precision::kBf16:
      return std::make_unique<Reader<float, true>>(place, operations, tensors, tokens, layout);
    default:
      throw InputError("operations are in fp64, fp32 or bf16");
  }
}

DrawnTokens drawn_tokens(const TrackedAutomaton& tracked, std::uint64_t seed) {
  DrawnTokens tokens{{}, &tracked.automaton, tracked.wanted, seed};
  tokens.plan.place = TargetPlace::kEveryPosition;
  tokens.plan.letters.letters = tracked.automaton.letters();
  tokens.plan.content = UINT64_MAX;
  return tokens;
}

namespace {

/// Words 0 … words − 1 up to `length` tokens, as many at once as the place reads, in pieces between which `told` is
/// told and heard(the first word, the records) says up to which token to go on.
void read_in_pieces(OperationWordsReader& reader, std::uint64_t words, std::uint64_t length,
                    const std::function<void(std::uint64_t, std::uint64_t)>& told,
                    const std::function<std::uint64_t(std::uint64_t, const std::vector<WordRecord>&)>& heard) {
  const std::uint64_t at_once = std::min(reader.words_at_once(), words);
  std::uint64_t end = length;
  for (std::uint64_t first = 0; first < words; first += at_once) {
    const std::uint64_t count = std::min(at_once, words - first);
    const std::uint64_t piece = std::max<std::uint64_t>(kProductsAtOnce / (reader.products() * count), 1);
    reader.start(first, count);
    for (std::uint64_t at = 0; at < end; at += piece) {
      reader.read(std::min(piece, length - at));
      end = std::min(end, heard(first, reader.records()));
      if (told) told(first * length + std::min(at + piece, length) * count, words * length);
    }
  }
}

}  // namespace

WordCounts count_answers(Place place, const Operations& operations, const TensorFile& tensors,
                         const DrawnTokens& tokens, std::uint64_t words, std::uint64_t length,
                         const std::function<void(std::uint64_t, std::uint64_t)>& told) {
  const auto reader = operation_words(place, operations, tensors, tokens);
  std::vector<WordRecord> all(words);
  read_in_pieces(*reader, words, length, told, [&](std::uint64_t first, const std::vector<WordRecord>& records) {
    if (std::ranges::any_of(records, &WordRecord::is_left))
      throw NotOnDevice(
          "the model leaves the numbers of its format, and what it says there is counted on the "
          "processor; take --device cpu");
    std::ranges::copy(records, all.begin() + static_cast<std::ptrdiff_t>(first));
    return length;
  });
  WordCounts counts;
  for (const WordRecord& end : all) {
    counts.right += end.right;
    counts.due += end.due;
    counts.right_words += end.right == end.due ? 1U : 0U;
  }
  return counts;
}

namespace {

std::unique_ptr<OperationWordsReader> words_of(Place place, const ReadModel& model, std::uint64_t seed,
                                               const WordLayout& layout) {
  if (!model.operations || model.tensors == nullptr)
    throw NotOnDevice("devices read models by their operations, and this one has none; take --device cpu");
  return operation_words(place, *model.operations, *model.tensors, drawn_tokens(model.tracked, seed), layout);
}

}  // namespace

std::optional<RandomFailure> first_failure(Place place, const ReadModel& model, const RandomTest& asked,
                                           const std::function<void(std::uint64_t, std::uint64_t)>& told) {
  const FloatEnvironment environment;
  const auto reader = words_of(place, model, asked.seed, {});
  std::optional<RandomFailure> failure;
  const auto take = [&](RandomFailure found) {
    if (!failure || found.at < failure->at || (found.at == failure->at && found.word < failure->word)) failure = found;
  };
  std::vector<bool> is_left(asked.words, false);
  read_in_pieces(*reader, asked.words, asked.length, told,
                 [&](std::uint64_t first, const std::vector<WordRecord>& records) {
                   for (std::uint64_t i = 0; i < records.size(); ++i) {
                     if (records[i].failing_at != WordRecord::kNever) take({records[i].failing_at, first + i});
                     is_left[first + i] = records[i].is_left;
                   }
                   // Not beyond the least failure so far: a later one would not count.
                   return failure ? failure->at : asked.length;
                 });
  // On the processor: up to which letter a word is read, and whether it is wrong there for the first time.
  const auto read_here = [&](std::uint64_t word, std::uint64_t length) -> std::optional<std::uint64_t> {
    DrawnWord drawn(model.tracked, asked.seed, word);
    ReaderRun run(model.reader, model.tracked);
    for (std::uint64_t at = 1; at <= length; ++at) {
      const std::optional<Letter> letter = drawn.next(run.state());
      if (!letter) break;
      run.read(*letter);
      if (run.is_wrong()) return at;
    }
    return std::nullopt;
  };
  if (failure && read_here(failure->word, failure->at) != failure->at)
    throw SystemError(
        "the device and the processor read a word differently, so that nothing that the device found is "
        "told; take --device cpu");
  for (std::uint64_t word = 0; word < asked.words; ++word) {
    if (!is_left[word]) continue;
    if (const auto at = read_here(word, failure ? failure->at : asked.length)) take({*at, word});
  }
  return failure;
}

WordReading word_reading(Place place, const ReadModel& model, const WordReading& here, const WordLayout& layout) {
  const std::shared_ptr<OperationWordsReader> there = words_of(place, model, 0, layout);
  return [there, model, here](std::span<const Word> words, const HeardAnswer& heard) {
    const FloatEnvironment environment;
    std::size_t longest = 0;
    for (const Word& word : words) longest = std::max(longest, word.size());
    std::vector<bool> is_left(words.size(), false);
    there->give(words);
    read_in_pieces(
        *there, words.size(), longest, [](auto, auto) { Interruption::check(), TimeLimit::check(); },
        [&](std::uint64_t first, const std::vector<WordRecord>& records) {
          for (std::uint64_t i = 0; i < records.size(); ++i) is_left[first + i] = records[i].is_left;
          return longest;
        });
    const std::vector<Output> said = there->said();
    std::vector<Word> left;
    std::vector<std::size_t> left_numbers;
    const TrackedAutomaton& tracked = model.tracked;
    auto answers = said.begin();
    for (std::size_t i = 0; i < words.size(); answers += static_cast<std::ptrdiff_t>(words[i++].size())) {
      if (is_left[i]) {
        left.push_back(words[i]);
        left_numbers.push_back(i);
        continue;
      }
      State state = tracked.automaton.initial();
      bool is_wanted = heard(i, 0, state, model.reader.answer_at_start().output);
      for (std::size_t t = 0; is_wanted && t < words[i].size(); ++t) {
        state = tracked.automaton.next(state, words[i][t]);
        is_wanted = tracked.wanted[state] != TrackedAutomaton::kNoSuchWord &&
                    heard(i, t + 1, state, answers[static_cast<std::ptrdiff_t>(t)]);
      }
    }
    here(left, [&](std::size_t word, std::size_t t, State state, Output answer) {
      return heard(left_numbers[word], t, state, answer);
    });
  };
}

}  // namespace krohn
