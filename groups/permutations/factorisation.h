// groups/permutations/factorisation.h — an element of a permutation group as a word in the group's own generators.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {

/// A letter of a word: a generator of the group, by its place, or its inverse.
struct GeneratorLetter {
  std::uint32_t generator = 0;
  bool inverse = false;
  friend bool operator==(const GeneratorLetter&, const GeneratorLetter&) = default;
};
using GeneratorWord = std::vector<GeneratorLetter>;

struct FactorisationOptions {
  std::uint64_t shortest_words = 10'000;       ///< words tried in order of length before anything else
  std::uint64_t max_word_length = 10'000'000;  ///< of a coset representative; LimitError beyond
};

/// Coset representatives with words, after Minkwitz (J. Symbolic Computation 26, 1998): short words fill the table
/// first, and Schreier generators, by Schreier's lemma, fill what is left. Words are plain, freely reduced, and at most
/// `max_word_length` letters a representative; they are short, not shortest.
class Factorisation {
 public:
  /// Throws LimitError as chains do, or when a representative needs a longer word.
  explicit Factorisation(const PermutationGroup& group, const FactorisationOptions& options = {});

  /// Letters whose product, left to right, is the element; nothing when it is not in the group. The word of the
  /// identity is empty. Throws InputError when the degree differs.
  std::optional<GeneratorWord> word(const Permutation& element) const;

 private:
  struct Entry {
    Permutation element;  ///< fixes the base points before its level
    GeneratorWord word;
  };

  void fill_with_short_words(std::uint64_t words);
  void fill_with_schreier_generators();
  bool enter(Entry entry);
  bool complete() const { return filled_ == wanted_; }

  FactorisationOptions options_;
  PermutationGroup group_;
  std::vector<Point> base_;
  std::vector<std::vector<std::optional<Entry>>> table_;  ///< [level][image of the base point]
  std::size_t filled_ = 0, wanted_ = 0;
};

/// The product of the letters, left to right.
Permutation evaluate(const PermutationGroup& group, const GeneratorWord& word);

}  // namespace krohn
