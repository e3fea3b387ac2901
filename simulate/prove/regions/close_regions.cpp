#include "krohn/simulate/prove/regions/close_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/prove/regions/interval_lists.h"

namespace krohn {
namespace {

constexpr std::size_t kWords = 160, kWordLength = 100;
constexpr std::size_t kMaxNodes = 4'096, kMaxSets = 100'000, kMaxClustered = 250;
constexpr std::uint32_t kMaxFromStart = 40;
constexpr int kRounds = 12;
constexpr std::uint64_t kMaxWorkOfToken = 10'000'000;  ///< of a checkpoint more: no cell

/// The plans that are tried, the cheap ones first.
struct Plan {
  std::uint32_t suffix, depth;
  double gap;  ///< between clusters of a node's memories; 0: they are one
};
constexpr Plan kPlans[] = {{0, 1, 0}, {1, 1, 0}, {0, 1, 0.7}, {2, 1, 0},  {1, 1, 0.7}, {0, 6, 0},
                           {1, 6, 0}, {0, 6, 1}, {0, 6, .5},  {1, 6, .5}, {2, 7, .5},  {4, 7, 0}};

/// A memory after a word: the automaton's state, and the word's last letters.
struct Sample {
  State state;
  std::uint64_t last;  ///< four letters as digits
  std::uint32_t length;
  std::vector<double> numbers;
};

struct Node {
  State state;
  std::uint64_t suffix;
  Box box;
};

/// A box that words lead to from a node.
struct Reached {
  Box box;
  State state;
  std::uint64_t suffix;
};

double rounded_down(double x) {
  const auto nearest = static_cast<float>(x);
  return nearest <= x ? nearest : std::nextafterf(nearest, -std::numeric_limits<float>::infinity());
}
double rounded_up(double x) { return -rounded_down(-x); }

bool is_inside(const Box& inner, const Box& outer) {
  for (std::size_t i = 0; i < inner.size(); ++i)
    if (!(inner[i].lower >= outer[i].lower && inner[i].upper <= outer[i].upper)) return false;
  return true;
}
double distance(const Box& a, const Box& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = (a[i].lower + a[i].upper - b[i].lower - b[i].upper) / 2;
    sum += apart * apart;
  }
  return sum;
}
/// Or any number from `most` on, where it is that far.
double distance(const std::vector<double>& a, const std::vector<double>& b, double most) {
  double sum = 0;
  for (std::size_t first = 0; first < a.size() && sum < most; first += 16)
    for (std::size_t i = first; i < std::min(first + 16, a.size()); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

class Search {
 public:
  Search(const Operations& operations, const TensorFile& tensors, const TrackedAutomaton& tracked, Precision format,
         std::uint64_t most_work)
      : operations_(operations),
        tracked_(tracked),
        letters_(tracked.automaton.letters()),
        intervals_(operations, tensors, format),
        work_left_(most_work) {
    if (intervals_.work() > kMaxWorkOfToken) throw NotEnclosed{"a letter takes too many products"};
    if (intervals_.is_affine())
      if (const auto word = word_that_fixes_two_states(tracked))
        throw NotEnclosed{fmt::format(
            "the recurrence is linear and {} leads two states to themselves, so that no regions close; it needs exact "
            "codewords: krohn snap",
            quoted_word(tracked.automaton.alphabet(), *word))};
    read_samples(*operations_reader(operations, tensors));
  }

  RegionSearch run() {
    if (result_.wrong) {
      result_.why_not = "a word is answered wrongly";
      return std::move(result_);
    }
    for (const Plan& plan : kPlans) {
      if (std::pow(letters_, plan.depth + plan.suffix) > 4'096 && plan.depth + plan.suffix > 1) continue;
      if (work_left_ == 0 || !TimeLimit::met().empty()) break;
      try {
        if (attempt(plan)) break;
      } catch (const NotEnclosed& found) {
        result_.why_not = found.why;
      }
    }
    return std::move(result_);
  }

 private:
  bool may_stand(State state) const { return tracked_.wanted[state] != TrackedAutomaton::kNoSuchWord; }
  std::uint64_t suffix_of(std::uint64_t last, std::uint32_t letters) const {
    std::uint64_t modulus = 1;
    for (std::uint32_t i = 0; i < letters; ++i) modulus *= letters_;
    return last % modulus;
  }

  /// Random letters, periodic words, letters repeated, and words that become periodic.
  void read_samples(const OperationsReader& reader) {
    Random random(1);
    for (std::size_t i = 0; i < kWords && !result_.wrong; ++i) {
      require_time();
      LetterReader::Memory memory = reader.start();
      State state = tracked_.automaton.initial();
      std::uint64_t last = 0;
      const std::uint64_t frequent = random.below(letters_), share = random.below(4), period = 1 + random.below(8),
                          repeated = 1 + random.below(8);
      Word word;
      while (word.size() < kWordLength) {
        const std::size_t t = word.size();
        const bool is_periodic = i % 4 == 1 || (i % 4 == 3 && t >= kWordLength / 2);
        Letter letter = static_cast<Letter>(is_periodic && t >= period              ? word[t - period]
                                            : i % 4 == 2 && t % repeated != 0       ? word[t - 1]
                                            : i % 4 == 0 && random.below(4) < share ? frequent
                                                                                    : random.below(letters_));
        for (Letter tries = 0; tries < letters_ && !may_stand(tracked_.automaton.next(state, letter)); ++tries)
          letter = (letter + 1) % letters_;
        state = tracked_.automaton.next(state, letter);
        if (!may_stand(state)) break;
        word.push_back(letter);
        const bool is_asked = tracked_.is_asked(state);
        const LetterReader::Answer answer = reader.step(letter, memory, is_asked);
        if (is_asked && answer.output != tracked_.wanted[state]) {
          result_.wrong = word;
          return;
        }
        last = suffix_of(last * letters_ + letter, 4);
        samples_.push_back({state, last, static_cast<std::uint32_t>(word.size()), reader.numbers(memory)});
      }
    }
  }

  /// The box after one more letter; nothing where some memory may be answered wrongly.
  std::optional<Box> step(const Box& box, State next, Letter letter) {
    Interruption::check();
    work_left_ -= std::min(work_left_, intervals_.work());
    Box after = intervals_.read(box, operations_.tokens[letter]);
    if (tracked_.is_asked(next) && !intervals_.is_answered(after, tracked_.wanted[next])) return std::nullopt;
    return after;
  }

  bool is_closed(const Box& box, State state) const {
    return std::ranges::any_of(nodes_,
                               [&](const Node& node) { return node.state == state && is_inside(box, node.box); });
  }

  static void require_time() {
    Interruption::check();
    if (!TimeLimit::met().empty()) throw NotEnclosed{"the time was over"};
  }

  static std::vector<std::size_t> clusters_of(const std::vector<const Sample*>& samples, double gap) {
    const std::size_t step = 1 + samples.size() / kMaxClustered;
    std::vector<std::size_t> some, cluster(samples.size(), 0);
    for (std::size_t i = 0; i < samples.size(); i += step) some.push_back(i);
    std::size_t count = 0;
    std::vector<bool> known(some.size(), false);
    for (std::size_t first = 0; first < some.size(); ++first) {
      if (known[first]) continue;
      std::vector<std::size_t> met{first};
      known[first] = true;
      for (std::size_t i = 0; i < met.size(); ++i) {
        require_time();
        const std::vector<double>& own = samples[some[met[i]]]->numbers;
        cluster[some[met[i]]] = count;
        for (std::size_t k = 0; k < some.size(); ++k)
          if (!known[k] && distance(own, samples[some[k]]->numbers, gap * gap) < gap * gap) {
            known[k] = true;
            met.push_back(k);
          }
      }
      ++count;
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i % step == 0) continue;
      require_time();
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t k : some) {
        const double apart = distance(samples[i]->numbers, samples[k]->numbers, least);
        if (apart >= least) continue;
        least = apart;
        cluster[i] = cluster[k];
      }
    }
    return cluster;
  }

  /// Boxes around the samples, with some room.
  void begin(const Plan& plan) {
    std::map<std::pair<State, std::uint64_t>, std::vector<const Sample*>> groups;
    for (const Sample& sample : samples_)
      if (sample.length >= std::max(1U, plan.suffix))
        groups[{sample.state, suffix_of(sample.last, plan.suffix)}].push_back(&sample);
    nodes_.clear();
    for (const auto& [key, group] : groups) {
      const std::vector<std::size_t> clusters =
          plan.gap > 0 ? clusters_of(group, plan.gap) : std::vector<std::size_t>(group.size(), 0);
      std::map<std::size_t, Box> boxes;
      for (std::size_t i = 0; i < group.size(); ++i) {
        const auto [known, fresh] = boxes.try_emplace(clusters[i]);
        for (std::size_t k = 0; k < group[i]->numbers.size(); ++k) {
          const double number = group[i]->numbers[k];
          if (fresh)
            known->second.push_back({number, number});
          else
            known->second[k] = {std::min(known->second[k].lower, number), std::max(known->second[k].upper, number)};
        }
      }
      for (auto& [number, box] : boxes) {
        for (Ends& ends : box) {
          const double more = 0.15 * (ends.upper - ends.lower) + 1e-4;
          ends = {rounded_down(ends.lower - more), rounded_up(ends.upper + more)};
        }
        nodes_.push_back({key.first, key.second, std::move(box)});
      }
    }
  }

  /// Makes the nearest region of the context hold the box, or makes one.
  void grow(std::vector<Node>& grown, const Reached& reached) const {
    Node* nearest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < grown.size(); ++i) {
      if (grown[i].state != reached.state || grown[i].suffix != reached.suffix) continue;
      const double apart = distance(i < nodes_.size() ? nodes_[i].box : grown[i].box, reached.box);
      if (apart < least) least = apart, nearest = &grown[i];
    }
    if (nearest == nullptr) {
      grown.push_back({reached.state, reached.suffix, reached.box});
      nearest = &grown.back();
    }
    for (std::size_t k = 0; k < reached.box.size(); ++k) {
      nearest->box[k].lower = std::min(nearest->box[k].lower, reached.box[k].lower);
      nearest->box[k].upper = std::max(nearest->box[k].upper, reached.box[k].upper);
    }
  }

  enum class Walk : std::uint8_t { kClosed, kOpen, kFailed };

  /// Follows all words from the boxes, until they lie in regions or `most` letters are read: what then sticks out is
  /// left in `boxes`.
  Walk follow(std::vector<Reached>& boxes, std::uint32_t suffix, std::uint32_t most, std::uint32_t& deepest,
              std::uint64_t& edges) {
    for (std::uint32_t depth = 1; depth <= most && !boxes.empty(); ++depth) {
      std::vector<Reached> next;
      for (const Reached& from : boxes)
        for (Letter letter = 0; letter < letters_; ++letter) {
          const State state = tracked_.automaton.next(from.state, letter);
          if (!may_stand(state)) continue;
          std::optional<Box> box = step(from.box, state, letter);
          if (!box) {
            result_.why_not = "the read-out cannot tell states apart throughout a region";
            return Walk::kFailed;
          }
          if (is_closed(*box, state)) {
            ++edges;
            deepest = depth;
          } else {
            next.push_back({*std::move(box), state, suffix_of(from.suffix * letters_ + letter, suffix)});
          }
          if (next.size() > kMaxSets || work_left_ == 0 || !TimeLimit::met().empty()) {
            result_.why_not = "too much to follow";
            return Walk::kFailed;
          }
        }
      boxes = std::move(next);
    }
    return boxes.empty() ? Walk::kClosed : Walk::kOpen;
  }

  bool attempt(const Plan& plan) {
    begin(plan);
    for (int round = 0; round < kRounds && nodes_.size() <= kMaxNodes; ++round) {
      std::vector<Reached> boxes;
      for (const Node& node : nodes_) boxes.push_back({node.box, node.state, node.suffix});
      std::uint32_t deepest = 1;
      std::uint64_t edges = 0;
      const Walk walk = follow(boxes, plan.suffix, plan.depth, deepest, edges);
      if (walk == Walk::kFailed) return false;
      if (walk == Walk::kClosed) return reaches_from_start(deepest, edges);
      std::vector<Node> grown = nodes_;
      for (const Reached& reached : boxes) grow(grown, reached);
      for (std::size_t i = 0; i < grown.size(); ++i)
        for (std::size_t k = 0; k < grown[i].box.size(); ++k) {
          Ends& ends = grown[i].box[k];
          const Ends before = i < nodes_.size() ? nodes_[i].box[k] : ends;
          // Where it goes on sticking out, a unit moves slowly towards its end: twice as far each time.
          const double more = 0.1 * (ends.upper - ends.lower) + 1e-9,
                       times = std::ldexp(1.0, std::max(0, round - 2)) - 1;
          const bool is_fresh = i >= nodes_.size();
          if (is_fresh || ends.lower < before.lower)
            ends.lower = rounded_down(ends.lower - more - times * (before.lower - ends.lower));
          if (is_fresh || ends.upper > before.upper)
            ends.upper = rounded_up(ends.upper + more + times * (ends.upper - before.upper));
        }
      nodes_ = std::move(grown);
    }
    result_.why_not = "regions grow without end";
    return false;
  }

  bool reaches_from_start(std::uint32_t letters, std::uint64_t edges) {
    const State initial = tracked_.automaton.initial();
    const Box start = intervals_.start();
    if (tracked_.is_asked(initial) &&
        (!intervals_.answers_at_start() || !intervals_.is_answered(start, tracked_.wanted[initial]))) {
      result_.why_not = "the empty word may be answered wrongly";
      return false;
    }
    std::vector<Reached> boxes;
    if (!is_closed(start, initial)) boxes.push_back({start, initial, 0});
    std::uint32_t deepest = 0;
    const Walk walk = follow(boxes, 0, kMaxFromStart, deepest, edges);
    if (walk != Walk::kClosed) {
      if (walk == Walk::kOpen) result_.why_not = "words from the start do not reach the regions";
      return false;
    }
    ClosedRegions closed{deepest, letters, {}};
    for (const Node& node : nodes_) {
      ClosedRegions::Region region{node.state, {}, {}};
      for (const Ends& ends : node.box) {
        region.lower.push_back(ends.lower);
        region.upper.push_back(ends.upper);
      }
      closed.list.push_back(std::move(region));
    }
    result_.closed = std::move(closed);
    result_.edges = edges;
    result_.why_not.clear();
    return true;
  }

  const Operations& operations_;
  const TrackedAutomaton& tracked_;
  Letter letters_;
  IntervalLists intervals_;
  std::uint64_t work_left_;
  std::vector<Sample> samples_;
  std::vector<Node> nodes_;
  RegionSearch result_;
};

}  // namespace

RegionSearch close_regions(const Operations& operations, const TensorFile& tensors, const TrackedAutomaton& tracked,
                           Precision format, std::uint64_t most_work) {
  const FloatEnvironment environment;
  RegionSearch none;
  if (operations.format != Precision::kFp32) {
    none.why_not = operations.format == Precision::kBf16 ? "--any-order asks for those of bf16, with sums in fp32"
                                                         : "--precision fp32 asks for them, for wider formats too";
    return none;
  }
  if (tracked.automaton.letters() == 0) {
    none.why_not = "there are no letters";
    return none;
  }
  try {
    return Search(operations, tensors, tracked, format, most_work).run();
  } catch (const NotEnclosed& found) {
    none.why_not = found.why;
    return none;
  }
}

std::optional<Word> word_that_fixes_two_states(const TrackedAutomaton& tracked) {
  constexpr std::size_t kMaxStates = 1'000;
  const Dfa& automaton = tracked.automaton;
  const std::size_t n = automaton.states();
  if (n > kMaxStates) return std::nullopt;
  const auto pair = [n](State p, State q) { return std::size_t{p} * n + q; };
  const auto may_stand = [&](State state) { return tracked.wanted[state] != TrackedAutomaton::kNoSuchWord; };
  std::vector<bool> is_reached(n, false), is_told(n * n, false);
  std::vector<State> reached{automaton.initial()};
  is_reached[automaton.initial()] = true;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const State next : automaton.row(reached[i]))
      if (may_stand(next) && !is_reached[next]) is_reached[next] = true, reached.push_back(next);
  // Pairs that some word tells apart, from its end to its beginning.
  for (const State p : reached)
    for (const State q : reached)
      is_told[pair(p, q)] = tracked.is_asked(p) && tracked.is_asked(q) && tracked.wanted[p] != tracked.wanted[q];
  for (bool more = true; more;) {
    more = false;
    for (const State p : reached)
      for (const State q : reached) {
        if (is_told[pair(p, q)]) continue;
        for (Letter a = 0; a < automaton.letters(); ++a)
          if (is_told[pair(automaton.next(p, a), automaton.next(q, a))]) {
            is_told[pair(p, q)] = more = true;
            break;
          }
      }
  }
  // Depth first through such pairs, until one on the way comes again.
  struct Turn {
    State p, q;
    Letter next;
  };
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(n * n, Mark::kNew);
  for (const State first : reached)
    for (const State second : reached) {
      if (!is_told[pair(first, second)] || marks[pair(first, second)] != Mark::kNew) continue;
      std::vector<Turn> way{{first, second, 0}};
      marks[pair(first, second)] = Mark::kOpen;
      while (!way.empty()) {
        Turn& here = way.back();
        if (here.next == automaton.letters()) {
          marks[pair(here.p, here.q)] = Mark::kDone;
          way.pop_back();
          continue;
        }
        const Letter letter = here.next++;
        const State p = automaton.next(here.p, letter), q = automaton.next(here.q, letter);
        if (!may_stand(p) || !may_stand(q) || !is_told[pair(p, q)]) continue;
        if (marks[pair(p, q)] == Mark::kNew) {
          marks[pair(p, q)] = Mark::kOpen;
          way.push_back({p, q, 0});
        } else if (marks[pair(p, q)] == Mark::kOpen) {
          const auto from = std::ranges::find_if(way, [&](const Turn& turn) { return turn.p == p && turn.q == q; });
          Word word;
          for (auto turn = from; turn != way.end(); ++turn) word.push_back(turn->next - 1);
          return word;
        }
      }
    }
  return std::nullopt;
}

}  // namespace krohn
