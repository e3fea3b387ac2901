// tools/krohn/checkpoint_target.h — `krohn compile --target fla-…`: a language to a checkpoint folder.
#pragma once

#include <string>
#include <vector>

#include "automata/dfa.h"

namespace krohn {

/// "fla-deltanet", "fla-gated-deltaproduct".
std::vector<std::string> checkpoint_targets();

/// Writes the folder and says, as text or JSON, what is in it. Throws as constructions/export_checkpoint.h does.
void compile_checkpoint(const Dfa& automaton, const std::string& language, const std::string& target,
                        const std::string& folder, bool json);

}  // namespace krohn
