// simulate/prove/orders/certify_order.h — certificates of the orders that compose letters.
#pragma once

#include <optional>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

/// The certificates of the other orders (simulate/prove/orders/certify_order.cpp), strongest first.
///   Exact: all states are codewords, found letter by letter, and nothing rounds however letters are associated; the
///   labels emulate the automaton. Proved for all lengths; with maps, in every order of these. Closed maps, for one
///   layer: the maps that words make in this order, with the states that they reach, are finitely many and all are read
///   rightly: proved for all lengths; `every_association` when the maps are closed under every composition. A state that
///   is read wrongly gives a word that fails in this order at this length, `shortest` when all shorter ones were tried.
///   A limit met: proved up to the length to which all words were tried, perhaps 0.
/// `options.order` is not sequential. Throws InputError when the network snaps.
Certificate certify_order(const Network& network, const CertifyOptions& options);

}  // namespace krohn
