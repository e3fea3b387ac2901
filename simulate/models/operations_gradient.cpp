#include "krohn/simulate/models/operations_gradient.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "krohn/simulate/models/token_layers.h"

namespace krohn {
namespace {

constexpr std::size_t kPadding = StepNumbers<float>::kPadding;

const StepKernels& kernels() {
  static const StepKernels found = step_kernels(available_instruction_sets().back());
  return found;
}
template <class Real>
StepKernel<Real> forward_of(const Step& step) {
  if constexpr (sizeof(Real) == 4)
    return kernels().fp32(step, true);
  else
    return kernels().fp64(step, true);
}
template <class Real>
StepAdjointKernel<Real> adjoint_of(StepFunction function) {
  if constexpr (sizeof(Real) == 4)
    return kernels().fp32_adjoint(function);
  else
    return kernels().fp64_adjoint(function);
}

/// rows × columns numbers, a row `stride` behind the one before it.
template <class Real>
Numbers<Real> transposed(const Real* from, std::size_t rows, std::size_t stride, std::size_t columns) {
  Numbers<Real> to(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * stride + j];
  return to;
}

/// The adjoint of a matrix that is the same for all words, times a vector of each word: two products of matrices. False
/// where the step is no such product.
template <class Real>
bool multiplied_back(const Step& step, StepAdjoint<Real> numbers) {
  constexpr std::size_t kLeast = 64;  // numbers of the matrix; smaller ones are left to the loops
  const std::size_t words = step.extents[3], outputs = step.extents[2], terms = step.terms;
  if (step.function != StepFunction::kDot || outputs * terms < kLeast) return false;
  const std::size_t m = step.of[0].strides[3] == 0 ? 0 : 1;
  const StepOperand &matrix = step.of[m], &vector = step.of[1 - m];
  if (matrix.strides[3] != 0 || vector.strides[3] != 1 || vector.strides[2] != 0) return false;
  const bool by_rows = matrix.term == 1;
  if (!by_rows && matrix.strides[2] != 1) return false;
  const TrainingKernels<Real>& kernels = training_kernels<Real>();
  const Real* g = numbers.by_result;
  for (std::size_t i = 0; i < step.extents[0]; ++i)
    for (std::size_t j = 0; j < step.extents[1]; ++j, g += outputs * words) {
      const std::size_t at = matrix.first + i * matrix.strides[0] + j * matrix.strides[1],
                        of = vector.first + i * vector.strides[0] + j * vector.strides[1];
      if (Real* const by = numbers.by[1 - m]; by != nullptr)
        kernels.add_product({terms, words, outputs, numbers.of[m] + at, matrix.term, matrix.strides[2], g, words, by + of,
                             vector.term});
      if (Real* const by = numbers.by[m]; by != nullptr && by_rows)
        kernels.add_product({outputs, terms, words, g, words, 1,
                             transposed(numbers.of[1 - m] + of, terms, vector.term, words).data(), terms, by + at,
                             matrix.strides[2]});
      else if (by != nullptr)
        kernels.add_product({terms, outputs, words, numbers.of[1 - m] + of, vector.term, 1,
                             transposed(g, outputs, words, words).data(), outputs, by + at, matrix.term});
    }
  numbers.by[0] = numbers.by[1] = nullptr;
  if (step.operands > 2 && numbers.by[2] != nullptr) adjoint_of<Real>(StepFunction::kDot)(step, numbers);
  return true;
}

std::size_t in_lanes(std::size_t count) { return (count + kPadding - 1) / kPadding * kPadding; }

}  // namespace

template <class Real>
OperationsGradient<Real>::OperationsGradient(const Operations& operations, const TensorFile& tensors, Letter letters)
    : operations_(operations),
      lists_(operations_, tensors),
      learns_(lists_.count(), false),
      wanted_(lists_.count(), false),
      remains_(lists_.count(), false) {
  const auto count = static_cast<std::uint32_t>(lists_.count());
  for (std::uint32_t list = 0; list < count; ++list) {
    learns_[list] = at(list).what == "tensor" || at(list).what == "memory";
    for (const Operation::View& view : at(list).of) learns_[list] = learns_[list] || learns_[view.list];
    if (at(list).what == "memory") memory_ = list;
  }
  for (const std::uint32_t list : operations_.start) wanted_[list] = true;
  for (const std::uint32_t list : operations_.keep) remains_[list] = true;
  wanted_[operations_.logits] = true;
  for (std::uint32_t list = count; list-- > 0;) {
    wanted_[list] = wanted_[list] || remains_[list];
    for (const Operation::View& view : at(list).of) {
      wanted_[view.list] = wanted_[view.list] || wanted_[list];
      remains_[view.list] = remains_[view.list] || remains_[list];
    }
  }

  for (Layout* const space : {&fixed_, &letters_, &words_}) space->first.assign(count, Layout::kNone);
  letters_.lanes = in_lanes(letters);
  const auto lift = [&](std::uint32_t list) {
    if (lists_.dependence(list) == Dependence::kMemory || words_.has(list)) return;
    add_to(words_, list);
    lifted_.push_back(list);
  };
  for (std::uint32_t list = 0; list < count; ++list) {
    if (!wanted_[list]) continue;
    const Dependence on = lists_.dependence(list);
    add_to(on == Dependence::kNothing ? fixed_ : on == Dependence::kToken ? letters_ : words_, list);
    if (on == Dependence::kMemory)
      for (const Operation::View& view : at(list).of)
        if (lists_.dependence(view.list) == Dependence::kToken) lift(view.list);
  }
  for (const std::uint32_t list : operations_.keep) lift(list);
  lift(operations_.logits);
  for (Layout* const space : {&fixed_, &letters_}) space->size += kPadding;

  fixed_values_.assign(fixed_.size, Real{0});
  letter_values_.assign(letters_.size, Real{0});
  for (std::uint32_t list = 0; list < count; ++list)
    if (fixed_.has(list)) std::ranges::copy(lists_.values(list), fixed_values_.begin() + fixed_.first[list]);
  // Lanes that are left over have the last letter's numbers: finite, where those are.
  for (std::size_t lane = 0; lane < letters_.lanes; ++lane) {
    if (lane < letters) lists_.read_token(static_cast<Letter>(lane), wanted_);
    for (std::uint32_t list = 0; list < count; ++list)
      if (letters_.has(list))
        for (std::size_t i = 0; i < lists_.size(list); ++i)
          letter_values_[letters_.first[list] + i * letters_.lanes + lane] = lists_.values(list)[i];
  }
}

template <class Real>
bool OperationsGradient<Real>::is_computed(std::uint32_t list) const {
  const std::string& what = at(list).what;
  return what != "tensor" && what != "numbers" && what != "memory" && what != "row";
}

template <class Real>
void OperationsGradient<Real>::add_to(Layout& space, std::uint32_t list) const {
  space.first[list] = space.size;
  space.size += lists_.size(list) * space.lanes + (&space == &fixed_ ? kPadding : 0);
}

template <class Real>
typename OperationsGradient<Real>::Run OperationsGradient<Real>::run_of(std::uint32_t list, const Layout& space) const {
  Run run{list, step_of(at(list), lists_.function(list)), nullptr, adjoint_of<Real>(lists_.function(list))};
  Step& step = run.step;
  std::copy(step.extents + 1, step.extents + 4, step.extents);
  step.extents[3] = static_cast<std::uint32_t>(space.lanes);
  step.to = static_cast<std::uint32_t>(space.first[list]);
  for (std::uint32_t v = 0; v < step.operands; ++v) {
    const std::uint32_t of = at(list).of[v].list;
    const bool is_fixed = !space.has(of);
    const Layout& from = is_fixed ? fixed_ : space;
    const auto by = static_cast<std::uint32_t>(from.lanes);
    StepOperand& operand = step.of[v];
    operand.space = is_fixed ? Space::kConstant : Space::kWord;
    for (std::size_t axis = 0; axis < 3; ++axis) operand.strides[axis] = operand.strides[axis + 1] * by;
    operand.strides[3] = by == 1 ? 0 : 1;
    operand.term *= by;
    operand.first = static_cast<std::uint32_t>(from.first[of]) + operand.first * by;
  }
  run.forward = forward_of<Real>(step);
  return run;
}

template <class Real>
void OperationsGradient<Real>::walk_back(const Run& run, const Layout& space, const Real* values, Real* by,
                                         Real* by_fixed) const {
  if (!learns_[run.list]) return;
  StepAdjoint<Real> numbers;
  numbers.result = values + space.first[run.list];
  numbers.by_result = by + space.first[run.list];
  for (std::uint32_t v = 0; v < run.step.operands; ++v) {
    const std::uint32_t of = at(run.list).of[v].list;
    const bool is_fixed = !space.has(of);
    numbers.of[v] = is_fixed ? fixed_values_.data() : values;
    if (learns_[of]) numbers.by[v] = is_fixed ? by_fixed : by;
  }
  if (!multiplied_back(run.step, numbers)) run.adjoint(run.step, numbers);
}

/// Some words, read side by side, the longest first: at each letter those that are not at their end yet, up to a
/// multiple of 16 lanes. The lanes that are left over begin anew at every letter, so that all their numbers are finite.
template <class Real>
class OperationsGradient<Real>::Reading {
 public:
  Reading(const OperationsGradient& model, const TrainingBatch& batch, std::span<const std::uint32_t> words)
      : model_(model), batch_(batch), words_(words.begin(), words.end()) {
    std::ranges::stable_sort(words_, std::greater{}, [&](std::uint32_t word) { return batch.lengths[word]; });
    const std::uint32_t positions = words_.empty() ? 0 : batch.lengths[words_.front()];
    std::size_t size = 0;
    for (std::uint32_t t = 0; t < positions; ++t) {
      Position& at = positions_.emplace_back();
      while (at.words < words_.size() && batch.lengths[words_[at.words]] > t) ++at.words;
      at.width = &width_of(in_lanes(at.words));
      at.first = std::exchange(size, size + at.width->layout.size);
      at.letters.resize(at.width->layout.lanes);
      for (std::size_t w = 0; w < at.words; ++w)
        at.letters[w] = batch.letters[std::size_t{t} * batch.words + words_[w]];
    }
    values_.assign(size + kPadding, Real{0});
  }

  /// The loss of targets, as a part of a mean over `all` of them. `noise`: on what is remembered, or null.
  BatchLoss read(std::span<const TrainingBatch::Target> targets, std::uint64_t all, Noise* noise) {
    std::vector<std::uint32_t> lane(batch_.words, 0);
    for (std::size_t w = 0; w < words_.size(); ++w) lane[words_[w]] = static_cast<std::uint32_t>(w);
    for (const TrainingBatch::Target& target : targets)
      positions_[target.position].asked.push_back(lane[target.word]);
    for (std::size_t t = 0; t < positions_.size(); ++t) step(t, noise);
    return cross_entropy<Real>(logits_, labels(), targets, {}, all);
  }

  /// Σ |m − m'|² over the letters of all words.
  double distance(const Reading& other) const {
    double sum = 0;
    for (std::size_t t = 0; t < positions_.size(); ++t)
      each_kept(t, positions_[t].words, [&](std::size_t, std::size_t at, std::size_t words) {
        for (std::size_t i = at; i < at + words; ++i)
          sum += std::pow(double{values_[i]} - double{other.values_[i]}, 2);
      });
    return sum;
  }

  /// The gradient of the loss, and where there is another reading that of `share` times their distance.
  void walk_back(std::span<Real> by, const Reading* other, double share) {
    Real* const by_fixed = by.data();
    Real* const by_letters = by_fixed + model_.fixed_.size;
    Numbers<Real> own, remembered;
    std::size_t target = logits_.size();
    for (std::size_t t = positions_.size(); t-- > 0;) {
      const Position& here = positions_[t];
      const Layout& layout = here.width->layout;
      own.assign(layout.size + kPadding, Real{0});
      if (t + 1 < positions_.size()) {
        const std::size_t lanes = positions_[t + 1].width->layout.lanes;
        each_kept(t, positions_[t + 1].words, [&](std::size_t number, std::size_t at, std::size_t words) {
          for (std::size_t w = 0; w < words; ++w) own[at - here.first + w] += remembered[number * lanes + w];
        });
      }
      if (other != nullptr)
        each_kept(t, here.words, [&](std::size_t, std::size_t at, std::size_t words) {
          for (std::size_t i = at; i < at + words; ++i)
            own[i - here.first] += static_cast<Real>(2 * share) * (values_[i] - other->values_[i]);
        });
      target -= here.asked.size() * labels();
      for (std::size_t i = 0; i < here.asked.size(); ++i)
        for (std::uint32_t label = 0; label < labels(); ++label)
          own[layout.first[model_.operations_.logits] + label * layout.lanes + here.asked[i]] +=
              logits_[target + i * labels() + label];
      const Real* const values = values_.data() + here.first;
      for (auto run = here.width->runs.rbegin(); run != here.width->runs.rend(); ++run)
        if (is_needed(*run, here)) model_.walk_back(*run, layout, values, own.data(), by_fixed);
      for (const std::uint32_t list : model_.lifted_) drop(list, here, own, by_fixed, by_letters);
      if (layout.has(model_.memory_)) {
        const auto first = own.begin() + static_cast<std::ptrdiff_t>(layout.first[model_.memory_]);
        remembered.assign(first, first + static_cast<std::ptrdiff_t>(model_.lists_.remembered() * layout.lanes));
      }
    }
    if (positions_.empty() || remembered.empty()) return;
    std::size_t number = 0;
    for (const std::uint32_t list : model_.operations_.start)
      for (std::size_t i = 0; i < model_.lists_.size(list); ++i, ++number)
        if (model_.learns_[list])
          for (std::size_t w = 0; w < positions_[0].words; ++w)
            by_fixed[model_.fixed_.first[list] + i] += remembered[number * positions_[0].width->layout.lanes + w];
  }

 private:
  /// The steps over so many words side by side.
  struct Width {
    Layout layout;
    std::vector<Run> runs;
  };
  struct Position {
    std::size_t words = 0, first = 0;  ///< words that are not at their end; the first of the numbers
    const Width* width = nullptr;
    std::vector<std::uint32_t> letters, asked;  ///< a letter a lane; the lane of each target
  };

  const Width& width_of(std::size_t lanes) {
    const auto [found, is_new] = widths_.try_emplace(lanes);
    Width& width = found->second;
    if (!is_new) return width;
    width.layout = model_.words_;
    width.layout.lanes = lanes;
    width.layout.size *= lanes;
    for (std::size_t& first : width.layout.first)
      if (first != Layout::kNone) first *= lanes;
    for (std::uint32_t list = 0; list < model_.lists_.count(); ++list)
      if (width.layout.has(list) && model_.lists_.dependence(list) == Dependence::kMemory && model_.is_computed(list))
        width.runs.push_back(model_.run_of(list, width.layout));
    return width;
  }

  std::uint32_t labels() const { return model_.lists_.size(model_.operations_.logits); }
  bool is_needed(const Run& run, const Position& here) const {
    return model_.remains_[run.list] || !here.asked.empty();
  }
  /// body(number of the memory, the place of its first word in values_, words) for what is remembered after a letter.
  template <class Body>
  void each_kept(std::size_t t, std::size_t words, const Body& body) const {
    const Layout& layout = positions_[t].width->layout;
    std::size_t number = 0;
    for (const std::uint32_t list : model_.operations_.keep)
      for (std::size_t i = 0; i < model_.lists_.size(list); ++i, ++number)
        body(number, positions_[t].first + layout.first[list] + i * layout.lanes, words);
  }

  void step(std::size_t t, Noise* noise) {
    const Position& here = positions_[t];
    const Layout& layout = here.width->layout;
    Real* const values = values_.data() + here.first;
    if (layout.has(model_.memory_)) remember(t, values + layout.first[model_.memory_], noise);
    for (const std::uint32_t list : model_.lifted_) {
      Real* const to = values + layout.first[list];
      const std::size_t size = model_.lists_.size(list), tokens = model_.letters_.lanes;
      if (model_.fixed_.has(list)) {
        for (std::size_t i = 0; i < size; ++i)
          std::fill_n(to + i * layout.lanes, layout.lanes, model_.fixed_values_[model_.fixed_.first[list] + i]);
        continue;
      }
      const Real* const table = model_.letter_values_.data() + model_.letters_.first[list];
      if constexpr (sizeof(Real) == 4)
        kernels().look_up_floats(table, size, tokens, here.letters.data(), layout.lanes, to);
      else
        kernels().look_up_doubles(table, size, tokens, here.letters.data(), layout.lanes, to);
    }
    StepNumbers<Real> numbers;
    numbers.of[static_cast<std::size_t>(Space::kConstant)] = model_.fixed_values_.data();
    numbers.of[static_cast<std::size_t>(Space::kWord)] = numbers.own = values;
    for (const Run& run : here.width->runs)
      if (is_needed(run, here)) run.forward(run.step, numbers);
    const Real* const logits = values + layout.first[model_.operations_.logits];
    for (const std::uint32_t lane : here.asked)
      for (std::uint32_t label = 0; label < labels(); ++label) logits_.push_back(logits[label * layout.lanes + lane]);
  }

  /// Fills the memory before a letter.
  void remember(std::size_t t, Real* to, Noise* noise) const {
    const std::size_t lanes = positions_[t].width->layout.lanes;
    Real* end = to;
    for (const std::uint32_t list : model_.operations_.start)
      for (const Real number : model_.lists_.values(list)) end = std::fill_n(end, lanes, number);
    if (t == 0) return;
    each_kept(t - 1, positions_[t].words, [&](std::size_t number, std::size_t at, std::size_t words) {
      std::copy_n(values_.data() + at, words, to + number * lanes);
      if (noise != nullptr) noise->add_to(to + number * lanes, words);
    });
  }

  /// The gradient by a list that words have of their letters, or of nothing.
  void drop(std::uint32_t list, const Position& here, const Numbers<Real>& own, Real* by_fixed,
            Real* by_letters) const {
    if (!model_.learns_[list]) return;
    const bool is_fixed = model_.fixed_.has(list);
    const Layout &layout = here.width->layout, &letters = model_.letters_;
    const Real* from = own.data() + layout.first[list];
    Real* to = is_fixed ? by_fixed + model_.fixed_.first[list] : by_letters + letters.first[list];
    for (std::size_t i = 0; i < model_.lists_.size(list); ++i, from += layout.lanes, to += is_fixed ? 1 : letters.lanes)
      for (std::size_t w = 0; w < here.words; ++w) to[is_fixed ? 0 : here.letters[w]] += from[w];
  }

  const OperationsGradient& model_;
  const TrainingBatch& batch_;
  std::vector<std::uint32_t> words_;
  std::map<std::size_t, Width> widths_;
  std::vector<Position> positions_;
  Numbers<Real> values_;      ///< letter after letter
  std::vector<Real> logits_;  ///< a row a target, and then the gradient by them
};

template <class Real>
BatchLoss OperationsGradient<Real>::loss(const TrainingBatch& batch, std::span<const std::uint32_t> words,
                                         std::span<const TrainingBatch::Target> targets, const TwinReading* twin,
                                         std::span<Real> by) const {
  const std::size_t readings = twin == nullptr ? 1 : 2;
  std::vector<Reading> all;
  all.reserve(readings);
  BatchLoss result;
  for (std::size_t i = 0; i < readings; ++i) {
    all.emplace_back(*this, batch, words);
    std::optional<Noise> noise;
    if (twin != nullptr) noise.emplace(twin->seed, i, 0, twin->noise);
    const BatchLoss own = all[i].read(targets, batch.targets.size() * readings, noise ? &*noise : nullptr);
    result = {result.loss + own.loss, result.right + own.right, result.targets + own.targets};
  }
  double share = 0;
  if (twin != nullptr) {
    share = twin->weight / std::accumulate(batch.lengths.begin(), batch.lengths.end(), 0.0);
    result.loss += share * all[0].distance(all[1]);
  }
  if (!by.empty())
    for (std::size_t i = 0; i < readings; ++i) all[i].walk_back(by, twin == nullptr ? nullptr : &all[1 - i], share);
  return result;
}

template <class Real>
void OperationsGradient<Real>::finish(
    std::span<Real> by, const std::function<void(const std::string&, std::span<const Real>)>& give) const {
  Real* const by_fixed = by.data();
  Real* const by_letters = by_fixed + fixed_.size;
  for (auto list = static_cast<std::uint32_t>(lists_.count()); list-- > 0;) {
    if (!letters_.has(list) || !learns_[list]) continue;
    if (is_computed(list)) {
      walk_back(run_of(list, letters_), letters_, letter_values_.data(), by_letters, by_fixed);
      continue;
    }
    const std::size_t size = lists_.size(list), all = lists_.size(at(list).of[0].list);
    Real* const to = by_fixed + fixed_.first[at(list).of[0].list];
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t letter = 0; letter * size < all && letter < letters_.lanes; ++letter)
        to[letter * size + i] += by_letters[letters_.first[list] + i * letters_.lanes + letter];
  }
  for (auto list = static_cast<std::uint32_t>(lists_.count()); list-- > 0;) {
    if (!fixed_.has(list) || !learns_[list]) continue;
    if (is_computed(list))
      walk_back(run_of(list, fixed_), fixed_, fixed_values_.data(), by_fixed, by_fixed);
    else
      give(at(list).tensor, {by_fixed + fixed_.first[list], lists_.size(list)});
  }
}

template class OperationsGradient<float>;
template class OperationsGradient<double>;

}  // namespace krohn
