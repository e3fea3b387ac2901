// simulate/prove/pairs/network_machine.h — a network in one arithmetic as a machine of
// simulate/prove/pairs/pair_search.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/evaluate/rounded_network.h"
#include "krohn/simulate/run/letter_reader.h"

namespace krohn {

/// It remembers, of a network that snaps, how many letters ago it did; the labels, of layers below the last, that the
/// numbers do not determine (several code books, or a start that is not labelled as it decodes); and the bit patterns
/// of all numbers, −0 as +0. It answers with the state of the readout, or kNoState.
template <class Arithmetic>
class NetworkMachine {
 public:
  using Number = typename Arithmetic::Number;
  using Bits = typename Arithmetic::Bits;
  static constexpr std::uint32_t pairs_at_once = 64;
  static constexpr bool kEndsLevels = true;

  NetworkMachine(const Network& network, Form form)
      : network_(network, form),
        scratch_(network_.make_scratch()),
        from_(network_.size()),
        to_(network_.size()),
        pre_(network_.layers().size()),
        post_(network_.layers().size()),
        has_phase_(network_.snap_every() > 0),
        stored_labels_(labels_to_store()) {}

  std::size_t words() const { return (has_phase_ ? 1 : 0) + stored_labels_.size() + number_words(); }
  Letter letters() const { return network_.letters(); }

  State start(std::uint32_t* memory) {
    network_.start(from_.data(), pre_.data());
    pack(0, from_.data(), pre_.data(), memory);
    return network_.read(pre_.data());
  }

  void load(const std::uint32_t* memory) {
    if (has_phase_) phase_ = *memory++;
    std::memcpy(static_cast<void*>(from_.data()), memory + stored_labels_.size(), network_.size() * sizeof(Number));
    std::size_t stored = 0;
    const Number* numbers = from_.data();
    for (std::size_t k = 0; k + 1 < pre_.size(); ++k) {  // the last layer's label is not needed
      const bool is_stored = stored < stored_labels_.size() && stored_labels_[stored] == k;
      pre_[k] = is_stored ? memory[stored++] : network_.label_of(k, 0, numbers, scratch_);
      numbers += network_.layers()[k].size();
    }
  }

  State step(Letter letter, bool, std::uint32_t* memory) {
    const State answer = network_.step(from_.data(), pre_.data(), letter, to_.data(), post_.data(), scratch_);
    const std::uint32_t phase = next_phase();
    if (has_phase_ && phase == 0) network_.snap(to_.data(), post_.data(), scratch_);
    pack(phase, to_.data(), post_.data(), memory);
    return answer;
  }

  /// After a step: whether the state is.
  bool is_finite() const {
    return std::ranges::all_of(to_, [](Number number) { return std::isfinite(to_double(number)); });
  }

  /// After a step: how much farther the second nearest codeword is than the nearest, squared, least over the layers
  /// that have one code book. 0 when more than `most` entries of codewords would have to be looked at.
  double margin(std::size_t most) {
    double least = std::numeric_limits<double>::infinity();
    const Number* numbers = to_.data();
    for (const auto& layer : network_.layers()) {
      const NearestCodeword& book = layer.books()[0];
      if (layer.books().size() == 1) {
        if (book.size() * layer.size() > most) return 0;
        least = std::min(least, margin(book, numbers, layer.size()));
      }
      numbers += layer.size();
    }
    return least;
  }

 private:
  static double margin(const NearestCodeword& book, const Number* numbers, std::size_t size) {
    double nearest = std::numeric_limits<double>::infinity(), second = nearest;
    for (std::uint32_t codeword = 0; codeword < book.size(); ++codeword) {
      double distance = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double d = to_double(numbers[i]) - book.entry(codeword, i);
        distance += d * d;
      }
      second = std::min(second, std::max(nearest, distance));
      nearest = std::min(nearest, distance);
    }
    return second - nearest;
  }

  std::size_t number_words() const {
    return (network_.size() * sizeof(Bits) + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t);
  }

  std::vector<std::size_t> labels_to_store() {
    std::vector<std::size_t> layers;
    network_.start(from_.data(), pre_.data());
    const Number* numbers = from_.data();
    for (std::size_t k = 0; k + 1 < pre_.size(); ++k) {
      // In three layers and more, a layer above one that did not decode stays at its numbers without a label.
      if (network_.layers()[k].books().size() > 1 || has_phase_ || pre_.size() > 2 ||
          network_.label_of(k, 0, numbers, scratch_) != pre_[k])
        layers.push_back(k);
      numbers += network_.layers()[k].size();
    }
    return layers;
  }

  /// Letters since the last snap, one letter later. No search is deeper than 2^32 letters.
  std::uint32_t next_phase() const {
    return has_phase_ && phase_ + std::uint64_t{1} == network_.snap_every() ? 0 : phase_ + 1;
  }

  void pack(std::uint32_t phase, const Number* numbers, const Label* labels, std::uint32_t* memory) const {
    memory[words() - 1] = 0;  // the end of the last word may hold no number
    if (has_phase_) *memory++ = phase;
    for (const std::size_t k : stored_labels_) *memory++ = labels[k];
    auto* bytes = reinterpret_cast<unsigned char*>(memory);
    for (std::size_t i = 0; i < network_.size(); ++i) {
      const Bits bits = state_bits<Arithmetic>(numbers[i]);
      std::memcpy(bytes + i * sizeof(Bits), &bits, sizeof(Bits));
    }
  }

  RoundedNetwork<Arithmetic> network_;
  typename RoundedNetwork<Arithmetic>::Scratch scratch_;
  std::vector<Number> from_, to_;
  std::vector<Label> pre_, post_;
  bool has_phase_;
  std::uint32_t phase_ = 0;
  std::vector<std::size_t> stored_labels_;
};

// The finite automaton that a network is, when its reachable states are
// finitely many: found by evaluation alone, and then as fast to run as any automaton.

struct NetworkAutomatonOptions {
  std::uint64_t max_states = std::uint64_t{1} << 20;
  std::uint64_t max_transitions = std::uint64_t{1} << 24;  ///< states · letters, each one evaluated letter
  std::function<void(std::uint64_t)> progress;             ///< transitions so far; may throw Interrupted
};

/// The states that words lead the network to under the stated arithmetic, letter after letter: all numbers of all
/// layers bit for bit (−0 as +0), the labels that they showed and, of a network that snaps, the letters since it last
/// did. A state's transitions are what one step of the
/// network does to it, so the machine and the network agree on every word, letter by letter, whatever the automaton in
/// the network's file says: that is read nowhere. Output q < n: the readout gives state q of the automaton with n
/// states; output n: it gives none. Nothing when a limit is met. O(states · letters · cost of one step).
std::optional<Dfa> network_automaton(const Network& network, ArithmeticName arithmetic, Form form,
                                     const NetworkAutomatonOptions& options = {});

// A network in one arithmetic as a machine that reads letters
// (simulate/run/letter_reader.h): what the search for long failing words asks of any model.

/// The network letter after letter, snaps included. It answers with the state of the readout, or, where `outputs` gives
/// an output for each of these states, with that; with kNoAnswer where there is none. The margin is how much farther
/// the second nearest codeword is than the nearest, squared, least over the layers; 0 where that would cost more than
/// the letter itself. Used by one thread at a time; views the network, which must outlive it. The arithmetic is not
/// `exact`.
std::unique_ptr<LetterReader> network_reader(const Network& network, ArithmeticName arithmetic, Form form,
                                             std::vector<Output> outputs = {});

/// Every state of the network's automaton is asked for.
TrackedAutomaton every_state(const Dfa& automaton);

}  // namespace krohn
