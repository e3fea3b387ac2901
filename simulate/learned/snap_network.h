// simulate/learned/snap_network.h — the exact construction nearest to what a network has learned. A construction is
// near when a linear map takes its code to the learned code: then both are the same representation of the automaton, up
// to a change of basis.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/prove/verify.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

struct SnapOptions {
  Precision precision = Precision::kFp32;
  double enough = 0.99;                     ///< constructions that explain so much of the code are near
  std::optional<std::string> construction;  ///< take this one, however near
};

/// A construction beside the learned code.
struct SnapChoice {
  std::string construction;
  std::string note;  ///< of "harmonics": which
  std::uint64_t state_numbers = 0;
  double explained = 0;   ///< `explained_share` of the learned centres
  bool is_exact = false;  ///< bit-exact for words of every length, letter after letter, in the precision
};

struct SnapResult {
  std::vector<SnapChoice> choices;
  std::size_t chosen = 0;
  Network network;
};

/// Constructions of one layer that the planner has for the automaton, and for an abelian group the plane of every
/// harmonic that carries a share of the learned code. Of those that explain enough, the bit-exact ones come first, then
/// those with fewest numbers of state. Throws InputError when no construction of one layer fits, or none of the name.
SnapResult snap_network(const Dfa& automaton, const StateCentres& centres, const SnapOptions& options = {});

struct ModelFindings {
  std::string claim;               ///< "proved", "proved up to a length", "refuted", or why nothing can be
  std::uint64_t claim_length = 0;  ///< letters proved, or of the word that refutes
  std::string snapped;             ///< the construction that it was snapped to and proved; empty: it was not
};

/// The verdict of `verify` (simulate/prove/verify.h) on a model that is read in fp32, within limits that suit a table:
/// some hundred thousand letters. `progress` is told of letters read.
Certificate table_verdict(const ReadModel& model, const std::function<void(std::uint64_t)>& progress = {});

/// In fp32, letter after letter, by the model's own read-out (simulate/learned/trained_reader.h), within limits that
/// suit a table. Words below `least_length` are not asked: no model promises what is shorter than all that it was
/// trained on.
ModelFindings examine_model(const SequenceModel<float>& model, const Task& task, std::uint64_t least_length = 0);

/// How sure a model is somewhere along a word: the least margin of its read-out among some letters in a row.
struct MarginPoint {
  std::uint64_t first = 0, last = 0;  ///< letters read, from and up to
  double margin = 0;                  ///< of the best answer over the second; 0 where there is no answer
  std::uint64_t at = 0;               ///< letters read where it is least
  double state = 0;                   ///< Euclidean norm of all recurrent states there
};

/// Why a word fails: 1 letter, 2 to 3, 4 to 7, 8 to 15, … and at last the whole word alone. Stretches without a
/// question are left out. The word must be one of `tracked`.
std::vector<MarginPoint> margins_along(const TrainedReader& reader, const TrackedAutomaton& tracked, const Word& word);

}  // namespace krohn
