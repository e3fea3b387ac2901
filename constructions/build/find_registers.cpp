#include "krohn/constructions/build/find_registers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "krohn/groups/base/random.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

std::vector<std::pair<std::size_t, std::size_t>> RegisterStates::confusions(std::size_t most) const {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::unordered_map<std::string, std::vector<std::size_t>> by_contents;
  for (std::size_t i = 0; i < labels.size() && pairs.size() < most; ++i) {
    auto& alike = by_contents[contents[i]];
    if (std::ranges::any_of(alike, [&](std::size_t other) { return labels[other] == labels[i]; })) continue;
    for (const std::size_t other : alike)
      if (pairs.size() < most) pairs.emplace_back(other, i);
    alike.push_back(i);
  }
  return pairs;
}

std::vector<Action> RegisterStates::word_to(std::size_t at) const {
  std::vector<Action> word;
  for (; at != 0; at = steps[at].before) word.push_back(steps[at].action);
  std::ranges::reverse(word);
  return word;
}

RegisterStates register_states(const TrackedStates& tracked, std::span<const RegisterBlock> blocks, std::size_t limit) {
  RegisterStates states;
  std::unordered_map<std::string, std::size_t> number;
  const auto add = [&](Label label, const std::string& contents, RegisterStates::Step step) {
    std::string key = contents;
    for (int byte = 0; byte < 4; ++byte) key.push_back(static_cast<char>(label >> (8 * byte) & 255));
    if (!number.emplace(std::move(key), states.labels.size()).second) return;
    states.labels.push_back(label);
    states.contents.push_back(contents);
    states.steps.push_back(step);
  };
  std::string contents;
  for (const RegisterBlock& block : blocks) contents += block.start;
  add(0, contents, {0, 0});
  for (std::size_t at = 0; at < states.labels.size(); ++at)
    for (Action action = 0; action < tracked.maps.size(); ++action) {
      if (states.labels.size() > limit) return states;
      TimeLimit::check();
      std::size_t first = 0;
      for (const RegisterBlock& block : blocks) {
        block.move(action, states.contents[at].data() + first, contents.data() + first);
        first += block.size();
      }
      add(tracked.maps[action][states.labels[at]], contents, {at, action});
    }
  states.is_complete = states.labels.size() <= limit;
  return states;
}

namespace {

constexpr std::size_t kMaxPoints = 5;
constexpr std::uint64_t kMaxTuples = 20'000, kMaxElements = 20'000, kMaxArrowsOfGroup = 256;

class GroupSearch {
 public:
  GroupSearch(const TrackedStates& tracked, std::uint64_t most_work) : tracked_(tracked), most_work_(most_work) {}

  std::optional<RegisterArrows> run() {
    for (std::size_t points = 1; points <= kMaxPoints && !found_; ++points) {
      std::vector<Point> images(points);
      std::iota(images.begin(), images.end(), Point{0});
      std::vector<Transformation> all;
      do {
        all.push_back(Transformation::from_images(images));
      } while (std::ranges::next_permutation(images).found);
      tuples_left_ = kMaxTuples;
      choose_next(all);
    }
    return std::move(found_);
  }

 private:
  /// The letters that have a permutation must be right by themselves.
  void choose_next(const std::vector<Transformation>& all) {
    if (!chosen_.empty() && !is_right()) return;
    if (chosen_.size() == tracked_.maps.size()) {
      RegisterArrows arrows = regular();
      if (arrows.size() * arrows[0].size() > kMaxArrowsOfGroup) return;
      if (!found_ || arrows[0].size() < (*found_)[0].size()) found_ = std::move(arrows);
      return;
    }
    for (const Transformation& permutation : all) {
      if (tuples_left_ == 0 || work_ >= most_work_) return;
      --tuples_left_;
      chosen_.push_back(permutation);
      choose_next(all);
      chosen_.pop_back();
    }
  }

  bool is_right() {
    std::set<std::pair<Transformation, Transformation>> known;
    std::vector<std::pair<Transformation, Transformation>> todo;
    const auto add = [&](Transformation map, Transformation permutation) {
      work_ += 100 + map.degree();
      if (permutation.is_identity() && !(map * map == map)) return false;
      std::pair pair(std::move(map), std::move(permutation));
      if (known.insert(pair).second) todo.push_back(std::move(pair));
      return true;
    };
    for (std::size_t action = 0; action < chosen_.size(); ++action)
      if (!add(tracked_.maps[action], chosen_[action])) return false;
    while (!todo.empty()) {
      const auto [map, permutation] = std::move(todo.back());
      todo.pop_back();
      TimeLimit::check();
      for (std::size_t action = 0; action < chosen_.size(); ++action)
        if (!add(map * tracked_.maps[action], permutation * chosen_[action])) return false;
      if (known.size() > kMaxElements || work_ >= most_work_) return false;
    }
    return true;
  }

  RegisterArrows regular() const {
    std::vector<Transformation> elements{Transformation::identity(chosen_[0].degree())};
    std::map<Transformation, int> number{{elements[0], 0}};
    RegisterArrows arrows(chosen_.size());
    for (std::size_t at = 0; at < elements.size(); ++at)
      for (std::size_t action = 0; action < chosen_.size(); ++action) {
        const Transformation longer = chosen_[action] * elements[at];
        const auto [entry, fresh] = number.emplace(longer, static_cast<int>(elements.size()));
        if (fresh) elements.push_back(longer);
        arrows[action].push_back(entry->second);
      }
    return arrows;
  }

  const TrackedStates& tracked_;
  const std::uint64_t most_work_;
  std::vector<Transformation> chosen_;
  std::optional<RegisterArrows> found_;
  std::uint64_t tuples_left_ = 0, work_ = 0;
};

}  // namespace

std::optional<RegisterArrows> group_of_idempotents(const TrackedStates& tracked, std::uint64_t most_work) {
  return GroupSearch(tracked, most_work).run();
}

RegisterBlock registers_of(const GroupBlock& stops, const RegisterArrows& group) {
  const std::size_t order = group[0].size();
  RegisterBlock block{{}, std::string(order, 0)};
  for (const std::vector<int>& row : group) {
    block.moves.emplace_back();
    for (const int to : row) block.moves.back().push_back({static_cast<std::size_t>(to), false});
  }
  if (stops.tells_element) {
    block.start[0] = 1;
    return block;
  }
  block.moves[stops.one / order][stops.one % order] = {std::nullopt, true};
  if (stops.other / order < group.size()) block.moves[stops.other / order][stops.other % order] = {std::nullopt, false};
  return block;
}

FirstMet::FirstMet(const RegisterArrows& group, const std::vector<Action>& word)
    : when(group.size() * group[0].size() + 1, SIZE_MAX) {
  for (std::size_t i = word.size(); i-- > 0;) {
    const auto at = static_cast<std::size_t>(element);
    std::size_t& first = when[word[i] * group[0].size() + at];
    first = std::min(first, word.size() - i);
    element = group[word[i]][at];
  }
}

namespace {

constexpr std::size_t kMaxSize = 8;  ///< of a block that is looked for
constexpr std::size_t kMaxRounds = 150, kFirstLimit = 4'000;
constexpr std::size_t kMaxConfusions = 400, kPairsARound = 40, kBlocksARound = 6, kMaxArrows = 60;
constexpr std::uint64_t kMaxWork = 100'000'000;  ///< steps in each search: small blocks, a group, its blocks

using Actions = std::vector<Action>;

std::string behind(const RegisterBlock& block, const Actions& word) {
  std::string contents = block.start, next = contents;
  for (const Action action : word) {
    block.move(action, contents.data(), next.data());
    contents.swap(next);
  }
  return contents;
}

constexpr int kStops = -1, kOpen = -2;

/// Where reading comes to its end: the register, and the letter at which it stops, or none at the beginning of the
/// word.
struct End {
  int at = 0;
  std::optional<Action> stopped_by;
  bool is_open = false;  ///< it comes to an arrow that is not chosen yet
  friend bool operator==(const End&, const End&) = default;
};

End read_from_end(const RegisterArrows& arrows, const Actions& word) {
  End end;
  for (std::size_t i = word.size(); i-- > 0;) {
    const int next = arrows[word[i]][static_cast<std::size_t>(end.at)];
    if (next < 0) return {end.at, word[i], next == kOpen};
    end.at = next;
  }
  return end;
}

/// RegisterArrows among `size` registers that come to different ends for two words; those that neither meets stay open.
class ArrowSearch {
 public:
  ArrowSearch(const Actions& u, const Actions& v, std::size_t size, std::size_t actions, Random& random)
      : u_(u), v_(v), random_(random), arrows_(actions, std::vector<int>(size, kOpen)) {}

  std::vector<RegisterArrows> run() {
    choose(1);
    return std::move(found_);
  }

 private:
  void choose(int used) {
    if (found_.size() >= kMaxArrows) return;
    const End u = read_from_end(arrows_, u_), v = read_from_end(arrows_, v_);
    if (!u.is_open && !v.is_open) {
      if (u != v && used == static_cast<int>(arrows_[0].size())) found_.push_back(arrows_);
      return;
    }
    const End& open = u.is_open ? u : v;
    std::vector<int>& row = arrows_[*open.stopped_by];
    std::vector<int> options{kStops};
    for (int to = 0; to < static_cast<int>(row.size()) && to <= used; ++to)
      if (!std::ranges::count(row, to)) options.push_back(to);
    random_.shuffle(std::span<int>(options));
    for (const int option : options) {
      row[static_cast<std::size_t>(open.at)] = option;
      choose(std::max(used, option + 1));
    }
    row[static_cast<std::size_t>(open.at)] = kOpen;
  }

  const Actions &u_, &v_;
  Random& random_;
  RegisterArrows arrows_;
  std::vector<RegisterArrows> found_;
};

/// The treatment of arrows that no word uses.
enum class Open { kStop, kStay, kGoOn };

void close(RegisterArrows& arrows, Open open, Random& random) {
  for (std::vector<int>& row : arrows)
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (row[at] != kOpen) continue;
      row[at] = kStops;
      std::vector<int> free;
      for (int to = 0; to < static_cast<int>(row.size()); ++to)
        if (!std::ranges::count(row, to)) free.push_back(to);
      if (open == Open::kStay && std::ranges::count(free, static_cast<int>(at))) row[at] = static_cast<int>(at);
      if (open == Open::kGoOn && !free.empty()) row[at] = free[random.below(free.size())];
    }
}

/// Constants at random, but that they tell the two words apart.
RegisterBlock with_constants(const RegisterArrows& arrows, const End& u, const End& v, Random& random) {
  RegisterBlock block{{}, std::string(arrows[0].size(), 0)};
  for (char& value : block.start) value = static_cast<char>(random.below(2));
  for (const std::vector<int>& row : arrows) {
    block.moves.emplace_back();
    for (const int to : row)
      block.moves.back().push_back(to < 0 ? RegisterMove{std::nullopt, random.below(2) != 0}
                                          : RegisterMove{static_cast<std::size_t>(to), false});
  }
  for (const auto& [end, is_negative] : {std::pair{u, false}, std::pair{v, true}})
    if (end.stopped_by)
      block.moves[*end.stopped_by][static_cast<std::size_t>(end.at)].is_negative = is_negative;
    else
      block.start[static_cast<std::size_t>(end.at)] = static_cast<char>(is_negative);
  return block;
}

class RegisterSearch {
 public:
  RegisterSearch(const TrackedStates& tracked, std::vector<RegisterBlock> known)
      : tracked_(tracked), known_(known), pool_(std::move(known)), told_(pool_.size()) {}

  /// The blocks of a group are enough (MATH.md §4): no more are wanted than tell apart what is not told yet.
  std::optional<std::vector<RegisterBlock>> by_group(std::size_t most_states) {
    const std::optional<RegisterArrows> group = group_of_idempotents(tracked_, kMaxWork);
    if (!group) return std::nullopt;
    work_ = 0;
    std::vector<RegisterBlock> chosen = known_;
    while (work_ < kMaxWork) {
      const RegisterStates states = reach(chosen, most_states);
      const auto confusions = states.confusions(kPairsARound);
      if (confusions.empty()) {
        drop(chosen, most_states);
        if (is_enough(chosen, most_states)) return chosen;
        return std::nullopt;
      }
      const auto best = best_of(*group, states, confusions);
      if (!best) return std::nullopt;
      chosen.push_back(registers_of(*best, *group));
    }
    return std::nullopt;
  }

  /// Few registers, found without a plan.
  std::optional<std::vector<RegisterBlock>> by_small_blocks(std::size_t most_states) {
    std::size_t limit = std::min(kFirstLimit, most_states);
    std::vector<RegisterBlock> chosen;
    for (std::size_t round = 0; round < kMaxRounds && work_ < kMaxWork; ++round) {
      RegisterStates states = reach(chosen, limit);
      auto confusions = states.confusions(kMaxConfusions);
      if (confusions.empty()) {
        drop(chosen, limit);
        if (is_enough(chosen, most_states)) return chosen;
        if (states.is_complete || limit == most_states) return std::nullopt;
        limit = std::min(4 * limit, most_states);
        continue;
      }
      ask(states, confusions, round);
      chosen = cover();
    }
    return std::nullopt;
  }

 private:
  struct Words {
    Actions u, v;
  };

  /// The block that tells most of the pairs apart, by the register in which reading begins.
  std::optional<GroupBlock> best_of(const RegisterArrows& group, const RegisterStates& states,
                                    const std::vector<std::pair<std::size_t, std::size_t>>& confusions) {
    std::vector<std::pair<FirstMet, FirstMet>> met;
    for (const auto& [u, v] : confusions)
      met.emplace_back(FirstMet(group, states.word_to(u)), FirstMet(group, states.word_to(v)));
    std::optional<GroupBlock> best{{true, 0, 0}};
    auto most = std::ranges::count_if(met, [](const auto& pair) { return pair.first.element != pair.second.element; });
    const std::size_t none = group.size() * group[0].size();
    work_ += none * none * met.size();
    for (std::size_t one = 0; one < none; ++one)
      for (std::size_t other = 0; other <= none; ++other) {
        const auto told = std::ranges::count_if(met, [&](const auto& pair) {
          const auto &u = pair.first.when, &v = pair.second.when;
          return (u[one] < u[other]) != (v[one] < v[other]);
        });
        if (told > most) most = told, best = {false, one, other};
      }
    if (most == 0) best.reset();
    return best;
  }

  RegisterStates reach(const std::vector<RegisterBlock>& blocks, std::size_t limit) {
    RegisterStates states = register_states(tracked_, blocks, limit);
    work_ += states.labels.size() * tracked_.maps.size() * (1 + states.contents.front().size());
    return states;
  }

  bool is_enough(const std::vector<RegisterBlock>& blocks, std::size_t most_states) {
    const RegisterStates states = reach(blocks, most_states);
    return states.is_complete && states.confusions(1).empty();
  }

  /// The blocks that can be spared as far as the first `limit` states show, the last blocks first.
  void drop(std::vector<RegisterBlock>& blocks, std::size_t limit) {
    for (std::size_t i = blocks.size(); i-- > 0;) {
      std::vector<RegisterBlock> fewer = blocks;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (reach(fewer, limit).confusions(1).empty()) blocks = std::move(fewer);
    }
  }

  /// Remembers some pairs of words that are not told apart, and blocks that tell one of them, and many others.
  void ask(const RegisterStates& states, std::vector<std::pair<std::size_t, std::size_t>>& confusions,
           std::size_t round) {
    const auto words_of = [&](const std::pair<std::size_t, std::size_t>& pair) {
      return Words{states.word_to(pair.first), states.word_to(pair.second)};
    };
    const auto last = confusions.back();
    random_.shuffle(std::span(confusions));
    std::vector<Words> fresh{words_of(round % 2 == 0 ? last : confusions.front())};
    for (std::size_t i = 0; i < confusions.size() && fresh.size() < kPairsARound; ++i)
      fresh.push_back(words_of(confusions[i]));
    words_.insert(words_.end(), fresh.begin(), fresh.end());
    for (std::size_t i = 0; i < pool_.size(); ++i)
      for (const Words& words : fresh) told_[i].push_back(tells(pool_[i], words));

    struct Scored {
      double score;
      RegisterBlock block;
    };
    std::vector<Scored> scored;
    std::size_t least = kMaxSize;
    for (std::size_t size = 1; size <= std::min(least + 2, kMaxSize); ++size) {
      const auto all = ArrowSearch(fresh[0].u, fresh[0].v, size, tracked_.maps.size(), random_).run();
      if (!all.empty()) least = std::min(least, size);
      for (const RegisterArrows& some : all)
        for (const Open open : {Open::kStop, Open::kStay, Open::kGoOn}) {
          RegisterArrows arrows = some;
          close(arrows, open, random_);
          const End u = read_from_end(arrows, fresh[0].u), v = read_from_end(arrows, fresh[0].v);
          for (int trial = 0; trial < 3; ++trial) {
            RegisterBlock block = with_constants(arrows, u, v, random_);
            const auto count = std::ranges::count_if(fresh, [&](const Words& words) { return tells(block, words); });
            scored.push_back({static_cast<double>(count) / (static_cast<double>(size) + 0.5), std::move(block)});
          }
        }
    }
    std::ranges::stable_sort(scored, std::ranges::greater{}, &Scored::score);
    if (scored.size() > kBlocksARound) scored.resize(kBlocksARound);
    for (Scored& each : scored) {
      told_.emplace_back();
      for (const Words& words : words_) told_.back().push_back(tells(each.block, words));
      pool_.push_back(std::move(each.block));
    }
  }

  bool tells(const RegisterBlock& block, const Words& words) {
    work_ += (words.u.size() + words.v.size()) * block.size();
    TimeLimit::check();
    return behind(block, words.u) != behind(block, words.v);
  }

  /// Greedily, by words told apart a register; the smaller block of those that are alike, and the earlier one.
  std::vector<RegisterBlock> cover() {
    std::vector<RegisterBlock> chosen;
    std::vector<bool> left(words_.size(), true);
    for (;;) {
      double best = 0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < pool_.size(); ++i) {
        std::size_t count = 0;
        for (std::size_t word = 0; word < left.size(); ++word) count += left[word] && told_[i][word];
        const double score = static_cast<double>(count) / (static_cast<double>(pool_[i].size()) + 0.5);
        if (score > best) best = score, at = i;
      }
      work_ += pool_.size() * words_.size();
      if (best == 0) return chosen;
      chosen.push_back(pool_[at]);
      for (std::size_t word = 0; word < left.size(); ++word)
        if (told_[at][word]) left[word] = false;
    }
  }

  const TrackedStates& tracked_;
  const std::vector<RegisterBlock> known_;
  Random random_{1};
  std::vector<RegisterBlock> pool_;
  std::vector<Words> words_;             ///< each pair of other states
  std::vector<std::vector<bool>> told_;  ///< by block of the pool and pair of words
  std::uint64_t work_ = 0;
};

}  // namespace

std::optional<std::vector<RegisterBlock>> find_registers(const TrackedStates& tracked, std::vector<RegisterBlock> known,
                                                         std::size_t most_states) {
  RegisterSearch search(tracked, std::move(known));
  if (auto found = search.by_small_blocks(most_states)) return found;
  return search.by_group(most_states);
}

}  // namespace krohn
