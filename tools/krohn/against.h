// tools/krohn/against.h — a model against a language that it was not told of.
#pragma once

#include <functional>
#include <string>

#include "krohn/automata/language.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// A model and the automaton that it claims to be: what it answers after a word, by the output's name.
struct Claimant {
  const Dfa& automaton;
  std::function<std::string(const Word&)> output_after;
};

/// Compares the automaton of a model with `language`. Equivalent: `certificate`, which is about that automaton, is
/// about the language too. Otherwise a shortest word tells them apart, and unless the model happens to side with the
/// language on it, the certificate becomes a refutation by that word. Throws InputError when the letters differ.
void compare_with_language(Certificate& certificate, const Claimant& model, const std::string& language,
                           const LanguageOptions& options);
void compare_with_language(Certificate& certificate, const Network& network, const std::string& language,
                           const LanguageOptions& options);

}  // namespace krohn
