// simulate/evaluate/lanes/sample.h — random tests of networks in parts: on words that begin with any number, and
// reports of several parts added up.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {

// Random words that the automaton accepts, as a stream to test networks with:
// where few words are accepted, uniformly random words leave the automaton in its dead state.

/// `words` words of one length, each uniform over the accepted words of that length
/// (automata/operations/accepted_words.h: exactly, while the table of counts takes at most 64 MB; with a stated error
/// beyond). Word w depends on the seed and on w alone. One word is held at a time.
class AcceptedWordStream final : public WordStream {
 public:
  /// Throws InputError unless `dfa` is an acceptor that accepts some word of that length.
  AcceptedWordStream(const Dfa& dfa, std::uint64_t length, std::uint64_t words, std::uint64_t seed);
  ~AcceptedWordStream() override;

  bool next_word() override;
  std::size_t read(std::span<Letter> out) override;

 private:
  struct Source;
  std::unique_ptr<const Source> source_;
  std::uint64_t words_, seed_, next_ = 0;
  Word word_;
  std::size_t given_ = 0;
};

/// `sample` (simulate/evaluate/evaluate.h) on the words first, first + 1, … instead of 0, 1, ….
SampleReport sample_from(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                         const SampleOptions& options);

/// The lengths, each once, in increasing order. Throws InputError where there is nothing to read.
std::vector<std::uint64_t> sample_lengths(const Network& network, const SampleOptions& options);

/// A word as far as it was read.
struct ReadWord {
  State state = 0, answer = 0;  ///< the automaton's; the network's, or kNoState
  std::uint64_t letters = 0, right_letters = 0;
};
void add_word(LengthReport& row, const Dfa& automaton, const ReadWord& word);

/// A word's first failure, of which the report keeps the least, and of the least word.
void note_failure(SampleReport& report, std::uint64_t at, std::uint64_t word);
/// Gives the report the failing word where that is short enough to print.
void keep_failing_word(SampleReport& report, Letter letters, std::uint64_t seed);

/// Adds the report of other words of the same lengths: what one test of all of them says.
void add_report(SampleReport& sum, const SampleReport& part);

}  // namespace krohn
