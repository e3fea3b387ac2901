// simulate/prove/certify.h — proves that a network computes its automaton, or shows a shortest word on which it does
// not.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// The strongest claim that the certificates give, each tried in turn: closed codewords; the reachable set as far as
/// 65,536 pairs; of a network that snaps, the bounds between snaps; contraction (simulate/prove/bounds/bounds.h); the
/// reachable set to the limits. A proof for all lengths or a failing word ends it. Otherwise the greater of two lengths
/// is proved, that of the horizon bound or that of the search, with the `limit` that the search met; and where that is
/// below 4,096 letters, long words are read (simulate/prove/pairs/certify_reader.h), since errors add up in words
/// that no search reaches: a wrong one refutes. Bounds are of floating point: in integers pairs follow codewords. In
/// another order than `sequential`: certify_order. In exact arithmetic, where all orders give the same: certify_exact.
Certificate certify(const Network& network, const CertifyOptions& options);

/// For a network that snaps after K letters, with one codeword for each label: the bounds of
/// simulate/prove/bounds/bounds.h, started at the rounded codewords, keep every layer within the margin for K letters,
/// after which it snaps to the right codeword. Proved for every length, by induction over blocks of K letters, or
/// nothing. Costs as certify_bounds.
std::optional<Certificate> certify_snapped(const Network& network, const CertifyOptions& options);

// Certificate 1 of MATH.md §5: all states are codewords, or finitely many exact ones.

/// Certificate 1 of MATH.md §5, *closed codewords*: in every layer, from H_0 on, every action takes every codeword to
/// the codeword that the decoder then picks, bit for bit; and the machine of labels that was found so, not the one that
/// the tables promise, emulates the automaton (automata/cascades/emulation.h: by induction over the wiring for all
/// label tuples that decode, or else for all that words reach). Proved for every length, or nothing: not closing is no
/// refutation. O(Σ codewords · actions · cost of one step).
std::optional<Certificate> certify_closed_codewords(const Network& network, const CertifyOptions& options);

/// *Closed exact states*: in every layer the states that its actions reach from H_0 are found, as exact numbers; they
/// are finitely many, each is decoded for certain, and the machine of labels so found emulates the automaton. Proved
/// for every length in exact arithmetic, whatever the form of the weights. When the machine does not emulate, a search
/// over tuples of states finds a shortest failing word. When states do not close within the limits, nothing is decided:
/// proved up to no letter, with `limit` set. Throws InputError when the network has no exact form
/// (simulate/evaluate/exact_network.h). O(states · actions) exact steps and decodings.
Certificate certify_exact(const Network& network, const CertifyOptions& options);

// The strongest claim: right however sums and letters are ordered, grouped, split, batched and fused, in the format or
// a wider one (docs/reference/certificate-file.md, "exact in any order").

/// The claim, established by simulate/check; or why there is none, in words, which says nothing about the network. Two
/// things are asked beyond what the certificate's file says: that the model's weights are numbers of the format, since
/// a wider one would have others, and that chunks of reflections (the UT transform) do not round either.
/// `options.order` is not looked at. O(words' maps · actions · n³).
/// Throws InputError for an arithmetic other than fp64, fp32, fp16 and bf16.
std::variant<Certificate, std::string> certify_any_order(const Network& network, const CertifyOptions& options);

}  // namespace krohn
