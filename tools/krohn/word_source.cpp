#include "tools/krohn/word_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "krohn/simulate/words/word.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/report/verdict.h"

namespace krohn {
namespace {

std::optional<std::string> after(const std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

constexpr std::size_t kMaxStored = std::size_t{1} << 26;  // 256 MiB

/// The first word of the stream, up to `most` letters.
Word read_beginning(WordStream& stream, std::size_t most) {
  constexpr std::size_t kBlock = 1 << 16;
  Word word;
  if (!stream.next_word()) return word;
  for (std::size_t count = kBlock; count > 0 && word.size() < most;) {
    const std::size_t length = word.size();
    word.resize(std::min(length + kBlock, most));
    count = stream.read(std::span(word).subspan(length));
    word.resize(length + count);
  }
  return word;
}

/// Where a word comes from that may be longer than memory.
std::shared_ptr<WordStream> stream_of(const std::string& text, const Dfa& dfa, std::uint64_t seed) {
  if (const auto path = after(text, "file:")) return std::make_shared<WordFile>(*path, dfa.alphabet());
  if (const auto length = after(text, "accepted:"))
    return std::make_shared<AcceptedWordStream>(dfa, parse_count(*length, text), 1, seed);
  return nullptr;
}

}  // namespace

WordSource WordSource::parse(const std::string& text, const Dfa& dfa, std::uint64_t seed) {
  WordSource word;
  if (const auto length = after(text, "random:")) {
    word.random_ = RandomWord(dfa.letters(), seed);
    word.length_ = parse_count(*length, text);
    word.title_ = fmt::format("random word of {} (seed {})", counted(word.length_, "letter"), seed);
    return word;
  }
  if (auto stream = stream_of(text, dfa, seed)) {
    word.letters_ = read_beginning(*stream, kMaxStored);
    if (word.letters_.size() == kMaxStored) word.rest_ = std::move(stream);
  } else {
    word.text_ = after(text, "word:").value_or(text);
    word.letters_ = dfa.alphabet().parse_word(*word.text_);
  }
  word.length_ = word.letters_.size();
  const std::string letters = counted(word.length_, "letter");
  if (text.starts_with("accepted:")) {
    word.title_ = quoted_word(dfa.alphabet(), word.letters_) + (word.is_open() ? " and what follows" : "");
    if (!word.is_open()) word.text_ = dfa.alphabet().format_word(word.letters_);
  } else if (!word.text_) {
    word.title_ = fmt::format("{} ({}{})", visible(text), letters, word.is_open() ? " and what follows" : "");
  } else {
    word.title_ = word.length_ == 0 ? "the empty word" : fmt::format("\"{}\" ({})", visible(*word.text_), letters);
  }
  return word;
}

std::size_t WordSource::read(std::uint64_t first, std::span<Letter> out) const {
  if (first >= length_) return rest_ == nullptr ? 0 : rest_->read(out);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), length_ - first));
  if (random_)
    random_->fill(first, out.first(count));
  else
    std::copy_n(letters_.begin() + static_cast<std::ptrdiff_t>(first), count, out.begin());
  return count;
}

}  // namespace krohn
