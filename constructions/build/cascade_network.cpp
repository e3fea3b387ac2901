#include "krohn/constructions/build/builders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "krohn/automata/monoid/witness_check.h"
#include "krohn/constructions/build/based_action.h"
#include "krohn/constructions/build/find_registers.h"
#include "krohn/constructions/network/exactness.h"
#include "krohn/constructions/network/matrix.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/representations/orthogonal_representation.h"

namespace krohn {
namespace {

Layer started(Layer layer, Label initial) {
  layer.initial_label = initial;
  layer.initial = codeword(layer, initial);
  return layer;
}

DiagonalMatrix multiple_of_identity(std::uint32_t dimension, double value) {
  return {std::vector<double>(dimension, value)};
}

Turn turn_of(Label shift, Label width) {
  return Turn{static_cast<std::int64_t>(shift), static_cast<std::int64_t>(width)}.normalised();
}

/// Complex numbers that rounding locks in this precision, where the search finds some.
std::optional<Layer> locked_layer(const CascadeLayer& cascade_layer, Precision precision) {
  std::vector<std::uint32_t> shifts;
  for (const Transformation& action : cascade_layer.actions) shifts.push_back(action[0]);
  const auto lock = locked_rotation(cascade_layer.width, shifts, precision, /*complex=*/true);
  if (!lock) return std::nullopt;
  Layer layer = listed_layer({lock->codewords.begin(), lock->codewords.end()});
  for (const std::uint32_t shift : shifts) layer.transitions.push_back({DenseMatrix{lock->turns.at(shift)}, {}});
  return layer;
}

PermutationGroup group_of(const CascadeLayer& layer) {
  std::vector<Permutation> generators;
  for (const Transformation& action : layer.actions) {
    if (!action.is_permutation())
      throw InputError(fmt::format("the action {} is not a permutation", to_string(action)));
    generators.push_back(action.to_permutation());
  }
  return PermutationGroup::from_generators(layer.width, std::move(generators));
}

}  // namespace

bool is_reset_layer(const CascadeLayer& layer) {
  return std::all_of(layer.actions.begin(), layer.actions.end(), [](const Transformation& action) {
    return action.is_identity() || action.constant_image().has_value();
  });
}

bool is_shift_layer(const CascadeLayer& layer) {
  return std::all_of(layer.actions.begin(), layer.actions.end(), [&](const Transformation& action) {
    for (Label x = 0; x < layer.width; ++x)
      if (action[x] != (x + action[0]) % layer.width) return false;
    return true;
  });
}

Layer reset_layer(const CascadeLayer& cascade_layer, Label initial) {
  Layer layer = unit_layer(cascade_layer.width);
  for (const Transformation& action : cascade_layer.actions) {
    if (action.is_identity()) {
      layer.transitions.push_back({multiple_of_identity(layer.dimension, 1), {}});
    } else {
      layer.transitions.push_back(
          {multiple_of_identity(layer.dimension, 0), codeword(layer, *action.constant_image())});
    }
  }
  return started(std::move(layer), initial);
}

Layer sign_layer(const CascadeLayer& cascade_layer, Label initial, const std::optional<WrappingIntegers>& integers) {
  const double other = integers ? (*integers)(std::uint64_t{1} << (integers->bits - 1)) : -1;
  Layer layer =
      listed_layer({Eigen::MatrixXd::Constant(1, 1, integers ? 0 : 1), Eigen::MatrixXd::Constant(1, 1, other)});
  for (const Transformation& action : cascade_layer.actions) {
    const bool moves = action[0] != 0;
    layer.transitions.push_back({multiple_of_identity(1, moves && !integers ? -1 : 1), {}});
    if (moves && integers) layer.transitions.back().b = layer.decoder.codewords[1];
  }
  return started(std::move(layer), initial);
}

Layer turn_layer(const CascadeLayer& cascade_layer, Label initial, Precision precision) {
  if (auto locked = locked_layer(cascade_layer, precision)) return started(*std::move(locked), initial);
  std::vector<Eigen::MatrixXd> codewords;
  for (Label label = 0; label < cascade_layer.width; ++label) {
    const Turn turn = turn_of(label, cascade_layer.width);
    Eigen::MatrixXd code(2, 1);
    code << static_cast<double>(turn.cosine()), static_cast<double>(turn.sine());
    codewords.push_back(code);
  }
  Layer layer = listed_layer(std::move(codewords));
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back({RotationBlocks{{{false, turn_of(action[0], cascade_layer.width)}}}, {}});
  return started(std::move(layer), initial);
}

Layer cyclic_layer(const CascadeLayer& cascade_layer, Label initial) {
  Layer layer = unit_layer(cascade_layer.width);
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back({permutation_matrix(action.to_permutation(), std::nullopt), {}});
  return started(std::move(layer), initial);
}

Layer orthogonal_layer(const CascadeLayer& cascade_layer, Label initial, std::uint32_t max_dimension) {
  const OrthogonalRepresentation representation = smallest_separating_representation(group_of(cascade_layer), initial);
  if (representation.dimension() > max_dimension)
    throw InputError(fmt::format("{} on {} needs {}", cascade_layer.component, counted(cascade_layer.width, "label"),
                                 counted(representation.dimension(), "dimension")));
  std::vector<Eigen::MatrixXd> codewords;
  for (const Eigen::VectorXd& code : representation.codewords) codewords.push_back(without_noise(code));
  Layer layer = listed_layer(std::move(codewords));
  layer.labels = cascade_layer.width;
  layer.decoder.label_of = representation.point_of;
  layer.initial_label = initial;  // the first codeword is the start's
  for (const Eigen::MatrixXd& matrix : representation.generators)
    layer.transitions.push_back({DenseMatrix{without_noise(matrix)}, {}});
  return layer;
}

namespace {

/// A bijection moves the one-hot label; a constant forgets the old one and writes its codeword. The only label of a
/// layer of width 1 is both, and is moved.
Transition transition_of(const Transformation& action, const Layer& layer, const CascadeNetworkOptions& options) {
  if (layer.columns > 1 && action.is_identity()) return {ReflectionProduct{1, {}}, {}};
  if (layer.columns == 1 && action.is_permutation())
    return {permutation_matrix(action.to_permutation(), options.keys), {}};
  return {ZeroMatrix{layer.dimension}, codeword(layer, *action.constant_image())};
}

/// Codeword i is the row e_iᵀ.
Layer row_layer(Label width) {
  require_listable(width, 1, width);
  std::vector<Eigen::MatrixXd> codewords;
  for (Label label = 0; label < width; ++label) {
    Eigen::MatrixXd& row = codewords.emplace_back(Eigen::MatrixXd::Zero(1, width));
    row(0, label) = 1;
  }
  return listed_layer(std::move(codewords));
}

Layer empty_layer(const CascadeLayer& cascade_layer, const CascadeNetworkOptions& options) {
  if (options.resets_in_rows && cascade_layer.width > 1 && is_reset_layer(cascade_layer))
    return row_layer(cascade_layer.width);
  return unit_layer(cascade_layer.width, coordinate_copies(options.keys));
}

Layer layer_of(const CascadeLayer& cascade_layer, Label initial, const CascadeNetworkOptions& options) {
  Layer layer = empty_layer(cascade_layer, options);
  layer.initial_label = initial;
  layer.initial = codeword(layer, initial);
  for (const Transformation& action : cascade_layer.actions)
    layer.transitions.push_back(transition_of(action, layer, options));
  layer.wiring = cascade_layer.wiring;
  return layer;
}

std::string note_of(const Cascade& cascade) {
  std::string note;
  for (const CascadeLayer& layer : cascade.layers)
    note += fmt::format("{}{}: {}", note.empty() ? "" : ", ", layer.width, layer.component);
  return note;
}

void require_permutation_reset(const Cascade& cascade) {
  for (std::size_t k = 0; k < cascade.layers.size(); ++k)
    for (const Transformation& action : cascade.layers[k].actions)
      if (!action.is_permutation() && !action.constant_image())
        throw InputError(fmt::format("layer {} of the cascade has the action {}, neither a bijection nor a constant",
                                     k + 1, to_string(action)));
}

}  // namespace

Network cascade_network(const Dfa& automaton, const Cascade& cascade, const CascadeNetworkOptions& options) {
  if (!(cascade.alphabet == automaton.alphabet()))
    throw InputError("the cascade was made for another alphabet than the automaton's");
  require_permutation_reset(cascade);
  Network network{automaton,
                  {},
                  cascade.readout,
                  {"cascade-" + cascade.method, {}, "Grazzi Thm. 4 (MATH.md §3)", note_of(cascade)}};
  for (std::size_t k = 0; k < cascade.layers.size(); ++k)
    network.layers.push_back(layer_of(cascade.layers[k], cascade.initial[k], options));
  validate(network);
  return network;
}

namespace {

constexpr std::uint32_t kBlockDimension = 3;

/// A layer of shifts modulo its width.
Layer shift_layer(const CascadeLayer& layer, std::size_t k, Label initial, EigenvalueSet spectrum, Precision precision,
                  const WrappingIntegers& integers) {
  if (spectrum == EigenvalueSet::kUnitInterval || (spectrum == EigenvalueSet::kPosition && k > 0))
    throw InputError(
        fmt::format("layer {} of the cascade counts modulo {}; eigenvalues in [0, 1] cannot", k + 1, layer.width));
  const bool wraps = spectrum == EigenvalueSet::kWrapping;
  if (layer.width == 2) return sign_layer(layer, initial, wraps ? std::optional(integers) : std::nullopt);
  if (spectrum == EigenvalueSet::kSigned || wraps)
    throw InputError(fmt::format("layer {} of the cascade counts modulo {}; {} count modulo powers of 2 only", k + 1,
                                 layer.width, wraps ? "integers that wrap around" : "eigenvalues in [−1, 1]"));
  const bool exact = spectrum == EigenvalueSet::kPosition || spectrum == EigenvalueSet::kCyclic;
  return exact ? cyclic_layer(layer, initial) : turn_layer(layer, initial, precision);
}

/// A layer of two labels whose actions are the identity and the swap shifts; one whose actions are the identity and
/// constants resets; only the identity is both, and holds its label as a reset layer does.
Layer layer_of(const CascadeLayer& layer, std::size_t k, Label initial, EigenvalueSet spectrum, Precision precision,
               const WrappingIntegers& integers) {
  if (is_reset_layer(layer)) return reset_layer(layer, initial);
  if (is_shift_layer(layer)) return shift_layer(layer, k, initial, spectrum, precision, integers);
  if (spectrum == EigenvalueSet::kBlocks) return orthogonal_layer(layer, initial, kBlockDimension);
  throw InputError(
      fmt::format("layer {} of the cascade has bijections that are not shifts of Z_{}", k + 1, layer.width));
}

std::string diagonal_note_of(const Cascade& cascade) {
  std::string note;
  for (const CascadeLayer& layer : cascade.layers)
    note += fmt::format("{}{}: {}", note.empty() ? "" : ", ", layer.width,
                        is_reset_layer(layer) ? "resets" : layer.component);
  return note;
}

}  // namespace

Network diagonal_cascade_network(const Dfa& automaton, const Cascade& cascade, EigenvalueSet spectrum,
                                 Precision precision, const WrappingIntegers& integers) {
  if (!(cascade.alphabet == automaton.alphabet()))
    throw InputError("the cascade was made for another alphabet than the automaton's");
  Network network{automaton, {}, cascade.readout, {{}, {}, "Krohn–Rhodes (MATH.md §4)", diagonal_note_of(cascade)}};
  for (std::size_t k = 0; k < cascade.layers.size(); ++k) {
    Layer layer = layer_of(cascade.layers[k], k, cascade.initial[k], spectrum, precision, integers);
    layer.wiring = cascade.layers[k].wiring;
    network.layers.push_back(std::move(layer));
  }
  validate(network);
  return network;
}

namespace {

constexpr Label kMaxForAll = 10;  ///< states up to which all functions are tried
constexpr Label kMaxStates = 2'000;
constexpr std::size_t kMaxContents = 16'384;
constexpr std::size_t kMaxFunctions = 2'000, kMaxRegisters = 512;
constexpr std::uint64_t kMaxElements = 2'000;
constexpr std::uint64_t kMaxWork = 30'000'000;  ///< functions × letters × states

/// By label, 1 where the register holds −1 and else 0; 0 for label 0.
using Function = std::string;

/// Functions of the state that no letter leads out of, as registers.
struct Block {
  std::vector<Function> functions;
  std::vector<std::vector<RegisterMove>> moves;
};

struct Before {
  Function function;
  bool is_negative = false, is_constant = false;
};

/// q ↦ f(q·a).
Before before(const Function& function, const Transformation& action) {
  const char first = function[action[0]];
  Before result{Function(function.size(), 0), first != 0, true};
  for (Point q = 0; q < function.size(); ++q) result.function[q] = static_cast<char>(function[action[q]] ^ first);
  result.is_constant = result.function.find('\1') == Function::npos;
  return result;
}

class Registers {
 public:
  Registers(const Dfa& automaton, const TrackedStates& tracked) : automaton_(automaton), tracked_(tracked) {}

  /// Blocks that tell all states apart, the small ones first, and none that is not needed; or as many states as they
  /// can.
  std::vector<RegisterBlock> choose() {
    // Few states: all blocks, for the smallest are wanted. Many: until they are told apart.
    const bool all = tracked_.count() <= kMaxForAll;
    std::vector<Block> blocks;
    std::set<std::vector<Function>> known;
    std::set<Function> held;
    for (const Function& function : candidates()) {
      if (work_ > kMaxWork) break;
      if (!all && held.contains(function)) continue;
      auto block = block_of(function);
      if (!block) continue;
      held.insert(block->functions.begin(), block->functions.end());
      std::vector<Function> sorted = block->functions;
      std::ranges::sort(sorted);
      if (!known.insert(std::move(sorted)).second) continue;
      blocks.push_back(*std::move(block));
      if (!all && told_apart(blocks) == tracked_.count()) break;
    }
    std::ranges::stable_sort(blocks, {}, [](const Block& block) { return block.functions.size(); });
    std::vector<Block> chosen;
    std::size_t classes = std::min<std::size_t>(tracked_.count(), 1);
    for (const Block& block : blocks) {
      chosen.push_back(block);
      const std::size_t now = told_apart(chosen);
      if (now == classes) chosen.pop_back();
      classes = now;
    }
    is_enough_ = classes == tracked_.count();
    if (!is_enough_) not_told_ = alike(chosen);
    for (std::size_t i = chosen.size(); i-- > 0;) {
      const Block block = chosen[i];
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
      if (told_apart(chosen) < classes) chosen.insert(chosen.begin() + static_cast<std::ptrdiff_t>(i), block);
    }
    std::vector<RegisterBlock> result;
    for (Block& block : chosen) result.push_back({std::move(block.moves), std::string(block.functions.size(), 0)});
    return result;
  }

  bool is_enough() const { return is_enough_; }
  /// Two states that no function tells apart.
  std::string not_told() const {
    return fmt::format("states {} and {}", automaton_.state_name(tracked_.states[not_told_.first]),
                       automaton_.state_name(tracked_.states[not_told_.second]));
  }

 private:
  std::vector<Function> candidates() const {
    const Label states = tracked_.count();
    std::vector<Function> all;
    if (states <= kMaxForAll) {
      for (std::uint32_t set = 1; states > 0 && set < 1U << (states - 1); ++set) {
        Function function(states, 0);
        for (Label label = 1; label < states; ++label) function[label] = static_cast<char>(set >> (label - 1) & 1U);
        all.push_back(std::move(function));
      }
      return all;
    }
    std::set<Function> known;
    const auto add = [&](Function function) {
      if (function[0] != 0)
        for (char& value : function) value ^= 1;
      if (function.find('\1') != Function::npos && known.insert(function).second) all.push_back(std::move(function));
    };
    for (Output output = 0; output < automaton_.output_names().size(); ++output) {
      Function function(states, 0);
      for (Label label = 0; label < states; ++label)
        function[label] = automaton_.output(tracked_.states[label]) == output ? 1 : 0;
      add(std::move(function));
    }
    for (Label label = 0; label < states; ++label) {
      Function function(states, 0);
      function[label] = 1;
      add(std::move(function));
    }
    for (std::size_t i = 0; i < all.size() && all.size() < kMaxFunctions; ++i)
      for (const Transformation& action : tracked_.maps) add(before(Function(all[i]), action).function);
    return all;
  }

  /// Nothing where a letter would have one register held by two, where there are too many, or past the limit of work.
  std::optional<Block> block_of(const Function& function) {
    Block block{{function}, {}};
    std::unordered_map<Function, std::size_t> number{{function, 0}};
    block.moves.resize(tracked_.maps.size());
    std::vector<std::vector<bool>> read(tracked_.maps.size());
    for (std::size_t i = 0; i < block.functions.size(); ++i)
      for (std::size_t action = 0; action < tracked_.maps.size(); ++action) {
        if ((work_ += function.size()) > kMaxWork) return std::nullopt;
        TimeLimit::check();
        const Before held = before(block.functions[i], tracked_.maps[action]);
        RegisterMove move{std::nullopt, held.is_negative};
        if (!held.is_constant) {
          const auto [at, fresh] = number.emplace(held.function, block.functions.size());
          if (fresh) block.functions.push_back(held.function);
          read[action].resize(block.functions.size());
          if (block.functions.size() > kMaxRegisters || read[action][at->second]) return std::nullopt;
          read[action][at->second] = true;
          move.from = at->second;
        }
        block.moves[action].push_back(move);
      }
    return block;
  }

  std::vector<std::string> answers(const std::vector<Block>& blocks) const {
    std::vector<std::string> by_label(tracked_.count());
    for (const Block& block : blocks)
      for (const Function& function : block.functions)
        for (Label label = 0; label < tracked_.count(); ++label) by_label[label].push_back(function[label]);
    return by_label;
  }

  std::size_t told_apart(const std::vector<Block>& blocks) const {
    const auto all = answers(blocks);
    return std::set<std::string>(all.begin(), all.end()).size();
  }

  std::pair<Label, Label> alike(const std::vector<Block>& blocks) const {
    std::map<std::string, Label> first;
    Label label = 0;
    for (const auto& answer : answers(blocks)) {
      const auto [at, fresh] = first.emplace(answer, label);
      if (!fresh) return {at->second, label};
      ++label;
    }
    throw Error("registers tell all states apart and were refused");
  }

  const Dfa& automaton_;
  const TrackedStates& tracked_;
  std::uint64_t work_ = 0;
  bool is_enough_ = false;
  std::pair<Label, Label> not_told_;
};

Reflection projection(std::size_t at) { return {{{static_cast<std::uint32_t>(at), 1}}, 1, 1, 0, {}, 1}; }

Reflection negation(std::size_t at) { return {{{static_cast<std::uint32_t>(at), 1}}, 1, 1, 0, {}, 2}; }

/// Exchanges two numbers, and negates both.
Reflection exchange(std::size_t a, std::size_t b, bool is_negative) {
  const auto low = static_cast<std::uint32_t>(std::min(a, b)), high = static_cast<std::uint32_t>(std::max(a, b));
  return {{{low, 1}, {high, is_negative ? 1 : -1}}, 1, 1, 0, {}, 1};
}

/// The effect of one action on all registers: content goes along cycles, and along paths whose last content is lost and
/// whose first register is written.
Transition transition_of(const std::vector<RegisterMove>& moves) {
  const std::size_t size = moves.size();
  ReflectionProduct product{static_cast<std::uint32_t>(size), {}};
  Transition transition{{}, Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(size), 1)};
  std::vector<std::optional<std::size_t>> to(size);
  for (std::size_t i = 0; i < size; ++i)
    if (moves[i].from) to[*moves[i].from] = i;
  std::vector<bool> done(size);
  // Along start → next → …: each register in turn is exchanged with the first, which holds what the next one gets.
  const auto go_from = [&](std::size_t start) {
    bool is_negative = false;  // what the first register holds, of what it should pass on
    done[start] = true;
    for (std::size_t at = start; to[at] && *to[at] != start; at = *to[at]) {
      const std::size_t next = *to[at];
      is_negative = moves[next].is_negative != is_negative;
      product.factors.push_back(exchange(start, next, is_negative));
      done[next] = true;
    }
    if (!moves[start].from)
      product.factors.push_back(projection(start));
    else if (moves[start].is_negative != is_negative)
      product.factors.push_back(negation(start));
  };
  for (std::size_t i = 0; i < size; ++i)
    if (!moves[i].from) {
      go_from(i);
      transition.b(static_cast<Eigen::Index>(i), 0) = moves[i].is_negative ? -1 : 1;
    }
  for (std::size_t i = 0; i < size; ++i)
    if (!done[i]) go_from(i);
  if (transition.b.isZero(0)) transition.b.resize(0, 0);
  transition.a = std::move(product);
  return transition;
}

}  // namespace

Network build_registers(const Dfa& automaton) {
  TrackedStates tracked = tracked_states(automaton);
  if (tracked.count() > kMaxStates)
    throw LimitError(fmt::format("registers are looked for up to {} states", kMaxStates));
  if (tracked.count() == 1) throw InputError("one state needs no register");
  Registers functions(automaton, tracked);
  std::vector<RegisterBlock> blocks = functions.choose();
  if (!functions.is_enough()) {
    CrossingSearch crossing;  // of all states, and so of no others
    if (tracked.count() == automaton.states()) crossing = crossing_idempotents(automaton, kMaxElements);
    if (crossing.found)
      throw InputError(fmt::format("no layer of contractions holds it with finitely many values: {}",
                                   to_string(*crossing.found, automaton)));
    auto found = find_registers(tracked, std::move(blocks), kMaxContents);
    if (!found)
      throw LimitError(fmt::format(
          "no registers were found within the limits of the search{}; functions of the state leave {} alike",
          crossing.is_complete ? ", though there are some, as idempotents do not cross" : "", functions.not_told()));
    blocks = *std::move(found);
  }
  std::size_t size = 0;
  for (const RegisterBlock& block : blocks) size += block.size();
  if (size > kMaxRegisters) throw LimitError(fmt::format("{} registers are more than {}", size, kMaxRegisters));

  const RegisterStates states = register_states(tracked, blocks, kMaxContents);
  std::vector<Eigen::MatrixXd> codewords;
  std::vector<State> state_of;  // by what the registers hold
  std::map<std::string, Label> known;
  for (std::size_t i = 0; i < states.labels.size(); ++i) {
    const auto [at, fresh] = known.emplace(states.contents[i], states.labels[i]);
    if (at->second != states.labels[i] || !states.is_complete) throw Error("registers do not tell the states apart");
    if (!fresh) continue;
    Eigen::MatrixXd codeword(static_cast<Eigen::Index>(size), 1);
    for (std::size_t row = 0; row < size; ++row)
      codeword(static_cast<Eigen::Index>(row), 0) = states.contents[i][row] != 0 ? -1 : 1;
    codewords.push_back(std::move(codeword));
    state_of.push_back(tracked.states[states.labels[i]]);
  }
  Layer layer = listed_layer(std::move(codewords));
  for (std::size_t action = 0; action < tracked.maps.size(); ++action) {
    std::vector<RegisterMove> moves;
    for (const RegisterBlock& block : blocks) {
      const std::size_t first = moves.size();
      for (RegisterMove move : block.moves[action]) {
        if (move.from) *move.from += first;
        moves.push_back(move);
      }
    }
    layer.transitions.push_back(transition_of(moves));
  }
  tracked.states = std::move(state_of);
  return single_layer_network(automaton, tracked, std::move(layer),
                              {"registers", {}, "MATH.md §4", fmt::format("{} registers", size)});
}

}  // namespace krohn
