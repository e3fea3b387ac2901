// simulate/prove/bounds/bounds.h — certificates 3 and 4 of MATH.md §5: contraction and horizon bounds for any weights,
// built or trained. Words keep the numbers near the centres of a finite machine whose labels emulate the automaton: for
// ever when the steps contract towards the centres, otherwise for as many letters as the errors need to grow to the
// decoder's margin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/bounds/bounds_layer.h"
#include "krohn/simulate/prove/bounds/bounds_machine.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/claims/certify_options.h"

namespace krohn {

/// All that an independent checker needs, the network, arithmetic, form and order being those of the certificate. Write
/// A, B, H_0 for the *stored* weights of an action, and ‖X‖_s = scale_s ‖R X‖_F for the norm of state s. For every
/// layer:
///   1. the machine: for each edge (s, action, book) → t of `machine.layers[k].edges`; the initial state is
///      `labels.initial`, and state s shows `labels.shown[s]`, the initial one the layer's initial label (in a network
///      of one layer, any label with the same state of the readout).
///   2. the labels: running all layers' machines together over words, with the wiring of the network, uses no edge but
///      the listed ones and reads the automaton's state at every tuple (automata/cascades/emulation.h).
///   3. the margin: for each edge into t and its book, every x with ‖x − c_t‖_t ≤ margin has, in fp64 with its
///      rounding, a strictly nearest codeword of that book, and its label is the shown one.
///   4. the norms: for each edge ‖R_t A R_s⁻¹‖₂ scale_t/scale_s, bounded above: call it L.
///   5. the errors: for each edge and radius e, ε(e) ≥ ‖A c_s + B − c_t‖_t + the most that the arithmetic, in the order
///      of simulate/arithmetic/apply.h, can round in one step from a state with ‖x − c_s‖_s ≤ e.
///   6. the start: ‖H_0 − c‖ ≤ `start` in the norm of the initial state.
///   7. for all lengths: start ≤ radius ≤ margin, and L · radius + ε(radius) ≤ radius for every edge.
///      up to `length`: for every piece, L e + ε(piece.to) ≤ value + slope (e − from) for every edge at e = from and at
///      e = to; starting at e = start the recurrence stays at or below `to` for `letters` letters of each piece in
///      turn, and at or below the margin for all of them; their sum is at least `length`.
/// Then after t ≤ length letters every layer is within the margin of the state of its machine, by induction over t and,
/// within a letter, over the layers; so the labels are right, and the contexts of the layer above are those of the
/// machine. The network's length is the least of its layers'.
struct BoundEvidence {
  CentreMachine machine;  ///< its `centres` are first guesses; those of `layers` count
  std::vector<LayerBound> layers;
};

struct BoundCertificate {
  Certificate certificate;
  BoundEvidence evidence;
};

/// The strongest claim that the bounds give: proved for all lengths ("contraction bound"), or proved up to a length
/// ("horizon bound"; perhaps of no letter). Nothing when no machine of centres was found whose labels emulate the
/// automaton, or when it is too large: 20,000 states a layer, 2·10^6 tuples or edges, 3·10^8 rounded operations. The
/// machines tried are that of the codewords and, for one layer, that of the automaton's states, with the last 0, 1, 2,
/// … letters remembered while that helps and `limits` allow; the centres, the machine's and fitted ones; the norms, the
/// Euclidean one, a common quadratic Lyapunov norm and one for each state. Never a refutation.
/// Nothing in an order other than letter after letter, nor for a network that snaps: certify_snapped
/// (simulate/prove/certify.h) puts its blocks together.
std::optional<BoundCertificate> certify_bounds(const Network& network, const CertifyOptions& options);

}  // namespace krohn
