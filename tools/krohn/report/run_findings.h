// tools/krohn/report/run_findings.h — what `krohn report` finds out about a run of `krohn train` or `krohn import`, or
// about a checkpoint: the verdict of its own weights, and how it comes to that.
#pragma once

#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "tools/krohn/report/page_data.h"

namespace krohn {

struct RunQuestion {
  std::string subject;  ///< a folder, as the user wrote it
  LanguageOptions reading;
  CertifyOptions how;
  std::vector<std::uint64_t> lengths;  ///< of the samples; none: ten, thirty, … up to a thousand
  std::uint64_t words = 100;           ///< of each length
};

/// Automaton and language (which stays empty where the model's task is none), verdict, the constructions of the
/// automaton, and `run`:
///   model         its name, task, and how it is read
///   training      what run.json tells; absent of an imported model and of a checkpoint
///   certificate   that of the verdict, or why there is none
///   evaluator     the tensors and operations that the page evaluates the model by, or why it does not
///   accuracy      by length, with intervals
///   spectrum      the eigenvalues of the letters' matrices against those of an exact network, or why there are none
///   learned       the automaton that the model follows, and where it differs
///   margins       of the read-out along a word
/// Throws InputError for a task without a finite automaton, and for arithmetics that the model is not read in.
Findings run_findings(const RunQuestion& question);

}  // namespace krohn
