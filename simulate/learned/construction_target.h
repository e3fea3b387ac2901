// simulate/learned/construction_target.h — a construction as a linear recurrence over a task's letters with a linear
// read-out: what a model that is to begin with it has to become.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/tasks/task.h"

namespace krohn {

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

}  // namespace krohn
