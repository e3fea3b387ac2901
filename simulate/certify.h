// simulate/certify.h — proves that a network computes its automaton, or shows a shortest word on which it does not.
#pragma once

#include <cstdint>
#include <functional>

#include "constructions/network.h"
#include "simulate/certificate.h"
#include "simulate/evaluate.h"

namespace krohn {

struct CertifyOptions {
  Precision precision = Precision::kFp32;
  Form form = Form::kStructured;
  std::uint64_t max_pairs = 20'000'000;
  std::function<void(std::uint64_t)> progress;  ///< pairs so far; may throw Interrupted
};

/// Certificate 1 of MATH.md §5, *closed codewords*: in every layer, for every label and action, the evaluated A c + B is
/// bit for bit the codeword of one label, and the decoder knows it; the label machine so found emulates the automaton
/// (by induction over the wiring tables, all label tuples). Proved for every length, or nothing: not closing is no
/// refutation. O(Σ labels · actions · cost of one step).
std::optional<Certificate> certify_closed_codewords(const Network& network, const CertifyOptions& options);

/// Certificate 2, *closed reachable set*: breadth-first search over pairs (automaton state, all numbers of all layers)
/// under the actual arithmetic. It ends: proved. It meets a wrong answer: refuted by a shortest word. It meets
/// `max_pairs`: a kSampled certificate with `limit` set, and kProvedUpTo the last complete depth.
Certificate certify_reachable_set(const Network& network, const CertifyOptions& options);

/// The strongest that holds: closed codewords, then the reachable set.
Certificate certify(const Network& network, const CertifyOptions& options);

}  // namespace krohn
