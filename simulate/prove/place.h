// simulate/prove/place.h — where the long work of a proof or a test runs; random words of the letters that may stand at
// each place, read side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/words/word.h"

namespace krohn {

/// The letters of RandomWord(letters, seed, number), each that cannot stand where it comes left out; after so many one
/// after another the word ends.
class DrawnWord {
 public:
  static constexpr int kTries = 256;

  DrawnWord(const TrackedAutomaton& tracked, std::uint64_t seed, std::uint64_t number)
      : tracked_(&tracked), word_(tracked.automaton.letters(), seed, number), slice_(kSlice) {}

  /// The letter that follows in a state. Nothing where the word ends.
  std::optional<Letter> next(State state);

 private:
  static constexpr std::size_t kSlice = 1 << 10;

  const TrackedAutomaton* tracked_;
  RandomWord word_;
  std::uint64_t drawn_ = 0;
  std::vector<Letter> slice_;
};

/// The first letters of that word, no more than `length`.
Word drawn_word(const TrackedAutomaton& tracked, std::uint64_t seed, std::uint64_t number, std::uint64_t length);

/// Words 0 … words − 1 of that kind, read to their ends or the first failure. `told` hears of the letters so far and
/// may throw Interrupted. The same whatever the number of threads.
std::optional<RandomFailure> first_failure(const LetterReader& reader, const TrackedAutomaton& tracked,
                                           const RandomTest& asked,
                                           const std::function<void(std::uint64_t)>& told = {});

/// Is called with what a model answers after the first t letters of words[word], where the automaton's state then is
/// asked about, and with anything where it is not: for each word in order, from t = 0 to its end, to a letter that
/// cannot stand or until nothing more of it is wanted (false), and for different words from several threads.
using HeardAnswer = std::function<bool(std::size_t word, std::size_t t, State state, Output answer)>;
using WordReading = std::function<void(std::span<const Word> words, const HeardAnswer& heard)>;

/// Words of the model's letters, read side by side by so many threads, each prefix that words share once. Views what
/// the model views.
WordReading word_reading(const ReadModel& model, unsigned threads = 0);

/// This process, on the processor. Floors above bring others (a CUDA device), which give the same answers, digit for
/// digit, and fall back on this one for what they cannot do.
class ProvingPlace {
 public:
  virtual ~ProvingPlace() = default;
  /// certify_reachable_set.
  virtual Certificate search_pairs(const Network& network, const CertifyOptions& options) const;
  /// simulate/evaluate/evaluate.h's test on random words.
  virtual SampleReport sample(const Network& network, ArithmeticName arithmetic, const SampleOptions& options) const;
  /// simulate/prove/place.h's test of what reads letters; `told` of the letters so far, and of how many.
  virtual std::optional<RandomFailure> first_failure(
      const ReadModel& model, const RandomTest& asked,
      const std::function<void(std::uint64_t, std::uint64_t)>& told) const;
  /// simulate/prove/place.h's reading of given words.
  virtual WordReading word_reading(const ReadModel& model, unsigned threads) const;
};

}  // namespace krohn
