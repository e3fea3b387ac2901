// simulate/closing/cells/cell_walk.h — what a trained cell of one layer does along random words of its task.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {

/// What the units of a layer take. Gate g of unit j is row g · hidden + j, as in PyTorch's tensors.
struct CellWeights {
  Eigen::MatrixXd inputs;                  ///< letters × numbers that a letter gives the layer
  Eigen::MatrixXd by_input, by_state;      ///< W and U
  Eigen::VectorXd input_bias, state_bias;  ///< 0 where the cell has none
  Eigen::MatrixXd head;                    ///< the read-out: labels × hidden
  Eigen::VectorXd head_bias;
};
CellWeights cell_weights(const CellShape& shape, const SequenceModel<float>& model);
/// What units take, biases included; neither the inputs nor the read-out.
void write_cell_weights(const CellShape& shape, const CellWeights& weights, SequenceModel<float>& model);

/// Behind a letter or special token in a state of the task's automaton.
struct CellPlace {
  State state;               ///< where it leads
  bool is_read_out = false;  ///< the task asks here
  Eigen::VectorXd tendency;  ///< of every unit: how much more often it held a positive number than another, −1 to 1
};

/// A letter between two places. `gates` are means over its visits, hidden × gates: r, z, n of a GRU, i, f, g, o of an
/// LSTM, h of an RNN.
struct CellStep {
  std::size_t from, to;
  Letter letter;
  Eigen::MatrixXd gates;
  double visits = 0;
};

struct CellWalk {
  std::vector<CellPlace> places;  ///< the first is before all letters, where every number is 0
  std::vector<CellStep> steps;    ///< in the order in which they were first met
  double right = 0;  ///< of the answers that the task asks for, how many the trained cell gives; 1 for none
};

/// Along words of twelve letters, for behind those that it is trained on a cell may have drifted: a thousand, or as
/// many as make every move of the automaton thirty times, up to 20,000. In double, by the stated functions: the same on
/// every processor that adds products in the same order.
CellWalk walk_cell(const CellShape& shape, const CellWeights& weights, const TaskAutomaton& input,
                   const TrackedAutomaton& tracked);

}  // namespace krohn
