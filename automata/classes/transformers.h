// automata/classes/transformers.h — what the literature decides for transformers, each with its source.
#pragma once

#include <string>
#include <vector>

#include "krohn/automata/monoid/algebra.h"

namespace krohn {

/// One family of transformers, or a class of languages named for them, with its answer for one language. The answers
/// are the theorems' of the source; nothing is built or proved here.
struct TransformerVerdict {
  std::string family;
  Answer answer = Answer::kUnknown;
  std::string source;
  std::string reason;
};

/// `dfa` is a minimal acceptor, `algebra` that of its syntactic monoid.
std::vector<TransformerVerdict> transformers(const Dfa& dfa, const Algebra& algebra);

/// Two states of one strongly connected component that a letter takes to one of them all; nothing when there are none.
/// There are some exactly when two idempotents of the monoid share an R-class.
std::string merging_inside_component(const Dfa& dfa);

}  // namespace krohn
