// simulate/evaluate/evaluate.h — runs a network over words in a stated arithmetic, letter by letter, beside the
// automaton.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// Written by `Evaluator::run` where no state could be read: a decoder tied or the readout has no entry.
inline constexpr State kNoState = UINT32_MAX;

/// A network in motion: `step` reads one letter and returns the state of the automaton that the readout gives, or
/// nothing when a decoder ties or the readout has no entry (a failure). Non-finite states never decode. After a layer
/// did not decode, the layers above it stay as they are for one letter, because their context is unknown. A network
/// with `snap_every` = K snaps after letters K, 2K, … since the start, once their answers are read.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void reset() = 0;
  std::optional<State> step(Letter letter) {
    State state;
    run({&letter, 1}, {&state, 1});
    return state == kNoState ? std::nullopt : std::optional(state);
  }
  /// Many steps at once: states[t] is what the readout says after letters[t], or kNoState. The two spans have one
  /// length. No allocation; the fast way.
  virtual void run(std::span<const Letter> letters, std::span<State> states) = 0;
  /// The readout's answer before the first letter.
  virtual std::optional<State> current() const = 0;
  /// Why there is no current state.
  virtual LetterReader::Missing missing() const {
    const bool is_finite = why_not_finite(numbers()) == LetterReader::Missing::kLogit;
    return is_finite ? LetterReader::Missing::kTie : LetterReader::Missing::kState;
  }
  /// All numbers of all layers, converted exactly to double (layer by layer, column-major), for tests and tables.
  virtual std::vector<double> numbers() const = 0;
  /// Another evaluator of the same rounded weights, at the start; for threads.
  virtual std::unique_ptr<Evaluator> fresh() const = 0;
};

/// The evaluator of `network` in `arithmetic`. Weights are rounded to its storage format first (nearest, ties to even);
/// the order of operations is that of simulate/arithmetic/apply.h for `sequential`, and of simulate/arithmetic/order.h
/// for the others: every answer is the one that the order gives for a word that ends there. In those, once a layer did
/// not decode, the layers above it decode nothing until `reset`. `exact` is simulate/evaluate/exact_network.h in every
/// order. The network must be valid and must outlive the evaluator. Throws LimitError when an order's matrices are too
/// large.
std::unique_ptr<Evaluator> make_evaluator(const Network& network, ArithmeticName arithmetic,
                                          Form form = Form::kStructured, Order order = {});
std::unique_ptr<Evaluator> make_evaluator(Network&& network, ArithmeticName arithmetic, Form form = Form::kStructured,
                                          Order order = {}) = delete;

/// How often the network's answer was the automaton's, at one length.
struct LengthReport {
  std::uint64_t length = 0;
  std::uint64_t words = 0;
  std::uint64_t right_state = 0;    ///< words whose final state is right
  std::uint64_t right_output = 0;   ///< words whose final output is right
  std::uint64_t letters = 0;        ///< positions compared
  std::uint64_t right_letters = 0;  ///< positions whose output is right
  friend bool operator==(const LengthReport&, const LengthReport&) = default;
};

struct SampleOptions {
  std::vector<std::uint64_t> lengths{100};
  std::uint64_t words = 16;  ///< per length
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< 0: all
  Form form = Form::kStructured;
  Order order{};
  /// Called now and then with letters done and letters in all; may throw Interrupted. Never two calls at a time.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct SampleReport {
  std::vector<LengthReport> lengths;                ///< in increasing length
  std::uint64_t letters = 0;                        ///< letters read, each once
  std::optional<Word> failing_word;                 ///< the first disagreement found, when short enough to print
  std::optional<std::uint64_t> failing_at;          ///< its position (letters read)
  std::optional<std::uint64_t> failing_word_index;  ///< which of the words it is: the stream of RandomWord
  friend bool operator==(const SampleReport&, const SampleReport&) = default;
};

/// Failing words up to this length are kept whole.
inline constexpr std::uint64_t kPrintableLength = 10'000;

/// Runs the network beside the automaton on random words; the decoded state is compared at every letter. Word w is
/// RandomWord(letters, seed, w), so the words of one length are the beginnings of the words of the next and each is
/// read once, to the greatest length. Of all disagreements the least position is reported, then the least word.
/// Deterministic in the seed, whatever the number of threads; a word is one thread's. Memory does not grow with the
/// lengths.
SampleReport sample(const Network& network, ArithmeticName arithmetic, const SampleOptions& options);

/// The same comparison on every word of a stream, in order, on one thread. The report has one row, for the longest
/// length. `options.lengths`, `words`, `seed` and `threads` are not used; progress is told letters done and 0.
SampleReport sample_stream(const Network& network, ArithmeticName arithmetic, WordStream& words,
                           const SampleOptions& options = {});

// A network whose stored weights are numbers of a format: what a framework holds after it has loaded the weights in
// bf16, as a network of its own that can be proved or refuted in any arithmetic.

/// Every weight of A, B and H_0 rounded once to `format`, to nearest, ties to even; the provenance's note says so.
/// Codewords stay as they are, since decoding is in fp64 everywhere. Structured forms stay structured: maps, signs and
/// zeros have nothing to round; a reflection keeps its rounded key as integers times a power of two, (e_i − e_j)/√2 in
/// bf16 becomes 181/256·(e_i − e_j); a rotation becomes the block-diagonal of its rounded 2×2 matrices.
/// In the format's arithmetics, but for tf32, the structured form of the result computes what the given network's does,
/// bit for bit. Networks are in fp64 already, so that rounding to it changes nothing.
/// Throws InputError when a weight overflows the format, or a rounded key has more than 31 bits after the point, which
/// happens in fp32 to entries below 1/256. O(weights).
Network quantise(const Network& network, Precision format);

/// True if rounding them to `format` changes none of these weights: a wider format then holds the same. O(weights).
bool has_weights_of(const Network& network, Precision format);

}  // namespace krohn
