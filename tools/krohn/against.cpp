#include "tools/krohn/against.h"

#include <fmt/format.h>

#include "krohn/automata/operations/equivalence.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "tools/krohn/verdict.h"

namespace krohn {
namespace {

/// The word in the model's letters; nothing when it has a letter that the model lacks.
std::optional<Word> in_letters_of_model(const Word& word, const AlphabetRefinement& common) {
  Word letters;
  for (const Letter letter : word) {
    if (!common.in_a[letter]) return std::nullopt;
    letters.push_back(*common.in_a[letter]);
  }
  return letters;
}

/// What the network says after the word, by name.
std::string output_of(const Network& network, ArithmeticName arithmetic, const Word& word) {
  const auto evaluator = make_evaluator(network, arithmetic);
  std::optional<State> state = evaluator->current();
  for (const Letter letter : word) state = evaluator->step(letter);
  if (!state) return "nothing";
  return network.automaton.output_names()[network.automaton.output(*state)];
}

void refute(Certificate& certificate, std::string evidence) {
  certificate.claim = Claim::kRefuted;
  certificate.method = "another language";
  certificate.evidence = std::move(evidence);
  certificate.proof = {};
  certificate.shortest = false;
  certificate.failing_word.reset();
}

/// The other language's output after the word, by name: an acceptor rejects a word with a letter that it lacks.
std::string expected_output(const Dfa& expected, const Word& word, const AlphabetRefinement& common) {
  State state = expected.initial();
  for (const Letter letter : word) {
    if (!common.in_b[letter]) return "reject";
    state = expected.next(state, *common.in_b[letter]);
  }
  return expected.output_names()[expected.output(state)];
}

}  // namespace

void compare_with_language(Certificate& certificate, const Claimant& model, const std::string& language,
                           const LanguageOptions& options) {
  const Dfa expected = load_language(language, options);
  const AlphabetRefinement common = refine(model.automaton.alphabet(), expected.alphabet());
  const auto word = distinguishing_word(model.automaton, expected);
  if (!word) return;
  const std::string shown = quoted_word(common.merged, *word);
  const std::string right = expected_output(expected, *word, common);
  const auto letters = in_letters_of_model(*word, common);
  if (!letters)
    return refute(certificate,
                  fmt::format("{} gives \"{}\" on {}, which the model cannot read", language, right, shown));
  const std::string said = model.output_after(*letters);
  if (said == right)
    throw LimitError(
        fmt::format("{} and the model's own automaton differ on {}, where the model sides with {}: "
                    "neither is proved; compile the language again",
                    language, shown, language));
  const bool proved =
      certificate.claim == Claim::kProved;  // then a shortest word for the automata is one for the model
  refute(certificate, fmt::format("{} gives \"{}\" on {}, the model \"{}\"", language, right, shown, said));
  certificate.failing_word = letters;
  certificate.shortest = proved;
}

void compare_with_language(Certificate& certificate, const Network& network, const std::string& language,
                           const LanguageOptions& options) {
  const auto output_after = [&](const Word& word) { return output_of(network, certificate.arithmetic, word); };
  compare_with_language(certificate, Claimant{network.automaton, output_after}, language, options);
}

}  // namespace krohn
