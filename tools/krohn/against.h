// tools/krohn/against.h — a network beside a language that it was not told of.
#pragma once

#include <string>

#include "automata/language.h"
#include "constructions/network.h"
#include "simulate/certificate.h"

namespace krohn {

/// Compares the automaton inside `network` with `language`. Equivalent: `certificate`, which is about that automaton,
/// is about the language too. Otherwise a shortest word tells them apart, and unless the network happens to side with
/// the language on it, the certificate becomes a refutation by that word. Throws InputError when the letters differ.
void compare_with_language(Certificate& certificate, const Network& network, const std::string& language,
                           const LanguageOptions& options);

}  // namespace krohn
