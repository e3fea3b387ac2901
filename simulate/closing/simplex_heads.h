// simulate/closing/simplex_heads.h — heads of reflections that hold classes of states as vertices of a simplex.
//
// The reflection along x_i − x_j swaps two vertices of a regular simplex and leaves the others where they are. Its
// edges are roots of A_{k−1}, which exact floats have for up to nine vertices (simulate/closing/dyadic_roots.h), and a
// letter that permutes the vertices is a product of as many reflections as there are vertices less cycles. So four
// reflections a letter count modulo 5, exactly, by the permutation of five vertices, where the trained head does it by
// turns by fifths, which no exact reflections make: the simplex is to those what a code by states
// (simulate/closing/state_code.h) is to Fan et al.'s blocks. The trained head says which classes there are, and
// confirms every move of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "krohn/groups/permutations/permutation.h"
#include "krohn/simulate/closing/reflection_heads.h"

namespace krohn {

/// Classes of an automaton's states that its letters permute.
struct PermutedClasses {
  std::vector<std::uint32_t> class_of;  ///< state ↦ class; kNoPoint (simulate/closing/point_moves.h): no word was there
  std::vector<Permutation> letters;     ///< by letter of the automaton, on the classes
  std::uint32_t initial = 0;            ///< class of the initial state

  Point classes() const { return letters.front().degree(); }
};

/// What a trained head holds of the automaton: congruences whose classes the letters permute.
struct LearnedClasses {
  std::vector<PermutedClasses> congruences;
  double share = 0;  ///< how far off the head's classes are, as in simulate/closing/state_code.h: at most 0.35
};

/// The finest classes that the head's outputs tell apart after random words of twelve letters
/// (simulate/closing/state_code.h, up to 128), and coarser congruences, of which at most 256 are looked for: those of
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

}  // namespace krohn
