#include "krohn/simulate/many/pair_machine.h"

#include "krohn/simulate/prove/pairs/network_machine.h"

namespace krohn {
namespace {

template <class Arithmetic>
class MachineIn final : public PairMachine {
 public:
  MachineIn(const Network& network, Form form) : machine_(network, form) {}

  std::size_t words() const override { return machine_.words(); }
  Letter letters() const override { return machine_.letters(); }
  State start(std::uint32_t* memory) override { return machine_.start(memory); }
  void load(const std::uint32_t* memory) override { machine_.load(memory); }
  State step(Letter letter, std::uint32_t* memory) override { return machine_.step(letter, /*asked=*/true, memory); }

 private:
  NetworkMachine<Arithmetic> machine_;
};

}  // namespace

std::unique_ptr<PairMachine> make_pair_machine(const Network& network, ArithmeticName arithmetic, Form form) {
  return with_arithmetic(arithmetic, [&](auto type) -> std::unique_ptr<PairMachine> {
    return std::make_unique<MachineIn<decltype(type)>>(network, form);
  });
}

}  // namespace krohn
