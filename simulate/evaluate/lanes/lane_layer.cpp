#include "krohn/simulate/evaluate/lanes/lane_layer.h"

#include <cmath>
#include <limits>
#include <map>

#include "krohn/simulate/words/random_letters.h"

namespace krohn {
namespace {

/// The entries of a table by (row, label), with a row and a column for what is unknown.
template <class Integer>
std::vector<Integer> with_unknown(std::span<const Context> entries, Label labels, Context unknown) {
  const std::size_t rows = entries.size() / labels, width = std::size_t{labels} + 1;
  std::vector<Integer> table((rows + 1) * width, static_cast<Integer>(unknown));
  for (std::size_t row = 0; row < rows; ++row)
    for (Label label = 0; label < labels; ++label)
      if (entries[row * labels + label] != kNoContext)
        table[row * width + label] = static_cast<Integer>(entries[row * labels + label]);
  return table;
}

bool is_zero(const auto& matrix) {
  const auto* const gather = std::get_if<Gather>(&matrix);
  return gather != nullptr && gather->is_zero();
}

/// The sizes of the blocks, and which of them are signs: matrices with one layout share stages.
template <class Number>
std::vector<std::uint32_t> layout_of(const RoundedMatrix<Number>& matrix) {
  std::vector<std::uint32_t> layout{is_zero(matrix)};
  if (const auto* blocks = std::get_if<RoundedBlocks<Number>>(&matrix))
    for (const auto& block : blocks->blocks) layout.push_back(2 * block.size + (block.sign != 0 ? 1 : 0));
  return layout;
}

/// True for the entries c, −s, s, c.
template <class Number>
bool is_rotation(const Number* entries) {
  const double a = to_double(entries[0]), b = to_double(entries[1]), c = to_double(entries[2]);
  return a == to_double(entries[3]) && b == -c && std::signbit(b) != std::signbit(c);
}

}  // namespace

template <class A>
std::optional<LaneLayer<A>> LaneLayer<A>::make(const RoundedLayer<A>& rounded, const Layer& layer,
                                               const LanePlace& place) {
  LaneLayer made(rounded, layer);
  if (made.size() == 0 || made.size() > kMaxNumbers || !made.collect_actions(place.may_hold) ||
      !made.make_wiring(place) || !made.make_stages() || !made.make_decoding())
    return std::nullopt;
  made.place_tables();
  return made;
}

template <class A>
bool LaneLayer<A>::collect_actions(bool may_hold) {
  std::map<std::pair<Action, std::uint32_t>, std::size_t> numbers;
  std::vector<Integer> action_of;
  for (Context context = 0; context < layer_->wiring.action_of.size(); ++context) {
    const Action action = rounded_->action_of(context);
    const std::uint32_t book = rounded_->book_of(context);
    const auto [found, fresh] = numbers.try_emplace({action, book}, actions());
    if (fresh) lane_actions_.push_back({action, book});
    action_of.push_back(static_cast<Integer>(found->second));
  }
  program_.contexts = static_cast<std::uint32_t>(action_of.size());
  action_of.push_back(static_cast<Integer>(actions()));
  if (may_hold) lane_actions_.emplace_back();
  action_of_ = table_of(std::move(action_of), true);
  program_.may_hold = may_hold;
  stride_ = stride_of(actions());
  return actions() <= kMaxActions;
}

template <class A>
bool LaneLayer<A>::make_wiring(const LanePlace& place) {
  const std::vector<Context>& next = layer_->wiring.next;
  if (std::max(next.size(), place.readout.size()) > kMaxWiring) return false;
  program_.labels = layer_->labels;
  const auto readout = with_unknown<Integer>(place.readout, layer_->labels, place.unknown_above);
  program_.readout_count = static_cast<std::uint32_t>(readout.size());
  bool is_identity = place.readout.size() == layer_->labels && place.unknown_above == kNoState && !place.may_hold;
  for (Label label = 0; label < layer_->labels; ++label) is_identity = is_identity && place.readout[label] == label;
  if (!is_identity) readout_ = table_of(readout);
  if (next.empty()) return true;
  const auto above = with_unknown<Integer>(next, layer_->labels, place.contexts_above);
  program_.next_count = static_cast<std::uint32_t>(above.size());
  next_ = table_of(above);
  return true;
}

template <class A>
auto LaneLayer<A>::add_stage(LaneStageKind kind, std::uint32_t first, std::uint32_t size) -> PlacedStage& {
  PlacedStage& placed = stages_.emplace_back();
  placed.stage.kind = kind;
  placed.stage.first = first;
  placed.stage.size = size;
  placed.numbers = numbers_.size();
  placed.indices = indices_.size();
  placed.positions = positions_.size();
  return placed;
}

template <class A>
auto LaneLayer<A>::add_numbers(Number otherwise) -> Number* {
  numbers_.resize(numbers_.size() + stride_, otherwise);
  return numbers_.data() + numbers_.size() - stride_;
}

template <class A>
auto LaneLayer<A>::add_indices(Integer otherwise) -> Integer* {
  indices_.resize(indices_.size() + stride_, otherwise);
  return indices_.data() + indices_.size() - stride_;
}

template <class A>
std::uint32_t LaneLayer<A>::add_flag(const std::vector<std::uint32_t>& group) {
  if (group.size() == actions()) return 0;
  const std::uint32_t flag = 1U << flag_count_++;
  flags_.resize(stride_);
  for (const std::uint32_t a : group) flags_[a] |= static_cast<Integer>(flag);
  return flag;
}

template <class A>
bool LaneLayer<A>::make_stages() {
  std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, std::vector<std::uint32_t>> groups;
  for (std::uint32_t a = 0; a < actions(); ++a)
    if (lane_actions_[a].action) groups[{matrix(a).index(), layout_of(matrix(a))}].push_back(a);
  if (groups.size() > kLaneBits - 2) return false;
  using Real = typename A::Number;
  for (const auto& [kind, group] : groups) {
    const RoundedMatrix<Real>& first = matrix(group.front());
    if (std::holds_alternative<SparseTerms>(first)) return false;
    if (std::holds_alternative<RoundedReflections<Real>>(first)) {
      if (!make_reflections(group)) return false;
    } else if (const auto* blocks = std::get_if<RoundedBlocks<Real>>(&first)) {
      if (layer_->columns * blocks->entries.size() * stride_ > kMaxTableEntries) return false;
      make_blocks(group);
    } else if (!is_zero(first)) {
      make_moves(group);
    }
    if (numbers_.size() + indices_.size() > kMaxTableEntries) return false;
  }
  make_additions();
  return true;
}

/// Those outside of the group go to themselves, which changes nothing, so that no flag is needed.
template <class A>
void LaneLayer<A>::make_moves(const std::vector<std::uint32_t>& group) {
  const std::uint32_t n = layer_->dimension;
  std::vector<std::vector<std::uint32_t>> target(actions(), std::vector<std::uint32_t>(n));
  std::vector<std::vector<bool>> negative(actions(), std::vector<bool>(n));
  std::vector<std::vector<bool>> used(n, std::vector<bool>(n));  // target, source
  std::vector<std::vector<std::uint32_t>> sources(actions(), std::vector<std::uint32_t>(n, 1));
  for (auto& row : target)
    for (std::uint32_t j = 0; j < n; ++j) row[j] = j;
  for (const std::uint32_t a : group) {
    const auto& gather = std::get<Gather>(matrix(a));
    for (std::uint32_t i = 0; i < n; ++i) {
      sources[a][i] = gather.first[i + 1] - gather.first[i];
      for (std::uint32_t e = gather.first[i]; e < gather.first[i + 1]; ++e) {
        target[a][gather.sources[e]] = i;
        negative[a][gather.sources[e]] = !gather.negative.empty() && gather.negative[e];
      }
    }
  }
  PlacedStage& placed = add_stage(LaneStageKind::kMoves, 0, n);
  for (std::uint32_t a = 0; a < actions(); ++a)
    for (std::uint32_t j = 0; j < n; ++j) {
      used[target[a][j]][j] = true;
      placed.stage.has_sums = placed.stage.has_sums || sources[a][j] != 1;
      placed.stage.has_signs = placed.stage.has_signs || negative[a][j];
    }
  for (std::uint32_t j = 0; j < n; ++j) {
    Integer* const table = add_indices(0);
    for (std::uint32_t a = 0; a < actions(); ++a) table[a] = static_cast<Integer>(target[a][j]);
  }
  for (std::uint32_t i = 0; i < n && placed.stage.has_sums; ++i) {
    Number* const table = add_numbers(0);
    for (std::uint32_t a = 0; a < actions(); ++a) table[a] = sources[a][i] == 0 ? Number(0) : Number(-0.0);
  }
  for (std::uint32_t j = 0; j < n && placed.stage.has_signs; ++j) {
    Number* const table = add_numbers(1);
    for (std::uint32_t a = 0; a < actions(); ++a) table[a] = negative[a][j] ? Number(-1) : Number(1);
  }
  std::size_t pairs = 0;
  for (const auto& row : used) pairs += static_cast<std::size_t>(std::count(row.begin(), row.end(), true));
  placed.stage.has_few_pairs = 2 * pairs < std::size_t{n} * n;
  for (std::uint32_t i = 0; i < n; ++i) {
    positions_.push_back(static_cast<std::uint32_t>(std::count(used[i].begin(), used[i].end(), true)));
    for (std::uint32_t j = 0; j < n; ++j)
      if (used[i][j]) positions_.push_back(j);
  }
}

/// One stage for the first factors, one for the second, …: those with fewer factors have an empty support there.
template <class A>
bool LaneLayer<A>::make_reflections(const std::vector<std::uint32_t>& group) {
  using Factors = RoundedReflections<typename A::Number>;
  std::size_t factors = 0;
  for (const std::uint32_t a : group) factors = std::max(factors, std::get<Factors>(matrix(a)).factors.size());
  for (std::size_t f = 0; f < factors; ++f) {
    std::vector<std::uint32_t> taking_part;
    std::vector<bool> used(layer_->dimension);
    for (const std::uint32_t a : group) {
      const auto& all = std::get<Factors>(matrix(a)).factors;
      if (f >= all.size() || all[f].entries.empty()) continue;
      taking_part.push_back(a);
      for (std::size_t e = 0; e < all[f].entries.size(); ++e) {
        if (e > 0 && all[f].entries[e].position <= all[f].entries[e - 1].position) return false;
        used[all[f].entries[e].position] = true;
      }
    }
    if (taking_part.empty()) continue;
    PlacedStage& placed = add_stage(LaneStageKind::kReflection, 0, 0);
    std::vector<std::uint32_t> place(layer_->dimension);
    for (std::uint32_t i = 0; i < layer_->dimension; ++i)
      if (used[i]) {
        place[i] = placed.stage.position_count++;
        positions_.push_back(i);
      }
    const std::size_t count = placed.stage.position_count, first = numbers_.size();
    for (std::size_t e = 0; e < count; ++e) add_numbers(0);
    const std::size_t supports = indices_.size();
    for (std::size_t e = 0; e < count; e += kLaneBits) add_indices(0);
    std::size_t entries = 0;
    for (const std::uint32_t a : taking_part)
      for (const auto& entry : std::get<Factors>(matrix(a)).factors[f].entries) {
        const std::uint32_t e = place[entry.position];
        numbers_[first + e * stride_ + a] = static_cast<Number>(to_double(entry.key));
        indices_[supports + e / kLaneBits * stride_ + a] |= Integer{1} << (e % kLaneBits);
        ++entries;
      }
    placed.stage.has_supports = entries != actions() * count;
    placed.stage.has_beta = std::any_of(taking_part.begin(), taking_part.end(), [&](std::uint32_t a) {
      return to_double(std::get<Factors>(matrix(a)).factors[f].beta) != 1;
    });
    if (!placed.stage.has_beta) continue;  // 1 · s is s
    Number* const beta = add_numbers(1);
    for (const std::uint32_t a : taking_part)
      beta[a] = static_cast<Number>(to_double(std::get<Factors>(matrix(a)).factors[f].beta));
  }
  return true;
}

/// Neighbouring blocks of one number share a stage, where those outside of the group have ones, which change nothing.
template <class A>
void LaneLayer<A>::make_blocks(const std::vector<std::uint32_t>& group) {
  using Blocks = RoundedBlocks<typename A::Number>;
  const std::uint32_t flag = add_flag(group);
  const auto blocks_of = [&](std::uint32_t a) -> const Blocks& { return std::get<Blocks>(matrix(a)); };
  const auto& layout = blocks_of(group.front()).blocks;
  std::size_t at = 0;  // the block's first entry
  const auto add_entries = [&](std::size_t e, Number otherwise) {
    Number* const table = add_numbers(otherwise);
    for (const std::uint32_t a : group) table[a] = static_cast<Number>(to_double(blocks_of(a).entries[at + e]));
  };
  const auto is_turned = [&](std::uint32_t a) { return is_rotation(blocks_of(a).entries.data() + at); };
  const auto is_number = [](const auto& block) { return block.size == 1 && block.sign == 0; };
  std::uint32_t first = 0;
  for (std::size_t b = 0; b < layout.size();) {
    std::uint32_t size = layout[b].size;
    if (layout[b].sign != 0) {
      PlacedStage& placed = add_stage(LaneStageKind::kDiagonal, first, 1);
      placed.stage.flag = flag;
      placed.stage.only_signs = true;
      Number* const table = add_numbers(1);
      for (const std::uint32_t a : group) table[a] = blocks_of(a).blocks[b].sign;
      ++b;
    } else if (size == 1) {
      for (size = 0; b < layout.size() && is_number(layout[b]); ++b) ++size;
      add_stage(LaneStageKind::kDiagonal, first, size).stage.member_flag = flag;
      for (std::size_t e = 0; e < size; ++e) add_entries(e, 1);
      at += size;
    } else {
      const bool turns = size == 2 && std::ranges::all_of(group, is_turned);
      add_stage(turns ? LaneStageKind::kRotation : LaneStageKind::kDense, first, size).stage.flag = flag;
      const std::size_t entries = std::size_t{size} * size;
      if (turns) {
        add_entries(0, 1);
        add_entries(2, 0);
      }
      for (std::size_t e = 0; e < entries && !turns; ++e) add_entries(e, 0);
      at += entries;
      ++b;
    }
    first += size;
  }
}

template <class A>
void LaneLayer<A>::make_additions() {
  std::vector<std::uint32_t> zeros, additions;
  for (std::uint32_t a = 0; a < actions(); ++a) {
    if (!lane_actions_[a].action) continue;
    if (is_zero(matrix(a))) zeros.push_back(a);
    if (!rounded_->addition(*lane_actions_[a].action).empty()) additions.push_back(a);
  }
  const bool sets = !zeros.empty() && zeros == additions;
  if (!zeros.empty() && !sets) add_stage(LaneStageKind::kZero, 0, 0).stage.flag = add_flag(zeros);
  if (additions.empty()) return;
  add_stage(sets ? LaneStageKind::kSet : LaneStageKind::kAdd, 0, 0).stage.flag = add_flag(additions);
  for (std::size_t e = 0; e < size(); ++e) {
    Number* const table = add_numbers(0);
    for (const std::uint32_t a : additions)  // 0 + b: the sum that a reset makes of −0 is +0
      table[a] = (sets ? Number(0) : Number(-0.0)) +
                 static_cast<Number>(to_double(rounded_->addition(*lane_actions_[a].action)[e]));
  }
}

template <class A>
bool LaneLayer<A>::make_decoding() {
  std::vector<Integer> label_of;
  for (const NearestCodeword& book : rounded_->books()) {
    first_of_book_.push_back(codewords_);
    codewords_ += book.size();
    for (std::uint32_t i = 0; i < book.size(); ++i) label_of.push_back(static_cast<Integer>(book.label(i)));
  }
  label_of.push_back(static_cast<Integer>(layer_->labels));
  label_of_ = table_of(std::move(label_of), true);
  if (!make_bits() && !make_guesses()) return false;
  std::vector<double> state;
  for (const auto number : rounded_->initial()) state.push_back(to_double(number));
  auto hints = rounded_->books()[0].make_hints();
  const std::uint32_t nearest = rounded_->books()[0].nearest(state, hints);
  initial_codeword_ = nearest == NearestCodeword::kNoCodeword ? no_codeword() : nearest;
  return true;
}

/// True if all codewords are different strings of at most kLaneBits zeros and ones, and a hash tells them apart.
template <class A>
bool LaneLayer<A>::make_bits() {
  if (rounded_->books().size() != 1 || size() > kLaneBits) return false;
  const NearestCodeword& book = rounded_->books()[0];
  std::vector<std::uint32_t> patterns(codewords_, 0);
  for (std::uint32_t codeword = 0; codeword < codewords_; ++codeword)
    for (std::size_t e = 0; e < size(); ++e) {
      const double entry = book.entry(codeword, e);
      if (entry != 0 && entry != 1) return false;
      patterns[codeword] |= entry == 1 ? 1U << e : 0U;
    }
  find_accepted(1);
  return find_hash(patterns);
}

template <class A>
bool LaneLayer<A>::find_hash(const std::vector<std::uint32_t>& patterns) {
  constexpr std::uint32_t kTriesPerSize = 256, kMaxSlotsPerCodeword = 64;
  const bool is_packed = size() + static_cast<std::size_t>(std::bit_width(patterns.size())) <= kLaneBits;
  const auto first = static_cast<Integer>(patterns[0]);
  const std::uint32_t least = std::max(2U, std::bit_ceil(static_cast<std::uint32_t>(patterns.size())));
  for (std::uint32_t slots = least; slots <= least * kMaxSlotsPerCodeword && slots <= 1U << 20; slots *= 2)
    for (std::uint32_t attempt = 0; attempt < kTriesPerSize; ++attempt) {
      program_.multiplier = static_cast<std::uint32_t>(splitmix_finaliser(attempt + kGolden)) | 1U;
      program_.shift = 32 - static_cast<std::uint32_t>(std::countr_zero(slots));
      std::vector<bool> taken(slots);
      std::vector<Integer> pattern_of(slots, first), codeword_of(slots, 0);
      bool apart = true;
      for (std::size_t i = 0; i < patterns.size() && apart; ++i) {
        const std::uint32_t slot = patterns[i] * program_.multiplier >> program_.shift;
        apart = !taken[slot];
        taken[slot] = true;
        pattern_of[slot] =
            static_cast<Integer>(patterns[i] | (is_packed ? static_cast<std::uint32_t>(i) << size() : 0));
        codeword_of[slot] = static_cast<Integer>(i);
      }
      if (!apart) continue;
      program_.decoding = LaneDecoding::kBits;
      program_.slots = slots;
      patterns_ = table_of(std::move(pattern_of));
      if (!is_packed) codeword_of_slot_ = table_of(std::move(codeword_of));
      return true;
    }
  return false;
}

/// For every lane action and codeword, the codeword that the one leads to from the other.
template <class A>
bool LaneLayer<A>::make_guesses() {
  const std::size_t row = codewords_ + 1;
  if (actions() * row > kMaxGuesses) return false;
  program_.decoding = LaneDecoding::kGuess;
  program_.codeword_stride = stride_of(row);
  std::vector<Number> entries(size() * program_.codeword_stride, std::numeric_limits<Number>::quiet_NaN());
  double greatest = 0;
  for (std::size_t b = 0; b < first_of_book_.size(); ++b)
    for (std::uint32_t i = 0; i < rounded_->books()[b].size(); ++i)
      for (std::size_t e = 0; e < size(); ++e) {
        const double entry = rounded_->books()[b].entry(i, e);
        entries[e * program_.codeword_stride + first_of_book_[b] + i] = static_cast<Number>(entry);
        greatest = std::max(greatest, std::fabs(entry));
      }
  entries_ = LaneMemory<Number>(entries);
  find_accepted(greatest);
  std::vector<NearestCodeword::Hints> hints;
  for (const NearestCodeword& book : rounded_->books()) hints.push_back(book.make_hints());
  std::vector<Integer> guesses(actions() * row, static_cast<Integer>(codewords_));
  for (std::size_t a = 0; a < actions(); ++a)
    for (std::size_t from = 0; from < codewords_; ++from)
      guesses[a * row + from] = static_cast<Integer>(guess(lane_actions_[a], from, hints));
  program_.guess_count = static_cast<std::uint32_t>(guesses.size());
  guesses_ = table_of(std::move(guesses));
  return true;
}

template <class A>
std::uint32_t LaneLayer<A>::guess(const LaneAction& lane_action, std::size_t from,
                                  std::vector<NearestCodeword::Hints>& hints) const {
  if (!lane_action.action) return static_cast<std::uint32_t>(from);
  const auto book = std::upper_bound(first_of_book_.begin(), first_of_book_.end(), from) - first_of_book_.begin() - 1;
  std::vector<typename A::Number> state(size()), moved(size());
  for (std::size_t e = 0; e < size(); ++e)
    state[e] = round_weight<A>(rounded_->books()[static_cast<std::size_t>(book)].entry(
        static_cast<std::uint32_t>(from - first_of_book_[static_cast<std::size_t>(book)]), e));
  rounded_->move(*lane_action.action, state.data(), moved.data());
  std::vector<double> exact(size());
  std::transform(moved.begin(), moved.end(), exact.begin(), [](auto number) { return to_double(number); });
  const std::uint32_t nearest = rounded_->books()[lane_action.book].nearest(exact, hints[lane_action.book]);
  if (nearest == NearestCodeword::kNoCodeword) return no_codeword();
  return static_cast<std::uint32_t>(first_of_book_[lane_action.book] + nearest);
}

/// Within the radius of a codeword no other one is as near. The kernels round the distance, relatively by less than one
/// part in a thousand, and the entries of the codeword, absolutely.
template <class A>
void LaneLayer<A>::find_accepted(double greatest_entry) {
  constexpr double kMaxRadius = 1e15;
  double radius = kMaxRadius;
  for (const NearestCodeword& book : rounded_->books()) radius = std::min(radius, book.radius());
  const double slack = std::sqrt(static_cast<double>(size())) * 4 * (1 + greatest_entry) *
                       static_cast<double>(std::numeric_limits<Number>::epsilon());
  const double root = radius * (1 - 1e-3) - slack;
  program_.accepted = root > 0 ? static_cast<Number>(root * root) : Number(0);
}

/// Pointers stay good when this object moves, for they point into memory that moves along.
template <class A>
void LaneLayer<A>::place_tables() {
  number_memory_ = LaneMemory<Number>(std::exchange(numbers_, {}));
  index_memory_ = LaneMemory<Integer>(std::exchange(indices_, {}));
  flag_memory_ = LaneMemory<Integer>(std::exchange(flags_, {}));
  for (PlacedStage& placed : stages_) {
    placed.stage.numbers = number_memory_.data() + placed.numbers;
    placed.stage.indices = index_memory_.data() + placed.indices;
    placed.stage.positions = positions_.data() + placed.positions;
    placed_.push_back(placed.stage);
  }
  program_.dimension = layer_->dimension;
  program_.columns = layer_->columns;
  program_.actions = static_cast<std::uint32_t>(actions());
  program_.stride = stride_;
  program_.flags = flag_count_ == 0 ? nullptr : flag_memory_.data();
  program_.stages = placed_.data();
  program_.stage_count = static_cast<std::uint32_t>(placed_.size());
  program_.codewords = static_cast<std::uint32_t>(codewords_);
  program_.patterns = patterns_.data();
  program_.codeword_of_slot = codeword_of_slot_.size() == 0 ? nullptr : codeword_of_slot_.data();
  program_.guesses = guesses_.data();
  program_.entries = entries_.data();
  program_.action_of = action_of_.size() == 0 ? nullptr : action_of_.data();
  program_.label_of = label_of_.size() == 0 ? nullptr : label_of_.data();
  program_.next = next_.data();
  program_.readout = readout_.size() == 0 ? nullptr : readout_.data();
}

template <class A>
std::uint32_t LaneLayer<A>::nearest(std::span<const double> state, std::uint32_t lane_action,
                                    std::vector<NearestCodeword::Hints>& hints) const {
  const LaneAction& action = lane_actions_[lane_action];
  if (!action.action) return no_codeword();
  const std::uint32_t nearest = rounded_->books()[action.book].nearest(state, hints[action.book]);
  if (nearest == NearestCodeword::kNoCodeword) return no_codeword();
  return static_cast<std::uint32_t>(first_of_book_[action.book] + nearest);
}

template <class A>
auto LaneLayer<A>::codewords_after(std::uint32_t lane_action) const -> CodewordRange {
  const LaneAction& action = lane_actions_[lane_action];
  if (!action.action) return {};
  return {static_cast<std::uint32_t>(first_of_book_[action.book]), rounded_->books()[action.book].size()};
}

template <class A>
double LaneLayer<A>::entry(std::uint32_t codeword, std::size_t e) const {
  const auto book = static_cast<std::size_t>(std::upper_bound(first_of_book_.begin(), first_of_book_.end(), codeword) -
                                             first_of_book_.begin() - 1);
  return rounded_->books()[book].entry(codeword - static_cast<std::uint32_t>(first_of_book_[book]), e);
}

template class LaneLayer<Fp64>;
template class LaneLayer<Fp32>;
template class LaneLayer<Fp16>;
template class LaneLayer<Bf16>;

}  // namespace krohn
