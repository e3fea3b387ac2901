// simulate/closing/saturate_cells.h — trained nonlinear cells of one layer, RNN by tanh, GRU or LSTM, rounded to
// cells whose units saturate.
#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "krohn/simulate/models/cells/cell_network.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {

/// The inputs of a layer's units. Gate g of unit j is row g · hidden + j, as in PyTorch's tensors.
struct CellWeights {
  Eigen::MatrixXd inputs;                  ///< letters × numbers that a letter gives the layer
  Eigen::MatrixXd by_input, by_state;      ///< W and U
  Eigen::VectorXd input_bias, state_bias;  ///< 0 where the cell has none
  Eigen::MatrixXd head;                    ///< the read-out: labels × hidden
  Eigen::VectorXd head_bias;
};
CellWeights cell_weights(const CellShape& shape, const SequenceModel<float>& model);
/// The weights of the units, biases included; neither the inputs nor the read-out.
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

// Weights by which a unit is above 0 at some points and below it at others.

/// For each point: 1, −1, or 0 where either will do.
using Sides = std::vector<std::int8_t>;

/// Moves the weights until wᵀ x is at least 1 on the wanted side of every point (a column): from each point that lacks,
/// one after another, to half as far again behind its plane and a little more, as the relaxation of Agmon and of
/// Motzkin & Schoenberg (1954) does. It ends where such weights are; after 100 rounds it is taken that there are none.
/// Returns the points that lacked in the last round: 0 where all are right.
std::size_t take_sides(Eigen::VectorXd& weights, const Eigen::MatrixXd& points, const Sides& sides);

/// Why cells of this shape are not rounded on this task; "" where they are. Past 8,000 steps between places, states ·
/// letters², they are not: the units' weights take minutes then.
std::string why_no_cells_round(const SequenceModel<float>& model, const Task& task);

struct SaturatedUnits {
  std::unique_ptr<SequenceModel<float>> model;  ///< null where there is none
  std::string why_not;                          ///< why there is none, and what may help
  std::size_t kept = 0, silenced = 0;           ///< units
  double share = 0;           ///< of all letters and kept units: how often the trained one held the other sign
  std::vector<bool> is_free;  ///< parameters of the read-out, which may be trained further
};

/// Only what was learned is rounded: the trained model gives at least 99 % of the answers along the walk, whose words
/// may be longer than those of training. The code of a place is the sign that each trained unit mostly holds there, and
/// its weights are moved until signs alone keep every gate at every step on the side where the trained one was: of RNN
/// and GRU what is remembered is ±1, of an LSTM c = ±1, written or kept and never added to. Where some units have no
/// such weights, a quarter of them loses something, those that lack at most points: a GRU's reset, then all gates, so
/// that every letter writes, then the unit; the others begin again with what is left. All is multiplied by 256 at last,
/// so that tanh is ±1 and σ 0 or 1. The embedding stays as it is. Its effect on words outside the walk is for a proof
/// to say.
SaturatedUnits saturate_cells(const SequenceModel<float>& model, const Task& task);

}  // namespace krohn
