// simulate/many/pair_machine.h — a network in some arithmetic as the machine of a search of pairs, whatever its
// numbers: one search serves all arithmetics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/form.h"

namespace krohn {

/// simulate/prove/pairs/network_machine.h behind virtual calls, which cost little beside a step.
class PairMachine {
 public:
  virtual ~PairMachine() = default;
  virtual std::size_t words() const = 0;
  virtual Letter letters() const = 0;
  /// Writes what it remembers before the first letter; gives the state that it answers there, or kNoState.
  virtual State start(std::uint32_t* memory) = 0;
  virtual void load(const std::uint32_t* memory) = 0;
  /// Reads a letter from the memory that was loaded last.
  virtual State step(Letter letter, std::uint32_t* memory) = 0;
};

/// Views the network. Precondition: !arithmetic.is_exact().
std::unique_ptr<PairMachine> make_pair_machine(const Network& network, ArithmeticName arithmetic, Form form);

}  // namespace krohn
