// simulate/closing/state_code.h — a code with a coordinate for every class of points, of which the learned space is an
// image: where the mean states depend linearly on each other, they have no basis that letters of short columns permute.
//
// Letters whose powers stay bounded and whose columns have norm at most 1 are, in integers, maps of coordinates up to
// signs. A learned space of smaller dimension than it has states (a turn by a fifth, say, whose matrix is irrational)
// is the image of such coordinates under the mean states: U e_q = c_q and A U ≈ U T, where T maps the classes.
#pragma once

#include <optional>

#include "krohn/simulate/closing/integer_code.h"

namespace krohn {

/// Columns of `basis` are the classes' mean points, and may depend on each other. `reads`: labels × numbers, what makes
/// logits of a point. Two points are as far apart as what they make of the logits, of twelve letters ahead: what a
/// model keeps of a word's past beside that, no answer shows.
///
/// The finest congruence of the known moves, points merged by how near they are, with at most `most_classes` classes
/// and at least two of them, in which every point, and whatever the trained letters make of a class's mean, is nearer
/// to its class than 0.35 of the distance to the next; `moved` is the greatest such share. A move of a class that no
/// move of its points is known of stays there. Nothing where there is none. O(points² log points + points · letters ·
/// numbers²).
std::optional<IntegerCode> state_code(const LearnedCode& learned, const Eigen::MatrixXd& reads,
                                      Eigen::Index most_classes);

}  // namespace krohn
