// simulate/closing/state_code.h — a code with a coordinate for every class of points, of which the learned space is an
// image. Where mean states depend linearly on each other, they may have no basis that letters of short columns permute.
//
// Integer matrices whose columns have norm at most 1 map coordinates to coordinates, up to signs, or to 0. A learned
// space of smaller dimension than it has states (a turn by a fifth, say, whose matrix is irrational) is the image of
// such coordinates under the mean states: U e_q = c_q and A U ≈ U T, where T maps the classes. T is the automaton's;
// the learned letters say which classes there are, and whether it is what they do.
#pragma once

#include <optional>

#include "krohn/simulate/closing/integer_code.h"

namespace krohn {

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

}  // namespace krohn
