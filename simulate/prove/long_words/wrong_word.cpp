#include "krohn/simulate/prove/long_words/wrong_word.h"

#include <utility>
#include <vector>

#include "krohn/groups/float_environment.h"
#include "krohn/groups/random.h"
#include "krohn/simulate/evaluate/evaluate.h"

namespace krohn {
namespace {

constexpr std::uint64_t kFirstLength = 64;
constexpr std::size_t kPeriods = 112, kRandomWords = 16;
constexpr std::size_t kLongestPeriod = 6;

/// All words of 1, 2, … letters as long as they are few, then random ones. The power of a power is read twice.
std::vector<Word> periods(Letter letters, Random& random) {
  std::vector<Word> words{{}};
  for (std::size_t begin = 0, length = 1; length <= kLongestPeriod; ++length) {
    const std::size_t end = words.size();
    if (end + (end - begin) * letters > kPeriods) break;
    for (std::size_t i = begin; i < end; ++i)
      for (Letter letter = 0; letter < letters; ++letter) {
        Word word = words[i];
        word.push_back(letter);
        words.push_back(std::move(word));
      }
    begin = end;
  }
  words.erase(words.begin());
  while (words.size() < kPeriods) {
    Word word(1 + random.below(kLongestPeriod));
    for (Letter& letter : word) letter = static_cast<Letter>(random.below(letters));
    words.push_back(std::move(word));
  }
  return words;
}

/// The words, of any length.
class Words {
 public:
  Words(Letter letters, std::uint64_t seed) : letters_(letters), seed_(seed) {
    Random random(seed);
    periods_ = periods(letters, random);
  }
  std::size_t size() const { return periods_.size() + kRandomWords; }
  Word word(std::size_t index, std::uint64_t length) const {
    if (index >= periods_.size()) return RandomWord(letters_, seed_, index - periods_.size()).slice(0, length);
    const Word& period = periods_[index];
    Word word(length);
    for (std::uint64_t t = 0; t < length; ++t) word[t] = period[t % period.size()];
    return word;
  }

 private:
  Letter letters_;
  std::uint64_t seed_;
  std::vector<Word> periods_;
};

/// Cuts the word behind its first wrong answer; nothing when there is none.
std::optional<WrongWord> cut_at_error(const Dfa& automaton, Word word, const std::vector<State>& answers) {
  State state = automaton.initial();
  for (std::size_t t = 0; t < word.size(); ++t) {
    state = automaton.next(state, word[t]);
    const State given = answers[t];
    if (given == state || (given != kNoState && automaton.output(given) == automaton.output(state))) continue;
    word.resize(t + 1);
    return WrongWord{std::move(word), {{}, state, given == kNoState ? std::nullopt : std::optional(given)}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<WrongWord> find_wrong_word(const Network& network, ArithmeticName arithmetic, Form form,
                                         const WrongWordOptions& options, std::uint64_t& letters_read) {
  const FloatEnvironment environment;
  const Dfa& automaton = network.automaton;
  if (automaton.letters() == 0) return std::nullopt;
  const Words words(automaton.letters(), options.seed);
  const auto evaluator = make_evaluator(network, arithmetic, form);
  std::vector<State> answers;
  std::optional<WrongWord> shortest;
  for (std::uint64_t length = kFirstLength; !shortest; length *= 2) {
    if (letters_read + length * words.size() > options.letters) break;
    for (std::size_t index = 0; index < words.size(); ++index) {
      Word word = words.word(index, length);
      answers.resize(word.size());
      evaluator->reset();
      evaluator->run(word, answers);
      letters_read += length;
      if (options.progress) options.progress(letters_read);
      std::optional<WrongWord> wrong = cut_at_error(automaton, std::move(word), answers);
      if (wrong && (!shortest || wrong->word.size() < shortest->word.size())) shortest = std::move(wrong);
    }
  }
  return shortest;
}

}  // namespace krohn
