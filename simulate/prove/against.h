// simulate/prove/against.h — a model held against a language that it was not told of.
#pragma once

#include <memory>
#include <optional>

#include "krohn/simulate/prove/verify.h"

namespace krohn {

/// What the verdict, which is about the model's own automaton, says of the language that the question names.
/// Equivalent automata: the same. Otherwise a shortest word tells them apart, and unless the model happens to side with
/// the language on it, the verdict becomes a refutation by that word, shortest where the automaton was proved. Where
/// the model sides with the language, its answers are searched against the language itself. Throws InputError when the
/// letters differ.
void compare_with_language(ModelVerdict& verdict, const Network& network, const Question& question);

/// The network as what answers with outputs, beside the language over the network's letters: what random words are held
/// against where a language is named. Nothing in other orders than the sequential one, in exact arithmetic, and where
/// the letters are not the same one by one.
struct ReadLanguage {
  std::unique_ptr<LetterReader> reader;
  TrackedAutomaton tracked;
};
std::optional<ReadLanguage> read_language(const Network& network, const Question& question);

/// The same for what reads letters, given the automaton whose states `tracked` asks about.
void compare_with_language(ModelVerdict& verdict, const ReadModel& model, const Question& question);

}  // namespace krohn
