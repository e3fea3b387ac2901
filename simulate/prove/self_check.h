// simulate/prove/self_check.h — a verdict is checked before it is told: a proof is held against the model once more, by
// other means, and a model against a language that it was not told of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// Words that meet every transition of the automaton (a shortest word to its state, then the letter), powers of short
/// words, and random words, each at most `longest` letters, `letters` of them in all, given to `read` one after
/// another until it says false.
void for_replayed_words(const Dfa& automaton, std::uint64_t letters, std::uint64_t longest,
                        const std::function<bool(const Word&)>& read);

/// The first such word on which the network does not follow its automaton in the certificate's arithmetic, form and
/// order, cut at its first wrong answer; nothing when all `letters` are right, or as many as two seconds allow, or half
/// of the time that is left. `letters_read` counts.
std::optional<Word> replay(const Network& network, const Certificate& certificate, std::uint64_t letters,
                           std::uint64_t& letters_read);
std::optional<Word> replay(const LetterReader& reader, const TrackedAutomaton& tracked, const Certificate& certificate,
                           std::uint64_t letters, std::uint64_t& letters_read);

// The evidence that a checker needs beside a proof's outline: every tuple of labels, every pair, with what
// comes next. Proofs find these and do not keep them; files and self-checks need them.

struct StepLimits {
  std::uint64_t max_steps = 1'000'000;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
};

/// The certificate with its steps listed (docs/reference/certificate-file.md); as it was where none are needed. Throws
/// LimitError past a limit. O(steps · letters · cost of a letter).
Certificate with_steps(Certificate certificate, const Network& network, const StepLimits& limits = {});
/// The same of what reads letters, whose memory is that of the certificate's operations in their format.
Certificate with_steps(Certificate certificate, const LetterReader& reader, const StepLimits& limits = {});

/// The tracked states, as certificates write them: the states that words lead to, in the order in which a breadth-first
/// search meets them, and at the end one to which none does, if any letter leads to such a state.
TrackedAutomaton language_to_write(const TrackedAutomaton& tracked);

/// The claim of a search of pairs or of a failing word, with what a file needs of it: the language, and its proof. As
/// it was where there is none (another claim, a word that was not kept).
void give_proof(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked);

// A model held against a language that it was not told of.

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
