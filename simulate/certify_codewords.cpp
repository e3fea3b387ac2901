#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "groups/error.h"
#include "simulate/certify.h"
#include "simulate/rounded_network.h"

namespace krohn {
namespace {

/// The states of one layer that its actions reach from H_0, all of them codewords. A state is a codeword of one book;
/// a move is an action together with the book that decodes after it.
template <class Arithmetic>
class ClosedLayer {
 public:
  using Number = typename Arithmetic::Number;

  ClosedLayer(const RoundedNetwork<Arithmetic>& network, std::size_t k, const Layer& layer)
      : layer_(network.layers()[k]), from_(layer_.size()), to_(layer_.size()), exact_(layer_.size()) {
    machine_.labels = layer.labels;
    machine_.next = layer.wiring.next;
    for (const NearestCodeword& book : layer_.books()) {
      hints_.push_back(book.make_hints());
      known_.emplace_back(book.size(), kNoLabel);
    }
    number_moves(layer);
  }

  /// False as soon as a state is not a codeword. `tick` is called once a (state, move).
  template <class Tick>
  bool close(Tick&& tick) {
    if (!find_start()) return false;
    for (Label state = 0; state < states_.size(); ++state) {
      load(states_[state], from_);
      for (std::size_t move = 0; move < moves_.size(); ++move) {
        tick();
        layer_.move(moves_[move].first, from_.data(), to_.data());
        const std::optional<Codeword> reached = codeword_of(to_, moves_[move].second);
        if (!reached) return false;
        machine_.moves[move].push_back(number_of(*reached));
      }
    }
    machine_.states = static_cast<Label>(states_.size());
    return true;
  }

  LabelLayer take_machine() { return std::move(machine_); }

 private:
  struct Codeword {
    std::uint32_t book, index;
  };

  void number_moves(const Layer& layer) {
    std::map<std::pair<Action, std::uint32_t>, std::uint32_t> numbers;
    for (Context context = 0; context < layer.wiring.action_of.size(); ++context) {
      const std::pair move{layer_.action_of(context), layer_.book_of(context)};
      const auto [found, fresh] = numbers.try_emplace(move, static_cast<std::uint32_t>(moves_.size()));
      if (fresh) moves_.push_back(move);
      machine_.move_of.push_back(found->second);
    }
    machine_.moves.resize(moves_.size());
  }

  bool find_start() {
    for (std::uint32_t book = 0; book < hints_.size(); ++book) {
      const std::optional<Codeword> start = codeword_of(layer_.initial(), book);
      if (!start || layer_.books()[book].label(start->index) != layer_.initial_label()) continue;
      machine_.initial = number_of(*start);
      return true;
    }
    return false;
  }

  /// The codeword that the decoder picks in the book, if the numbers are that codeword, rounded, bit for bit.
  std::optional<Codeword> codeword_of(const std::vector<Number>& numbers, std::uint32_t book) {
    std::transform(numbers.begin(), numbers.end(), exact_.begin(), [](Number number) { return to_double(number); });
    const std::uint32_t index = layer_.books()[book].nearest(exact_, hints_[book]);
    if (index == NearestCodeword::kNoCodeword) return std::nullopt;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Number entry = round_weight<Arithmetic>(layer_.books()[book].entry(index, i));
      if (state_bits<Arithmetic>(entry) != state_bits<Arithmetic>(numbers[i])) return std::nullopt;
    }
    return Codeword{book, index};
  }

  void load(const Codeword& codeword, std::vector<Number>& numbers) const {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = round_weight<Arithmetic>(layer_.books()[codeword.book].entry(codeword.index, i));
  }

  Label number_of(const Codeword& codeword) {
    Label& number = known_[codeword.book][codeword.index];
    if (number != kNoLabel) return number;
    number = static_cast<Label>(states_.size());
    states_.push_back(codeword);
    machine_.shown.push_back(layer_.books()[codeword.book].label(codeword.index));
    return number;
  }

  const RoundedLayer<Arithmetic>& layer_;
  LabelLayer machine_;
  std::vector<std::pair<Action, std::uint32_t>> moves_;  ///< (action, book)
  std::vector<Codeword> states_;
  std::vector<std::vector<Label>> known_;  ///< book ↦ codeword ↦ its number, kNoLabel when not reached
  std::vector<NearestCodeword::Hints> hints_;
  std::vector<Number> from_, to_;
  std::vector<double> exact_;
};

/// The machine of labels that evaluation finds, or nothing when a layer does not close.
template <class Arithmetic>
std::optional<LabelMachine> find_machine(const Network& network, const CertifyOptions& options, std::uint64_t& pairs) {
  const RoundedNetwork<Arithmetic> rounded(network, options.form);
  LabelMachine machine;
  const auto tick = [&] {
    if (++pairs % (1 << 16) == 0 && options.progress) options.progress(pairs);
  };
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    ClosedLayer<Arithmetic> layer(rounded, k, network.layers[k]);
    if (!layer.close(tick)) return std::nullopt;
    machine.layers.push_back(layer.take_machine());
  }
  machine.readout = network.readout.next;
  return machine;
}

/// How the machine was found to emulate the automaton, in words; or nothing.
std::optional<std::string> emulation_evidence(const LabelMachine& machine, const Network& network,
                                              const CertifyOptions& options) {
  try {
    const EmulationResult induction = prove_emulation(machine, network.automaton);
    if (induction.holds)
      return fmt::format("by induction over {} triples of context and readout nodes", induction.checked);
  } catch (const LimitError&) {
    // The reachable tuples may still be few.
  }
  try {
    const EmulationResult search = explore_emulation(machine, network.automaton, options.max_pairs);
    if (search.holds) return fmt::format("on all {} reachable pairs of a label tuple and a letter", search.checked);
  } catch (const LimitError&) {
    // Then this certificate has nothing to say.
  }
  return std::nullopt;
}

}  // namespace

std::optional<Certificate> certify_closed_codewords(const Network& network, const CertifyOptions& options) {
  std::uint64_t pairs = 0;
  const std::optional<LabelMachine> machine = with_arithmetic(
      options.arithmetic, [&](auto type) { return find_machine<decltype(type)>(network, options, pairs); });
  if (!machine) return std::nullopt;
  const std::optional<std::string> emulation = emulation_evidence(*machine, network, options);
  if (!emulation) return std::nullopt;
  Certificate certificate;
  certificate.claim = Claim::kProved;
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.method = "closed codewords";
  certificate.pairs = pairs;
  certificate.evidence = fmt::format(
      "every action takes every codeword to a codeword bit for bit ({} pairs in {} layer{}), and the labels "
      "so found emulate the automaton {}",
      pairs, network.layers.size(), network.layers.size() == 1 ? "" : "s", *emulation);
  return certificate;
}

}  // namespace krohn
