// simulate/learned/initialise_model.h — models that begin with a construction instead of random weights.
#pragma once

#include <Eigen/Core>

#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

using RowMajorFloats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The numbers of a tensor, to be read or, where the model is not const, written.
template <class Model>
auto tensor_of(Model& model, std::string_view name, Eigen::Index rows, Eigen::Index columns) {
  using Numbers = std::conditional_t<std::is_const_v<Model>, const RowMajorFloats, RowMajorFloats>;
  const auto numbers = model.tensor(name);
  if (static_cast<Eigen::Index>(numbers.size()) != rows * columns)
    throw std::logic_error("a tensor of another size: " + std::string(name));
  return Eigen::Map<Numbers>(numbers.data(), rows, columns);
}

// A construction as a linear recurrence over a task's letters with a linear
// read-out: what a model that is to begin with it has to become.

/// h ← A(σ) h + b(σ) from h_0; the answer is the arg max of W h + c. Special tokens leave h alone.
struct LinearTarget {
  std::vector<Eigen::MatrixXd> matrices;   ///< one a letter of the task
  std::vector<Eigen::VectorXd> additions;  ///< likewise
  Eigen::VectorXd initial;
  Eigen::MatrixXd readout;  ///< labels × coordinates
  Eigen::VectorXd bias;

  Eigen::Index dimension() const { return initial.size(); }
  bool has_additions() const;
  bool has_bias() const { return !bias.isZero(0); }
};

/// The network's columns one after another. W tells its codewords apart: the nearest of them, where every label has one
/// of them, otherwise the least squares; its answers are 4 nats apart or more. Throws InputError when the network has
/// several layers or code books, snaps, or has other letters than the task or other answers, or when no linear read-out
/// of its codes gives the task's labels.
LinearTarget linear_target(const Network& network, const Task& task);

/// The same with one more coordinate that is always 1, in place of additions and bias.
LinearTarget with_constant(const LinearTarget& target);

/// Coordinates that letters mix, group by group, in increasing order of their first.
std::vector<std::vector<Eigen::Index>> mixed_coordinates(const LinearTarget& target);

/// Gives the model the construction's weights, so that it computes the task from its first step on: every letter gets
/// an embedding of its own (one-hot), through which it has the construction's matrix, and the read-out tells the codes
/// apart. Coordinates that the model has beyond the construction are 0. Additive terms of a construction need a model
/// with `input-bias`, or become one more coordinate that is always 1.
///
///   bilinear   full; block=B and diagonal where letters mix at most B coordinates; rotations where they rotate pairs
///              of them; rank=R from as many factors as matrices have entries
///   dense      any
///   fan        one layer without generator units, where columns have p-norm at most 1
///
/// Throws InputError naming what does not fit and which construction or model does: models with norms and gates around
/// their recurrence (deltaproduct, diagonal) read no construction's codes.
void initialise_from(SequenceModel<float>& model, const Network& network, const Task& task);

/// The same for a recurrence with a linear read-out, whoever made it: matrices, additions, h_0, read-out and bias are
/// written as they are. Throws InputError naming what does not fit.
void write_linear(SequenceModel<float>& model, const LinearTarget& target);

/// Adds to every number of a tensor independent normal noise with `share` of the tensor's root mean square.
void perturb(SequenceModel<float>& model, double share, std::uint64_t seed);

}  // namespace krohn
