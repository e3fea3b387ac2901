// simulate/prove/bounds/bounds_machine.h — the finite machine whose states the numbers of a layer are supposed to stay
// near: one centre for each. Its labels have to emulate the automaton; how near the numbers stay is bounds.h's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/interval.h"
#include "krohn/simulate/arithmetic/order.h"

namespace krohn {

// One letter of one layer as bounds see it: the exact linear map of the rounded
// weights, and how far rounding can take a step from it (MATH.md §5, "One rounded step").

/// The rounding errors added to the exact A H + B: at most `entries[i]` to entry i by the operations at the end,
/// and a matrix of at most that Frobenius norm by earlier ones (the reflections before the last). Infinite: may
/// overflow.
struct RoundingBound {
  std::vector<double> entries;
  double earlier = 0;
};

/// The steps of one layer, its weights rounded to an arithmetic. A is the product over real numbers of what is stored.
class StepModel {
 public:
  virtual ~StepModel() = default;
  std::size_t dimension() const { return dimension_; }
  std::size_t columns() const { return columns_; }
  std::size_t actions() const { return matrices_.size(); }
  const IntervalMatrix& matrix(Action action) const { return matrices_[action]; }
  /// An upper bound of ‖A‖₂, by the form of A where that is sharper than the entries.
  double norm(Action action) const { return norms_[action]; }
  /// B, or an empty matrix.
  const IntervalMatrix& addition(Action action) const { return additions_[action]; }
  /// H_0 as it is stored.
  const Eigen::MatrixXd& initial() const { return initial_; }
  /// The numbers of the storage format nearest to `entries`.
  virtual Eigen::MatrixXd rounded(const Eigen::MatrixXd& entries) const = 0;
  /// A c + B over real numbers, enclosed.
  virtual IntervalMatrix exact_step(Action action, const Eigen::MatrixXd& c) const = 0;
  /// The letter as it is evaluated, from numbers of the storage format.
  virtual Eigen::MatrixXd step(Action action, const Eigen::MatrixXd& state) const = 0;
  /// Over all states H of the storage format with |H − c|_i ≤ radii[i] and ‖H − c‖_F ≤ radius. Costs about 40 times the
  /// step.
  virtual RoundingBound rounding(Action action, const Eigen::MatrixXd& c, std::span<const double> radii,
                                 double radius) const = 0;
  /// Operations of one step, roughly.
  virtual std::uint64_t work(Action action) const = 0;

 protected:
  std::size_t dimension_ = 0, columns_ = 0;
  std::vector<IntervalMatrix> matrices_, additions_;
  std::vector<double> norms_;
  Eigen::MatrixXd initial_;
};

/// The model of a layer in an arithmetic other than `exact`; null when H_0 or a B overflows in its storage format, or
/// actions · n² is above 4·10^6. O(actions · n² · cost of a column).
std::unique_ptr<StepModel> make_step_model(const Layer& layer, ArithmeticName arithmetic, Form form);

/// From a state of the machine by one move to another: what a layer does in some context on its way through a word.
struct CentreEdge {
  Label from = 0, to = 0;
  Action action = 0;
  std::uint32_t book = 0;  ///< that decodes after the move
  friend auto operator<=>(const CentreEdge&, const CentreEdge&) = default;
};

/// One layer's machine. `labels.moves` may lead to a state without a centre, the trap, which shows no label.
struct CentreLayer {
  LabelLayer labels;
  std::vector<std::pair<Action, std::uint32_t>> moves;  ///< move ↦ (action, book)
  std::vector<Eigen::MatrixXd> centres;                 ///< n×d per state but the trap; first guesses
  /// The edges that words use: what has to be bounded. Sorted, each once.
  std::vector<CentreEdge> edges;
};

struct CentreMachine {
  std::vector<CentreLayer> layers;
  std::string emulation;  ///< how it was proved that the labels emulate the automaton, in words
};

struct MachineLimits {
  std::uint64_t max_states = 20'000;     ///< of one layer
  std::uint64_t max_tuples = 2'000'000;  ///< of states of all layers
  double max_distances = 3e8;            ///< entries compared with codewords when a machine is built
  std::function<void()> tick;            ///< called now and then; may throw
};

using StepModels = std::span<const std::unique_ptr<StepModel>>;

/// The states are the codewords that are met when every move is taken from the codeword and the nearest codeword to the
/// result comes next; and H_0 where no codeword is near it. The machine of every construction. Nothing when its labels
/// do not emulate the automaton, or a limit is met.
std::optional<CentreMachine> codeword_machine(const Network& network, StepModels models, const MachineLimits& limits);

/// For a network of one layer, whatever its weights: the states are those of the automaton, each once for every book
/// and for every way in which the last `memory` letters were read; the centres are averages over the states that words
/// lead to, followed through the automaton. Nothing when a limit is met, when the labels nearest to the centres
/// do not give the automaton's states, or when the network has more layers.
std::optional<CentreMachine> automaton_machine(const Network& network, StepModels models, std::uint32_t memory,
                                               const MachineLimits& limits);

/// The codeword of the layer's book that is nearest to a point, and that with another label; squared distances.
struct NearestInBook {
  std::size_t codeword = SIZE_MAX;  ///< SIZE_MAX when the book is empty
  double distance = 0, runner_up = 0;
};
NearestInBook nearest_in_book(const Layer& layer, std::uint32_t book, const Eigen::MatrixXd& point);

}  // namespace krohn
