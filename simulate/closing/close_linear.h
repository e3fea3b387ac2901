// simulate/closing/close_linear.h — trained linear recurrences with a linear read-out (bilinear, one layer of Fan et
// al.'s blocks), rounded.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <string>
#include <vector>

#include "krohn/simulate/closing/close_model.h"
#include "krohn/simulate/closing/integer_code.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

// Where a trained model's states lie while it is in each state of its task's
// automaton, and which letters lead from where to where.

/// Points are states of the automaton that the task asks about, as far as its words meet them. That automaton tells
/// apart what may follow: a digit may leave another code behind than the sign that leads to the same state. A point
/// that no letter leads to lies where its like of the same label does (simulate/closing/integer_code.h): a word may
/// begin anywhere that its letters take to the right places.
struct LearnedStates {
  Eigen::MatrixXd means;       ///< hidden × points
  std::vector<State> states;   ///< point ↦ state
  std::vector<Output> wanted;  ///< point ↦ label
  std::vector<bool> is_asked;
  std::vector<LearnedCode::Move> moves;  ///< by letter of the automaton
  Eigen::Index initial = 0;
};

/// Along random words of twelve letters: as long as those that models are trained on, for behind them trained states
/// may have drifted. A thousand words, or as many as make every move thirty times, up to 20,000.
LearnedStates learned_states(const TrainedReader& machine, const Task& task, const TrackedAutomaton& tracked);

// A code with a coordinate for every class of points, of which the learned space is an
// image. Where mean states depend linearly on each other, they may have no basis that letters of short columns permute.
//
// Integer matrices whose columns have norm at most 1 map coordinates to coordinates, up to signs, or to 0. A learned
// space of smaller dimension than it has states (a turn by a fifth, say, whose matrix is irrational) is the image of
// such coordinates under the mean states: U e_q = c_q and A U ≈ U T, where T maps the classes. T is the automaton's;
// the learned letters say which classes there are, and whether it is what they do.

struct StateCode {
  /// Columns of `basis` are the classes' mean points, and may depend on each other; `moved` is 0.
  IntegerCode code;
  /// The greatest share of the distance from a class to the next that one of its points, or what the learned letters
  /// make of the mean of a class that goes there, is off: at most 0.35.
  double share = 0;
};

/// `reads`: labels × numbers, what makes logits of a point. Two points are as far apart as what they make of the
/// logits, now and up to twelve letters later: what a model keeps of a word's past beside that, no answer shows.
///
/// From all points apart on, the class that is farthest off is merged with its nearest, and with them whatever the
/// known moves then say is one, until no class is too far off: the first such congruence with at most `most_classes`
/// classes, and at least two. (From more points than that on, the nearest are merged first.) Where no point of a class
/// has a known move by a letter, the letter leaves the class where it is. Nothing where there is none, and for more
/// than 4096 points. O(points² log points + letters · numbers³ + most_classes · (most_classes + moves) · numbers²).
std::optional<StateCode> state_code(const LearnedCode& learned, const Eigen::MatrixXd& reads,
                                    Eigen::Index most_classes);

/// h ↦ A h + b of the letter on the block that begins at coordinate `first`, as a matrix for (h, 1): s × (s + 1).
Eigen::MatrixXd block_map(const LinearModel& model, Letter letter, std::size_t first);

/// Why a model of this shape is no linear recurrence with a linear read-out; "" where it is.
std::string why_not_linear(const SequenceModel<float>& model);

/// Every block of the recurrence is taken into a basis in which its letters are nearly integers
/// (simulate/closing/integer_code.h), and rounded there; h_0 and the read-out go along with the basis, which is a
/// change of the parameters and not of the architecture. Additions become part of the basis: (h, 1) moves linearly. The
/// matrices of special tokens before a word become part of h_0, those behind it of the read-out. Where the trained
/// read-out does not tell the rounded states apart, gradient descent goes on with it alone. A closing without a model
/// for one that is no linear recurrence, and where no block rounds, or not enough of them.
Closing close_linear(const SequenceModel<float>& model, const Task& task);

}  // namespace krohn
