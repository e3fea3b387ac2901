// simulate/learned/state_centres.h — where a network's numbers lie while it is in each state of an automaton: the code
// that it has learned.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"

namespace krohn {

struct StateCentres {
  Eigen::MatrixXd centres;  ///< numbers of all layers × states: the mean over the visits
  double spread = 0;        ///< greatest distance of a visit from the centre of its state
  /// Every visit was scaled first. Of a network of one layer without additions: to Euclidean norm 1, because a scale
  /// tells nothing.
  bool is_scaled = false;
};

struct CentreOptions {
  std::uint64_t words = 400, length = 24, seed = 1;
};

/// The network's numbers after a shortest word to each state, numbers × states. The automaton's letters have the
/// network's names in the network's order, as below. Throws InputError when they do not.
Eigen::MatrixXd reached_numbers(const Network& network, const Dfa& automaton, ArithmeticName arithmetic);

/// Runs network and automaton side by side over random words; the automaton's letters have the network's names in the
/// network's order. States that no word visited are the network's numbers after a shortest word to them. Throws
/// InputError when the alphabets differ, or a number is not finite.
StateCentres state_centres(const Network& network, const Dfa& automaton, ArithmeticName arithmetic,
                           const CentreOptions& options = {});

/// A shortest word to every state that one leads to; the empty word to others.
std::vector<Word> access_words(const Dfa& automaton);

/// Of two columns; 0 when there are fewer. Of n columns up to n²/2 are compared: those that the row of the greatest
/// variance does not tell apart by more.
double least_distance(const Eigen::MatrixXd& points);

/// A letter as the network does it, and as the automaton says: A C + B beside scale · C E with E the one-hot matrix of
/// the letter. The scale is 1 unless the centres are scaled.
struct LetterError {
  double scale = 1;
  double distance = 0;  ///< Frobenius distance by the norm of scale · C E
};

/// One per letter. Throws InputError unless the network has one layer.
std::vector<LetterError> letter_errors(const Network& network, const Dfa& automaton, const StateCentres& centres);

/// The share of the centres' variance that a linear image of another code explains: 1 − min_T ‖C − T K‖² / ‖C‖², both
/// less their means. Columns are states. 1 when the centres are all one point.
double explained_share(const Eigen::MatrixXd& centres, const Eigen::MatrixXd& code);

}  // namespace krohn
