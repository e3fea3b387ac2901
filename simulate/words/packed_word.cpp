#include "krohn/simulate/words/packed_word.h"

#include <fmt/format.h>

#include <array>

#include "krohn/groups/error.h"
#include "krohn/simulate/words/random_bytes.h"

namespace krohn {
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

}  // namespace krohn
