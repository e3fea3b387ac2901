// simulate/prove/bounds/bounds_machine.h — the finite machine whose states the numbers of a layer are supposed to stay
// near: one centre for each. Its labels have to emulate the automaton; how near the numbers stay is bounds_layer.h's.
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
#include "krohn/simulate/prove/bounds/bounds_step.h"

namespace krohn {

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
