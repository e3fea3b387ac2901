// simulate/words/word_stream.h — words one after another, from wherever they come.
#pragma once

#include <cstddef>
#include <span>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

/// Words from somewhere, in order, read once: a file, a generator.
class WordStream {
 public:
  virtual ~WordStream() = default;
  /// Goes to the next word; false at the end. Call it before the first word too.
  virtual bool next_word() = 0;
  /// Reads up to out.size() further letters of this word; 0 at its end.
  virtual std::size_t read(std::span<Letter> out) = 0;
};

}  // namespace krohn
