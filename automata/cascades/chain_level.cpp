#include "krohn/automata/cascades/chain_level.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <utility>

#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

constexpr Point kBits = 32;

std::size_t words_for(Point points) { return (std::size_t{points} + kBits - 1) / kBits; }

/// The positions of the points of one set, looked up by point. Filled per set, so that it costs O(size), not O(n).
class Positions {
 public:
  explicit Positions(Point points) : position_(points, 0) {}
  void fill(std::span<const Point> set) {
    for (Label x = 0; x < set.size(); ++x) position_[set[x]] = x;
  }
  Label operator[](Point point) const { return position_[point]; }

 private:
  std::vector<Label> position_;
};

/// How many distinct images the points of `set` have; `mark` has one entry per point, all equal before and after.
Label count_images(std::span<const Point> set, const std::vector<Point>& map, std::vector<bool>& mark) {
  Label images = 0;
  for (const Point p : set) {
    if (!mark[map[p]]) ++images;
    mark[map[p]] = true;
  }
  for (const Point p : set) mark[map[p]] = false;
  return images;
}

std::uint64_t hash_images(std::span<const Point> set, const std::vector<Point>& map) {
  std::uint64_t hash = 0;
  for (const Point p : set) hash = (hash ^ map[p]) * 0x9E3779B97F4A7C15U + (hash >> 29);
  return hash;
}

bool same_images(std::span<const Point> set, const std::vector<Point>& f, const std::vector<Point>& g) {
  return std::all_of(set.begin(), set.end(), [&](Point p) { return f[p] == g[p]; });
}

/// Runs `image(triple, old set, new set, images)` over all contexts and interns what it writes.
template <class Image>
LevelMoves collect_moves(const ChainLevel& level, Image image) {
  LevelMoves moves{level.size, {}, RecordSet(level.size)};
  moves.action_of.reserve(level.contexts.size());
  std::vector<Point> before, after;
  std::vector<Label> images(level.size);
  for (Context c = 0; c < level.contexts.size(); ++c) {
    TimeLimit::check();
    const ChainLevel::Triple triple = level.context(c);
    level.unpack(triple.before, before);
    level.unpack(triple.after, after);
    image(triple, before, after, images);
    moves.action_of.push_back(moves.actions.insert(images).index);
  }
  return moves;
}

}  // namespace

ChainLevel ChainLevel::top(Point points, const PointMaps& maps) {
  const auto letters = static_cast<Letter>(maps.size());
  ChainLevel level{points, points, letters, RecordSet(words_for(points)), RecordSet(3), {}, {}};
  std::vector<std::uint32_t> all(words_for(points), 0);
  for (Point p = 0; p < points; ++p) all[p / kBits] |= std::uint32_t{1} << (p % kBits);
  const Context node = level.sets.insert(all).index;
  for (Letter letter = 0; letter < letters; ++letter)
    level.contexts.insert(std::vector<std::uint32_t>{node, node, letter});
  return level;
}

ChainLevel ChainLevel::next() const {
  return {points, size - 1, letters, RecordSet(sets.words()), RecordSet(3), {}, {}};
}

void ChainLevel::unpack(Context node, std::vector<Point>& result) const {
  result.clear();
  const RecordSet::Record set = sets[node];
  for (Point word = 0; word < set.size(); ++word)
    for (std::uint32_t bits = set[word]; bits != 0; bits &= bits - 1)
      result.push_back(word * kBits + static_cast<Point>(std::countr_zero(bits)));
}

Context ChainLevel::without(Context node, Label label, ChainLevel& below) const {
  std::vector<Point> members;
  unpack(node, members);
  const Point removed = members[label];
  std::vector<std::uint32_t> set(sets[node].begin(), sets[node].end());
  set[removed / kBits] &= ~(std::uint32_t{1} << (removed % kBits));
  return below.sets.insert(set).index;
}

void ChainLevel::name_letters(const PointMaps& maps) {
  same_letter.resize(std::size_t{sets.size()} * letters);
  std::vector<Point> members;
  std::vector<std::pair<std::uint64_t, Letter>> by_hash(letters);
  for (Context node = 0; node < sets.size(); ++node) {
    TimeLimit::check();
    unpack(node, members);
    for (Letter letter = 0; letter < letters; ++letter) by_hash[letter] = {hash_images(members, maps[letter]), letter};
    std::sort(by_hash.begin(), by_hash.end());
    Letter leader = 0;
    for (Letter i = 0; i < letters; ++i) {
      const auto [hash, letter] = by_hash[i];
      const bool same = i > 0 && hash == by_hash[i - 1].first && same_images(members, maps[leader], maps[letter]);
      if (!same) leader = letter;
      same_letter[std::size_t{node} * letters + letter] = leader;
    }
  }
}

Context ChainLevel::add_context(Context before, Context after, Letter letter) {
  const std::uint32_t record[] = {before, after, same_letter[std::size_t{before} * letters + letter]};
  return contexts.insert(record).index;
}

bool every_map_is_bijective_or_constant(const ChainLevel& level, const PointMaps& maps) {
  std::vector<Point> before;
  std::vector<bool> mark(level.points, false);
  for (Context c = 0; c < level.contexts.size(); ++c) {
    TimeLimit::check();
    const ChainLevel::Triple triple = level.context(c);
    level.unpack(triple.before, before);
    const Label images = count_images(before, maps[triple.letter], mark);
    if (images != 1 && images != level.size) return false;
  }
  return true;
}

LevelMoves point_moves(const ChainLevel& level, const PointMaps& maps) {
  Positions position(level.points);
  return collect_moves(level, [&](const ChainLevel::Triple& triple, std::span<const Point> before,
                                  std::span<const Point> after, std::vector<Label>& images) {
    position.fill(after);
    for (Label x = 0; x < level.size; ++x) images[x] = position[maps[triple.letter][before[x]]];
  });
}

LevelMoves removal_moves(const ChainLevel& level, const PointMaps& maps) {
  Positions position(level.points);
  std::vector<bool> hit(level.size);
  return collect_moves(level, [&](const ChainLevel::Triple& triple, std::span<const Point> before,
                                  std::span<const Point> after, std::vector<Label>& images) {
    position.fill(after);
    std::fill(hit.begin(), hit.end(), false);
    for (Label x = 0; x < level.size; ++x) {
      images[x] = position[maps[triple.letter][before[x]]];
      hit[images[x]] = true;
    }
    const auto missed = std::find(hit.begin(), hit.end(), false);
    if (missed != hit.end()) std::fill(images.begin(), images.end(), static_cast<Label>(missed - hit.begin()));
  });
}

ReachableLabels::ReachableLabels(const ChainLevel& level, const LevelMoves& moves)
    : level_(level),
      moves_(moves),
      size_(moves.size),
      reached_(std::size_t{level.sets.size()} * moves.size, false),
      first_(std::size_t{level.sets.size()} + 1, 0),
      leaving_(level.contexts.size()) {
  for (Context c = 0; c < level.contexts.size(); ++c) ++first_[level.context(c).before + 1];
  for (std::size_t node = 1; node < first_.size(); ++node) first_[node] += first_[node - 1];
  std::vector<std::size_t> free = first_;
  for (Context c = 0; c < level.contexts.size(); ++c) leaving_[free[level.context(c).before]++] = c;
  for (Context c = 0; c < level.contexts.size(); ++c) {
    TimeLimit::check();
    const RecordSet::Record images = moves.actions[moves.action_of[c]];
    if (std::adjacent_find(images.begin(), images.end(), std::not_equal_to<>()) == images.end())
      add(level.context(c).after, images[0]);
  }
  close();
}

Label ReachableLabels::start(Context node, std::span<const Label> candidates) {
  assert(!candidates.empty());
  const auto reached = std::find_if(candidates.begin(), candidates.end(), [&](Label x) { return contains(node, x); });
  const Label chosen = reached == candidates.end() ? candidates.front() : *reached;
  add(node, chosen);
  close();
  return chosen;
}

std::vector<bool> ReachableLabels::used() const {
  std::vector<bool> result(size_, false);
  for (std::size_t pair = 0; pair < reached_.size(); ++pair)
    if (reached_[pair]) result[pair % size_] = true;
  return result;
}

void ReachableLabels::add(Context node, Label label) {
  const std::size_t pair = std::size_t{node} * size_ + label;
  if (reached_[pair]) return;
  reached_[pair] = true;
  open_.emplace_back(node, label);
}

void ReachableLabels::close() {
  while (!open_.empty()) {
    const std::pair<Context, Label> pair = open_.back();
    open_.pop_back();
    for (std::size_t i = first_[pair.first]; i < first_[pair.first + 1]; ++i) {
      const Context c = leaving_[i];
      add(level_.context(c).after, moves_.actions[moves_.action_of[c]][pair.second]);
    }
  }
}

LabelTrimming::LabelTrimming(const LevelMoves& moves, const ReachableLabels& reachable)
    : label_(moves.size, UINT32_MAX), action_(moves.actions.size()) {
  std::vector<bool> kept = reachable.used();
  for (bool grown = true; grown;) {
    grown = false;
    for (Action a = 0; a < moves.actions.size(); ++a)
      for (Label x = 0; x < moves.size; ++x)
        if (kept[x] && !kept[moves.actions[a][x]]) grown = kept[moves.actions[a][x]] = true;
  }
  std::vector<Label> old;
  for (Label x = 0; x < moves.size; ++x)
    if (kept[x]) {
      label_[x] = width_++;
      old.push_back(x);
    }
  std::map<std::vector<Point>, Action> known;
  for (Action a = 0; a < moves.actions.size(); ++a) {
    std::vector<Point> images;
    for (const Label x : old) images.push_back(label_[moves.actions[a][x]]);
    const auto [entry, fresh] = known.try_emplace(std::move(images), static_cast<Action>(actions_.size()));
    if (fresh) actions_.push_back(Transformation::from_images(entry->first));
    action_[a] = entry->second;
  }
}

}  // namespace krohn
