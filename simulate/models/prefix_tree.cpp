#include "krohn/simulate/models/prefix_tree.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace krohn {
namespace {

/// The words' letters, each word's side by side.
class Texts {
 public:
  explicit Texts(const TrainingBatch& batch) : batch_(batch), letters_(batch.letters.size()) {
    for (std::size_t t = 0; t < batch.positions; ++t)
      for (std::size_t word = 0; word < batch.words; ++word)
        letters_[word * batch.positions + t] = batch.letters[t * batch.words + word];
  }
  std::span<const Letter> operator[](std::uint32_t word) const {
    return std::span(letters_).subspan(std::size_t{word} * batch_.positions, batch_.lengths[word]);
  }

 private:
  const TrainingBatch& batch_;
  std::vector<Letter> letters_;
};

PrefixOrder order_of(const Texts& texts, std::uint32_t words) {
  Letter greatest = 0;
  for (std::uint32_t word = 0; word < words; ++word)
    for (const Letter letter : texts[word]) greatest = std::max(greatest, letter);
  // The first letters of every word as one number, so that nearly all comparisons are of two numbers: from the highest
  // bits on, a letter plus one in so many bits, and 0 where the word has ended.
  struct Entry {
    std::uint64_t beginning;
    std::uint32_t word;
  };
  const auto bits = static_cast<unsigned>(std::bit_width(std::uint64_t{greatest} + 1));
  const std::size_t fit = 64 / bits;
  std::vector<Entry> entries(words);
  for (std::uint32_t word = 0; word < words; ++word) {
    entries[word] = {0, word};
    unsigned shift = 64;
    for (const Letter letter : texts[word].first(std::min(fit, texts[word].size())))
      entries[word].beginning |= (std::uint64_t{letter} + 1) << (shift -= bits);
  }
  const auto rest = [&](std::uint32_t word) { return texts[word].subspan(std::min(fit, texts[word].size())); };
  std::ranges::sort(entries, [&](const Entry& left, const Entry& right) {
    if (left.beginning != right.beginning) return left.beginning < right.beginning;
    const auto a = rest(left.word), b = rest(right.word);
    const auto [at, other] = std::ranges::mismatch(a, b);
    if (at == a.end() || other == b.end()) return a.size() != b.size() ? a.size() < b.size() : left.word < right.word;
    return *at < *other;
  });
  PrefixOrder order;
  order.words.resize(words);
  order.shared.assign(words, 0);
  for (std::uint32_t i = 0; i < words; ++i) {
    order.words[i] = entries[i].word;
    if (i == 0) continue;
    const std::uint64_t differ = entries[i - 1].beginning ^ entries[i].beginning;
    if (differ != 0) {
      order.shared[i] = static_cast<std::uint32_t>(std::countl_zero(differ)) / bits;
      continue;
    }
    const auto before = rest(entries[i - 1].word), own = rest(entries[i].word);
    order.shared[i] =
        static_cast<std::uint32_t>(texts[entries[i].word].size() - own.size() +
                                   static_cast<std::size_t>(std::ranges::mismatch(before, own).in1 - before.begin()));
  }
  return order;
}

}  // namespace

PrefixOrder prefix_order(const TrainingBatch& batch) { return order_of(Texts(batch), batch.words); }

PrefixTree prefix_tree(const TrainingBatch& batch, std::size_t letters) {
  const Texts texts(batch);
  const std::size_t positions = batch.positions;
  PrefixTree tree;
  tree.positions = positions, tree.letters = letters;
  tree.order = order_of(texts, batch.words);
  const auto& [words, shared] = tree.order;
  tree.first.assign(letters * positions + 1, 0);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto own = texts[words[i]];
    for (std::size_t t = shared[i]; t < own.size(); ++t) ++tree.first[own[t] * positions + t + 1];
  }
  std::partial_sum(tree.first.begin(), tree.first.end(), tree.first.begin());

  std::vector<std::uint32_t> next(tree.first.begin(), tree.first.end() - 1);
  tree.parent.resize(tree.first.back());
  tree.nodes.assign(words.size() * positions, PrefixTree::kRoot);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto own = texts[words[i]];
    std::uint32_t* const path = tree.nodes.data() + words[i] * positions;
    if (i > 0) std::copy_n(tree.nodes.data() + words[i - 1] * positions, shared[i], path);
    for (std::size_t t = shared[i]; t < own.size(); ++t) {
      path[t] = next[own[t] * positions + t]++;
      tree.parent[path[t]] = t == 0 ? PrefixTree::kRoot : path[t - 1];
    }
  }
  return tree;
}

}  // namespace krohn
