// simulate/prove/orders/ordered_search.h — exhaustive search in an order that composes letters: all maps that words
// make in it, all states that they reach, each beside what the automaton does (MATH.md §5, "Orders").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// A network of one layer in one arithmetic, with its maps and states as records of 32-bit words, so that the search is
/// compiled once. A map carries what its word does to the automaton's states, a state the automaton's state; −0 is +0.
class OrderSystem {
 public:
  virtual ~OrderSystem() = default;

  /// False when chunks are in the UT form: then only `read_chunk` makes states.
  virtual bool has_maps() const = 0;
  virtual std::size_t map_words() const = 0;
  virtual std::size_t state_words() const = 0;

  virtual void letter(Letter letter, std::uint32_t* map) = 0;
  virtual void compose(const std::uint32_t* second, const std::uint32_t* first, std::uint32_t* out) = 0;
  virtual void apply(const std::uint32_t* map, const std::uint32_t* state, std::uint32_t* out) = 0;
  /// The map of the automaton's states; its entries, or a state's numbers, until the next call.
  virtual std::span<const std::uint32_t> moved_states(const std::uint32_t* map) const = 0;
  virtual const std::vector<double>& map_entries(const std::uint32_t* map) = 0;
  virtual const std::vector<double>& state_entries(const std::uint32_t* state) = 0;
  /// The state after the word, read as one chunk.
  virtual void read_chunk(const std::uint32_t* state, std::span<const Letter> word, std::uint32_t* out) = 0;

  virtual void start(std::uint32_t* state) = 0;
  /// True if the readout gives the initial state before the first letter.
  virtual bool starts_right() = 0;
  /// True if the numbers of a state that was reached by a letter are read as the automaton's state.
  virtual bool is_right(const std::uint32_t* state) = 0;
};

/// The certificate by closed maps, as certify_order says. O(maps²) compositions, at most `max_pairs` in each phase.
Certificate search_order(const Dfa& automaton, OrderSystem& system, const CertifyOptions& options);

// Certificates of the orders that compose letters.

/// The certificates of the other orders (simulate/prove/orders/certify_order.cpp), strongest first.
///   Exact: all states are codewords, found letter by letter, and nothing rounds however letters are associated; the
///   labels emulate the automaton. Proved for all lengths; with maps, in every order of these. Closed maps, for one
///   layer: the maps that words make in this order, with the states that they reach, are finitely many and all are read
///   rightly: proved for all lengths; `every_association` when the maps are closed under every composition. A state
///   that is read wrongly gives a word that fails in this order at this length, `shortest` when all shorter ones were
///   tried. A limit met: proved up to the length to which all words were tried, perhaps 0.
/// `options.order` is not sequential. Throws InputError when the network snaps.
Certificate certify_order(const Network& network, const CertifyOptions& options);

}  // namespace krohn
