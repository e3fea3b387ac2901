// From the sets of characters that an expression names to letters: partition refinement over elementary intervals,
// between two neighbouring ends of ranges no set changes.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "krohn/automata/dfa/utf8.h"
#include "krohn/automata/regex/regex_syntax.h"

namespace krohn {

namespace {

constexpr std::uint32_t kOutside = UINT32_MAX;

/// A block of the partition: which intervals can still not be told apart.
using Block = std::uint32_t;

class Partition {
 public:
  /// One block per class of `base`, cut at the ends of all `sets`.
  Partition(std::span<const CharacterSet> base, std::span<const CharacterSet> sets) {
    starts_.push_back(0);
    for (const auto& group : {base, sets})
      for (const CharacterSet& set : group)
        for (const CodePointRange& range : set) {
          starts_.push_back(range.first);
          starts_.push_back(range.last + 1);
        }
    starts_.push_back(kLastCodePoint + 1);
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    block_.assign(starts_.size() - 1, kOutside);
    for (; blocks_ < base.size(); ++blocks_)
      for (const std::uint32_t interval : intervals(base[blocks_])) block_[interval] = blocks_;
    parent_.resize(blocks_);
    std::iota(parent_.begin(), parent_.end(), Block{0});
  }

  /// Tells members from others. A set and its complement cut alike, so the one with fewer intervals is gone through.
  void split_by(const CharacterSet& set) {
    std::vector<std::uint32_t> members = intervals(set);
    if (2 * members.size() > block_.size()) members = intervals(complement(set));
    std::unordered_map<Block, Block> moved;
    for (const std::uint32_t interval : members) {
      if (block_[interval] == kOutside) continue;
      const auto [found, added] = moved.emplace(block_[interval], blocks_);
      if (added) {
        parent_.push_back(parent_[block_[interval]]);
        ++blocks_;
      }
      block_[interval] = found->second;
    }
  }

  /// The blocks that have members, by base class and then by first character, with those members.
  std::vector<std::pair<Block, CharacterSet>> classes() const {
    std::vector<CharacterSet> characters(blocks_);
    for (std::uint32_t i = 0; i < block_.size(); ++i)
      if (block_[i] != kOutside) characters[block_[i]].push_back({starts_[i], starts_[i + 1] - 1});
    std::vector<std::pair<Block, CharacterSet>> classes;
    for (Block block = 0; block < blocks_; ++block)
      if (CharacterSet set = normalised(std::move(characters[block])); !set.empty())
        classes.emplace_back(block, std::move(set));
    std::sort(classes.begin(), classes.end(), [&](const auto& a, const auto& b) {
      return std::pair(parent_[a.first], a.second.front()) < std::pair(parent_[b.first], b.second.front());
    });
    return classes;
  }

  Block base_of(Block block) const { return parent_[block]; }
  Block blocks() const { return blocks_; }

  /// The blocks that make up a set which has been split by.
  std::vector<Block> blocks_of(const CharacterSet& set) const {
    std::vector<Block> blocks;
    for (const std::uint32_t interval : intervals(set))
      if (block_[interval] != kOutside) blocks.push_back(block_[interval]);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks;
  }

 private:
  std::vector<std::uint32_t> intervals(const CharacterSet& set) const {
    std::vector<std::uint32_t> members;
    for (const CodePointRange& range : set) {
      auto i =
          static_cast<std::uint32_t>(std::lower_bound(starts_.begin(), starts_.end(), range.first) - starts_.begin());
      for (; i < block_.size() && starts_[i] <= range.last; ++i) members.push_back(i);
    }
    return members;
  }

  std::vector<char32_t> starts_;  ///< of the intervals, and one past the last
  std::vector<Block> block_;      ///< of every interval
  std::vector<Block> parent_;     ///< the base class of every block
  Block blocks_ = 0;
};

/// The symbols within which an expression without an alphabet is split: all that occurs.
std::vector<Symbol> universe_of(const RegexTree& tree) {
  const bool names_nothing = std::ranges::count(tree.is_named, true) == 0 && tree.tokens.empty();
  CharacterSet characters;
  if (tree.negates_class || (names_nothing && tree.ranges_over_letters))
    characters = all_characters();
  else
    for (std::uint32_t i = 0; i < tree.sets.size(); ++i)
      if (tree.is_named[i]) characters.insert(characters.end(), tree.sets[i].begin(), tree.sets[i].end());
  std::vector<Symbol> universe;
  if (!characters.empty()) universe.push_back({"", normalised(std::move(characters))});
  std::vector<std::string> tokens = tree.tokens;
  std::sort(tokens.begin(), tokens.end());
  for (std::string& token : tokens) universe.push_back({std::move(token), {}});
  return universe;
}

/// A set of one symbol that has not been split keeps the name of that symbol.
std::string name_of(const Symbol& base, const CharacterSet& characters) {
  return base.characters == characters && !base.name.empty() ? base.name : class_name(characters);
}

}  // namespace

RegexLetters letters_of(const RegexTree& tree, const std::optional<Alphabet>& alphabet) {
  std::vector<Symbol> universe = universe_of(tree);
  if (alphabet) universe.assign(alphabet->symbols().begin(), alphabet->symbols().end());
  std::vector<CharacterSet> base;
  for (const Symbol& symbol : universe) base.push_back(symbol.characters);
  Partition partition(base, tree.sets);
  for (const CharacterSet& set : tree.sets) partition.split_by(set);

  std::vector<Symbol> symbols;
  std::vector<Letter> letter_of_block(partition.blocks(), 0);
  const auto classes = partition.classes();
  auto next = classes.begin();
  for (Block i = 0; i < universe.size(); ++i) {
    if (universe[i].characters.empty()) symbols.push_back(universe[i]);
    for (; next != classes.end() && partition.base_of(next->first) == i; ++next) {
      letter_of_block[next->first] = static_cast<Letter>(symbols.size());
      symbols.push_back({name_of(universe[i], next->second), next->second});
    }
  }
  RegexLetters letters{Alphabet::from_symbols(std::move(symbols)), {}, {}};
  for (const CharacterSet& set : tree.sets) {
    std::vector<Letter> of_set;
    for (const Block block : partition.blocks_of(set)) of_set.push_back(letter_of_block[block]);
    std::sort(of_set.begin(), of_set.end());
    letters.of_set.push_back(std::move(of_set));
  }
  for (const std::string& token : tree.tokens) letters.of_token.push_back(*letters.alphabet.find(token));
  return letters;
}

}  // namespace krohn
