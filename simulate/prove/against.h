// simulate/prove/against.h — a model held against a language that it was not told of.
#pragma once

#include "krohn/simulate/prove/verify.h"

namespace krohn {

/// What the verdict, which is about the model's own automaton, says of the language that the question names.
/// Equivalent automata: the same. Otherwise a shortest word tells them apart, and unless the model happens to side with
/// the language on it, the verdict becomes a refutation by that word, shortest where the automaton was proved. Where
/// the model sides with the language, its answers are searched against the language itself. Throws InputError when the
/// letters differ.
void compare_with_language(ModelVerdict& verdict, const Network& network, const Question& question);

/// The same for what reads letters, given the automaton whose states `tracked` asks about.
void compare_with_language(ModelVerdict& verdict, const ReadModel& model, const Question& question);

}  // namespace krohn
