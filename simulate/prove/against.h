// simulate/prove/against.h — a model held against a language that it was not told of.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "krohn/simulate/prove/verify.h"

namespace krohn {

// The verdict is about the model's own automaton; what does it say of the language that the question names?
// Equivalent automata: the same. Otherwise a shortest word tells them apart, and unless the model happens to side with
// the language on it, the verdict becomes a refutation by that word, shortest where the automaton was proved.

/// False where that says nothing: the model sides with the language against its own automaton, or what refuted it are
/// states that the language does not tell apart. Then its answers have to be held against the language itself.
bool is_settled_by(const Language& language, ModelVerdict& verdict, const Network& network);

/// The same for what reads letters, given the automaton whose states `tracked` asks about. Throws LimitError where that
/// says nothing.
void compare_with_language(ModelVerdict& verdict, const ReadModel& model, const Question& question);

/// Throws InputError where automaton and language cannot be compared: their letters differ and not both are acceptors.
void require_comparable(const Dfa& own, const Language& language);

/// The network as a reader that answers with outputs, beside the language over the network's letters; views the
/// network. Nothing in other orders than the sequential one or in all of them, in exact arithmetic, and where the
/// letters are not the same one by one.
std::optional<ReadModel> read_language(const Network& network, const Question& question);

/// Returns the model's answer after the word, by name, or why there is none in that arithmetic.
std::string said_after(const ReadModel& model, const Word& word, ArithmeticName arithmetic);

/// Tells what the model and what it is held against say at the end of the failing word, where there is one. Throws
/// Contradiction, beginning with `name`, where they say the same.
void tell_answers(ModelVerdict& verdict, const ReadModel& model, const std::string& name);

}  // namespace krohn
