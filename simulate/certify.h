// simulate/certify.h — proves that a network computes its automaton, or shows a shortest word on which it does not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "constructions/network.h"
#include "simulate/certificate.h"
#include "simulate/form.h"

namespace krohn {

struct CertifyOptions {
  ArithmeticName arithmetic = Precision::kFp32;
  Form form = Form::kStructured;
  Order order{};
  std::uint64_t max_pairs = 20'000'000;
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the pairs and their table
  double max_seconds = 0;                            ///< of each search, for pairs and for bounds; 0: no limit
  std::function<void(std::uint64_t)> progress;       ///< pairs so far; may throw Interrupted
  /// What `certify` has search long sets of pairs, in place of certify_reachable_set: a device. Empty: that.
  std::function<Certificate(const Network&, const CertifyOptions&)> search_pairs;
};

/// Certificate 1 of MATH.md §5, *closed codewords*: in every layer, from H_0 on, every action takes every codeword to
/// the codeword that the decoder then picks, bit for bit; and the machine of labels that was found so, not the one that
/// the tables promise, emulates the automaton (automata/emulation.h: by induction over the wiring for all label tuples
/// that decode, or else for all that words reach). Proved for every length, or nothing: not closing is no refutation.
/// O(Σ codewords · actions · cost of one step).
std::optional<Certificate> certify_closed_codewords(const Network& network, const CertifyOptions& options);

/// Certificate 2, *closed reachable set*: breadth-first search over pairs (automaton state, all numbers of all layers,
/// and the labels that numbers alone do not tell) under the actual arithmetic, −0 counted as +0. It ends: proved. It
/// meets a wrong answer: refuted by a shortest word. It meets a limit: proved up to the last depth that it completed,
/// with `limit` set. A pair costs 4 bytes for the automaton's state, the bytes of the numbers, 4 for its parent and at
/// most 16 of table.
Certificate certify_reachable_set(const Network& network, const CertifyOptions& options);

/// Of a network that snaps after K letters, with one codeword for each label: the bounds of simulate/bounds.h, started
/// at the rounded codewords, keep every layer within the margin for K letters, after which it snaps to the right
/// codeword. Proved for every length, by induction over blocks of K letters, or nothing. Costs as certify_bounds.
std::optional<Certificate> certify_snapped(const Network& network, const CertifyOptions& options);

/// The certificates of the other orders (simulate/certify_order.cpp), strongest first.
///   Exact: all states are codewords, found letter by letter, and nothing rounds however letters are associated
///   (simulate/exact_order.h); the labels emulate the automaton. Proved for all lengths; with maps, in every order.
///   Closed maps, for one layer: the maps that words make in this order, with the states that they reach, are finitely
///   many and all are read rightly: proved for all lengths; `every_association` when the maps are closed under every
///   composition. A state that is read wrongly gives a word that fails in this order at this length, `shortest` when
///   all shorter ones were tried. A limit met: proved up to the length to which all words were tried, perhaps 0.
/// `options.order` is not sequential. Throws InputError when the network snaps.
Certificate certify_order(const Network& network, const CertifyOptions& options);

/// The strongest claim that the certificates give, each tried in turn: closed codewords; the reachable set as far as
/// 65,536 pairs; of a network that snaps, the bounds between snaps; contraction (simulate/bounds.h); the reachable set
/// to the limits. A proof for all lengths or a failing word ends it. Otherwise the greater of two lengths is proved,
/// that of the horizon bound or that of the search, with the `limit` that the search met. In another order than
/// `sequential`: certify_order. In exact arithmetic, where all orders give the same: simulate/certify_exact.h.
Certificate certify(const Network& network, const CertifyOptions& options);

}  // namespace krohn
