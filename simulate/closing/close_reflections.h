// simulate/closing/close_reflections.h — trained DeltaNet and DeltaProduct layers, rounded.
#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "krohn/groups/permutations/permutation.h"
#include "krohn/simulate/closing/close_model.h"
#include "krohn/simulate/run/letter_reader.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {

// Unit vectors whose reflections floats compute exactly.
//
// I − 2 k kᵀ is exact in binary arithmetic where the entries of k are dyadic and k is exactly of norm 1. The vectors
// ±e_i and ½(±1, ±1, ±1, ±1) on the words of weight four of the extended Hamming code [8, 4] are such; in eight
// dimensions they are the 240 roots of E_8 (Conway & Sloane 1999, ch. 4 §8.1, construction A, turned), in six those of
// D_6, in four of D_4. So swaps of up to nine points have exact reflections, which e_i − e_j over √2 has not.

/// All of them in `dimensions` coordinates; behind the eighth coordinate the code begins anew.
std::vector<Eigen::VectorXd> dyadic_roots(Eigen::Index dimensions);

/// Roots with the inner products of the vectors (columns, of norm about 1), each rounded to a multiple of ½; nothing
/// where one is farther than `tolerance` from that, or no roots have them. The first of each class of equal or opposite
/// vectors is searched for by backtracking.
std::optional<Eigen::MatrixXd> nearest_roots(const Eigen::MatrixXd& vectors, double tolerance);

/// The unit vector nearest to `direction` among those with entries that are multiples of 1/8, as far as a search of up
/// to three changed entries finds one; ±e_i where it finds none.
Eigen::VectorXd nearest_dyadic_unit(const Eigen::VectorXd& direction);

// The action of letters on a head of reflections, S ← S + β k (v − Sᵀk)ᵀ, and what of
// that says nothing.

/// One reflection of one letter in one head.
struct HeadReflection {
  Eigen::VectorXd key, value;  ///< key of norm 1
  double beta = 0;
};

/// A letter's effect on a head, and its query.
struct LetterOfHead {
  std::vector<HeadReflection> reflections;
  Eigen::VectorXd query;
};

struct Head {
  std::vector<LetterOfHead> letters;  ///< as many reflections each
  Eigen::MatrixXd out = {};           ///< the matrix of a model's readings, up to a factor: outputs × values
};

/// β becomes 0 where a reflection does not move the states that random words lead to by more than a tenth of the
/// greatest move of the head: its key and its value say nothing. Returns the greatest move that is lost, by the
/// greatest of all.
double silence_idle(Head& head, const TaskAutomaton& input);

/// For two reflections (β = 2) only the product is determined, a turn by twice the angle between their keys: both may
/// be turned in their plane together. They are, until the first key of every letter is the direction that all planes
/// share, or as near to it as the letter's comes: turns of a plane share the first letter's first key, those of a
/// tetrahedron the line in which their planes meet. Letters stay as they are whose keys are within 0.1 (a sine) of one
/// direction, or whose plane has less than half of the shared one. The state that both leave alone stays; nothing for
/// other heads.
void align_turns(Head& head, const std::vector<Letter>& letters);

/// The heads' joint states after words, each with the automaton's state there.
struct HeldStates {
  std::vector<State> at;
  std::vector<std::vector<Eigen::MatrixXd>> numbers;  ///< keys × values of every head
  std::vector<double> greatest;                       ///< of every head's numbers

  /// By more than roundings.
  bool differ(const std::vector<Eigen::MatrixXd>& a, const std::vector<Eigen::MatrixXd>& b) const;
  /// True if words that are answered otherwise leave other numbers behind.
  bool tell_answers(const TrackedAutomaton& tracked) const;
};

/// Nothing where they are more than `most`. A head follows the automaton where they are as many as its states, those
/// of no head at all.
std::optional<HeldStates> held_states(std::span<const Head* const> heads, const TaskAutomaton& input,
                                      const TrackedAutomaton& tracked, std::size_t most);

/// Silences the heads that are not needed to tell all answers apart and take up more states than the automaton has:
/// those of infinitely many, or of so many that the proof would be of their products. Heads that follow the automaton
/// stay; where they are not enough, those of fewest states follow, such as one that holds a tetrahedron's twelve turns
/// for Z_3. Returns how many are silenced; nothing, and all stay, where no heads of up to 2,000 states together tell
/// all answers apart, or the automaton has more.
std::optional<std::size_t> silence_strays(std::vector<std::optional<Head>>& heads, const TaskAutomaton& input,
                                          const TrackedAutomaton& tracked);

// Heads of reflections that hold classes of states as vertices of a simplex.
//
// The reflection along x_i − x_j swaps two vertices of a regular simplex and leaves the others where they are. Its
// edges are roots of A_{k−1}, which exact floats have for up to nine vertices,
// and a letter that permutes the vertices is a product of as many reflections as there are vertices less cycles. So
// four reflections a letter count modulo 5, exactly, by the permutation of five vertices, where the trained head does
// it by turns by fifths, which no exact reflections make: the simplex is to those what a code by states
// (simulate/closing/close_linear.h) is to Fan et al.'s blocks. The trained head says which classes there are, and
// confirms every move of them.

/// Classes of an automaton's states that its letters permute.
struct PermutedClasses {
  std::vector<std::uint32_t>
      class_of;                      ///< state ↦ class; kNoPoint (simulate/closing/integer_code.h): no word was there
  std::vector<Permutation> letters;  ///< by letter of the automaton, on the classes
  std::uint32_t initial = 0;         ///< class of the initial state

  Point classes() const { return letters.front().degree(); }
};

/// The parts of the automaton that a trained head holds: congruences whose classes the letters permute.
struct LearnedClasses {
  std::vector<PermutedClasses> congruences;
  double share = 0;  ///< how far off the head's classes are, as in simulate/closing/close_linear.h: at most 0.35
};

/// The finest classes that the head's outputs tell apart after random words of twelve letters
/// (simulate/closing/close_linear.h, up to 128), and coarser congruences, of which at most 256 are looked for: those of
/// pairs of classes, and joins of them. None where the head has more than 300 numbers.
LearnedClasses learned_classes(const Head& head, const TaskAutomaton& input, const TrackedAutomaton& tracked);

/// The head, with as many reflections a letter and numbers as `like`; nothing where a letter needs more of them, or
/// there is too little room for the simplex. Column v of its state is the vertex of the class to which the word takes
/// the v-th class after the initial one, less the vertex of that: 0 before the word, whatever stands there.
std::optional<Head> simplex_head(const PermutedClasses& held, const Head& like, const TaskAutomaton& input);

struct OnSimplices {
  std::vector<std::optional<double>> shares;  ///< head ↦ its `share`, where it became one
  std::size_t reflections = 0;  ///< a letter, of the choice that takes the fewest; 0: of no choice. Past what there
                                ///< are, nothing became one
};

/// The fewest heads become simplices of classes that their trained ones hold, so that together they tell all answers
/// apart, and the others are silenced; all stay as they are where no choice of classes does that, of the first 1,000
/// that show something else.
OnSimplices hold_on_simplices(std::vector<std::optional<Head>>& heads, std::span<const Head> learned,
                              const TaskAutomaton& input, const TrackedAutomaton& tracked);

/// Why no one layer h ← A(x) h + b(x) with |A(x)| ≤ 1 in the Euclidean norm gives the answers that are asked for, with
/// finitely many values in exact arithmetic: words that act as idempotents and cross
/// (automata/monoid/witness_check.h). "" where none were found. Floats may do it all the same: values that fade
/// to zero, or stick to one another by rounding, are finitely many.
std::string why_no_layer_of_contractions(const TrackedAutomaton& tracked);

/// Why no deltaproduct model of this shape is rounded; "" where its parameters decide.
std::string why_no_reflections_round(const SequenceModel<float>& model, const Task& task);

/// Rounds the recurrence of a model of one layer of reflections. Of every head the keys that take part (β near 1 or 2)
/// are turned, together with the queries, to roots that have the same angles,
/// two reflections of one letter first in their plane, which leaves their product alone; β becomes 0, 1 or 2 by
/// saturation of its gate, 0 where a reflection moves none of the states that random words lead to; values become those
/// of reflections that share a fixed state, on a dyadic grid, and so does the state after a token before the word.
/// Heads that no roots fit are silenced, and where the others tell the answers apart those that hold no function of the
/// automaton's state. Where they do not, or with `only_simplices`, the fewest heads that do are put on simplices of the
/// classes of states that they hold, and the others silenced. Every letter gets
/// a coordinate of the embedding of its own, of which the first norm makes exactly 1 in fp32: from it the letter's
/// numbers are read. The rest of the model is the trained one, and `is_free` says which of its parameters may be
/// trained further without a change to the recurrence's states. A closing without a model where no head rounds, or for
/// other models.
Closing close_reflections(const SequenceModel<float>& model, const Task& task, bool only_simplices,
                          std::vector<bool>& is_free);

}  // namespace krohn
