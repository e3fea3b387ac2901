// simulate/evaluate.h — runs a network over words in a stated arithmetic, letter by letter, beside the automaton.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "constructions/network.h"
#include "constructions/precision.h"
#include "simulate/word.h"

namespace krohn {

/// Which form of A is multiplied with: the structured form (a permutation moves numbers, a reflection is two updates) or
/// the dense matrix derived from it.
enum class Form : std::uint8_t { kStructured, kDense };

/// A network in motion: `step` reads one letter and returns the state of the automaton that the readout gives, or
/// nothing when a decoder ties or the readout has no entry (a failure). Non-finite states never decode.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void reset() = 0;
  virtual std::optional<State> step(Letter letter) = 0;
  /// What the readout says before the first letter.
  virtual std::optional<State> current() const = 0;
  /// All numbers of all layers, converted exactly to double (layer by layer, column-major), for tests and tables.
  virtual std::vector<double> numbers() const = 0;
};

/// The evaluator of `network` in `precision`. Weights are rounded to the precision first (nearest, ties to even).
std::unique_ptr<Evaluator> make_evaluator(const Network& network, Precision precision, Form form = Form::kStructured);

/// How often the network's answer was the automaton's, at one length.
struct LengthReport {
  std::uint64_t length = 0;
  std::uint64_t words = 0;
  std::uint64_t right_state = 0;    ///< words whose final state is right
  std::uint64_t right_output = 0;   ///< words whose final output is right
  std::uint64_t letters = 0;        ///< positions compared
  std::uint64_t right_letters = 0;  ///< positions whose output is right
};

struct SampleOptions {
  std::vector<std::uint64_t> lengths{100};
  std::uint64_t words = 16;  ///< per length
  std::uint64_t seed = 1;
  unsigned threads = 0;      ///< 0: all
  Form form = Form::kStructured;
  /// Called now and then with letters done and letters in all; may throw Interrupted.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct SampleReport {
  std::vector<LengthReport> lengths;
  std::optional<Word> failing_word;         ///< the first disagreement found, when short enough to print
  std::optional<std::uint64_t> failing_at;  ///< its position (letters read)
};

/// Runs the network beside the automaton on random words of each length; the decoded state is compared at every letter.
/// Deterministic in the seed, whatever the number of threads.
SampleReport sample(const Network& network, Precision precision, const SampleOptions& options);

}  // namespace krohn
