#include "krohn/simulate/words/word_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;
constexpr std::size_t kLongestName = std::size_t{1} << 20;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// The greatest length that ends no character in the middle: well-formed text is cut before an incomplete last one.
std::size_t character_cut(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && text.size() - begin < 4 && (static_cast<unsigned char>(text[begin - 1]) & 0xC0) == 0x80) --begin;
  return begin == 0 || static_cast<unsigned char>(text[begin - 1]) < 0x80 ? text.size() : begin - 1;
}

/// Behind the last separator that neither a bracket nor a quote encloses, as Alphabet::parse_word splits names.
std::size_t name_cut(std::string_view text) {
  std::size_t cut = 0;
  int depth = 0;
  bool in_quote = false, at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_quote) {
      if (c == '\\') ++i;
      in_quote = c != '"';
    } else if (at_start && c == '"') {
      in_quote = true;
    } else if ((c == ',' || is_space(c)) && depth <= 0) {
      cut = i + 1;
      depth = 0;
      at_start = true;
      continue;
    } else {
      depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    }
    at_start = false;
  }
  return cut;
}

/// `text` without `\n` and `\r\n`.
std::string without_line_ends(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\n' && text.substr(i, 2) != "\r\n") joined += text[i];
  return joined;
}

/// Line ends are only there to break a long word.
bool joins_lines(const Alphabet& alphabet) { return alphabet.is_characterwise() && !alphabet.find(U'\n'); }

}  // namespace

WordFile::WordFile(const std::string& path, const Alphabet& alphabet)
    : stream_(&file_), where_(path), alphabet_(alphabet), joins_lines_(joins_lines(alphabet)) {
  if (path == "-") {
    stream_ = &std::cin;
    where_ = "standard input";
    return;
  }
  file_.open(path, std::ios::binary);
  if (!file_) throw SystemError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
}

WordFile::WordFile(std::istream& stream, std::string where, const Alphabet& alphabet)
    : stream_(&stream), where_(std::move(where)), alphabet_(alphabet), joins_lines_(joins_lines(alphabet)) {}

bool WordFile::next_word() { return !std::exchange(started_, true); }

std::size_t WordFile::read(std::span<Letter> out) {
  while (given_ == letters_.size() && !word_ended_) parse_block();
  const std::size_t count = std::min(out.size(), letters_.size() - given_);
  std::copy_n(letters_.begin() + static_cast<std::ptrdiff_t>(given_), count, out.begin());
  given_ += count;
  return count;
}

/// Adds a block of text; false at the end of the file.
bool WordFile::refill() {
  if (text_ended_) return false;
  text_.erase(0, at_);
  at_ = 0;
  const std::size_t before = text_.size();
  if (before > kLongestName)
    throw InputError(where_, fmt::format("no symbol ends within {} bytes; is a bracket or a quote left open?", before));
  text_.resize(before + kBlockBytes);
  stream_->read(text_.data() + before, static_cast<std::streamsize>(kBlockBytes));
  text_.resize(before + static_cast<std::size_t>(stream_->gcount()));
  if (stream_->bad()) throw SystemError(fmt::format("{}: cannot be read on", where_));
  text_ended_ = stream_->eof();
  return text_.size() > before;
}

/// Parses what is there of the word, as far as it can be cut, and notices its end.
void WordFile::parse_block() {
  if (const std::size_t cut = find_cut(); cut > 0) return parse(cut);
  if (refill()) return;
  parse(rest().size());
  word_ended_ = true;
}

/// How much of the text can be parsed before the rest is known; a CR that may belong to a line end stays.
std::size_t WordFile::find_cut() const {
  const std::size_t cut = alphabet_.is_characterwise() ? character_cut(rest()) : name_cut(rest());
  return cut > 0 && rest()[cut - 1] == '\r' ? cut - 1 : cut;
}

void WordFile::parse(std::size_t length) {
  Word word;
  try {
    const std::string_view text = rest().substr(0, length);
    word = joins_lines_ ? alphabet_.parse_word(without_line_ends(text)) : alphabet_.parse_word(text);
  } catch (const InputError& error) {
    throw InputError(where_, parsed_ == 0 ? error.what() : fmt::format("after {} letters: {}", parsed_, error.what()));
  }
  at_ += length;
  parsed_ += word.size();
  letters_ = std::move(word);
  given_ = 0;
}

}  // namespace krohn
