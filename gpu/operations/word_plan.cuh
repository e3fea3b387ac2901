// gpu/operations/word_plan.cuh — words of a task or of an automaton, drawn token by token where they are read, with the
// answers that are due. For the processor and for CUDA devices.
#pragma once

#include <cstdint>

#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/words/random_letters.h"

namespace krohn {

/// No answer: the greatest logit is there twice, or one is not finite.
inline constexpr std::uint32_t kNoLogit = UINT32_MAX;

/// The place of the greatest of `count` logits, `logit_at(i)` each, or kNoLogit.
template <class LogitAt>
KROHN_HOST_DEVICE std::uint32_t greatest_logit(std::uint32_t count, const LogitAt& logit_at) {
  std::uint32_t best = kNoLogit;
  bool is_shared = false, is_finite = true;
  decltype(logit_at(0)) greatest{};
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto logit = logit_at(i);
    is_finite = is_finite && logit - logit == 0;
    if (i == 0 || logit > greatest) {
      best = i;
      greatest = logit;
      is_shared = false;
    } else {
      is_shared = is_shared || logit == greatest;
    }
  }
  return is_shared || !is_finite ? kNoLogit : best;
}

/// A SamplePlan (simulate/tasks/tasks.h) and its automaton.
struct PlacedPlan {
  ContentPlan letters;
  const std::uint32_t *before = nullptr, *after = nullptr;
  std::uint64_t before_count = 0, content = 0, after_count = 0;
  bool answers_everywhere = false;
  const std::uint32_t *next = nullptr, *outputs = nullptr;
  std::uint32_t oracle_letters = 0, initial = 0;
  std::uint64_t seed = 0;
  /// Words that are given instead, where they are: their letters one word behind another, and where each word begins,
  /// and the last ends; what is said after every letter is written.
  const std::uint32_t* given = nullptr;
  const std::uint64_t* given_at = nullptr;
  std::uint32_t* said = nullptr;

  KROHN_HOST_DEVICE std::uint64_t tokens() const { return before_count + content + after_count; }
  /// An answer is due after token `at`.
  KROHN_HOST_DEVICE bool is_due(std::uint64_t at) const {
    return answers_everywhere ? at >= before_count && at < before_count + content : at + 1 == tokens();
  }
};

/// The tokens of one sample, from any one on.
class PlanReader {
 public:
  KROHN_HOST_DEVICE PlanReader(const PlacedPlan& plan, std::uint64_t index, std::uint64_t at)
      : at_(at),
        first_(random_key(plan.seed, is_alternating(plan) ? 2 * index : index), plan.letters.letters,
               first_of(plan, done(plan))),
        second_(random_key(plan.seed, 2 * index + 1), 3, is_alternating(plan) ? done(plan) / 2 : 0) {}

  /// Returns the next token by the plan that it was made with.
  KROHN_HOST_DEVICE std::uint32_t next(const PlacedPlan& plan) {
    const std::uint64_t at = at_++;
    if (at < plan.before_count) return plan.before[at];
    if (at >= plan.before_count + plan.content && plan.after_count > 0)
      return plan.after[at - plan.before_count - plan.content];
    const std::uint64_t position = at - plan.before_count;
    if (plan.letters.kind == ContentPlan::Kind::kUniform) return first_.next();
    if (is_alternating(plan)) return position % 2 == 0 ? first_.next() : plan.letters.letters + second_.next();
    return (position + 1) % plan.letters.period == 0 ? first_.next() : plan.letters.letters;
  }
  /// Tokens so far.
  KROHN_HOST_DEVICE std::uint64_t at() const { return at_; }

 private:
  KROHN_HOST_DEVICE static bool is_alternating(const PlacedPlan& plan) {
    return plan.letters.kind == ContentPlan::Kind::kAlternating;
  }
  /// Letters of the content before the first token.
  KROHN_HOST_DEVICE std::uint64_t done(const PlacedPlan& plan) const {
    return at_ < plan.before_count ? 0 : at_ - plan.before_count;
  }
  KROHN_HOST_DEVICE static std::uint64_t first_of(const PlacedPlan& plan, std::uint64_t done) {
    return is_alternating(plan) ? (done + 1) / 2 : done / plan.letters.period;
  }

  std::uint64_t at_;
  RandomReader first_, second_;
};

}  // namespace krohn
