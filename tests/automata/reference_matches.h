// tests/automata/reference_matches.h — membership in the language of an expression from its syntax tree alone: the
// relation "this part reads the word from i to j", a 64-bit row of j for every i.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "krohn/automata/syntax/regex_syntax.h"

namespace krohn {

class Relations {
 public:
  Relations(const RegexTree& tree, const RegexLetters& letters, const Word& word)
      : tree_(tree), letters_(letters), word_(word), size_(word.size() + 1) {}

  bool root_reads_everything() {
    for (const RegexNode& node : tree_.nodes) of_node_.push_back(relation(node));
    return (of_node_[tree_.root][0] >> word_.size() & 1) != 0;
  }

 private:
  using Relation = std::vector<std::uint64_t>;

  Relation identity() const {
    Relation result(size_);
    for (std::size_t i = 0; i < size_; ++i) result[i] = std::uint64_t{1} << i;
    return result;
  }

  Relation step(const std::vector<Letter>& letters) const {
    Relation result(size_);
    for (std::size_t i = 0; i + 1 < size_; ++i)
      if (std::find(letters.begin(), letters.end(), word_[i]) != letters.end()) result[i] = std::uint64_t{2} << i;
    return result;
  }

  Relation any_step() const {
    Relation result(size_);
    for (std::size_t i = 0; i + 1 < size_; ++i) result[i] = std::uint64_t{2} << i;
    return result;
  }

  Relation assertion(RegexContexts contexts) const {
    Relation result(size_);
    const auto of = [&](std::size_t i) { return neighbour(letters_.alphabet[word_[i]]); };
    for (std::size_t i = 0; i < size_; ++i) {
      const auto before = i > 0 ? of(i - 1) : RegexNeighbour::kEnd;
      const auto behind = i + 1 < size_ ? of(i) : RegexNeighbour::kEnd;
      if ((contexts & context(before, behind)) != 0) result[i] = std::uint64_t{1} << i;
    }
    return result;
  }

  static Relation composed(const Relation& first, const Relation& second) {
    Relation result(first.size());
    for (std::size_t i = 0; i < first.size(); ++i)
      for (std::uint64_t rest = first[i]; rest != 0; rest &= rest - 1)
        result[i] |= second[static_cast<std::size_t>(std::countr_zero(rest))];
    return result;
  }

  /// Positions never decrease, so powers are stationary after |word| + 1 steps.
  Relation repeated(const Relation& part, std::uint32_t least, std::uint32_t most) const {
    const auto stationary = static_cast<std::uint32_t>(size_ + 1);
    Relation power = identity();
    for (std::uint32_t i = 0; i < std::min(least, stationary); ++i) power = composed(power, part);
    Relation result = power;
    for (std::uint32_t i = least; i < most && i - least < stationary; ++i) {
      power = composed(power, part);
      for (std::size_t j = 0; j < size_; ++j) result[j] |= power[j];
    }
    return result;
  }

  Relation complement(const Relation& part) const {
    Relation result(size_);
    const std::uint64_t positions = size_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size_) - 1;
    for (std::size_t i = 0; i < size_; ++i) result[i] = ~part[i] & positions & (~std::uint64_t{0} << i);
    return result;
  }

  template <class Combine>
  Relation combined(const RegexNode& node, Combine combine) const {
    Relation result(size_);
    for (std::size_t i = 0; i < size_; ++i) result[i] = combine(of_node_[node.left][i], of_node_[node.right][i]);
    return result;
  }

  Relation relation(const RegexNode& node) const {
    switch (node.kind) {
      case RegexKind::kEmptyWord:
        return identity();
      case RegexKind::kCharacters:
        return step(letters_.of_set[node.left]);
      case RegexKind::kToken:
        return step({letters_.of_token[node.left]});
      case RegexKind::kAny:
        return any_step();
      case RegexKind::kAssertion:
        return assertion(static_cast<RegexContexts>(node.left));
      case RegexKind::kConcatenation:
        return composed(of_node_[node.left], of_node_[node.right]);
      case RegexKind::kUnion:
        return combined(node, [](std::uint64_t a, std::uint64_t b) { return a | b; });
      case RegexKind::kIntersection:
        return combined(node, [](std::uint64_t a, std::uint64_t b) { return a & b; });
      case RegexKind::kComplement:
        return complement(of_node_[node.left]);
      case RegexKind::kRepeat:
        return repeated(of_node_[node.left], node.least, node.most);
    }
    assert(false);
    return {};
  }

  const RegexTree& tree_;
  const RegexLetters& letters_;
  const Word& word_;
  std::size_t size_;
  std::vector<Relation> of_node_;
};

/// Words of at most 63 letters; O(nodes · |word|³).
inline bool reference_matches(const RegexTree& tree, const RegexLetters& letters, const Word& word) {
  assert(word.size() <= 63);
  return Relations(tree, letters, word).root_reads_everything();
}

}  // namespace krohn
