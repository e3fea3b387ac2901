// simulate/evaluate/lanes/batch.h — one network over many words at once, one word a lane of the processor's vectors.
// Numbers, labels and answers are those of make_evaluator (simulate/evaluate/evaluate.h), bit for bit: lanes are words,
// so the operations within a word keep their order.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"

namespace krohn {

/// Letters of up to kLanes words: letter t of word w is first[t · stride + w].
struct LaneLetters {
  const Letter* first = nullptr;
  std::size_t stride = kLanes;
  std::size_t words = kLanes;  ///< at most kLanes; the other lanes run along on letters that do not matter
};

/// kLanes words at once. Layers run one after another over pieces of the words, for no layer knows of those above it.
class LaneEvaluator {
 public:
  virtual ~LaneEvaluator() = default;
  /// All words at their beginning.
  virtual void reset() = 0;
  /// Reads `steps` letters of every word. The fast way: of the last layer, only the last state is decoded.
  virtual void run(const LaneLetters& letters, std::size_t steps) = 0;
  /// The same, and states[t · kLanes + w] is what the readout says of word w after its letter t, or kNoState.
  virtual void run(const LaneLetters& letters, std::size_t steps, std::span<State> states) = 0;
  /// The readout of every word now, or kNoState.
  virtual void current(std::span<State, kLanes> states) const = 0;
  /// All numbers of one word, as Evaluator::numbers gives them.
  virtual std::vector<double> numbers(std::size_t word) const = 0;
  /// Another one of the same weights, at the start; for threads.
  virtual std::unique_ptr<LaneEvaluator> fresh() const = 0;
};

struct LaneOptions {
  Form form = Form::kStructured;
  std::optional<InstructionSet> instructions;  ///< the fastest available, when not given
};

/// Null where words cannot share vectors: the network snaps, some layer has no such form, or operations are fused or
/// round to several formats. The network must be valid and must outlive the evaluator.
std::unique_ptr<LaneEvaluator> make_lane_evaluator(const Network& network, ArithmeticName arithmetic,
                                                   const LaneOptions& options = {});
std::unique_ptr<LaneEvaluator> make_lane_evaluator(Network&& network, ArithmeticName arithmetic,
                                                   const LaneOptions& options = {}) = delete;

struct BatchOptions : LaneOptions {
  unsigned threads = 0;  ///< 0: all
};

/// The state that the readout gives, or kNoState, at the end of each of `words` words of `length` letters: letter t of
/// word w is letters[t · words + w]. Throws InputError when the letters are not `words` · `length` many.
std::vector<State> batch_final_states(const Network& network, ArithmeticName arithmetic,
                                      std::span<const Letter> letters, std::size_t words, std::size_t length,
                                      const BatchOptions& options = {});

}  // namespace krohn
