#include "krohn/simulate/prove/bounds/bounds_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <unordered_map>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/record_set.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"

namespace krohn {
namespace {

/// Words that are followed to find the averages: this many letters for every state of the machine.
constexpr std::uint64_t kLettersPerState = 64;
constexpr double kGreatestFollowed = 1e6;

/// (action, book) pairs of a layer's contexts, numbered as they come.
void number_moves(const Layer& layer, CentreLayer& centre) {
  std::map<std::pair<Action, std::uint32_t>, std::uint32_t> numbers;
  for (Context context = 0; context < layer.wiring.action_of.size(); ++context) {
    const std::uint32_t book = layer.book_of_context.empty() ? 0 : layer.book_of_context[context];
    const std::pair move{layer.wiring.action_of[context], book};
    const auto [found, fresh] = numbers.try_emplace(move, static_cast<std::uint32_t>(centre.moves.size()));
    if (fresh) centre.moves.push_back(move);
    centre.labels.move_of.push_back(found->second);
  }
  centre.labels.moves.resize(centre.moves.size());
}

CentreLayer empty_layer(const Layer& layer) {
  CentreLayer centre;
  centre.labels.labels = layer.labels;
  centre.labels.next = layer.wiring.next;
  number_moves(layer, centre);
  return centre;
}

/// Grows the codeword machine of one layer; the trap is numbered last.
class CodewordLayer {
 public:
  CodewordLayer(const Layer& layer, const StepModel& model, const MachineLimits& limits)
      : layer_(layer), model_(model), limits_(limits), centre_(empty_layer(layer)) {}

  std::optional<CentreLayer> build() {
    add_start();
    for (Label state = 0; state < centre_.centres.size(); ++state) {
      if (centre_.centres.size() * centre_.moves.size() > limits_.max_tuples ||
          centre_.centres.size() > limits_.max_states || distances() > limits_.max_distances)
        return std::nullopt;
      if (limits_.tick) limits_.tick();
      const Eigen::MatrixXd from = model_.rounded(centre_.centres[state]);
      for (std::size_t move = 0; move < centre_.moves.size(); ++move)
        centre_.labels.moves[move].push_back(follow(from, centre_.moves[move]));
    }
    add_trap();
    return std::move(centre_);
  }

 private:
  static constexpr Label kTrap = UINT32_MAX - 1;

  double distances() const {
    return static_cast<double>(centre_.centres.size() * centre_.moves.size()) *
           static_cast<double>(codeword_count(layer_) * model_.dimension() * model_.columns());
  }

  void add_start() {
    for (std::uint32_t book = 0; book < books_of(layer_); ++book) {
      const NearestInBook near = nearest_in_book(layer_, book, layer_.initial);
      if (near.codeword == SIZE_MAX || codeword_label(layer_, near.codeword) != layer_.initial_label) continue;
      if (near.distance >= near.runner_up / 4) continue;  // at half of the margin at most
      number_of(near.codeword);
      return;
    }
    centre_.centres.push_back(model_.initial());
    centre_.labels.shown.push_back(layer_.initial_label);
  }

  Label follow(const Eigen::MatrixXd& from, const std::pair<Action, std::uint32_t>& move) {
    const Eigen::MatrixXd reached = model_.step(move.first, from);
    if (!reached.allFinite()) return kTrap;
    const NearestInBook near = nearest_in_book(layer_, move.second, reached);
    if (near.codeword == SIZE_MAX || near.distance >= near.runner_up / 4) return kTrap;
    return number_of(near.codeword);
  }

  Label number_of(std::size_t codeword_number) {
    const auto [found, fresh] = numbers_.try_emplace(codeword_number, static_cast<Label>(centre_.centres.size()));
    if (fresh) {
      centre_.centres.push_back(codeword(layer_, codeword_number));
      centre_.labels.shown.push_back(codeword_label(layer_, codeword_number));
    }
    return found->second;
  }

  void add_trap() {
    const auto trap = static_cast<Label>(centre_.centres.size());
    centre_.labels.states = trap + 1;
    centre_.labels.shown.push_back(kNoLabel);
    for (std::vector<Label>& targets : centre_.labels.moves) {
      std::replace(targets.begin(), targets.end(), kTrap, trap);
      targets.push_back(trap);
    }
  }

  const Layer& layer_;
  const StepModel& model_;
  const MachineLimits& limits_;
  CentreLayer centre_;
  std::unordered_map<std::size_t, Label> numbers_;
};

/// The edges that are in use, given as a flag per move · states + state; all but those to the trap when empty.
void take_edges(CentreLayer& layer, const std::vector<bool>& used) {
  layer.edges.clear();
  const auto trap = static_cast<Label>(layer.centres.size());
  for (std::size_t move = 0; move < layer.moves.size(); ++move)
    for (Label from = 0; from < layer.centres.size(); ++from) {
      const Label to = layer.labels.moves[move][from];
      if (to != trap && (used.empty() || used[move * layer.labels.states + from]))
        layer.edges.push_back({from, to, layer.moves[move].first, layer.moves[move].second});
    }
  std::sort(layer.edges.begin(), layer.edges.end());
  layer.edges.erase(std::unique(layer.edges.begin(), layer.edges.end()), layer.edges.end());
}

/// Runs the label machine beside the automaton over all words: which edges they use, and whether it is right.
class JointSearch {
 public:
  JointSearch(const Network& network, CentreMachine& machine)
      : network_(network), machine_(machine), tuples_(machine.layers.size() + 1), record_(tuples_.words()) {
    for (const CentreLayer& layer : machine.layers) used_.emplace_back(layer.moves.size() * layer.labels.states, false);
  }

  /// Fills the edges in. False when a label is wrong; throws LimitError past `limit` tuples.
  bool run(std::uint64_t limit) {
    for (std::size_t k = 0; k < machine_.layers.size(); ++k) record_[k] = machine_.layers[k].labels.initial;
    record_.back() = network_.automaton.initial();
    if (read(record_) != network_.automaton.initial()) return false;
    tuples_.insert(record_);
    for (RecordSet::Index tuple = 0; tuple < tuples_.size(); ++tuple)
      for (Letter letter = 0; letter < network_.automaton.letters(); ++letter) {
        if (!step(tuple, letter)) return false;
        tuples_.insert(record_);
        if (tuples_.size() > limit) throw LimitError("too many tuples of centres");
      }
    for (std::size_t k = 0; k < machine_.layers.size(); ++k) take_edges(machine_.layers[k], used_[k]);
    return true;
  }

  std::uint64_t tuples() const { return tuples_.size(); }

 private:
  bool step(RecordSet::Index tuple, Letter letter) {
    const RecordSet::Record from = tuples_[tuple];
    Context context = letter;
    for (std::size_t k = 0; k < machine_.layers.size(); ++k) {
      if (context == kNoContext) return false;
      const CentreLayer& layer = machine_.layers[k];
      const std::uint32_t move = layer.labels.move_of[context];
      const Label pre = from[k], post = layer.labels.moves[move][pre];
      if (layer.labels.shown[post] == kNoLabel) return false;
      record_[k] = post;
      used_[k][std::size_t{move} * layer.labels.states + pre] = true;
      if (k + 1 < machine_.layers.size())
        context = layer.labels.next[std::size_t{context} * layer.labels.labels + layer.labels.shown[pre]];
    }
    record_.back() = network_.automaton.next(from[machine_.layers.size()], letter);
    return read(record_) == record_.back();
  }

  State read(std::span<const std::uint32_t> states) const {
    Context node = 0;
    for (std::size_t k = 0; k < machine_.layers.size(); ++k) {
      const LabelLayer& layer = machine_.layers[k].labels;
      const Label label = layer.shown[states[k]];
      if (label == kNoLabel) return kNoContext;
      node = network_.readout.next[k][std::size_t{node} * layer.labels + label];
      if (node == kNoContext) return kNoContext;
    }
    return node;
  }

  const Network& network_;
  CentreMachine& machine_;
  RecordSet tuples_;
  std::vector<std::uint32_t> record_;
  std::vector<std::vector<bool>> used_;  ///< layer ↦ (move · states + state)
};

/// By search, or, where the tuples are too many, by induction over the wiring with every edge in use.
bool prove_labels(const Network& network, CentreMachine& machine, const MachineLimits& limits) {
  try {
    JointSearch search(network, machine);
    const bool holds = search.run(limits.max_tuples);
    machine.emulation = fmt::format("on all {} reachable tuples of centres", search.tuples());
    return holds;
  } catch (const LimitError&) {
    // The induction need not walk them.
  }
  LabelMachine labels;
  for (CentreLayer& layer : machine.layers) {
    take_edges(layer, {});
    labels.layers.push_back(layer.labels);
  }
  labels.readout = network.readout.next;
  try {
    const EmulationResult induction = prove_emulation(labels, network.automaton);
    machine.emulation =
        fmt::format("by induction over {} of context and readout nodes", counted(induction.checked, "triple"));
    return induction.holds;
  } catch (const LimitError&) {
    return false;
  }
}

/// The machine of (state, book, last letters) of a network of one layer.
class AutomatonLayer {
 public:
  AutomatonLayer(const Network& network, const StepModel& model, std::uint32_t memory, const MachineLimits& limits)
      : dfa_(network.automaton),
        layer_(network.layers[0]),
        readout_(network.readout.next[0]),
        model_(model),
        memory_(memory),
        limits_(limits),
        centre_(empty_layer(layer_)) {}

  std::optional<CentreLayer> build() {
    add({dfa_.initial(), 0, {}});
    for (Label state = 0; state < states_.size(); ++state) {
      if (states_.size() > limits_.max_states || states_.size() * dfa_.letters() > limits_.max_tuples)
        return std::nullopt;
      for (std::size_t move = 0; move < centre_.moves.size(); ++move) centre_.labels.moves[move].push_back(0);
      for (Letter letter = 0; letter < dfa_.letters(); ++letter) {
        const std::uint32_t move = centre_.labels.move_of[letter];
        // Letters of one move have one target: the network cannot tell them apart, and the labels are proved later.
        centre_.labels.moves[move][state] = add(after(states_[state], letter, move));
      }
    }
    average();
    return show_labels() ? std::optional(std::move(centre_)) : std::nullopt;
  }

 private:
  struct Place {
    State state;
    std::uint32_t book;
    std::vector<std::uint32_t> last;  ///< moves
    auto operator<=>(const Place&) const = default;
  };

  Place after(const Place& place, Letter letter, std::uint32_t move) const {
    Place next{dfa_.next(place.state, letter), centre_.moves[move].second, place.last};
    next.last.push_back(move);
    if (next.last.size() > memory_) next.last.erase(next.last.begin());
    return next;
  }

  Label add(const Place& place) {
    const auto [found, fresh] = numbers_.try_emplace(place, static_cast<Label>(states_.size()));
    if (fresh) states_.push_back(place);
    return found->second;
  }

  /// Words of twice as many letters as there are states, again and again, from H_0.
  void average() {
    const auto count = static_cast<Label>(states_.size());
    const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(layer_.dimension, layer_.columns);
    centre_.centres.assign(count, zero);
    std::vector<std::uint64_t> visits(count, 0);
    std::mt19937_64 random(1);
    const std::uint64_t length = 2 * std::uint64_t{count} + 8;
    for (std::uint64_t read = 0; read < kLettersPerState * count + 256; read += length) {
      if (limits_.tick) limits_.tick();
      follow_word(random, length, visits);
    }
    for (Label state = 0; state < count; ++state)
      if (visits[state] > 0)
        centre_.centres[state] /= static_cast<double>(visits[state]);
      else
        centre_.centres[state] = guess(state);
  }

  void follow_word(std::mt19937_64& random, std::uint64_t length, std::vector<std::uint64_t>& visits) {
    Eigen::MatrixXd numbers = model_.initial();
    Label state = 0;
    for (std::uint64_t t = 0;; ++t) {
      centre_.centres[state] += numbers;
      ++visits[state];
      if (t == length) return;
      const std::uint32_t move = centre_.labels.move_of[random() % dfa_.letters()];
      numbers = model_.step(centre_.moves[move].first, numbers);
      if (!numbers.allFinite() || numbers.norm() > kGreatestFollowed) return;
      state = centre_.labels.moves[move][state];
    }
  }

  /// For a state that no word came to: one step from a state before it.
  Eigen::MatrixXd guess(Label state) const {
    for (std::size_t move = 0; move < centre_.moves.size(); ++move)
      for (Label from = 0; from < state; ++from)
        if (centre_.labels.moves[move][from] == state && centre_.centres[from].allFinite())
          return middle(model_.exact_step(centre_.moves[move].first, centre_.centres[from]));
    return model_.initial();
  }

  /// The label of the nearest codeword, which has to give the state.
  bool show_labels() {
    centre_.labels.states = static_cast<Label>(states_.size());
    for (Label state = 0; state < states_.size(); ++state) {
      const bool start = state == 0;
      const NearestInBook near = nearest_in_book(layer_, states_[state].book, centre_.centres[state]);
      if (near.codeword == SIZE_MAX || !centre_.centres[state].allFinite()) return false;
      const Label label = codeword_label(layer_, near.codeword);
      if (readout_[label] != states_[state].state) return false;
      if (start && readout_[layer_.initial_label] != states_[state].state) return false;
      centre_.labels.shown.push_back(label);
    }
    return true;
  }

  const Dfa& dfa_;
  const Layer& layer_;
  const std::vector<Context>& readout_;
  const StepModel& model_;
  std::uint32_t memory_;
  const MachineLimits& limits_;
  CentreLayer centre_;
  std::vector<Place> states_;
  std::map<Place, Label> numbers_;
};

}  // namespace

NearestInBook nearest_in_book(const Layer& layer, std::uint32_t book, const Eigen::MatrixXd& point) {
  NearestInBook near;
  near.distance = near.runner_up = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    if (codeword_book(layer, i) != book) continue;
    const double distance = layer.decoder.unit_copies > 0 ? (point - codeword(layer, i)).squaredNorm()
                                                          : (point - layer.decoder.codewords[i]).squaredNorm();
    if (distance < near.distance) {
      near.runner_up = near.distance;
      near.distance = distance;
      near.codeword = i;
    } else {
      near.runner_up = std::min(near.runner_up, distance);
    }
  }
  return near;
}

std::optional<CentreMachine> codeword_machine(const Network& network, StepModels models, const MachineLimits& limits) {
  CentreMachine machine;
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    std::optional<CentreLayer> layer = CodewordLayer(network.layers[k], *models[k], limits).build();
    if (!layer) return std::nullopt;
    machine.layers.push_back(*std::move(layer));
  }
  if (!prove_labels(network, machine, limits)) return std::nullopt;
  return machine;
}

std::optional<CentreMachine> automaton_machine(const Network& network, StepModels models, std::uint32_t memory,
                                               const MachineLimits& limits) {
  if (network.layers.size() != 1) return std::nullopt;
  std::optional<CentreLayer> layer = AutomatonLayer(network, *models[0], memory, limits).build();
  if (!layer) return std::nullopt;
  CentreMachine machine;
  machine.layers.push_back(*std::move(layer));
  if (!prove_labels(network, machine, limits)) return std::nullopt;
  return machine;
}

}  // namespace krohn
