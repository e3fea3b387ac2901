#include "krohn/automata/words/word_powers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace krohn {
namespace {

constexpr std::size_t kLongestPeriod = 256;

struct Brackets {
  std::string_view open, close;
};

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

/// How the letters of one alphabet are written, and what that leaves free.
class Notation {
 public:
  explicit Notation(const Alphabet& alphabet) : alphabet_(alphabet), separator_(alphabet.is_characterwise() ? 0 : 1) {
    std::string all;
    for (Letter letter = 0; letter < alphabet.size(); ++letter) {
      const std::string text = alphabet.format_word(std::span(&letter, 1));
      widths_.push_back(width_of(text));
      all += text;
    }
    constexpr std::array<Brackets, 4> kBrackets = {{{"(", ")"}, {"[", "]"}, {"{", "}"}, {"⟨", "⟩"}}};
    const auto is_free = [&all](const Brackets& pair) {
      return all.find(pair.open) == std::string::npos && all.find(pair.close) == std::string::npos;
    };
    if (const auto found = std::ranges::find_if(kBrackets, is_free); found != kBrackets.end()) brackets_ = *found;
    // Tokens with white space inside are protected by their own brackets or by quotes; characters are not.
    always_in_brackets_ = all.find('^') != std::string::npos ||
                          (alphabet.is_characterwise() && all.find_first_of(" \t\n\r\v\f") != std::string::npos);
  }

  bool has_powers() const { return brackets_.has_value(); }

  /// Characters of the letters alone.
  std::size_t width(std::span<const Letter> letters) const {
    std::size_t sum = 0;
    for (const Letter letter : letters) sum += widths_[letter] + separator_;
    return sum;
  }

  /// One factor; `count` 1 is a run of letters.
  std::string factor(std::span<const Letter> block, std::size_t count) const {
    const std::string letters = alphabet_.format_word(block);
    const bool in_brackets = has_powers() && (always_in_brackets_ || (count > 1 && block.size() > 1));
    const std::string base = in_brackets ? fmt::format("{}{}{}", brackets_->open, letters, brackets_->close) : letters;
    return count > 1 ? fmt::format("{}^{}", base, count) : base;
  }

 private:
  const Alphabet& alphabet_;
  std::size_t separator_;
  std::vector<std::size_t> widths_;  ///< of every letter, in characters
  std::optional<Brackets> brackets_;
  bool always_in_brackets_ = false;
};

struct Power {
  std::size_t period = 1, count = 1;
};

/// How often the first `period` letters of the word stand there one after another.
std::size_t repetitions(std::span<const Letter> word, std::size_t period) {
  std::size_t same = 0;
  while (period + same < word.size() && word[same] == word[period + same]) ++same;
  return 1 + same / period;
}

/// The power at the beginning of the word that saves most characters; of count 1 when none does.
Power best_power(std::span<const Letter> word, const Notation& notation) {
  constexpr std::size_t kMarks = 5;  // a space before and behind, "^", and brackets or a second digit
  Power best;
  std::size_t most_saved = 0;
  for (std::size_t period = 1; period <= std::min(kLongestPeriod, word.size() / 2); ++period) {
    const std::size_t count = repetitions(word, period);
    if (count == 1) continue;
    const std::size_t written_out = (count - 1) * notation.width(word.first(period));
    const std::size_t marks = kMarks + std::to_string(count).size();
    if (written_out <= marks || written_out - marks <= most_saved) continue;
    most_saved = written_out - marks;
    best = {period, count};
  }
  return best;
}

/// Factors are added until one does not fit.
class Line {
 public:
  explicit Line(std::size_t most) : most_(most) {}

  bool add(const std::string& factor) {
    const std::size_t width = width_of(factor) + (text_.empty() ? 0 : 1);
    if (width > most_ - width_) return false;
    text_ += (text_.empty() ? "" : " ") + factor;
    width_ += width;
    return true;
  }

  std::size_t room() const { return most_ - width_; }
  std::string finished(bool is_whole) const { return is_whole ? text_ : text_ + (text_.empty() ? "…" : " …"); }

 private:
  std::size_t most_, width_ = 0;
  std::string text_;
};

/// A run of letters, or as many of its first letters as fit. Returns whether all did.
bool add_run(Line& line, const Notation& notation, std::span<const Letter> run) {
  if (run.empty() || line.add(notation.factor(run, 1))) return true;
  std::size_t fits = 0;
  while (fits < run.size() && notation.width(run.first(fits + 1)) <= line.room()) ++fits;
  while (fits > 0 && !line.add(notation.factor(run.first(fits), 1))) --fits;
  return false;
}

}  // namespace

std::string word_in_powers(const Alphabet& alphabet, std::span<const Letter> word, std::size_t most) {
  const Notation notation(alphabet);
  Line line(most);
  std::size_t run = 0, at = 0;  // letters from `run` to `at` are in no factor yet
  while (at < word.size() && notation.has_powers()) {
    const Power power = best_power(word.subspan(at), notation);
    if (power.count == 1) {
      ++at;
      continue;
    }
    if (!add_run(line, notation, word.subspan(run, at - run)) ||
        !line.add(notation.factor(word.subspan(at, power.period), power.count)))
      return line.finished(false);
    run = at += power.period * power.count;
  }
  return line.finished(add_run(line, notation, word.subspan(run)));
}

}  // namespace krohn
