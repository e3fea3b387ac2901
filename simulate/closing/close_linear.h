// simulate/closing/close_linear.h — trained linear recurrences with a linear read-out (bilinear, one layer of Fan et
// al.'s blocks), rounded.
#pragma once

#include <string>

#include "krohn/simulate/closing/closing.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

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
