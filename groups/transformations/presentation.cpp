#include "krohn/groups/transformations/presentation.h"

#include <cassert>

namespace krohn {

std::vector<Relation> complete_presentation(const TransformationMonoid& monoid) {
  using Element = TransformationMonoid::Element;
  assert(monoid.complete());
  std::vector<Relation> relations;
  for (Element e = 0; e < monoid.size(); ++e) {
    const TransformationMonoid::Word word = monoid.word(e);
    // The element of the word without its first letter; its word is that suffix, as suffixes of least words are least.
    Element suffix = 0;
    for (std::size_t i = 1; i < word.size(); ++i) suffix = monoid.right(suffix, word[i]);
    for (std::uint32_t generator = 0; generator < monoid.generators(); ++generator) {
      const Element product = monoid.right(e, generator);
      TransformationMonoid::Word longer = word;
      longer.push_back(generator);
      if (monoid.word(product) == longer) continue;
      const bool suffix_is_least = word.empty() || monoid.word(monoid.right(suffix, generator)) ==
                                                       TransformationMonoid::Word(longer.begin() + 1, longer.end());
      if (suffix_is_least) relations.push_back({std::move(longer), monoid.word(product)});
    }
  }
  return relations;
}

}  // namespace krohn
