#include "krohn/simulate/operations/plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/operations/stated_lists.h"

namespace krohn {
namespace {

constexpr std::uint32_t kPadding = StepNumbers<float>::kPadding;
constexpr std::uint32_t kBlock = 8;  ///< outputs of a row of few constants

std::uint32_t rounded_up(std::uint64_t size, std::uint32_t unit) {
  const std::uint64_t up = (size + unit - 1) / unit * unit;
  if (up > UINT32_MAX / kPlanWords) throw LimitError("the model's lists have more numbers than 32 bits count");
  return static_cast<std::uint32_t>(up);
}

template <class Real>
class Compiler {
 public:
  Compiler(const Operations& operations, const TensorFile& tensors, bool in_place)
      : operations_(operations), lists_(operations, tensors), in_place_(in_place), slots_(lists_.count(), 0) {}

  OperationsPlan<Real> compile() {
    const std::vector<Real> start = lists_.start();
    plan_.start.assign(start.begin(), start.end());
    const std::vector<std::uint32_t> order = needed_lists();
    place(order);
    for (const std::uint32_t list : order) add_step(list);
    std::uint32_t to = 0;
    for (const std::uint32_t list : operations_.keep) {
      plan_.one.keep.push_back(part_of(list));
      plan_.one.keep.back().to = std::exchange(to, to + lists_.size(list));
    }
    plan_.one.logits = part_of(operations_.logits);
    make_rows();
    plan_.constants.resize(plan_.constants.size() + kPadding, Real{0});
    place_words();
    take_turns(order);
    return std::move(plan_);
  }

 private:
  using Layout = std::pair<std::uint32_t, std::vector<std::uint32_t>>;  ///< a list, and which of its numbers

  const Operation& at(std::uint32_t list) const { return operations_.list[list]; }
  bool is_of_memory(std::uint32_t list) const { return lists_.dependence(list) == Dependence::kMemory; }

  /// Numbers of a list of the memory, side by side.
  bool is_view(std::uint32_t list) const {
    return is_of_memory(list) && at(list).what == "copy" && at(list).shape.size() == 1 &&
           at(list).of[0].strides[0] == 1;
  }
  /// The list that a view is of, and where in it.
  std::pair<std::uint32_t, std::uint32_t> root_of(std::uint32_t list) const {
    std::uint32_t first = 0;
    for (; is_view(list); list = at(list).of[0].list) first += at(list).of[0].first;
    return {list, first};
  }

  /// Computed lists that the memory needs, then those that only the logits need, each in their order.
  std::vector<std::uint32_t> needed_lists() {
    const auto count = static_cast<std::uint32_t>(lists_.count());
    std::vector<bool> for_memory(count, false), for_logits(count, false);
    for (const std::uint32_t list : operations_.keep) for_memory[list] = true;
    for_logits[operations_.logits] = true;
    std::vector<std::uint32_t> first, then;
    for (std::uint32_t list = count; list-- > 0;) {
      if (!for_memory[list] && !for_logits[list]) continue;
      for (const Operation::View& view : at(list).of) (for_memory[list] ? for_memory : for_logits)[view.list] = true;
      if (is_of_memory(list) && at(list).what != "memory" && !is_view(list))
        (for_memory[list] ? first : then).push_back(list);
    }
    wanted_.resize(count);
    for (std::uint32_t list = 0; list < count; ++list) wanted_[list] = for_memory[list] || for_logits[list];
    plan_.one.for_memory = first.size();
    std::ranges::reverse(first);
    first.insert(first.end(), then.rbegin(), then.rend());
    return first;
  }

  /// The numbers from `first` to `end` of a list.
  struct Range {
    std::uint32_t list = 0;
    std::uint64_t first = 0, end = 0;
    bool meets(const Range& other) const { return list == other.list && first < other.end && other.first < end; }
  };
  Range read_by(const Operation& operation, const Operation::View& view) const {
    const auto [root, before] = root_of(view.list);
    std::uint64_t last = before + view.first;
    for (std::size_t axis = 0; axis < view.strides.size(); ++axis)
      last += std::uint64_t{view.strides[axis]} *
              ((axis < operation.shape.size() ? operation.shape[axis] : operation.terms) - 1);
    return {root, before + view.first, last + 1};
  }
  Range whole_range(std::uint32_t list) const {
    const auto [root, first] = root_of(list);
    return {root, first, std::uint64_t{first} + lists_.size(list)};
  }

  /// A sum may be written where it is remembered: each of its numbers in the place of the one that it adds to, or where
  /// all have been read. Whoever reads it next sees +0 for −0, so only sums of products do, to which that is the same.
  bool may_stay(std::uint32_t list, std::uint32_t to, const std::vector<std::uint32_t>& order) const {
    const std::vector<std::uint32_t>& shape = at(list).shape;
    const auto own = std::ranges::find(order, list);
    if (!in_place_ || own == order.end() || at(list).what != "dot" || shape.empty() || shape.back() % kPadding != 0 ||
        std::ranges::count(operations_.keep, list) > 1)
      return false;
    const Range place{memory_list(), to, std::uint64_t{to} + lists_.size(list)}, result = whole_range(list);
    const auto is_beside = [&](const Operation::View& view) {
      std::uint32_t stride = 1;
      bool is = read_by(at(list), view).first == to;
      for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
        is = is && (shape[axis] == 1 || view.strides[axis] == stride);
      return is;
    };
    for (auto step = order.begin(); step != order.end(); ++step)
      for (std::size_t v = 0; v < at(*step).of.size(); ++v) {
        const Range read = read_by(at(*step), at(*step).of[v]);
        if (read.meets(place) && (step > own || (step == own && (v < 2 || !is_beside(at(list).of[v]))))) return false;
        if (read.meets(result) && (at(*step).what != "dot" || v == 2)) return false;
      }
    const auto is_apart = [&](std::uint32_t other) { return !whole_range(other).meets(place); };
    return std::ranges::all_of(operations_.keep, is_apart) && is_apart(operations_.logits) &&
           !whole_range(operations_.logits).meets(result);
  }
  std::uint32_t memory_list() const {
    return static_cast<std::uint32_t>(std::ranges::find(operations_.list, "memory", &Operation::what) -
                                      operations_.list.begin());
  }

  /// Gives every list the first room that is free while it is needed.
  void place(const std::vector<std::uint32_t>& order) {
    std::uint32_t to = 0;
    for (const std::uint32_t list : operations_.keep) {
      if (may_stay(list, to, order)) staying_.emplace(list, to);
      to += lists_.size(list);
    }
    std::vector<std::size_t> last(lists_.count(), 0);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const Operation::View& view : at(order[i]).of) last[root_of(view.list).first] = i;
    for (const std::uint32_t list : operations_.keep) last[root_of(list).first] = order.size();
    last[root_of(operations_.logits).first] = order.size();
    const std::uint32_t memory = rounded_up(lists_.remembered() + kPadding, kPadding);
    struct Taken {
      std::uint32_t first, end;
      std::size_t last;
    };
    std::vector<Taken> taken;  // by `first`
    plan_.one.own = memory;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (const auto stays = staying_.find(order[i]); stays != staying_.end()) {
        slots_[order[i]] = stays->second;
        continue;
      }
      const std::uint32_t size = rounded_up(lists_.size(order[i]) + std::uint64_t{kPadding}, kPadding);
      std::erase_if(taken, [&](const Taken& room) { return room.last < i; });
      std::uint32_t first = memory;
      auto before = taken.begin();
      for (; before != taken.end() && before->first < first + size; ++before) first = std::max(first, before->end);
      slots_[order[i]] = first;
      plan_.one.own = std::max(plan_.one.own, rounded_up(std::uint64_t{first} + size, 1));
      taken.insert(before, {first, first + size, last[order[i]]});
    }
  }

  /// Where a list's numbers are, in the order of `places`, or without these as they are.
  StepOperand laid_out(std::uint32_t list, std::vector<std::uint32_t> places) {
    StepOperand operand;
    const std::uint32_t size = size_of({list, places});
    const bool is_constant = lists_.dependence(list) == Dependence::kNothing;
    const auto [known, is_new] = (is_constant ? constants_ : of_rows_).try_emplace({list, std::move(places)}, 0);
    const std::uint32_t room = rounded_up(size + std::uint64_t{kPadding}, kPadding);
    if (is_new && is_constant) {
      known->second = rounded_up(plan_.constants.size(), 1);
      plan_.constants.resize(plan_.constants.size() + room, Real{0});
      copy(known->first, plan_.constants.data() + known->second);
    } else if (is_new) {
      known->second = plan_.row;
      plan_.row = rounded_up(std::uint64_t{plan_.row} + room, 1);
    }
    operand.space = is_constant ? Space::kConstant : Space::kToken;
    operand.first = known->second;
    return operand;
  }
  std::uint32_t size_of(const Layout& layout) const {
    return layout.second.empty() ? lists_.size(layout.first) : rounded_up(layout.second.size(), 1);
  }
  void copy(const Layout& layout, Real* to) const {
    const auto& [list, places] = layout;
    const std::vector<Real>& values = lists_.values(list);
    if (places.empty()) std::ranges::copy(values, to);
    for (const std::uint32_t place : places) *to++ = values[place];
  }
  StepOperand whole(std::uint32_t list) {
    if (!is_of_memory(list)) return laid_out(list, {});
    const auto [root, first] = root_of(list);
    StepOperand operand;
    operand.space = Space::kWord;
    operand.first = slots_[root] + first;
    return operand;
  }
  typename OperationsPlan<Real>::Part part_of(std::uint32_t list) {
    const StepOperand operand = whole(list);
    return {.space = operand.space, .first = operand.first, .size = lists_.size(list)};
  }

  void add_step(std::uint32_t list) {
    Step step = step_of(at(list), lists_.function(list));
    const std::array<StepOperand, 3> views{step.of[0], step.of[1], step.of[2]};
    step.to = slots_[list];
    step.kept = staying_.contains(list);
    const std::vector<Operation::View>& of = at(list).of;
    for (std::size_t v = 0; v < of.size(); ++v) {
      const bool is_summed = step.function == StepFunction::kDot && v < 2;
      if (is_summed && !is_of_memory(of[v].list) && lies_apart(step, views[v])) {
        step.of[v] = side_by_side(step, views[v], of[v].list);
        continue;
      }
      step.of[v] = views[v];
      const StepOperand own = whole(of[v].list);
      step.of[v].space = own.space;
      step.of[v].first += own.first;
    }
    Step words = step;
    if (step.function == StepFunction::kDot) add_few(step, words, views, of);
    plan_.one.list.push_back(step);
    plan_.words.list.push_back(words);
  }

  static bool lies_apart(const Step& step, const StepOperand& view) {
    return step.extents[3] > 1 && view.strides[3] > 1;
  }

  /// body(i, j, k, a list's place) along the axes that a view goes along.
  template <class Body>
  static void for_view(const Step& step, const StepOperand& view, const Body& body) {
    std::array<std::uint32_t, 3> extents{};
    for (std::size_t axis = 0; axis < 3; ++axis) extents[axis] = view.strides[axis] == 0 ? 1 : step.extents[axis];
    for (std::uint32_t i = 0; i < extents[0]; ++i)
      for (std::uint32_t j = 0; j < extents[1]; ++j)
        for (std::uint32_t k = 0; k < extents[2]; ++k)
          body(view.first + i * view.strides[0] + j * view.strides[1] + k * view.strides[2]);
  }

  /// Constants of a sum laid out anew: term after term, the outputs of each side by side, behind them some more up to a
  /// multiple of four.
  StepOperand side_by_side(const Step& step, const StepOperand& view, std::uint32_t list) {
    std::vector<std::uint32_t> places;
    const std::uint32_t side_by_side = rounded_up(step.extents[3], 4);
    for_view(step, view, [&](std::uint32_t first) {
      for (std::uint32_t t = 0; t < step.terms; ++t)
        for (std::uint32_t l = 0; l < side_by_side; ++l)
          places.push_back(first + t * view.term + std::min(l, step.extents[3] - 1) * view.strides[3]);
    });
    StepOperand operand = laid_out(list, std::move(places));
    operand.strides[3] = 1;
    operand.term = side_by_side;
    std::uint32_t size = step.terms * side_by_side;
    for (std::size_t axis = 3; axis-- > 0;) {
      if (view.strides[axis] == 0) continue;
      operand.strides[axis] = size;
      size *= step.extents[axis];
    }
    return operand;
  }

  /// Where more than half of a matrix is zeros, only the others are multiplied.
  void add_few(Step& step, Step& words, const std::array<StepOperand, 3>& views,
               const std::vector<Operation::View>& of) {
    constexpr std::size_t kOfEntry = 3, kOfRow = 16;  // in products of eight numbers
    for (std::uint32_t constant = 0; constant < 2; ++constant) {
      const std::uint32_t other = 1 - constant;
      const StepOperand& view = views[constant];
      if (lists_.dependence(of[constant].list) != Dependence::kNothing || !is_of_memory(of[other].list)) continue;
      const std::vector<Real>& values = lists_.values(of[constant].list);
      const auto weight = [&](std::uint32_t first, std::uint32_t l, std::uint32_t t) {
        return values[first + l * view.strides[3] + t * view.term];
      };
      const std::uint32_t outputs = step.extents[3];
      const StepOperand& moving = views[other];
      if (moving.strides[3] != 0 || outputs < kBlock / 2 || (step.operands > 2 && step.of[2].strides[3] > 1)) continue;
      std::uint64_t zeros = 0, all = 0;
      for_view(step, view, [&](std::uint32_t first) {
        for (std::uint32_t t = 0; t < step.terms; ++t)
          for (std::uint32_t l = 0; l < outputs; ++l, ++all) zeros += weight(first, l, t) == 0 ? 1 : 0;
      });
      if (2 * zeros <= all) continue;
      auto& one = plan_.one;
      auto& many = plan_.words;
      const std::size_t entries = one.places.size(), rows = one.ends.size();
      step.by = words.by = other;
      step.few = static_cast<std::uint32_t>(rows - 1);
      words.few = static_cast<std::uint32_t>(many.ends.size() - 1);
      for (std::uint32_t i = 0; i < step.extents[0]; ++i)
        for (std::uint32_t j = 0; j < step.extents[1]; ++j)
          for (std::uint32_t k = 0; k < step.extents[2]; ++k) {
            const std::uint32_t first = view.first + i * view.strides[0] + j * view.strides[1] + k * view.strides[2];
            for (std::uint32_t l = 0; l < outputs; ++l) {
              for (std::uint32_t t = 0; t < step.terms; ++t) {
                if (weight(first, l, t) == 0) continue;
                many.places.push_back(t * moving.term);
                many.weights.push_back(weight(first, l, t));
              }
              many.ends.push_back(static_cast<std::uint32_t>(many.places.size()));
            }
            for (std::uint32_t block = 0; block < outputs; block += kBlock) {
              const std::uint32_t end = std::min(outputs, block + kBlock);
              for (std::uint32_t t = 0; t < step.terms; ++t) {
                std::array<Real, kBlock> weights{};
                for (std::uint32_t l = block; l < end; ++l) weights[l - block] = weight(first, l, t);
                if (std::ranges::all_of(weights, [](Real number) { return number == 0; })) continue;
                one.places.push_back(t * moving.term);
                one.weights.insert(one.weights.end(), weights.begin(), weights.end());
              }
              one.ends.push_back(static_cast<std::uint32_t>(one.places.size()));
            }
          }
      // A row of one word is a sum that waits for itself, and its length is not foreseen.
      if (kOfEntry * (one.places.size() - entries) + kOfRow * (one.ends.size() - rows) > all / kBlock) {
        step.few = Step::kDense;
        one.places.resize(entries);
        one.weights.resize(entries * kBlock);
        one.ends.resize(rows);
      }
      return;
    }
  }

  void make_rows() {
    plan_.row = rounded_up(std::uint64_t{plan_.row} + kPadding, kPadding);
    std::map<std::uint32_t, std::uint32_t> known;
    const auto row_of = [&](std::uint32_t token) {
      const auto [row, is_new] = known.try_emplace(token, static_cast<std::uint32_t>(known.size()));
      if (!is_new) return row->second;
      lists_.read_token(token, wanted_);
      const std::size_t first = plan_.rows.size();
      plan_.rows.resize(first + plan_.row, Real{0});
      for (const auto& [layout, place] : of_rows_) copy(layout, plan_.rows.data() + first + place);
      return row->second;
    };
    for (const std::uint32_t token : operations_.tokens) plan_.letters.push_back(row_of(token));
    for (const std::uint32_t token : operations_.before) plan_.before.push_back(row_of(token));
    for (const std::uint32_t token : operations_.after) plan_.after.push_back(row_of(token));
    // A few are looked up in whole registers.
    plan_.tokens = known.size() <= 32 ? std::max(kBlock, std::bit_ceil(static_cast<std::uint32_t>(known.size())))
                                      : rounded_up(known.size(), kBlock);
    for (const auto& [layout, place] : of_rows_)
      plan_.looked_up.push_back({.space = Space::kToken, .first = place, .size = size_of(layout)});
    plan_.columns.resize(std::size_t{plan_.row} * plan_.tokens, Real{0});
    for (std::size_t token = 0; token < known.size(); ++token)
      for (std::size_t i = 0; i < plan_.row; ++i)
        plan_.columns[i * plan_.tokens + token] = plan_.rows[token * plan_.row + i];
  }

  /// For words side by side, the words are the last axis.
  void place_words() {
    auto& words = plan_.words;
    constexpr std::uint64_t kProductsOfLookUp = 4;
    plan_.shares = products_of(0, plan_.one.list.size()) >= kProductsOfLookUp * plan_.row;
    const std::uint32_t row_first = plan_.one.own;
    words.own = rounded_up(std::uint64_t{row_first} + plan_.row, 1) * kPlanWords;
    words.for_memory = plan_.one.for_memory;
    const auto part_of_words = [&](typename OperationsPlan<Real>::Part part) {
      part.to *= kPlanWords;
      if (part.space == Space::kConstant) return part;
      part.first = (part.first + (part.space == Space::kToken ? row_first : 0)) * kPlanWords;
      part.space = Space::kWord;
      return part;
    };
    for (const auto& part : plan_.one.keep) words.keep.push_back(part_of_words(part));
    words.logits = part_of_words(plan_.one.logits);
    for (std::uint32_t& place : words.places) place *= kPlanWords;
    for (Step& step : words.list) {
      // A row of few constants is an output: the last axis of one word is walked here, too.
      std::copy(step.extents + 1, step.extents + 4, step.extents);
      step.extents[3] = kPlanWords;
      step.to *= kPlanWords;
      for (StepOperand& operand : step.of) {
        const bool is_constant = operand.space == Space::kConstant;
        const std::uint32_t by = is_constant ? 1 : kPlanWords;
        if (operand.space == Space::kToken) operand.first += row_first;
        if (!is_constant) operand.space = Space::kWord;
        for (std::size_t axis = 0; axis < 3; ++axis) operand.strides[axis] = operand.strides[axis + 1] * by;
        operand.strides[3] = is_constant ? 0 : 1;
        operand.first *= by;
        operand.term *= by;
      }
    }
  }

  /// The cost of steps, in products.
  std::uint64_t products_of(std::size_t first, std::size_t end) const {
    constexpr std::uint64_t kOfFunction = 64;
    std::uint64_t products = 0;
    for (; first < end; ++first) {
      const Step& step = plan_.one.list[first];
      products += std::uint64_t{step.extents[0]} * step.extents[1] * step.extents[2] * step.extents[3] *
                  (step.function >= StepFunction::kSigmoid ? kOfFunction : std::max(1U, step.terms));
    }
    return products;
  }

  /// A part of the memory has its turn from the first step that reads it to the last one, and to the step that makes
  /// what is remembered there next: between two turns no step depends on a letter's own turn through one before.
  void take_turns(const std::vector<std::uint32_t>& order) {
    using Turn = typename OperationsPlan<Real>::Turn;
    constexpr std::uint64_t kCacheBytes = std::uint64_t{1} << 18, kPartBeside = 3;
    const auto made_at = [&](std::uint32_t list) {
      return static_cast<std::size_t>(std::ranges::find(order, root_of(list).first) - order.begin());
    };
    const auto readers_of = [&](const Range& range, const auto& body) {
      for (std::size_t i = 0; i < order.size(); ++i)
        for (const Operation::View& view : at(order[i]).of)
          if (read_by(at(order[i]), view).meets(range)) body(i);
    };
    if (plan_.one.logits.space != Space::kWord || plan_.one.logits.first < lists_.remembered()) return;
    std::vector<Turn> all;
    for (std::size_t k = 0; k < operations_.keep.size(); ++k) {
      const std::uint32_t list = operations_.keep[k];
      const auto& part = plan_.one.keep[k];
      Turn turn;
      turn.first = order.size();
      turn.keep = {part};
      const auto take = [&](std::size_t i) {
        turn.first = std::min(turn.first, i);
        turn.end = std::max(turn.end, i + 1);
      };
      readers_of({memory_list(), part.to, std::uint64_t{part.to} + part.size}, take);
      if (staying_.contains(list)) readers_of(whole_range(list), take);
      if (turn.end == 0) return;
      if (const std::size_t made = made_at(list); made != order.size() && made >= turn.first) take(made);
      all.push_back(std::move(turn));
    }
    std::ranges::sort(all, {}, &Turn::first);
    auto& turns = plan_.turns;
    for (Turn& turn : all)
      if (turns.empty() || turn.first > turns.back().end) {
        turns.push_back(std::move(turn));
      } else {
        turns.back().end = std::max(turns.back().end, turn.end);
        turns.back().keep.insert(turns.back().keep.end(), turn.keep.begin(), turn.keep.end());
      }
    std::uint64_t in_turn = 0;
    for (Turn& turn : turns) {
      in_turn += products_of(turn.first, turn.end);
      std::set<std::uint32_t> takes, gives;
      const auto reads = [&](std::uint32_t list) {
        if (const std::size_t made = made_at(list); made < turn.first) takes.insert(order[made]);
      };
      for (std::size_t i = turn.first; i < turn.end; ++i)
        for (const Operation::View& view : at(order[i]).of) reads(view.list);
      for (std::size_t k = 0; k < operations_.keep.size(); ++k) {
        const auto& part = plan_.one.keep[k];
        const bool is_here = std::ranges::find(turn.keep, part.to, &OperationsPlan<Real>::Part::to) != turn.keep.end();
        const std::size_t made = made_at(operations_.keep[k]);
        if (is_here) reads(operations_.keep[k]);
        if (!is_here && made >= turn.first && made < turn.end) gives.insert(order[made]);
        // A number that moves within the memory moves in one turn.
        for (const auto& other : plan_.one.keep)
          if (is_here && part.space == Space::kWord && part.first < other.to + other.size &&
              other.to < part.first + part.size &&
              std::ranges::find(turn.keep, other.to, &OperationsPlan<Real>::Part::to) == turn.keep.end())
            return turns.clear();
      }
      for (std::size_t i = turn.end; i < order.size(); ++i)
        for (const Operation::View& view : at(order[i]).of)
          if (const std::size_t made = made_at(view.list); made >= turn.first && made < turn.end)
            gives.insert(order[made]);
      if (const std::size_t made = made_at(operations_.logits); made >= turn.first && made < turn.end)
        gives.insert(order[made]);
      for (const std::uint32_t list : takes) turn.takes.push_back(part_of(list));
      for (const std::uint32_t list : gives)
        if (!staying_.contains(list)) turn.gives.push_back(part_of(list));
    }
    if (kPartBeside * in_turn > 2 * products_of(0, order.size())) turns.clear();
    plan_.by_letters = !turns.empty() && lists_.remembered() * sizeof(Real) * kPlanWords > kCacheBytes;
  }

  const Operations& operations_;
  StatedLists<Real> lists_;
  bool in_place_;
  std::map<std::uint32_t, std::uint32_t> staying_;  ///< lists that are made where they are remembered
  OperationsPlan<Real> plan_;
  std::vector<std::uint32_t> slots_;
  std::vector<bool> wanted_;
  std::map<Layout, std::uint32_t> constants_, of_rows_;
};

}  // namespace

template <class Real>
OperationsPlan<Real> plan_operations(const Operations& operations, const TensorFile& tensors, bool in_place) {
  return Compiler<Real>(operations, tensors, in_place).compile();
}

template OperationsPlan<float> plan_operations(const Operations&, const TensorFile&, bool);
template OperationsPlan<double> plan_operations(const Operations&, const TensorFile&, bool);

}  // namespace krohn
