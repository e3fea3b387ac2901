// simulate/prove/bounds/bounds.h — certificates 3 and 4 of MATH.md §5: contraction and horizon bounds for any weights,
// built or trained. Words keep the numbers near the centres of a finite machine whose labels emulate the automaton: for
// ever when the steps contract towards the centres, otherwise for as many letters as the errors need to grow to the
// decoder's margin.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/arithmetic/interval.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

// One letter of one layer as bounds see it: the exact linear map of the rounded
// weights, and how far rounding can take a step from it (MATH.md §5, "One rounded step").

/// The rounding errors added to the exact A H + B: at most `entries[i]` to entry i by the operations at the end,
/// and a matrix of at most that Frobenius norm by earlier ones (the reflections before the last). Infinite: may
/// overflow.
struct RoundingBound {
  std::vector<double> entries;
  double earlier = 0;
};

/// The steps of one layer, its weights rounded to an arithmetic. A is the product over real numbers of what is stored.
class StepModel {
 public:
  virtual ~StepModel() = default;
  std::size_t dimension() const { return dimension_; }
  std::size_t columns() const { return columns_; }
  std::size_t actions() const { return matrices_.size(); }
  const IntervalMatrix& matrix(Action action) const { return matrices_[action]; }
  /// An upper bound of ‖A‖₂, by the form of A where that is sharper than the entries.
  double norm(Action action) const { return norms_[action]; }
  /// B, or an empty matrix.
  const IntervalMatrix& addition(Action action) const { return additions_[action]; }
  /// H_0 as it is stored.
  const Eigen::MatrixXd& initial() const { return initial_; }
  /// The numbers of the storage format nearest to `entries`.
  virtual Eigen::MatrixXd rounded(const Eigen::MatrixXd& entries) const = 0;
  /// A c + B over real numbers, enclosed.
  virtual IntervalMatrix exact_step(Action action, const Eigen::MatrixXd& c) const = 0;
  /// The letter as it is evaluated, from numbers of the storage format.
  virtual Eigen::MatrixXd step(Action action, const Eigen::MatrixXd& state) const = 0;
  /// Over all states H of the storage format with |H − c|_i ≤ radii[i] and ‖H − c‖_F ≤ radius. Costs about 40 times the
  /// step.
  virtual RoundingBound rounding(Action action, const Eigen::MatrixXd& c, std::span<const double> radii,
                                 double radius) const = 0;
  /// Operations of one step, roughly.
  virtual std::uint64_t work(Action action) const = 0;

 protected:
  std::size_t dimension_ = 0, columns_ = 0;
  std::vector<IntervalMatrix> matrices_, additions_;
  std::vector<double> norms_;
  Eigen::MatrixXd initial_;
};

/// The model of a layer in an arithmetic other than `exact`; null when H_0 or a B overflows in its storage format, or
/// actions · n² is above 4·10^6. O(actions · n² · cost of a column).
std::unique_ptr<StepModel> make_step_model(const Layer& layer, ArithmeticName arithmetic, Form form);

/// From a state of the machine by one move to another: what a layer does in some context on its way through a word.
struct CentreEdge {
  Label from = 0, to = 0;
  Action action = 0;
  std::uint32_t book = 0;  ///< that decodes after the move
  friend auto operator<=>(const CentreEdge&, const CentreEdge&) = default;
};

/// One layer's machine. `labels.moves` may lead to a state without a centre, the trap, which shows no label.
struct CentreLayer {
  LabelLayer labels;
  std::vector<std::pair<Action, std::uint32_t>> moves;  ///< move ↦ (action, book)
  std::vector<Eigen::MatrixXd> centres;                 ///< n×d per state but the trap; first guesses
  /// The edges that words use: what has to be bounded. Sorted, each once.
  std::vector<CentreEdge> edges;
};

struct CentreMachine {
  std::vector<CentreLayer> layers;
  std::string emulation;  ///< how it was proved that the labels emulate the automaton, in words
};

struct MachineLimits {
  std::uint64_t max_states = 20'000;     ///< of one layer
  std::uint64_t max_tuples = 2'000'000;  ///< of states of all layers
  double max_distances = 3e8;            ///< entries compared with codewords when a machine is built
  std::function<void()> tick;            ///< called now and then; may throw
};

using StepModels = std::span<const std::unique_ptr<StepModel>>;

/// The states are the codewords that are met when every move is taken from the codeword and the nearest codeword to the
/// result comes next; and H_0 where no codeword is near it. The machine of every construction. Nothing when its labels
/// do not emulate the automaton, or a limit is met.
std::optional<CentreMachine> codeword_machine(const Network& network, StepModels models, const MachineLimits& limits);

/// For a network of one layer, whatever its weights: the states are those of the automaton, each once for every book
/// and for every way in which the last `memory` letters were read; the centres are averages over the states that words
/// lead to, followed through the automaton. Nothing when a limit is met, when the labels nearest to the centres
/// do not give the automaton's states, or when the network has more layers.
std::optional<CentreMachine> automaton_machine(const Network& network, StepModels models, std::uint32_t memory,
                                               const MachineLimits& limits);

/// The codeword of the layer's book that is nearest to a point, and that with another label; squared distances.
struct NearestInBook {
  std::size_t codeword = SIZE_MAX;  ///< SIZE_MAX when the book is empty
  double distance = 0, runner_up = 0;
};
NearestInBook nearest_in_book(const Layer& layer, std::uint32_t book, const Eigen::MatrixXd& point);

// Looking for good centres and good norms of a layer's machine. Floating
// point, heuristic, and nothing depends on it but the sharpness of bounds: the bounds prove what is found here.

/// A norm for every state of a layer's machine: ‖X‖_s = scale_s · ‖R X‖_F with R = factors[factor_of[s]] upper
/// triangular. No factors: R is the identity. This is the quadratic Lyapunov norm of P_s = scale_s² RᵀR; with one
/// factor it is common to all states, otherwise each state has its own.
struct StateNorms {
  std::vector<Eigen::MatrixXd> factors;
  std::vector<std::uint32_t> factor_of;
  std::vector<double> scale;

  static StateNorms euclidean(std::size_t states);
  /// scale_s R, dense.
  Eigen::MatrixXd factor(std::size_t state, std::size_t dimension) const;
};

/// Centres with A c_s + B ≈ c_t along the edges s → t: the least squares solution in the given norms, drawn to the
/// present centres with weight `anchor`, re-weighted a few times towards the least maximum (Lawson). The system has
/// states · n unknowns and d right-hand sides. Nothing is changed above 4,000 unknowns or 2·10^6 products.
std::vector<Eigen::MatrixXd> fitted_centres(const StepModel& model, const CentreLayer& layer, const StateNorms& norms,
                                            double anchor);

/// Norms in which the edges' matrices are small: a descent of log Σ_edges tr((MᵀM)^p), M = R_t A R_s⁻¹, which is
/// geodesically convex in the RᵀR, for p = 1, 2, 4, …; the gradient is Σ_in (MMᵀ)^p − Σ_out (MᵀM)^p, as when a matrix
/// is balanced. One result per p: the later, the smaller the greatest ‖M‖ and the worse conditioned the norm. Common to
/// all states, or one each. Empty where edges · n³ is above 2·10^5 or n = 1 with a common norm.
std::vector<StateNorms> lyapunov_norms(const StepModel& model, const CentreLayer& layer, bool is_common);

// The proof that the numbers of one layer stay near the centres of its machine:
// for ever, or for a number of letters (certificates 3 and 4 of MATH.md §5). Everything here is rounded outward.

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

/// True if one claims more than the other: for all lengths, then the greater length.
bool is_stronger(const LayerBound& a, const LayerBound& b);

/// The greatest length that is ever claimed: recurrences are not followed beyond.
inline constexpr std::uint64_t kMaxHorizon = std::uint64_t{1} << 60;

/// Bounds one layer with these centres and norms; the rounding is bounded on `radii` concentric balls. A margin of 0 or
/// an infinite error is no exception but a bound that claims nothing. O(edges · radii · 40 steps + states · codewords ·
/// n·d + actions · n³ per pair of norms).
LayerBound bound_layer(const Layer& layer, const StepModel& model, const CentreLayer& machine,
                       std::vector<Eigen::MatrixXd> centres, StateNorms norms, unsigned radii);

/// Scales of the states' norms under which the recurrence of the single edges, e_t = max (norm · e_s + error), rather
/// than of their maxima, has its fixed point, or its state when it leaves the margin, at one radius. Heuristic.
StateNorms balanced_scales(const CentreLayer& machine, const LayerBound& bound);

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

// The horizon of MATH.md §5 in a form that is checked by one inequality:
// shorter than that of simulate/prove/bounds/bounds.h, and what certificate files hold.

/// For a network of one layer whose entries are sums of products (rotations, diagonal, dense and block-diagonal
/// matrices), or whose letters are reflections one after another, in an arithmetic that rounds to one format. With c_i
/// the codewords that the table visits, k the most products of an entry (and one for B), u the unit roundoff,
/// γ_k = k u / (1 − k u), q = 2^(least exponent − digits + 1), all norms Frobenius's:
///   λ = max 1 + ‖AᵀA − I‖/2 ≥ ‖A‖₂,   x = max (λ + γ_k‖A‖ − 1),   r = (1 − 2⁻²⁰) · half the least distance of
///   codewords, ε = max ‖A c_i + B − c_j‖ + γ_k ‖|A||c_i| + |B|‖ + n d k q,   e = ‖H_0 − c_0‖.
/// For reflections I − β v vᵀ with s entries in v: g = max(1, |1 − β‖v‖²|) is the norm of one, δ = γ_1 + γ_{s+3} |β|
/// ‖v‖² what rounding adds to it, x = Π (g + δ) − 1 and ε = ‖A c_i − c_j‖ + (Π (g + δ) − Π g) ‖c_i‖ + d α, with α what
/// underflow adds: at most 4 (s + 1)(1 + ‖v‖)(1 + |β|) q a reflection, passed on by those after it.
/// After t letters the numbers are within (e + t ε)/(1 − t x) of the codeword that the table has reached: proved up to
/// the greatest T with e + T ε ≤ r (1 − T x). Nothing when the form does not fit, the table does not track the
/// automaton, or T is 0.
std::optional<LinearHorizon> linear_horizon(const Network& network, ArithmeticName arithmetic, Form form);

}  // namespace krohn
