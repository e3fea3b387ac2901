#include "tools/krohn/word_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/simulate/evaluate/lanes/accepted_word.h"
#include "krohn/simulate/words/word_file.h"
#include "tools/krohn/count.h"
#include "tools/krohn/verdict.h"

namespace krohn {
namespace {

std::optional<std::string> after(const std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

/// The first word of the stream.
Word read_whole(WordStream& stream) {
  constexpr std::size_t kBlock = 1 << 16;
  Word word;
  if (!stream.next_word()) return word;
  for (std::size_t count = kBlock; count > 0;) {
    const std::size_t length = word.size();
    word.resize(length + kBlock);
    count = stream.read(std::span(word).subspan(length));
    word.resize(length + count);
  }
  return word;
}

Word stored_word(const std::string& text, const Dfa& dfa, std::uint64_t seed) {
  if (const auto path = after(text, "file:")) {
    WordFile file(*path, dfa.alphabet(), WordLayout::kOneWord);
    return read_whole(file);
  }
  if (const auto length = after(text, "accepted:")) {
    AcceptedWordStream accepted(dfa, parse_count(*length, text), 1, seed);
    return read_whole(accepted);
  }
  return dfa.alphabet().parse_word(after(text, "word:").value_or(text));
}

}  // namespace

WordSource WordSource::parse(const std::string& text, const Dfa& dfa, std::uint64_t seed) {
  WordSource word;
  if (const auto length = after(text, "random:")) {
    word.random_ = RandomWord(dfa.letters(), seed);
    word.length_ = parse_count(*length, text);
    word.title_ = fmt::format("random word of {} letters (seed {})", with_thousands(word.length_), seed);
    return word;
  }
  word.letters_ = stored_word(text, dfa, seed);
  word.length_ = word.letters_.size();
  word.title_ = quoted_word(dfa.alphabet(), word.letters_);
  return word;
}

void WordSource::fill(std::uint64_t first, std::span<Letter> out) const {
  if (random_)
    random_->fill(first, out);
  else
    std::copy_n(letters_.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
}

}  // namespace krohn
