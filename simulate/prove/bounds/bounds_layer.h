// simulate/prove/bounds/bounds_layer.h — the proof that the numbers of one layer stay near the centres of its machine:
// for ever, or for a number of letters (certificates 3 and 4 of MATH.md §5). Everything here is rounded outward.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/simulate/prove/bounds/bounds_centres.h"
#include "krohn/simulate/prove/bounds/bounds_machine.h"

namespace krohn {

/// On radii from `from` to `to` the radius e becomes at most `value + slope · (e − from)` by one letter, whichever; the
/// recurrence passes through the piece in `letters` letters.
struct GrowthPiece {
  double from = 0, to = 0, value = 0, slope = 0;
  std::uint64_t letters = 0;
};

/// Centres, norms and what is proved with them. While ‖H − c_s‖_s ≤ e ≤ margin, the decoder gives the label of s in
/// every book that decodes on an edge into s, and one letter leads along an edge s → t to a state with
/// ‖H' − c_t‖_t ≤ L e + ε, where L is `norm` and ε = `error` holds in the whole margin.
struct LayerBound {
  std::vector<Eigen::MatrixXd> centres;
  StateNorms norms;
  double start = 0;                 ///< ‖H_0 − c‖ in the norm of the initial state
  double margin = 0;                ///< not above 0: the labels are not even decoded at the centres
  double norm = 0;                  ///< max over the edges of ‖R_t A R_s⁻¹‖₂
  double error = 0;                 ///< max over the edges of ‖A c_s + B − c_t‖_t + the rounding of one step
  std::optional<double> radius;     ///< proved for all lengths: balls of this radius are mapped into each other
  std::uint64_t length = 0;         ///< otherwise: how many letters the recurrence stays within the margin
  std::vector<GrowthPiece> pieces;  ///< of that recurrence
  std::vector<double> edge_norm, edge_error;  ///< per edge of the machine, what the maxima are over
};

/// Whether one claims more than the other: for all lengths, then the greater length.
bool is_stronger(const LayerBound& a, const LayerBound& b);

/// The greatest length that is ever claimed: recurrences are not followed beyond.
inline constexpr std::uint64_t kGreatestHorizon = std::uint64_t{1} << 60;

/// Bounds one layer with these centres and norms; the rounding is bounded on `radii` concentric balls. A margin of 0 or
/// an infinite error is no exception but a bound that claims nothing. O(edges · radii · 40 steps + states · codewords ·
/// n·d + actions · n³ per pair of norms).
LayerBound bound_layer(const Layer& layer, const StepModel& model, const CentreLayer& machine,
                       std::vector<Eigen::MatrixXd> centres, StateNorms norms, unsigned radii);

/// Scales of the states' norms under which the recurrence of the single edges, e_t = max (norm · e_s + error), rather
/// than of their maxima, has its fixed point, or its state when it leaves the margin, at one radius. Heuristic.
StateNorms balanced_scales(const CentreLayer& machine, const LayerBound& bound);

}  // namespace krohn
