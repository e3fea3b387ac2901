// automata/operations/nfa_operations.h — languages from languages without determinising: what comes in and goes out is
// nondeterministic.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/operations/operations.h"

namespace krohn {

/// The minimal automaton of the language. Throws LimitError past `max_states` subsets.
Dfa minimal_of(const Nfa& nfa, std::uint64_t max_states);

// Operands over different alphabets are read over the common refinement of the two, which is the alphabet of the
// result, as in operations.h. `minimal_of` makes the minimal automaton of what comes out. Linear in
// the arcs unless it says otherwise; LimitError past `max_states` pairs of states.

/// Per state: some word leads from it to acceptance. O(states + arcs).
std::vector<bool> coaccessible_states(const Nfa& nfa);
/// Per state: some word leads to it from an initial state. O(states + arcs).
std::vector<bool> reachable_states(const Nfa& nfa);

/// The same automaton over another alphabet: letter l of `merged` is read as `letters[l]`, or nowhere.
Nfa read_over(const Nfa& nfa, const Alphabet& merged, const std::vector<std::optional<Letter>>& letters);

Nfa union_of(const Nfa& a, const Nfa& b);
/// Reachable pairs, O(arcs of a · arcs of b) at worst.
Nfa intersection_of(const Nfa& a, const Nfa& b, std::uint64_t max_states = kDefaultMaxStates);
Nfa concatenation(const Nfa& a, const Nfa& b);
Nfa star(const Nfa& nfa);
Nfa plus(const Nfa& nfa);
Nfa reverse(const Nfa& nfa);

/// The words of `a` and of `b` interleaved in every way. Reachable pairs.
Nfa shuffle(const Nfa& a, const Nfa& b, std::uint64_t max_states = kDefaultMaxStates);

/// The words that begin words of the language, that end them, that stand somewhere in them, and that are left of them
/// when any letters are struck out.
Nfa prefixes(const Nfa& nfa);
Nfa suffixes(const Nfa& nfa);
Nfa factors(const Nfa& nfa);
Nfa subwords(const Nfa& nfa);

/// K⁻¹L = { v : uv ∈ L for some u ∈ K } and LK⁻¹ = { v : vu ∈ L for some u ∈ K }. Reachable pairs.
Nfa left_quotient(const Nfa& language, const Nfa& prefixes, std::uint64_t max_states = kDefaultMaxStates);
Nfa right_quotient(const Nfa& language, const Nfa& suffixes, std::uint64_t max_states = kDefaultMaxStates);

/// A map from letters to words over `target`: every letter of a word is replaced by its image.
struct Homomorphism {
  Alphabet target;
  std::vector<Word> images;  ///< one per letter of the source alphabet
};

/// { h(w) : w ∈ L }. O(arcs · length of the images). Throws InputError unless every letter has an image over the
/// target.
Nfa homomorphic_image(const Nfa& nfa, const Homomorphism& map);
/// { w : h(w) ∈ L }, where `map.images` has a word over the alphabet of the automaton for every letter of `source`.
/// O(states · Σ |images| · arcs) at worst.
Nfa homomorphic_preimage(const Nfa& nfa, const Alphabet& source, const std::vector<Word>& images);

/// The words without the letters that `kept` (over part of the alphabet, which it may split) does not have.
Nfa projection(const Nfa& nfa, const Alphabet& kept);

}  // namespace krohn
