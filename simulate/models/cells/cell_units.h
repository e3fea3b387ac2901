// simulate/models/cells/cell_units.h — every kind of cell by its unit: what one unit computes, forward and backward, in
// whatever numbers and with whatever functions F it is given: tanh, logistic, zero and one. The stated arithmetic
// (simulate/models/cells/cell.h) takes one number at a time, the loops of training take vectors
// (simulate/models/kernels/training_cells.h). A step takes `kGates` products of the input, a, and of the state, b,
// moves the `kKept` numbers on that a unit remembers, and leaves in b what the adjoint is to have there; the adjoint
// sets its last three. `kSums`: a + b is all that a unit takes.
#pragma once

#include <cstdint>

#include "krohn/simulate/models/cells/gru_unit.h"
#include "krohn/simulate/models/cells/lstm_unit.h"
#include "krohn/simulate/models/cells/rnn_unit.h"

namespace krohn {

enum class CellKind : std::uint8_t { kTanh, kRelu, kGru, kLstm };

/// body(the kind's unit).
template <class Body>
void with_unit(CellKind kind, const Body& body) {
  switch (kind) {
    case CellKind::kTanh:
      return body(TanhUnit{});
    case CellKind::kRelu:
      return body(ReluUnit{});
    case CellKind::kGru:
      return body(GruUnit{});
    case CellKind::kLstm:
      return body(LstmUnit{});
  }
}

}  // namespace krohn
