// simulate/tasks/task.h — a labelled task: words drawn from a seed, and the answers that a model should give.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/dfa/dfa.h"

namespace krohn {

/// The index of an answer in `Task::labels()`.
using TaskLabel = std::uint32_t;

/// One token of a sample, with the answer due there when one is.
struct TaskToken {
  Letter letter = 0;
  std::optional<TaskLabel> target;
  friend bool operator==(const TaskToken&, const TaskToken&) = default;
};

/// One sample, read token by token. Holds memory for a buffer, not for the sample.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// The next token, or nothing after the last one.
  virtual std::optional<TaskToken> next() = 0;
};

enum class TargetPlace : std::uint8_t {
  kEveryPosition,  ///< an answer after every input token, none at special tokens
  kEnd,            ///< one answer: at the last input token, or at the token that closes the input ("=", [EOI])
};

struct LengthRange {
  std::uint64_t least = 0, greatest = 0;
};

/// The paper's description of the task.
struct TaskInfo {
  std::string name;         ///< the argument of `make_task`
  std::string summary;      ///< one line
  std::string source;       ///< paper and place
  std::string length_unit;  ///< the unit of a length: "tokens", "inputs", "tokens with = and [PAD]"
  std::uint64_t least_length = 1;
  std::uint64_t length_step = 1;                      ///< lengths are least_length + k·length_step
  LengthRange train, test;                            ///< lengths in the paper
  std::uint64_t train_samples = 0, test_samples = 0;  ///< in the paper; 0: drawn anew at every step, or not said
  TargetPlace place = TargetPlace::kEnd;
  double chance = 0;  ///< accuracy of a uniform guess among the possible answers: 0 of scaled accuracy (MATH.md §1)
  std::string content = {};  ///< of a language that is read, or a group with other generators: its fingerprint, of
                             ///< which the name tells nothing
};

/// A task. A sample is a pure function of (length, seed, index): any one can be made without the others, on any
/// machine.
class Task {
 public:
  virtual ~Task() = default;

  virtual const TaskInfo& info() const = 0;
  /// Input tokens first, then special ones: [BOS], [EOI], =, [PAD]. An input may bear such a name, too.
  virtual const Alphabet& alphabet() const = 0;
  /// So many letters of `alphabet()` are inputs.
  virtual Letter input_letters() const = 0;
  virtual std::span<const std::string> labels() const = 0;
  /// The automaton over `alphabet()` whose output, wherever a target is due, is that target; special tokens do not move
  /// it. Null when no finite automaton does it (unbounded brackets).
  virtual const Dfa* oracle() const = 0;

  /// An acceptor of the inputs, without special tokens, at whose end an answer is due in some sample, of at least the
  /// length where one answer is due, at the end; over the inputs of `alphabet()`. State 0 is the initial one; from the
  /// last state, where there is more than one, no sample goes on. Nothing when no finite automaton does it.
  virtual std::optional<Dfa> asked_inputs([[maybe_unused]] std::uint64_t least_length) const { return std::nullopt; }

  /// Throws InputError when the length is not one of the task's.
  virtual std::unique_ptr<SampleStream> open(std::uint64_t length, std::uint64_t seed, std::uint64_t index) const = 0;

  /// The same at once, for batches of many: adds its letters to a list, and to another the answer due at each of them,
  /// or kNoLabel.
  static constexpr TaskLabel kNoLabel = UINT32_MAX;
  virtual void draw(std::uint64_t length, std::uint64_t seed, std::uint64_t index, std::vector<Letter>& letters,
                    std::vector<TaskLabel>& due) const;

  /// The whole sample at once. Memory O(length).
  std::vector<TaskToken> sample(std::uint64_t length, std::uint64_t seed, std::uint64_t index) const;

  bool has_length(std::uint64_t length) const;

 protected:
  /// Throws InputError naming the lengths that the task has.
  void check_length(std::uint64_t length) const;
};

/// How the letters of an input follow from RandomWords, for whoever makes them elsewhere.
struct ContentPlan {
  enum class Kind : std::uint8_t {
    kUniform,      ///< letter t of RandomWord(letters, seed, index)
    kAlternating,  ///< at even t letter t/2 of RandomWord(letters, seed, 2·index), at odd t `letters` + letter t/2 of
                   ///< RandomWord(3, seed, 2·index + 1)
    kSpaced,       ///< where t + 1 is i·period letter i − 1 of RandomWord(letters, seed, index), elsewhere `letters`
  };

  Kind kind = Kind::kUniform;
  Letter letters = 1;
  std::uint64_t period = 1;
};

/// Letters of the input, without special tokens. Counter-based (simulate/words/word.h): any slice alone, in any order.
class TaskContent {
 public:
  virtual ~TaskContent() = default;
  virtual ContentPlan plan() const = 0;
  /// Letters [first, first + out.size()) of sample `index`.
  virtual void fill(std::uint64_t seed, std::uint64_t index, std::uint64_t first, std::span<Letter> out) const = 0;

  /// Which letters may stand at a position depends on it modulo this alone.
  virtual std::uint64_t period() const { return 1; }
  virtual bool may_stand(Letter letter, std::uint64_t position) const = 0;
};

/// Uniform over letters 0 … letters−1.
std::unique_ptr<TaskContent> uniform_content(Letter letters);

/// Digits 0 … m−1 at even positions, the operators m, m+1, m+2 at odd ones, each uniform.
std::unique_ptr<TaskContent> alternating_content(Letter m);

/// Uniform over 0 … letters−1 where the position, counted from 1, is a multiple of `period`; the letter `letters`
/// (a pause) elsewhere (Grazzi E.2.1).
std::unique_ptr<TaskContent> spaced_content(Letter letters, std::uint64_t period);

struct DatasetOptions {
  std::uint64_t samples = 1000;
  LengthRange lengths{40, 40};  ///< each sample's length is uniform among the task's lengths in the range
  std::uint64_t seed = 1;
  std::uint64_t first_index = 0;  ///< samples first_index … first_index + samples − 1: shards of one data set
};

/// The length of sample `index`. Throws InputError when the task has no length in the range.
std::uint64_t sample_length(const Task& task, const DatasetOptions& options, std::uint64_t index);

/// `words` samples of possibly different lengths. Letters of a word that has ended are not to be read.
struct TrainingBatch {
  struct Target {
    std::uint32_t position, word;
    TaskLabel label;
    float smoothing = 0;  ///< ε: the label should get 1 − ε + ε/K of the probability, each of the other K − 1 ε/K
  };
  std::uint32_t words = 0, positions = 0;  ///< positions: of the longest word, special tokens included
  std::vector<Letter> letters;             ///< position t of word w at t · words + w
  std::vector<std::uint32_t> lengths;      ///< tokens of every word
  std::vector<Target> targets;             ///< by position, then word
};

/// Samples first_index, first_index + 1, … of the task; each one's length is uniform among the task's lengths in the
/// range, a pure function of seed and index. Throws InputError when the task has no length there, or the batch would
/// have more than 2^30 letters.
TrainingBatch draw_batch(const Task& task, LengthRange lengths, std::uint64_t seed, std::uint64_t first_index,
                         std::uint32_t words);

}  // namespace krohn
