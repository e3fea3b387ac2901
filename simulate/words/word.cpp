#include "krohn/simulate/words/word.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "krohn/groups/base/error.h"

namespace krohn {

RandomWord::RandomWord(Letter letters, std::uint64_t seed, std::uint64_t stream)
    : letters_(letters), seed_(seed), key_(random_key(seed, stream)) {
  if (letters == 0) throw InputError("a random word needs an alphabet of at least one letter");
  per_block_ = krohn::letters_per_block(letters);
}

void RandomWord::fill(std::uint64_t first, std::span<Letter> out) const {
  std::uint64_t block = first / per_block_;
  std::uint64_t skip = first % per_block_;
  const std::uint64_t bits = random_bits(letters_);
  for (std::size_t done = 0; done < out.size(); ++block, skip = 0) {
    std::uint64_t fraction = random_block(key_, block) & bits;
    for (std::uint64_t digit = 0; digit < per_block_ && done < out.size(); ++digit) {
      const Letter letter = next_letter(fraction, letters_);
      if (digit >= skip) out[done++] = letter;
    }
  }
}

Letter RandomWord::at(std::uint64_t position) const {
  Letter letter = 0;
  fill(position, {&letter, 1});
  return letter;
}

Word RandomWord::slice(std::uint64_t first, std::uint64_t length) const {
  Word word(length);
  fill(first, word);
  return word;
}

namespace {

void require_packable(Letter letters) {
  if (letters > 256)
    throw InputError(fmt::format("words over {} letters cannot be packed into bytes; the limit is 256", letters));
}

}  // namespace

void pack(Letter letters, std::span<const Letter> word, std::span<std::uint8_t> out) {
  const std::uint32_t per_byte = letters_per_byte(letters);
  const Letter* letter = word.data();
  for (std::uint8_t& byte : out) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < per_byte; ++i) value = value * letters + *letter++;
    byte = static_cast<std::uint8_t>(value);
  }
}

void fill_packed(const RandomWord& word, std::uint64_t first, std::span<std::uint8_t> out) {
  fill_random_bytes(word.key(), word.letters(), first, out);
}

PackedWord::PackedWord(Letter letters, std::span<const Letter> word) : letters_(letters), size_(word.size()) {
  require_packable(letters);
  for (std::size_t i = 0; i < word.size(); ++i)
    if (word[i] >= letters)
      throw InputError(
          fmt::format("position {} of the word is letter {} of an alphabet of {}", i + 1, word[i], letters));
  const std::uint32_t per_byte = letters_per_byte(letters);
  const std::size_t whole = word.size() / per_byte;
  bytes_.resize(whole);
  pack(letters, word.first(whole * per_byte), bytes_);
  Word rest(word.begin() + static_cast<std::ptrdiff_t>(whole * per_byte), word.end());
  if (rest.empty()) return;
  rest.resize(per_byte, 0);
  bytes_.push_back(0);
  pack(letters, rest, std::span(bytes_).last(1));
}

PackedWord::PackedWord(const RandomWord& word, std::uint64_t length) : letters_(word.letters()), size_(length) {
  require_packable(letters_);
  const std::uint32_t per_byte = letters_per_byte(letters_);
  bytes_.resize((length + per_byte - 1) / per_byte);
  fill_packed(word, 0, bytes_);
  if (length % per_byte == 0) return;
  Word rest = word.slice(length - length % per_byte, length % per_byte);
  rest.resize(per_byte, 0);
  pack(letters_, rest, std::span(bytes_).last(1));
}

Letter PackedWord::at(std::uint64_t position) const {
  const std::uint32_t per_byte = letters_per_byte(letters_);
  std::uint32_t value = bytes_[position / per_byte];
  for (std::uint64_t i = position % per_byte + 1; i < per_byte; ++i) value /= letters_;
  return value % letters_;
}

void PackedWord::copy(std::uint64_t first, std::span<Letter> out) const {
  const std::uint32_t per_byte = letters_per_byte(letters_);
  std::uint64_t byte = first / per_byte, skip = first % per_byte;
  std::array<Letter, 8> digits;
  for (std::size_t done = 0; done < out.size(); ++byte, skip = 0) {
    std::uint32_t value = bytes_[byte];
    for (std::uint32_t i = per_byte; i-- > 0; value /= letters_) digits[i] = value % letters_;
    for (std::uint64_t i = skip; i < per_byte && done < out.size(); ++i) out[done++] = digits[i];
  }
}

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
    throw InputError(
        where_, parsed_ == 0 ? error.what() : fmt::format("after {}: {}", counted(parsed_, "letter"), error.what()));
  }
  at_ += length;
  parsed_ += word.size();
  letters_ = std::move(word);
  given_ = 0;
}

}  // namespace krohn
