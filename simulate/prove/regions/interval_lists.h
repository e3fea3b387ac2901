// simulate/prove/regions/interval_lists.h — a list of operations read with intervals for numbers: whatever a runtime in
// fp32 may compute, with sums in any order, with or without FMA, functions within 8 units, subnormal numbers flushed or
// not; or one that also rounds weights, results and the factors of sums of products to bf16 or fp16. The rules are of
// docs/reference/certificate-file.md, "closed regions", with a little more room, so that checkers need not round as
// this does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/arithmetic/interval.h"
#include "krohn/simulate/operations/stated_lists.h"
#include "krohn/simulate/prove/claims/operations.h"

namespace krohn {

struct Ends {
  double lower = 0, upper = 0;
};

/// The memory: an interval for each number.
using Box = std::vector<Ends>;

/// Thrown where nothing encloses a number: an operation without intervals, a division by 0, an overflow.
struct NotEnclosed {
  std::string why;
};

class IntervalLists {
 public:
  /// Views the operations, which are in fp32. `format`: kFp32, or kBf16 or kFp16 where runtimes may round to that.
  /// Throws NotEnclosed for an operation that has no intervals, and InputError as StatedLists.
  IntervalLists(const Operations& operations, const TensorFile& tensors, Precision format = Precision::kFp32);

  /// The memory before the first letter, behind the tokens before every word.
  Box start();
  /// The memory after one more token.
  Box read(const Box& memory, std::uint32_t token);
  /// The logit is the greatest one throughout, in the answer after `memory`, which was read last.
  bool is_answered(const Box& memory, Output logit);
  /// No answer before the first letter, where no tokens stand there.
  bool answers_at_start() const { return !operations_.before.empty() || !operations_.after.empty(); }
  /// Every number that is kept is a sum of the memory's numbers, with factors that do not depend on it.
  bool is_affine() const;
  /// Products and functions that a token takes, about.
  std::uint64_t work() const { return work_; }

 private:
  /// A number as a polynomial of others (docs/reference/certificate-file.md): its exact values, the roundings on the
  /// way and bounds of its terms and of what underflow adds.
  struct Enclosed {
    Interval exact{};
    double size = 0, tiny = 0;
    std::uint32_t roundings = 0;
  };
  struct Place {
    std::uint32_t list, at;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  static double error(const Enclosed& number);
  static Interval value(const Enclosed& number);
  Interval factor(Enclosed number) const;
  void round_more(Enclosed& number, std::uint32_t times) const;
  static Enclosed leaf(const Interval& ends);
  static void append(Box& box, const std::vector<Enclosed>& numbers);
  std::size_t place(std::size_t list, std::size_t view, std::size_t at) const { return places_[list][view][at]; }
  bool is_given(std::size_t list) const;
  void prepare(std::size_t list);
  bool gather(Place from, std::vector<Place>& leaves, bool& repeats) const;
  Interval at_corner(Place from, const std::vector<Place>& leaves, std::uint32_t corner) const;
  void compute(std::size_t list);
  Enclosed dot(std::size_t list, std::size_t at) const;
  Enclosed computed(std::size_t list, std::size_t at) const;
  double least_lead(std::size_t logit, std::size_t other) const;

  const Operations& operations_;
  Precision format_;
  StatedLists<float> stated_;
  std::vector<std::vector<Enclosed>> lists_;
  std::vector<std::vector<std::vector<std::uint32_t>>> places_;  ///< by list, view and number of the result
  std::vector<std::vector<std::vector<Place>>> leaves_;          ///< by list and number: whose corners are looked at
  std::map<std::uint32_t, std::vector<std::vector<Enclosed>>> of_token_;
  std::uint64_t work_ = 0;
};

}  // namespace krohn
