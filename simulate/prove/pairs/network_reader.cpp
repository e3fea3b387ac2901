#include "krohn/simulate/prove/pairs/network_reader.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "krohn/simulate/prove/pairs/network_machine.h"

namespace krohn {
namespace {

/// Entries of all codewords that are compared for a margin.
constexpr std::size_t kComparedEntries = 4096;

template <class Arithmetic>
class NetworkReader final : public LetterReader {
 public:
  NetworkReader(const Network& network, Form form, std::vector<Output> outputs)
      : machine_(network, form), outputs_(std::move(outputs)), start_(machine_.words()) {
    at_start_ = answer(machine_.start(start_.data()));
  }

  Letter letters() const override { return machine_.letters(); }
  Memory start() const override { return start_; }
  Answer answer_at_start() const override { return at_start_; }
  Answer step(Letter letter, Memory& memory, bool asked) const override {
    machine_.load(memory.data());
    const Answer given = answer(machine_.step(letter, asked, memory.data()));
    if (!asked || given.output == kNoAnswer) return given;
    return {given.output, machine_.margin(kComparedEntries)};
  }

 private:
  Answer answer(State state) const {
    if (state == kNoState && !machine_.is_finite()) return {.missing = Missing::kState};
    if (state == kNoState) return {};
    return {outputs_.empty() ? state : outputs_[state], 0};
  }

  mutable NetworkMachine<Arithmetic> machine_;  // its buffers; a step changes nothing that a step depends on
  std::vector<Output> outputs_;
  Memory start_;
  Answer at_start_;
};

}  // namespace

std::unique_ptr<LetterReader> network_reader(const Network& network, ArithmeticName arithmetic, Form form,
                                             std::vector<Output> outputs) {
  return with_arithmetic(arithmetic, [&](auto type) -> std::unique_ptr<LetterReader> {
    return std::make_unique<NetworkReader<decltype(type)>>(network, form, std::move(outputs));
  });
}

TrackedAutomaton every_state(const Dfa& automaton) {
  std::vector<Output> wanted(automaton.states());
  std::iota(wanted.begin(), wanted.end(), Output{0});
  return {automaton, std::move(wanted)};
}

}  // namespace krohn
