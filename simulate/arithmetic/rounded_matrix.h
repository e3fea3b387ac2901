// simulate/arithmetic/rounded_matrix.h — a structured matrix with its weights rounded to a format, ready to be applied.
#pragma once

#include "krohn/constructions/network/matrix.h"
#include "krohn/simulate/arithmetic/apply.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/order.h"

namespace krohn {

/// Every weight is computed in long double from the exact description and rounded once, to nearest, ties to even.
/// Defined for the four formats.
template <class Format>
RoundedMatrix<typename Format::Number> round_matrix(const Matrix& matrix, Form form);

}  // namespace krohn
