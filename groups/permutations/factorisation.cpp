#include "krohn/groups/permutations/factorisation.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// The word followed by the other one; letters that meet their inverse vanish.
GeneratorWord joined(GeneratorWord word, const GeneratorWord& next) {
  for (const GeneratorLetter letter : next)
    if (!word.empty() && word.back() == GeneratorLetter{letter.generator, !letter.inverse})
      word.pop_back();
    else
      word.push_back(letter);
  return word;
}

GeneratorWord inverted(const GeneratorWord& word) {
  GeneratorWord result(word.rbegin(), word.rend());
  for (GeneratorLetter& letter : result) letter.inverse = !letter.inverse;
  return result;
}

}  // namespace

Factorisation::Factorisation(const PermutationGroup& group, const FactorisationOptions& options)
    : options_(options), group_(group) {
  const StabiliserChain chain(group);
  base_ = chain.base();
  table_.resize(base_.size());
  for (std::size_t level = 0; level < base_.size(); ++level) {
    table_[level].resize(group.degree());
    table_[level][base_[level]] = Entry{Permutation::identity(group.degree()), {}};
    wanted_ += chain.orbit(level).size() - 1;
  }
  fill_with_short_words(options.shortest_words);
  fill_with_schreier_generators();
}

std::optional<GeneratorWord> Factorisation::word(const Permutation& element) const {
  if (element.degree() != group_.degree())
    throw InputError(fmt::format("a permutation of degree {} was compared with a group of degree {}", element.degree(),
                                 group_.degree()));
  // element = t_k ⋯ t_2 t_1 with t_i from level i.
  GeneratorWord inverse;
  Permutation rest = element;
  for (std::size_t level = 0; level < base_.size(); ++level) {
    const std::optional<Entry>& entry = table_[level][rest[base_[level]]];
    if (!entry) return {};
    rest = rest * entry->element.inverse();
    inverse = joined(std::move(inverse), inverted(entry->word));
  }
  if (!rest.is_identity()) return {};
  return inverted(inverse);
}

/// Breadth first over products of letters.
void Factorisation::fill_with_short_words(std::uint64_t words) {
  std::vector<Entry> queue{{Permutation::identity(group_.degree()), {}}};
  for (std::size_t i = 0; i < queue.size() && !complete(); ++i)
    for (std::uint32_t g = 0; g < group_.generators().size(); ++g)
      for (const bool inverse : {false, true}) {
        const Permutation& generator = group_.generators()[g].value;
        Entry next{queue[i].element * (inverse ? generator.inverse() : generator),
                   joined(queue[i].word, {{g, inverse}})};
        if (next.word.size() <= queue[i].word.size()) continue;
        enter(next);
        if (queue.size() < words) queue.push_back(std::move(next));
      }
}

/// u·s for every representative u of every level and every representative s of that level or below, and the letters at
/// the top, until all is filled: if none of these gives anything new, all Schreier generators sift.
void Factorisation::fill_with_schreier_generators() {
  while (!complete()) {
    const auto before = table_;
    const std::size_t filled = filled_;
    for (std::size_t level = before.size(); level-- > 0 && !complete();)
      for (const auto& left : before[level])
        for (std::size_t below = level; left && below < before.size() && !complete(); ++below)
          for (const auto& right : before[below])
            if (right) enter({left->element * right->element, joined(left->word, right->word)});
    if (filled_ > filled) continue;
    for (const auto& left : before.front())
      for (std::uint32_t g = 0; left && g < group_.generators().size(); ++g)
        enter({left->element * group_.generators()[g].value, joined(left->word, {{g, false}})});
  }
}

/// Sifts the element with its word; a place that is empty takes it (and its inverse's place the inverse), a place with
/// a longer word changes it for this one, and the old one goes on. True when an empty place was filled.
bool Factorisation::enter(Entry entry) {
  for (std::size_t level = 0; level < base_.size(); ++level) {
    if (entry.word.size() > options_.max_word_length)
      throw LimitError(
          fmt::format("a word for an element of this group needs more than {} letters; raise "
                      "max_word_length",
                      options_.max_word_length));
    const Point image = entry.element[base_[level]];
    if (image == base_[level]) continue;
    std::optional<Entry>& place = table_[level][image];
    if (!place) {
      ++filled_;
      Entry inverse{entry.element.inverse(), inverted(entry.word)};
      place = std::move(entry);
      if (!table_[level][inverse.element[base_[level]]]) enter(std::move(inverse));
      return true;
    }
    if (entry.word.size() < place->word.size()) std::swap(entry, *place);
    entry = {entry.element * place->element.inverse(), joined(std::move(entry.word), inverted(place->word))};
  }
  return false;
}

Permutation evaluate(const PermutationGroup& group, const GeneratorWord& word) {
  Permutation product = Permutation::identity(group.degree());
  for (const GeneratorLetter letter : word) {
    const Permutation& generator = group.generators()[letter.generator].value;
    product = product * (letter.inverse ? generator.inverse() : generator);
  }
  return product;
}

}  // namespace krohn
