#include "krohn/simulate/evaluate/lanes/accepted_word.h"

#include <algorithm>
#include <variant>

#include "krohn/automata/words/uniform_words.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/words/random_letters.h"

namespace krohn {

struct AcceptedWordStream::Source {
  std::variant<ExactUniformWords, ScaledUniformWords> words;

  static Source of(const Dfa& dfa, std::uint64_t length) {
    constexpr std::uint64_t kExactBytes = 64'000'000;
    try {
      return {ExactUniformWords(dfa, length, kExactBytes)};
    } catch (const LimitError&) {
      return {ScaledUniformWords(dfa, length)};
    }
  }
};

AcceptedWordStream::AcceptedWordStream(const Dfa& dfa, std::uint64_t length, std::uint64_t words, std::uint64_t seed)
    : source_(std::make_unique<const Source>(Source::of(dfa, length))), words_(words), seed_(seed) {}

AcceptedWordStream::~AcceptedWordStream() = default;

bool AcceptedWordStream::next_word() {
  if (next_ == words_) return false;
  std::mt19937_64 random(random_key(seed_, next_++));
  word_ = std::visit([&](const auto& source) { return source.draw(random); }, source_->words);
  given_ = 0;
  return true;
}

std::size_t AcceptedWordStream::read(std::span<Letter> out) {
  const std::size_t count = std::min(out.size(), word_.size() - given_);
  std::copy_n(word_.begin() + static_cast<std::ptrdiff_t>(given_), count, out.begin());
  given_ += count;
  return count;
}

}  // namespace krohn
