#include "krohn/simulate/prove/steps.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/interruption.h"
#include "krohn/groups/time_limit.h"
#include "krohn/simulate/evaluate/rounded_network.h"
#include "krohn/simulate/prove/machine/reader_run.h"
#include "krohn/simulate/prove/pairs/network_reader.h"

namespace krohn {
namespace {

void require_room(std::uint64_t steps, std::uint64_t bytes, const StepLimits& limits) {
  if (steps > limits.max_steps)
    throw LimitError(fmt::format("the certificate would have more than {}", counted(limits.max_steps, "step")));
  if (bytes > limits.max_bytes)
    throw LimitError(fmt::format("the certificate would take more than {} MiB", limits.max_bytes >> 20));
}

// ---- Tuples of labels

/// The machine of labels that closed tables describe, walked from its start.
class Tuples {
 public:
  Tuples(const ClosedCodewords& proof, const Network& network, const StepLimits& limits)
      : proof_(proof), network_(network), limits_(limits) {
    for (std::size_t k = 0; k < proof.layers.size(); ++k) {
      const Layer& layer = network.layers[k];
      std::map<std::pair<Action, std::uint32_t>, std::size_t> move_of;
      for (std::size_t m = 0; m < proof.layers[k].moves.size(); ++m)
        move_of[{proof.layers[k].moves[m].action, proof.layers[k].moves[m].book}] = m;
      auto& moves = move_of_.emplace_back();
      for (Context c = 0; c < layer.wiring.action_of.size(); ++c)
        moves.push_back(
            move_of.at({layer.wiring.action_of[c], layer.book_of_context.empty() ? 0 : layer.book_of_context[c]}));
    }
  }

  std::vector<LabelTuple> list() {
    number({network_.automaton.initial(), std::vector<std::uint32_t>(proof_.layers.size(), 0)});
    for (std::size_t at = 0; at < tuples_.size(); ++at) {
      require_room(tuples_.size(), tuples_.size() * (proof_.layers.size() + network_.automaton.letters()) * 4, limits_);
      std::vector<std::uint32_t> next;
      for (Letter letter = 0; letter < network_.automaton.letters(); ++letter)
        next.push_back(number({network_.automaton.next(tuples_[at].state, letter), after(tuples_[at].places, letter)}));
      tuples_[at].next = std::move(next);
    }
    return std::move(tuples_);
  }

 private:
  using Key = std::pair<State, std::vector<std::uint32_t>>;

  std::uint32_t number(Key key) {
    const auto [known, fresh] = known_.try_emplace(std::move(key), static_cast<std::uint32_t>(tuples_.size()));
    if (fresh) tuples_.push_back({known->first.first, known->first.second, {}});
    return known->second;
  }

  std::vector<std::uint32_t> after(const std::vector<std::uint32_t>& places, Letter letter) const {
    std::vector<std::uint32_t> moved = places;
    Context context = letter;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const Layer& layer = network_.layers[k];
      moved[k] = proof_.layers[k].next[move_of_[k][context]][places[k]];
      if (k + 1 == places.size()) break;
      context =
          layer.wiring
              .next[std::size_t{context} * layer.labels + codeword_label(layer, proof_.layers[k].codewords[places[k]])];
    }
    return moved;
  }

  const ClosedCodewords& proof_;
  const Network& network_;
  const StepLimits& limits_;
  std::vector<std::vector<std::size_t>> move_of_;  ///< by layer and context
  std::map<Key, std::uint32_t> known_;
  std::vector<LabelTuple> tuples_;
};

// ---- Pairs

/// A machine that reads letters has
///   Memory: what it remembers; start(); step(const Memory&, Letter); key(const Memory&), equal where they are equal;
///   describe(const Memory&, ReachedPair&)
template <class Arithmetic>
class NetworkSteps {
 public:
  using Number = typename Arithmetic::Number;
  struct Memory {
    std::vector<Number> numbers;
    std::vector<Label> labels;
    std::uint64_t phase = 0;
  };

  NetworkSteps(const Network& network, Form form) : network_(network, form), scratch_(network_.make_scratch()) {}

  Memory start() const {
    Memory memory{std::vector<Number>(network_.size()), std::vector<Label>(network_.layers().size())};
    network_.start(memory.numbers.data(), memory.labels.data());
    return memory;
  }
  Memory step(const Memory& from, Letter letter) {
    Memory to = from;
    network_.step(from.numbers.data(), from.labels.data(), letter, to.numbers.data(), to.labels.data(), scratch_);
    if (network_.snap_every() == 0 || ++to.phase < network_.snap_every()) return to;
    network_.snap(to.numbers.data(), to.labels.data(), scratch_);
    to.phase = 0;
    return to;
  }
  static std::string key(const Memory& memory) {
    std::string key(reinterpret_cast<const char*>(&memory.phase), sizeof memory.phase);
    key.append(reinterpret_cast<const char*>(memory.labels.data()), memory.labels.size() * sizeof(Label));
    for (const Number entry : memory.numbers) {
      const auto bits = state_bits<Arithmetic>(entry);
      key.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
    return key;
  }
  void describe(const Memory& memory, ReachedPair& pair) const {
    pair.labels = memory.labels;
    pair.phase = memory.phase;
    std::size_t from = 0;
    for (const auto& layer : network_.layers()) {
      auto& list = pair.numbers.emplace_back();
      for (std::size_t i = 0; i < layer.size(); ++i) list.push_back(to_double(memory.numbers[from + i]) + 0.0);
      from += layer.size();
    }
  }
  std::size_t size() const { return network_.size(); }

 private:
  RoundedNetwork<Arithmetic> network_;
  typename RoundedNetwork<Arithmetic>::Scratch scratch_;
};

template <class Real>
class ReaderSteps {
 public:
  using Memory = LetterReader::Memory;

  /// `numbers`: that the reader remembers.
  ReaderSteps(const LetterReader& reader, std::size_t numbers) : reader_(reader), numbers_(numbers) {}
  Memory start() const { return reader_.start(); }
  Memory step(const Memory& from, Letter letter) const {
    Memory to = from;
    reader_.step(letter, to, false);
    return to;
  }
  static std::string key(const Memory& memory) {
    return {reinterpret_cast<const char*>(memory.data()), memory.size() * sizeof(Memory::value_type)};
  }
  void describe(const Memory& memory, ReachedPair& pair) const {
    std::vector<Real> numbers(numbers_);
    std::memcpy(static_cast<void*>(numbers.data()), memory.data(), numbers.size() * sizeof(Real));
    auto& list = pair.numbers.emplace_back();
    for (const Real number : numbers) list.push_back(static_cast<double>(number) + 0.0);
  }
  std::size_t size() const { return reader_.start().size(); }

 private:
  const LetterReader& reader_;
  std::size_t numbers_;
};

std::size_t remembered_by(const Operations& operations) {
  for (const Operation& operation : operations.list)
    if (operation.what == "memory") return operation.size;
  return 0;
}

/// Pairs of a state and a memory, breadth-first: those that fewer than `length` letters reach; `length` 2^64 − 1: all.
template <class Machine>
std::vector<ReachedPair> list_pairs(Machine machine, const TrackedAutomaton& tracked, std::uint64_t length,
                                    const StepLimits& limits) {
  const Dfa& automaton = tracked.automaton;
  const bool is_closed = length == std::numeric_limits<std::uint64_t>::max();
  std::vector<ReachedPair> pairs;
  std::vector<typename Machine::Memory> memories;
  std::vector<std::uint64_t> depths;
  std::unordered_map<std::string, std::uint32_t> known;
  const auto number = [&](std::uint64_t depth, State state, typename Machine::Memory memory) {
    std::string key = Machine::key(memory);
    key.append(reinterpret_cast<const char*>(&state), sizeof state);
    const auto [at, fresh] = known.try_emplace(std::move(key), static_cast<std::uint32_t>(pairs.size()));
    if (fresh) {
      pairs.push_back({is_closed ? 0 : depth, state, {}, 0, {}, {}});
      machine.describe(memory, pairs.back());
      memories.push_back(std::move(memory));
      depths.push_back(depth);
    }
    return at->second;
  };
  number(0, automaton.initial(), machine.start());
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    Interruption::check();
    TimeLimit::check();
    require_room(pairs.size(), pairs.size() * (128 + 16 * machine.size()), limits);
    if (!is_closed && depths[at] + 1 >= length) continue;
    std::vector<std::uint32_t> next;
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      const State state = automaton.next(pairs[at].state, letter);
      next.push_back(tracked.wanted[state] == TrackedAutomaton::kNoSuchWord
                         ? UINT32_MAX
                         : number(depths[at] + 1, state, machine.step(memories[at], letter)));
    }
    pairs[at].next = std::move(next);
  }
  return pairs;
}

/// The certificate with its pairs; `list(tracked, length)` lists them.
template <class List>
void list_all(Certificate& certificate, const StepLimits& limits, const List& list) {
  if (auto* reached = std::get_if<ReachedPairs>(&certificate.proof)) {
    require_room(reached->pairs, 0, limits);
    const bool is_closed = certificate.is<Proved>();
    reached->list = list(is_closed ? std::numeric_limits<std::uint64_t>::max() : certificate.length());
    reached->pairs = reached->list.size();
    reached->depth = 0;
    for (const ReachedPair& pair : reached->list) reached->depth = std::max(reached->depth, pair.depth);
  }
  if (auto* run = std::get_if<FailingRun>(&certificate.proof); run != nullptr && certificate.is_shortest())
    if (const Word& word = *certificate.failing_word(); !word.empty()) run->shorter = list(word.size() - 1);
}

}  // namespace

Certificate with_steps(Certificate certificate, const Network& network, const StepLimits& limits) {
  auto* closed = std::get_if<ClosedCodewords>(&certificate.proof);
  if (auto* any = std::get_if<AnyOrder>(&certificate.proof)) closed = &any->codewords;
  if (closed != nullptr && !closed->by_induction) closed->tuples = Tuples(*closed, network, limits).list();
  list_all(certificate, limits, [&](std::uint64_t length) {
    const TrackedAutomaton tracked = certificate.language ? *certificate.language : every_state(network.automaton);
    return with_arithmetic(certificate.arithmetic, [&](auto type) {
      return list_pairs(NetworkSteps<decltype(type)>(network, certificate.form), tracked, length, limits);
    });
  });
  return certificate;
}

Certificate with_steps(Certificate certificate, const LetterReader& reader, const StepLimits& limits) {
  list_all(certificate, limits, [&](std::uint64_t length) {
    const auto listed = [&]<class Real>(Real) {
      return list_pairs(ReaderSteps<Real>(reader, remembered_by(*certificate.operations)), *certificate.language,
                        length, limits);
    };
    switch (certificate.operations->format) {
      case Precision::kFp64:
        return listed(double{});
      case Precision::kBf16:
        return listed(Eigen::bfloat16{});
      default:
        return listed(float{});
    }
  });
  return certificate;
}

TrackedAutomaton language_to_write(const TrackedAutomaton& tracked) {
  const Dfa& automaton = tracked.automaton;
  const State none = automaton.states();
  std::vector<State> number(automaton.states(), none), met{automaton.initial()};
  number[automaton.initial()] = 0;
  bool has_dead = false;
  for (std::size_t i = 0; i < met.size(); ++i)
    for (const State next : automaton.row(met[i])) {
      const bool is_dead = tracked.wanted[next] == TrackedAutomaton::kNoSuchWord;
      has_dead = has_dead || is_dead;
      if (is_dead || number[next] != none) continue;
      number[next] = static_cast<State>(met.size());
      met.push_back(next);
    }
  const auto dead = static_cast<State>(met.size());
  std::vector<State> table;
  std::vector<Output> outputs, wanted;
  for (const State state : met) {
    for (const State next : automaton.row(state)) table.push_back(number[next] == none ? dead : number[next]);
    outputs.push_back(automaton.output(state));
    wanted.push_back(tracked.wanted[state]);
  }
  if (has_dead) {
    table.insert(table.end(), automaton.letters(), dead);
    outputs.push_back(0);
    wanted.push_back(TrackedAutomaton::kNoSuchWord);
  }
  return {Dfa::moore(automaton.alphabet(), std::move(table), 0, std::move(outputs),
                     {automaton.output_names().begin(), automaton.output_names().end()}),
          std::move(wanted)};
}

void give_proof(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked) {
  certificate.proof = {};
  if (certificate.is<Proved>()) {
    certificate.proof = ReachedPairs{certificate.pairs, 0, {}};
  } else if (certificate.is<ProvedUpTo>() && certificate.length() > 0) {
    certificate.proof = ReachedPairs{0, certificate.length() - 1, {}};
  } else if (const Word* word = certificate.failing_word(); word != nullptr) {
    certificate.language = language_to_write(tracked);
    ReaderRun run(reader, *certificate.language);
    for (const Letter letter : *word) run.read(letter);
    const Output given = run.answer().output;
    certificate.proof =
        FailingRun{{}, run.state(), given == LetterReader::kNoAnswer ? std::nullopt : std::optional(given), {}};
    return;
  } else {
    return;
  }
  certificate.language = language_to_write(tracked);
}

}  // namespace krohn
