#include "simulate/packed_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "groups/error.h"
#include "simulate/random_letters.h"

namespace krohn {
namespace {

/// k^s for the letters of one byte; at most 256.
std::uint32_t combinations(Letter letters) {
  std::uint32_t power = 1;
  for (std::uint32_t i = 0; i < letters_per_byte(letters); ++i) power *= letters;
  return power;
}

void require_packable(Letter letters) {
  if (letters > 256)
    throw InputError(fmt::format("words over {} letters cannot be packed into bytes; the limit is 256", letters));
}

/// When a block of the generator holds whole bytes, a byte is one wide digit of it.
void fill_by_blocks(const RandomWord& word, std::uint64_t first, std::span<std::uint8_t> out) {
  const std::uint32_t base = combinations(word.letters());
  const std::uint64_t bytes_per_block = word.letters_per_block() / letters_per_byte(word.letters());
  std::uint64_t block = first / bytes_per_block, skip = first % bytes_per_block;
  for (std::size_t done = 0; done < out.size(); ++block, skip = 0) {
    std::uint64_t fraction = random_block(word.key(), block);
    for (std::uint64_t i = 0; i < skip; ++i) next_letter(fraction, base);
    const std::size_t end = std::min<std::size_t>(out.size(), done + (bytes_per_block - skip));
    while (done < end) out[done++] = static_cast<std::uint8_t>(next_letter(fraction, base));
  }
}

}  // namespace

std::uint32_t letters_per_byte(Letter letters) {
  if (letters > 256) return 0;
  std::uint32_t count = 0;
  for (std::uint32_t power = std::max<Letter>(letters, 2); power <= 256; power *= std::max<Letter>(letters, 2)) ++count;
  return count;
}

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
  const std::uint32_t per_byte = letters_per_byte(word.letters());
  if (word.letters_per_block() % per_byte == 0) return fill_by_blocks(word, first, out);
  std::array<Letter, 1024> buffer;
  const std::size_t bytes_at_once = buffer.size() / per_byte;
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t bytes = std::min(bytes_at_once, out.size() - done);
    const std::span<Letter> letters(buffer.data(), bytes * per_byte);
    word.fill((first + done) * per_byte, letters);
    pack(word.letters(), letters, out.subspan(done, bytes));
    done += bytes;
  }
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
