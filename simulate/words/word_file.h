// simulate/words/word_file.h — words read from a text file, a block at a time, however long they are.
#pragma once

#include <fstream>
#include <iosfwd>
#include <string>
#include <string_view>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/simulate/words/word_stream.h"

namespace krohn {

/// A UTF-8 text file as one word, in the spelling of Alphabet::parse_word; line ends separate names, and are skipped
/// between characters unless they are letters. Memory: one block of 64 KiB of text and its letters; more only while a
/// bracket or a quote of a name stays open, and then at most 1 MiB.
class WordFile final : public WordStream {
 public:
  /// Opens `path` ("-": standard input). Throws SystemError when it cannot. The alphabet is copied.
  WordFile(const std::string& path, const Alphabet& alphabet);
  /// The same from a stream that outlives this object; `where` begins the messages.
  WordFile(std::istream& stream, std::string where, const Alphabet& alphabet);

  bool next_word() override;
  /// Throws InputError with what parse_word says, SystemError when the file cannot be read on.
  std::size_t read(std::span<Letter> out) override;

 private:
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  bool refill();
  void parse_block();
  std::size_t find_cut() const;
  void parse(std::size_t length);

  std::ifstream file_;
  std::istream* stream_;
  std::string where_;
  Alphabet alphabet_;
  bool joins_lines_;  ///< line ends are only there to break a long word
  std::string text_;  ///< read; parsed before at_
  std::size_t at_ = 0;
  Word letters_;  ///< parsed, but not handed out before given_
  std::size_t given_ = 0;
  std::uint64_t parsed_ = 0;  ///< letters of this word, in all
  bool started_ = false, word_ended_ = false, text_ended_ = false;
};

}  // namespace krohn
