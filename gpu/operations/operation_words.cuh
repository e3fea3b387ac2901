// gpu/operations/operation_words.cuh — words through the plan of a model's operations (simulate/operations/plan.h),
// some words a block: a thread has one of the words, and some of the outputs of every step. For the processor and for
// CUDA devices; the functions and their order are those of simulate/operations/step_functions.h, so that all have the
// bits of the processor's loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "krohn/gpu/device/threads.cuh"
#include "krohn/gpu/operations/word_plan.cuh"
#include "krohn/simulate/operations/step_functions.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// Numbers of one word: places do not know of the words beside it.
struct PlacedOperand {
  Space space = Space::kConstant;
  std::uint32_t first = 0;
  std::uint32_t strides[3] = {};
  std::uint32_t term = 0;
};

/// A Step. Of a dot product the second operand is the word's own where one is, and the first may be anything.
struct PlacedStep {
  StepFunction function = StepFunction::kCopy;
  std::uint8_t operands = 0;
  bool is_wide = false;     ///< the first operand of a dot product: four constants side by side lie in one load
  bool is_watched = false;  ///< its results have to be finite for the plan to say anything
  std::uint32_t terms = 0, outputs = 0;
  std::uint32_t extents[3] = {1, 1, 1};
  std::uint32_t to = 0, few = Step::kDense;
  PlacedOperand of[3];
};

/// Numbers that become part of the memory, or the logits.
struct PlacedPart {
  Space space = Space::kWord;
  std::uint32_t first = 0, to = 0, size = 0;
  bool is_watched = false;
};

template <class Real>
struct PlacedOperations {
  const PlacedStep* steps = nullptr;
  /// Steps from ends[g − 1] to ends[g] need no waiting between them.
  const std::uint32_t* group_ends = nullptr;
  std::uint32_t groups = 0, memory_groups = 0;  ///< all, and those that the memory needs
  const Real *constants = nullptr, *columns = nullptr, *weights = nullptr, *start = nullptr;
  std::uint32_t tokens = 0;  ///< number n of a token's row is columns[n · tokens + token]
  const std::uint32_t *ends = nullptr, *places = nullptr, *letters = nullptr, *after = nullptr;
  std::uint32_t after_count = 0;
  /// The lists that are kept; before them, the places that those which lie in the memory itself are moved to.
  const PlacedPart *keep = nullptr, *moved = nullptr;
  std::uint32_t keep_count = 0, moved_count = 0;
  PlacedPart logits;
  std::uint32_t memory = 0;          ///< numbers that are remembered: the first of a word's own
  std::uint32_t saved = 0;           ///< where they wait while the tokens behind a word are read
  std::uint32_t own = 0;             ///< numbers of a word
  bool answers_from_memory = false;  ///< the logits lie in it
};

/// How a word fared.
struct WordRecord {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  std::uint64_t failing_at = kNever;  ///< tokens after which an answer was first wrong
  std::uint64_t right = 0, due = 0;   ///< answers
  std::uint64_t read = 0, drawn = 0;  ///< tokens; and with those that could not stand
  std::uint32_t oracle = 0;
  bool has_ended = false;  ///< no further letter can stand
  bool is_left = false;    ///< a number is not finite: nothing is said of this word
};

/// Tokens [begin, end) of words first_word … first_word + words − 1, 2^shift of them a block.
template <class Real, bool kIsBf16>
struct OperationWords {
  using Format = std::conditional_t<kIsBf16, InBf16, std::conditional_t<sizeof(Real) == 8, InFp64, InFp32>>;
  static constexpr std::uint32_t kTries = 256;  ///< letters that cannot stand, until a word ends

  PlacedOperations<Real> model;
  PlacedPlan plan;
  bool leaves_out = false;  ///< there are letters that cannot stand
  std::uint32_t shift = 0;
  std::uint64_t first_word = 0, words = 0, begin = 0, end = 0;
  Real* memories = nullptr;  ///< of every block, number by number
  Real* own = nullptr;       ///< the same of all its numbers, where a block has no room for them
  WordRecord* records = nullptr;

  struct Word {
    PlanReader stream;
    WordRecord record;
    std::uint64_t at = 0, end = 0;  ///< of its letters among those that are given
  };

  /// The size of the memory that the threads of a block share.
  KROHN_HOST_DEVICE std::size_t bytes() const {
    return (own == nullptr ? (std::size_t{model.own} << shift) * sizeof(Real) : 0) +
           ((sizeof(Word) + 4 * sizeof(std::uint32_t)) << shift);
  }

  template <class Threads>
  KROHN_HOST_DEVICE void read_block(const Threads& threads, std::uint64_t block, void* shared) const {
    const Room room(*this, block, shared);
    Real* const kept = memories + ((block * model.memory) << shift);
    threads.each([&](std::uint32_t thread) {
      const std::uint32_t word = room.word_of(thread);
      for (std::uint32_t n = room.unit_of(thread); n < model.memory; n += room.units(threads.count))
        room.own[(n << shift) + word] = begin == 0 ? model.start[n] : kept[(n << shift) + word];
      if (room.unit_of(thread) == 0) begin_word(room, block, word);
    });
    for (std::uint64_t at = begin; at < end; ++at) {
      const bool is_due = plan.is_due(at), is_behind = is_due && model.after_count > 0;
      read_token(threads, room, room.rows + ((at & 1) << shift), is_due && !is_behind,
                 [&](std::uint32_t word, std::uint32_t row) {
                   if (is_behind) return;
                   if (is_due) judge(room, word, row);
                   go_on(room, word, at);
                 });
      if (is_behind) answer_behind(threads, room, at);
    }
    threads.each([&](std::uint32_t thread) {
      const std::uint32_t word = room.word_of(thread);
      for (std::uint32_t n = room.unit_of(thread); n < model.memory; n += room.units(threads.count))
        kept[(n << shift) + word] = room.own[(n << shift) + word];
      const std::uint64_t number = (block << shift) + word;
      if (room.unit_of(thread) != 0 || number >= words) return;
      records[number] = room.words[word].record;
      records[number].is_left = room.is_left[word] != 0;
    });
  }

 private:
  /// The memory that the threads of a block share.
  struct Room {
    Real* own;  ///< number n of word w at (n << shift) + w
    Word* words;
    std::uint32_t* rows;  ///< of the token that is read, and of the next
    std::uint32_t* is_left;
    std::uint32_t* behind;  ///< rows of a token behind the words
    std::uint32_t shift;

    KROHN_HOST_DEVICE Room(const OperationWords& job, std::uint64_t block, void* shared) : shift(job.shift) {
      // Words first: what they count is aligned wider than numbers are.
      auto* at = static_cast<char*>(shared);
      words = reinterpret_cast<Word*>(at);
      at += sizeof(Word) << shift;
      if (job.own != nullptr) {
        own = job.own + ((block * job.model.own) << shift);
      } else {
        own = reinterpret_cast<Real*>(at);
        at += (std::size_t{job.model.own} << shift) * sizeof(Real);
      }
      rows = reinterpret_cast<std::uint32_t*>(at);
      is_left = rows + (2U << shift);
      behind = is_left + (1U << shift);
    }
    KROHN_HOST_DEVICE std::uint32_t word_of(std::uint32_t thread) const { return thread & ((1U << shift) - 1); }
    KROHN_HOST_DEVICE std::uint32_t unit_of(std::uint32_t thread) const { return thread >> shift; }
    KROHN_HOST_DEVICE std::uint32_t units(std::uint32_t threads) const { return threads >> shift; }
  };

  /// The numbers that a thread sees: its word's, and those of its token.
  struct Seen {
    const PlacedOperations<Real>& model;
    Real* own;
    std::uint32_t* is_left;
    std::uint32_t shift, row, unit, units;

    KROHN_HOST_DEVICE Real get(Space space, std::uint32_t at) const {
      if (space == Space::kWord) return own[std::size_t{at} << shift];
      return space == Space::kConstant ? model.constants[at] : model.columns[std::size_t{at} * model.tokens + row];
    }
    KROHN_HOST_DEVICE void put(std::uint32_t at, Real number, bool is_watched) const {
      own[std::size_t{at} << shift] = number;
      if (is_watched && !(number - number == 0)) *is_left = 1;
    }
  };

  KROHN_HOST_DEVICE void begin_word(const Room& room, std::uint64_t block, std::uint32_t word) const {
    const std::uint64_t number = (block << shift) + word;
    WordRecord record;
    if (begin == 0) {
      record.oracle = plan.initial;
      record.has_ended = number >= words;
    } else if (number < words) {
      record = records[number];
    }
    room.words[word] = {PlanReader(plan, first_word + number, record.drawn), record};
    if (plan.said != nullptr && number < words) {
      room.words[word].at = plan.given_at[first_word + number] + record.read;
      room.words[word].end = plan.given_at[first_word + number + 1];
    }
    room.is_left[word] = record.is_left ? 1 : 0;
    room.rows[((begin & 1) << shift) + word] = begin < end ? draw(room.words[word]) : 0;
  }

  /// The row of the token after `at`, where there is one.
  KROHN_HOST_DEVICE void go_on(const Room& room, std::uint32_t word, std::uint64_t at) const {
    if (at + 1 < end) room.rows[(((at + 1) & 1) << shift) + word] = draw(room.words[word]);
  }

  /// The row of the next token. The automaton reads it, too.
  KROHN_HOST_DEVICE std::uint32_t draw(Word& word) const {
    WordRecord& record = word.record;
    if (plan.said != nullptr) {
      record.has_ended = record.has_ended || word.at == word.end;
      if (record.has_ended) return 0;
      ++record.read;
      return model.letters[plan.given[word.at++]];
    }
    for (std::uint32_t tries = 0; tries < kTries && !record.has_ended; ++tries) {
      const std::uint32_t letter = word.stream.next(plan);
      ++record.drawn;
      const std::uint32_t state = plan.next[std::size_t{record.oracle} * plan.oracle_letters + letter];
      if (leaves_out && plan.outputs[state] == TrackedAutomaton::kNoSuchWord) continue;
      record.oracle = state;
      ++record.read;
      return model.letters[letter];
    }
    record.has_ended = true;
    return 0;
  }

  /// The answer after the token read last, where it is asked for.
  KROHN_HOST_DEVICE void judge(const Room& room, std::uint32_t word, std::uint32_t row) const {
    WordRecord& record = room.words[word].record;
    if (record.has_ended || room.is_left[word] != 0) return;
    if (plan.said != nullptr) {
      plan.said[room.words[word].at - 1] = answer(room, word, row);
      return;
    }
    const std::uint32_t wanted = plan.outputs[record.oracle];
    if (wanted == TrackedAutomaton::kNotAsked) return;
    ++record.due;
    const std::uint32_t said = answer(room, word, row);
    if (said != kNoLogit && said == wanted)
      ++record.right;
    else if (record.failing_at == WordRecord::kNever)
      record.failing_at = record.read;
  }

  /// The greatest of the logits; a tie is no answer, nor is one among numbers that are not finite.
  KROHN_HOST_DEVICE std::uint32_t answer(const Room& room, std::uint32_t word, std::uint32_t row) const {
    const Seen seen{model, room.own + word, nullptr, shift, row, 0, 1};
    return greatest_logit(model.logits.size,
                          [&](std::uint32_t i) { return seen.get(model.logits.space, model.logits.first + i); });
  }

  /// The tokens behind a word, after which all is as it was.
  template <class Threads>
  KROHN_HOST_DEVICE void answer_behind(const Threads& threads, const Room& room, std::uint64_t at) const {
    move_memory(threads, room, 0, model.saved);
    for (std::uint32_t i = 0; i < model.after_count; ++i) {
      threads.each([&](std::uint32_t thread) {
        if (room.unit_of(thread) == 0) room.behind[room.word_of(thread)] = model.after[i];
      });
      const bool is_last = i + 1 == model.after_count;
      read_token(threads, room, room.behind, is_last, [&](std::uint32_t word, std::uint32_t row) {
        if (!is_last) return;
        judge(room, word, row);
        go_on(room, word, at);
      });
    }
    move_memory(threads, room, model.saved, 0);
  }
  template <class Threads>
  KROHN_HOST_DEVICE void move_memory(const Threads& threads, const Room& room, std::uint32_t from,
                                     std::uint32_t to) const {
    threads.each([&](std::uint32_t thread) {
      const std::uint32_t word = room.word_of(thread);
      for (std::uint32_t n = room.unit_of(thread); n < model.memory; n += room.units(threads.count))
        room.own[((to + n) << shift) + word] = room.own[((from + n) << shift) + word];
    });
  }

  /// Reads the tokens of `rows`; then the first thread of each word calls `finish(word, row)`.
  template <class Threads, class Finish>
  KROHN_HOST_DEVICE void read_token(const Threads& threads, const Room& room, const std::uint32_t* rows, bool asked,
                                    const Finish& finish) const {
    const auto seen_by = [&](std::uint32_t thread) {
      const std::uint32_t word = room.word_of(thread);
      return Seen{model,      room.own + word,      room.is_left + word,      shift,
                  rows[word], room.unit_of(thread), room.units(threads.count)};
    };
    const std::uint32_t groups = asked ? model.groups : model.memory_groups;
    for (std::uint32_t group = 0; group < groups; ++group)
      threads.each([&](std::uint32_t thread) {
        const Seen seen = seen_by(thread);
        for (std::uint32_t i = group == 0 ? 0 : model.group_ends[group - 1]; i < model.group_ends[group]; ++i)
          take(PlacedStep(model.steps[i]), seen);
      });
    const bool waits = model.moved_count > 0 || (asked && model.answers_from_memory);
    const auto first = [&](std::uint32_t thread) {
      const Seen seen = seen_by(thread);
      move(model.moved, model.moved_count, seen);
      if (room.unit_of(thread) == 0) finish(room.word_of(thread), seen.row);
    };
    if (waits) threads.each(first);
    threads.each([&](std::uint32_t thread) {
      const Seen seen = seen_by(thread);
      move(model.keep, model.keep_count, seen);
      if (!waits) first(thread);
    });
  }

  /// −0 as +0, and one bit pattern for what is no number.
  KROHN_HOST_DEVICE static Real remembered(Real number) {
    constexpr bool kIsShort = sizeof(Real) == 4;
    using Bits = std::conditional_t<kIsShort, std::uint32_t, std::uint64_t>;
    return number == number ? number + Real{0}
                            : same_bits<Real>(static_cast<Bits>(kIsShort ? 0x7fc00000 : 0x7ff8000000000000));
  }
  KROHN_HOST_DEVICE void move(const PlacedPart* parts, std::uint32_t count, const Seen& seen) const {
    for (std::uint32_t p = 0; p < count; ++p) {
      const PlacedPart part = parts[p];
      for (std::uint32_t i = seen.unit; i < part.size; i += seen.units)
        seen.put(part.to + i, remembered(seen.get(part.space, part.first + i)), part.is_watched);
    }
  }

  // ---- Steps: by value, since a compiler does not see that no store of a thread changes them

  KROHN_HOST_DEVICE static Real added(Real sum, Real a, Real b) {
    return Format::rounded(sum + Format::rounded(a * b));
  }

  KROHN_HOST_DEVICE void take(const PlacedStep step, const Seen seen) const {
    using enum StepFunction;
    switch (step.function) {
      case kDot:
        if (step.few != Step::kDense) return take_few(step, seen);
        if (step.of[1].space != Space::kWord) return take_known(step, seen);
        if (step.of[0].space == Space::kConstant) return take_dot<Space::kConstant>(step, seen);
        if (step.of[0].space == Space::kToken) return take_dot<Space::kToken>(step, seen);
        return take_dot<Space::kWord>(step, seen);
      case kCopy:
        return take_each<kCopy>(step, seen);
      case kAdd:
        return take_each<kAdd>(step, seen);
      case kSubtract:
        return take_each<kSubtract>(step, seen);
      case kMultiply:
        return take_each<kMultiply>(step, seen);
      case kDivide:
        return take_each<kDivide>(step, seen);
      case kGreater:
        return take_each<kGreater>(step, seen);
      case kRoot:
        return take_each<kRoot>(step, seen);
      case kBf16:
        return take_each<kBf16>(step, seen);
      case kSigmoid:
        return take_each<kSigmoid>(step, seen);
      case kSigmoid32:
        return take_each<kSigmoid32>(step, seen);
      case kExp:
        return take_each<kExp>(step, seen);
      case kExp32:
        return take_each<kExp32>(step, seen);
      case kSoftplus:
        return take_each<kSoftplus>(step, seen);
      case kSoftplus32:
        return take_each<kSoftplus32>(step, seen);
      case kLogistic:
        return take_each<kLogistic>(step, seen);
      case kTanh:
        return take_each<kTanh>(step, seen);
      case kSoftplus64:
        return take_each<kSoftplus64>(step, seen);
      case kLogSigmoid:
        return take_each<kLogSigmoid>(step, seen);
      case kCosine:
      case kSine:
      case kNorm:
        return;  // no plan that is placed has them
    }
  }

  /// body(the output's number, the first numbers of the operands) for the outputs that fall to this thread, or for
  /// every kOutputs-th, with those behind it along the last axis.
  template <std::uint32_t kOutputs, class Body>
  KROHN_HOST_DEVICE static void for_outputs(const PlacedStep step, const Seen seen, const Body& body) {
    const std::uint32_t along = (step.extents[2] + kOutputs - 1) / kOutputs;
    if (step.extents[0] * step.extents[1] == 1) {
      for (std::uint32_t k = seen.unit; k < along; k += seen.units) body(k * kOutputs, 0, 0, k * kOutputs);
      return;
    }
    const std::uint32_t all = step.extents[0] * step.extents[1] * along;
    for (std::uint32_t at = seen.unit; at < all; at += seen.units) {
      const std::uint32_t ij = at / along, k = (at - ij * along) * kOutputs, i = ij / step.extents[1];
      body(ij * step.extents[2] + k, i, ij - i * step.extents[1], k);
    }
  }
  KROHN_HOST_DEVICE static std::uint32_t place(const PlacedOperand& of, std::uint32_t i, std::uint32_t j,
                                               std::uint32_t k) {
    return of.first + i * of.strides[0] + j * of.strides[1] + k * of.strides[2];
  }

  template <StepFunction kFunction>
  KROHN_HOST_DEVICE void take_each(const PlacedStep step, const Seen seen) const {
    for_outputs<1>(step, seen, [=, this](std::uint32_t output, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
      const Real a = seen.get(step.of[0].space, place(step.of[0], i, j, k));
      const Real b = step.operands > 1 ? seen.get(step.of[1].space, place(step.of[1], i, j, k)) : a;
      seen.put(step.to + output, value_of<Format, kFunction>(a, b), step.is_watched);
    });
  }

  /// A row of few constants for every output. Without the products of those that are 0 a sum is the same, but for the
  /// sign of a zero, while the other factors are finite.
  KROHN_HOST_DEVICE void take_few(const PlacedStep step, const Seen seen) const {
    for_outputs<1>(step, seen, [=, this](std::uint32_t output, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
      Real sum = step.operands < 3 ? Real{0} : seen.get(step.of[2].space, place(step.of[2], i, j, k));
      const std::uint32_t from = place(step.of[1], i, j, k), row = step.few + output;
      for (std::uint32_t e = model.ends[row]; e < model.ends[row + 1]; ++e)
        sum = added(sum, seen.get(step.of[1].space, from + model.places[e]), model.weights[e]);
      seen.put(step.to + output, sum + Real{0}, step.is_watched);
    });
  }

  /// A sum of products that no word changes, from a number of the word on.
  KROHN_HOST_DEVICE void take_known(const PlacedStep step, const Seen seen) const {
    for_outputs<1>(step, seen, [=, this](std::uint32_t output, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
      Real sum = step.operands < 3 ? Real{0} : seen.get(step.of[2].space, place(step.of[2], i, j, k));
      const std::uint32_t a = place(step.of[0], i, j, k), b = place(step.of[1], i, j, k);
      for (std::uint32_t t = 0; t < step.terms; ++t)
        sum = added(sum, seen.get(step.of[0].space, a + t * step.of[0].term),
                    seen.get(step.of[1].space, b + t * step.of[1].term));
      seen.put(step.to + output, sum, step.is_watched);
    });
  }

  /// As many outputs at a time as there are for every thread.
  template <Space kFirst>
  KROHN_HOST_DEVICE void take_dot(const PlacedStep step, const Seen seen) const {
    if (step.outputs >= 8 * seen.units && step.extents[2] >= 8) return take_dots<kFirst, 8>(step, seen);
    if (step.outputs >= 4 * seen.units && step.extents[2] >= 4) return take_dots<kFirst, 4>(step, seen);
    take_dots<kFirst, 1>(step, seen);
  }
  template <Space kFirst, std::uint32_t kOutputs>
  KROHN_HOST_DEVICE void take_dots(const PlacedStep step, const Seen seen) const {
    for_outputs<kOutputs>(step, seen,
                          [=, this](std::uint32_t output, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
                            const std::uint32_t left = step.extents[2] - k;
                            if (left >= kOutputs) {
                              dot<kFirst, kOutputs>(step, seen, output, i, j, k);
                            } else {
                              for (std::uint32_t m = 0; m < left; ++m)
                                dot<kFirst, 1>(step, seen, output + m, i, j, k + m);
                            }
                          });
  }

  template <Space kFirst>
  KROHN_HOST_DEVICE Real first_factor(const Seen& seen, std::uint32_t at) const {
    if constexpr (kFirst == Space::kConstant) return model.constants[at];
    if constexpr (kFirst == Space::kToken) return model.columns[std::size_t{at} * model.tokens + seen.row];
    return seen.own[std::size_t{at} << shift];
  }

  template <Space kFirst, std::uint32_t kOutputs>
  KROHN_HOST_DEVICE void dot(const PlacedStep step, const Seen seen, std::uint32_t output, std::uint32_t i,
                             std::uint32_t j, std::uint32_t k) const {
    std::uint32_t a = place(step.of[0], i, j, k), b = place(step.of[1], i, j, k);
    const std::uint32_t a_next = step.of[0].strides[2], b_next = step.of[1].strides[2], a_term = step.of[0].term,
                        b_term = step.of[1].term;
    Real sums[kOutputs];
    KROHN_UNROLL
    for (std::uint32_t m = 0; m < kOutputs; ++m)
      sums[m] = step.operands < 3 ? Real{0} : seen.get(step.of[2].space, place(step.of[2], i, j, k + m));
    if (kFirst == Space::kConstant && kOutputs >= 4 && step.is_wide && b_next == 0) {
      const Real* weights = model.constants + a;
      const Real* factor = seen.own + (std::size_t{b} << shift);
      const std::size_t step_of = std::size_t{b_term} << shift;
      KROHN_UNROLL_SOME
      for (std::uint32_t t = 0; t < step.terms; ++t, weights += a_term, factor += step_of) {
        const Real x = *factor;
        Real w[kOutputs];
        load_wide<kOutputs>(weights, w);
        KROHN_UNROLL
        for (std::uint32_t m = 0; m < kOutputs; ++m) sums[m] = added(sums[m], x, w[m]);
      }
    } else if (b_next == 0) {
      for (std::uint32_t t = 0; t < step.terms; ++t, a += a_term, b += b_term) {
        const Real x = seen.own[std::size_t{b} << shift];
        KROHN_UNROLL
        for (std::uint32_t m = 0; m < kOutputs; ++m)
          sums[m] = added(sums[m], first_factor<kFirst>(seen, a + m * a_next), x);
      }
    } else {
      for (std::uint32_t t = 0; t < step.terms; ++t, a += a_term, b += b_term) {
        const Real x = a_next == 0 ? first_factor<kFirst>(seen, a) : Real{0};
        KROHN_UNROLL
        for (std::uint32_t m = 0; m < kOutputs; ++m)
          sums[m] = added(sums[m], a_next == 0 ? x : first_factor<kFirst>(seen, a + m * a_next),
                          seen.own[std::size_t{b + m * b_next} << shift]);
      }
    }
    KROHN_UNROLL
    for (std::uint32_t m = 0; m < kOutputs; ++m) seen.put(step.to + output + m, sums[m], step.is_watched);
  }

  /// Constants that begin at a multiple of four.
  template <std::uint32_t kOutputs>
  KROHN_HOST_DEVICE static void load_wide(const Real* from, Real (&to)[kOutputs]) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(Real) == 4 && kOutputs % 4 == 0) {
      KROHN_UNROLL
      for (std::uint32_t m = 0; m < kOutputs; m += 4) {
        const float4 four = __ldg(reinterpret_cast<const float4*>(from + m));
        to[m] = four.x;
        to[m + 1] = four.y;
        to[m + 2] = four.z;
        to[m + 3] = four.w;
      }
    } else
#endif
    {
      KROHN_UNROLL
      for (std::uint32_t m = 0; m < kOutputs; ++m) to[m] = from[m];
    }
  }
};

#ifdef KROHN_WITH_CUDA
/// Shared memory that a block may have.
std::size_t cuda_block_bytes();
/// `blocks` blocks of so many threads.
template <class Real, bool kIsBf16>
void cuda_read_operation_words(const OperationWords<Real, kIsBf16>& job, std::uint64_t blocks, std::uint32_t threads);
#endif

}  // namespace krohn
