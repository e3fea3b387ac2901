// simulate/run/letter_reader.h — a machine that reads words letter by letter and answers, whatever is inside
// it; and the automaton that it is held against. What certificates need of a language model, or of a trained model.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/base/random.h"

namespace krohn {

/// Immutable, shared by threads.
class LetterReader {
 public:
  /// All that it remembers between letters, always as many words of 32 bits. Machines with equal memories go on alike.
  using Memory = std::vector<std::uint32_t>;

  /// An answer that it does not give: two are equally good, or a number is not finite.
  static constexpr Output kNoAnswer = UINT32_MAX;
  enum class Missing : std::uint8_t {
    kTie,
    kLogit,  ///< one is not finite
    kState,  ///< and neither is the state
    kOther,  ///< none of the answers that the automaton has
  };
  struct Answer {
    Output output = kNoAnswer;
    double margin = 0;                ///< how far the second best answer is behind, in what the machine compares
    Missing missing = Missing::kTie;  ///< with kNoAnswer: why
  };

  virtual ~LetterReader() = default;
  virtual Letter letters() const = 0;
  /// Before the first letter, and what it answers there.
  virtual Memory start() const = 0;
  virtual Answer answer_at_start() const = 0;
  /// Reads a letter. The answer after it, where it is `asked`.
  virtual Answer step(Letter letter, Memory& memory, bool asked) const = 0;
  /// The same for many words, one letter of each: machines may take fewer instructions for them together.
  virtual void step_many(std::span<const Letter> letters, std::span<Memory> memories, bool asked,
                         std::span<Answer> answers) const {
    for (std::size_t i = 0; i < letters.size(); ++i) answers[i] = step(letters[i], memories[i], asked);
  }
};

/// The words for a missing answer, before the reason.
inline constexpr char kNoAnswerName[] = "no answer";

/// "no answer: a logit is not finite (the state has left fp32)".
inline std::string in_words(LetterReader::Missing missing, const std::string& arithmetic) {
  const std::string none = std::string(kNoAnswerName) + ": ";
  switch (missing) {
    case LetterReader::Missing::kLogit:
      return none + "a logit is not finite";
    case LetterReader::Missing::kState:
      return none + "a logit is not finite (the state has left " + arithmetic + ")";
    case LetterReader::Missing::kOther:
      return none + "it is none of the automaton's";
    default:
      return none + "two are equally good";
  }
}

/// Returns where a number that is not finite is: in the state, or else in a logit.
template <class Numbers>
LetterReader::Missing why_not_finite(const Numbers& state) {
  for (const auto number : state)
    if (!std::isfinite(static_cast<double>(number))) return LetterReader::Missing::kState;
  return LetterReader::Missing::kLogit;
}

/// The truth for a machine: an automaton over its letters, with the right answer in every state.
struct TrackedAutomaton {
  static constexpr Output kNotAsked = UINT32_MAX - 1;    ///< whatever the machine says
  static constexpr Output kNoSuchWord = UINT32_MAX - 2;  ///< no word leads here, nor to what follows
  static constexpr Output kNeverGiven = UINT32_MAX - 3;  ///< an answer that the machine does not have

  Dfa automaton;
  std::vector<Output> wanted;  ///< by state

  bool is_asked(State state) const { return wanted[state] != kNotAsked && wanted[state] != kNoSuchWord; }
};

/// Letters of equal chances, drawn again where one cannot stand; shorter than `length` where none of 256 can, and
/// empty without letters.
Word random_tracked_word(const TrackedAutomaton& tracked, std::uint64_t length, Random& random);

/// So many words of so many letters that no move of a state by a letter is likely to be missed: each about thirty
/// times, within 1,000 and 20,000 words.
struct WordsOfMoves {
  std::uint64_t words = 0, length = 12;
};
WordsOfMoves words_of_moves(const Dfa& automaton);

}  // namespace krohn
