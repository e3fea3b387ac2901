// simulate/evaluate/lanes/accepted_word.h — random words that the automaton accepts, as a stream to test networks with:
// where few words are accepted, uniformly random words leave the automaton in its dead state.
#pragma once

#include <cstdint>
#include <memory>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {

/// `words` words of one length, each uniform over the accepted words of that length (automata/words/uniform_words.h:
/// exactly, while the table of counts takes at most 64 MB; with a stated error beyond). Word w depends on the seed and
/// on w alone. One word is held at a time.
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

}  // namespace krohn
