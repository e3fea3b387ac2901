// constructions/files/recurrence_file.h — networks in the parameters of other recurrent architectures, to and from
// disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

// A file of this kind is a network file (docs/reference/network-file.md) in which every layer's matrices are given by the
// architecture's own parameters, from which a layer of it computes them. With m actions and n numbers of state:
//
//   bilinear         W [n, n, m]                            A[i, j] = W[i, j, action]  (Ebrahimi & Memisevic, eq. 3)
//   bilinear-cp      U [n, R], V [n, R], P [m, R]           A = U diag(P[action]) Vᵀ   (§2.3)
//   bilinear-block   W.0 [b, b, m], W.1, …                  one after another along the diagonal
//   bilinear-r2      R [m, n/2, 2, 2]                       2×2 blocks, rotations when krohn writes them
//   pd-ssm           P [m, n], D [m, n]                     A = P D: column j has D[j] in row P[j], a whole number
//   mamba            dt [m, n], A_log [n], B [m, n, 1], signed [n]
//                    Δ = softplus(dt), ā = exp(−Δ exp(A_log)), 2ā − 1 where `signed`; A = diag(ā), B = Δ B. In fp32.
//   fan              V.0 [m, b, b], V.1, …, p               blocks whose columns are v / max(1, ‖v‖_p) (Fan et al., eq.
//   6)

/// Their names, as `krohn compile --target` takes them.
const std::vector<std::string>& recurrence_families();

/// The constructions that `family` can hold, the first choice first (constructions/build/planner.h).
std::vector<std::string> constructions_for(std::string_view family);

/// Throws InputError naming the layer whose matrices the family does not have, or when the language has no letters.
TensorFile to_recurrence(const Network& network, const std::string& family);

/// True when the metadata say that it is such a file.
bool is_recurrence(const TensorFile& file);

/// The network that the parameters make, its matrices dense. Throws InputError as `from_tensors`.
Network from_recurrence(const TensorFile& file, const std::string& where);

}  // namespace krohn
