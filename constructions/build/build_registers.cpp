#include "krohn/constructions/build/build_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "krohn/automata/monoid/crossing_idempotents.h"
#include "krohn/constructions/actions/tracked_states.h"
#include "krohn/constructions/network/listed_layer.h"
#include "krohn/constructions/registers/find_registers.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr Label kMostForAll = 10;  ///< states up to which all functions are tried
constexpr Label kMostStates = 2'000;
constexpr std::size_t kMostContents = 16'384;
constexpr std::size_t kMostFunctions = 2'000, kMostRegisters = 512;
constexpr std::uint64_t kMostElements = 2'000;
constexpr std::uint64_t kMostWork = 30'000'000;  ///< functions × letters × states

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
    const bool all = tracked_.count() <= kMostForAll;
    std::vector<Block> blocks;
    std::set<std::vector<Function>> known;
    std::set<Function> held;
    for (const Function& function : candidates()) {
      if (work_ > kMostWork) break;
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
    if (states <= kMostForAll) {
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
    for (std::size_t i = 0; i < all.size() && all.size() < kMostFunctions; ++i)
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
        if ((work_ += function.size()) > kMostWork) return std::nullopt;
        TimeLimit::check();
        const Before held = before(block.functions[i], tracked_.maps[action]);
        RegisterMove move{std::nullopt, held.is_negative};
        if (!held.is_constant) {
          const auto [at, fresh] = number.emplace(held.function, block.functions.size());
          if (fresh) block.functions.push_back(held.function);
          read[action].resize(block.functions.size());
          if (block.functions.size() > kMostRegisters || read[action][at->second]) return std::nullopt;
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

/// What one action does to all registers: content goes along cycles, and along paths whose last content is lost and
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
  if (tracked.count() > kMostStates)
    throw LimitError(fmt::format("registers are looked for up to {} states", kMostStates));
  if (tracked.count() == 1) throw InputError("one state needs no register");
  Registers functions(automaton, tracked);
  std::vector<RegisterBlock> blocks = functions.choose();
  if (!functions.is_enough()) {
    CrossingSearch crossing;  // of all states, and so of no others
    if (tracked.count() == automaton.states()) crossing = crossing_idempotents(automaton, kMostElements);
    if (crossing.found)
      throw InputError(fmt::format("no layer of contractions holds it with finitely many values: {}",
                                   to_string(*crossing.found, automaton)));
    auto found = find_registers(tracked, std::move(blocks), kMostContents);
    if (!found)
      throw LimitError(fmt::format(
          "no registers were found within the limits of the search{}; functions of the state leave {} alike",
          crossing.is_complete ? ", though there are some, as idempotents do not cross" : "", functions.not_told()));
    blocks = *std::move(found);
  }
  std::size_t size = 0;
  for (const RegisterBlock& block : blocks) size += block.size();
  if (size > kMostRegisters) throw LimitError(fmt::format("{} registers are more than {}", size, kMostRegisters));

  const RegisterStates states = register_states(tracked, blocks, kMostContents);
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
