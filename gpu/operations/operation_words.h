// gpu/operations/operation_words.h — words through a model's list of operations on a CUDA device, many side by side,
// with the numbers of simulate/operations/operations_reader.h, bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/gpu/device/place.h"
#include "krohn/gpu/operations/operation_words.cuh"
#include "krohn/simulate/prove/claims/operations.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {

/// The words to read, and the automaton beside them.
struct DrawnTokens {
  SamplePlan plan;              ///< tokens are letters of the operations; its oracle is not looked at
  const Dfa* oracle = nullptr;  ///< reads every token
  std::vector<Output> wanted;   ///< by its state, as in TrackedAutomaton
  std::uint64_t seed = 1;
};

/// How a device shares the work; 0: as it suits the model.
struct WordLayout {
  std::uint32_t words = 0;    ///< of a block, a power of two
  std::uint32_t threads = 0;  ///< of a block, a multiple of 32 and of its words
  bool backwards = false;     ///< on the processor: the last thread of a block comes first, for tests
};

class OperationWordsReader {
 public:
  virtual ~OperationWordsReader() = default;
  virtual std::uint64_t words_at_once() const = 0;
  /// Words that are read from now on instead of those that are drawn.
  virtual void give(std::span<const Word> words) = 0;
  /// The place of the greatest logit after each of their letters, one word behind another; LetterReader::kNoAnswer
  /// where there is none. Of a word that is left anything.
  virtual std::vector<Output> said() const = 0;
  /// Puts words first … first + words − 1 at their beginning.
  virtual void start(std::uint64_t first, std::uint64_t words) = 0;
  /// The next tokens of all words.
  virtual void read(std::uint64_t tokens) = 0;
  virtual std::vector<WordRecord> records() const = 0;
  virtual std::vector<double> memory(std::uint64_t word) const = 0;
  /// Products with additions that cost a device as much as a token does: a function in fp64 as much as 110.
  virtual std::uint64_t products() const = 0;
};

/// Keeps nothing of its arguments. Throws InputError as operations_reader; NotOnDevice where a sine, a cosine or a norm
/// has to be taken of numbers that depend on the word, or constants are not finite; SystemError when there is no
/// device, or it fails.
std::unique_ptr<OperationWordsReader> operation_words(Place place, const Operations& operations,
                                                      const TensorFile& tensors, const DrawnTokens& tokens,
                                                      const WordLayout& layout = {});

struct WordCounts {
  std::uint64_t right = 0, due = 0;  ///< answers
  std::uint64_t right_words = 0;     ///< words whose answers are all right
};

/// How words 0 … words − 1 fare up to `length` tokens; `told` of the tokens so far, and of how many. Throws as
/// operation_words, and NotOnDevice where a number is not finite.
WordCounts count_answers(Place place, const Operations& operations, const TensorFile& tensors,
                         const DrawnTokens& tokens, std::uint64_t words, std::uint64_t length,
                         const std::function<void(std::uint64_t, std::uint64_t)>& told = {});

/// The words of RandomWord, or of DrawnWord, beside an automaton.
DrawnTokens drawn_tokens(const TrackedAutomaton& tracked, std::uint64_t seed);

/// simulate/prove/place.h's test. Words that leave the format's numbers are read on the processor. Throws as
/// operation_words, and NotOnDevice for a model without operations.
std::optional<RandomFailure> first_failure(Place place, const ReadModel& model, const RandomTest& asked,
                                           const std::function<void(std::uint64_t, std::uint64_t)>& told = {});

/// simulate/prove/place.h's reading of given words; those that leave the format's numbers are read `here`. Throws as
/// first_failure, at once or while it reads.
WordReading word_reading(Place place, const ReadModel& model, const WordReading& here, const WordLayout& layout = {});

}  // namespace krohn
