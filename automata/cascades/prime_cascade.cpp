#include "krohn/automata/cascades/cascade.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/structure/composition.h"

namespace krohn {

// Values known by number.

/// Ordered values, numbered from 0 as they first appear. O(log n) a value.
template <class Value>
class Numbered {
 public:
  std::uint32_t number(const Value& value) {
    const auto [entry, fresh] = number_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(value);
    return entry->second;
  }
  const Value& operator[](std::uint32_t number) const { return values_[number]; }
  const std::vector<Value>& values() const { return values_; }

 private:
  std::map<Value, std::uint32_t> number_;
  std::vector<Value> values_;
};

namespace {

/// Walks the old layers. Between two new layers it holds what every new context (and readout node) stands for: an old
/// context (node) and the product, so far, of the coordinates that the layers of the present group have shown.
class Refinement {
 public:
  Refinement(const Cascade& old, const PrimeCascadeOptions& options) : old_(old), options_(options) {
    result_.alphabet = old.alphabet;
    result_.method = old.method;
    result_.has_start = old.has_start;
    for (Letter letter = 0; letter < old.alphabet.size(); ++letter) contexts_.push_back({letter, 0});
    nodes_.push_back({0, 0});
  }

  Cascade run() {
    for (std::size_t k = 0; k < old_.layers.size(); ++k) refine(k);
    result_.layers.back().wiring.next.clear();
    for (Context& node : result_.readout.next.back())
      if (node != kNoContext) node = nodes_[node].first;
    return trim(result_);
  }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  using Pairs = Numbered<Pair>;

  void refine(std::size_t k) {
    const CascadeLayer& layer = old_.layers[k];
    elements_ = {};
    const std::uint32_t one = elements_.number(Permutation::identity(layer.width));
    for (Pair& context : contexts_) context.second = one;
    for (Pair& node : nodes_) node.second = one;
    const PermutationGroup group = bijections(layer);
    const Integer size = order(group);
    if (size > kMaxGroup)
      throw LimitError(fmt::format("layer {} of the cascade has a group of order {}; the limit is {}", k + 1,
                                   size.str(), kMaxGroup));
    if (size > 1) {
      series_ = series_of(group, k);
      for (std::size_t step = 0; step < series_->steps().size(); ++step) add_coordinate(layer, step);
    }
    add_resets(k);
  }

  CompositionSeries series_of(const PermutationGroup& group, std::size_t k) const {
    try {
      return CompositionSeries::of(group, options_.largest_simple);
    } catch (const InputError& error) {
      throw InputError(fmt::format("layer {} of the cascade, {}: {}", k + 1, recognised_name(group), error.what()));
    }
  }

  static PermutationGroup bijections(const CascadeLayer& layer) {
    std::vector<Permutation> generators;
    for (const Transformation& action : layer.actions)
      if (action.is_permutation() && !action.is_identity()) generators.push_back(action.to_permutation());
    return PermutationGroup::from_generators(layer.width, std::move(generators));
  }

  /// The factor by which a context of the old layer multiplies g: a bijection, or nothing for a constant.
  static Permutation factor(const CascadeLayer& layer, Context c) {
    const Transformation& action = layer.actions[layer.wiring.action_of[c]];
    return action.is_permutation() ? action.to_permutation() : Permutation::identity(layer.width);
  }

  /// One coordinate. With s the product of the coordinates above (pre) and s' the same after h, the element that moves
  /// what is left of g is u = s·h·s'⁻¹, in this term of the series; the action multiplies with its coordinate.
  void add_coordinate(const CascadeLayer& layer, std::size_t step) {
    const std::vector<Permutation>& transversal = series_->steps()[step].transversal;
    const auto width = static_cast<Label>(transversal.size());
    const std::vector<std::uint32_t> table = series_->cayley_table(step);
    CascadeLayer quotient;
    quotient.width = width;
    for (Label b = 0; b < width; ++b) {
      std::vector<Point> images(width);
      for (Label a = 0; a < width; ++a) images[a] = table[std::size_t{a} * width + b];
      quotient.actions.push_back(Transformation::from_images(std::move(images)));
    }
    Pairs next;
    for (const auto& [c, product] : contexts_) {
      TimeLimit::check();
      const Permutation s = elements_[product];
      quotient.wiring.action_of.push_back(series_->coordinate(step, residual(s, factor(layer, c), step)));
      for (const Permutation& t : transversal)
        quotient.wiring.next.push_back(next.number({c, elements_.number(t * s)}));
    }
    result_.readout.next.push_back(descend_nodes(width, [&](const Pair& node, Label a) {
      return Pair{node.first, elements_.number(transversal[a] * elements_[node.second])};
    }));
    result_.initial.push_back(0);
    finish(std::move(quotient), std::move(next));
  }

  /// u ∈ G_step with s·h = u·s', where s' is the product of the coordinates of s·h above this step.
  Permutation residual(const Permutation& s, const Permutation& h, std::size_t step) const {
    Permutation rest = s * h;
    for (std::size_t i = 0; i < step; ++i)
      rest = rest * series_->steps()[i].transversal[series_->coordinate(i, rest)].inverse();
    return rest;
  }

  /// The point r: identity under bijections, c·g⁻¹ under the constant c. Its label and g give the old label r·g.
  void add_resets(std::size_t k) {
    const CascadeLayer& layer = old_.layers[k];
    CascadeLayer resets;
    resets.width = layer.width;
    resets.component = "trivial";
    resets.actions.push_back(Transformation::identity(layer.width));
    for (Label point = 0; point < layer.width; ++point)
      resets.actions.push_back(Transformation::constant(layer.width, point));
    Pairs next;
    const bool last = layer.wiring.next.empty();
    for (const auto& [c, product] : contexts_) {
      TimeLimit::check();
      const Transformation& action = layer.actions[layer.wiring.action_of[c]];
      const Permutation& g = elements_[product];
      resets.wiring.action_of.push_back(action.is_permutation() ? 0 : 1 + g.inverse()[*action.constant_image()]);
      for (Label r = 0; r < layer.width; ++r) {
        const Context to = last ? 0 : layer.wiring.next[std::size_t{c} * layer.width + g[r]];
        resets.wiring.next.push_back(to == kNoContext ? kNoContext : next.number({to, 0}));
      }
    }
    result_.readout.next.push_back(descend_nodes(layer.width, [&](const Pair& node, Label r) {
      return Pair{old_.readout.next[k][std::size_t{node.first} * layer.width + elements_[node.second][r]], 0};
    }));
    result_.initial.push_back(old_.initial[k]);
    finish(std::move(resets), std::move(next));
  }

  template <class Follow>
  std::vector<Context> descend_nodes(Label width, Follow follow) {
    Pairs below;
    std::vector<Context> table;
    for (const Pair& node : nodes_)
      for (Label label = 0; label < width; ++label) {
        const Pair to = follow(node, label);
        table.push_back(to.first == kNoContext ? kNoContext : below.number(to));
      }
    nodes_ = below.values();
    return table;
  }

  void finish(CascadeLayer layer, Pairs next) {
    result_.layers.push_back(std::move(layer));
    contexts_ = next.values();
    total_ += contexts_.size();
    if (total_ > options_.max_contexts)
      throw LimitError(fmt::format("the cascade of simple layers needs more than {} contexts; raise --max-contexts",
                                   options_.max_contexts));
  }

  static constexpr std::uint32_t kMaxGroup = 100'000;

  const Cascade& old_;
  const PrimeCascadeOptions& options_;
  Cascade result_;
  std::vector<Pair> contexts_, nodes_;
  Numbered<Permutation> elements_;
  std::optional<CompositionSeries> series_;
  std::uint64_t total_ = 0;
};

}  // namespace

Cascade prime_cascade(const Cascade& cascade, const PrimeCascadeOptions& options) {
  return Refinement(cascade, options).run();
}

namespace {

constexpr std::uint64_t kMaxGroup = 100'000;

/// The meaning of a context of a new layer, by the labels before the letter; or a node of the new readout, by the
/// labels after it.
struct Known {
  std::uint32_t old = 0;       ///< the context, or node, of the old layer
  std::uint32_t position = 0;  ///< how many letters of the present block have been read
  std::uint32_t begun = 0;     ///< the product of these letters: an element by number
  std::uint32_t pending = 0;   ///< the product of the block before, of which `position` swaps have been done
  std::uint32_t images = 0;    ///< where the points of the base are so far, by number
  std::array<std::uint32_t, 5> record() const { return {old, position, begun, pending, images}; }
};

/// The graph of a step: contexts, or nodes of the readout.
enum class Side { kContext, kNode };

/// The factor of the context's action: a bijection, or nothing for a constant.
Permutation factor_of(const Transformation& action) {
  return action.is_permutation() ? action.to_permutation() : Permutation::identity(action.degree());
}

/// The bits of a position within a block in which every product of a block's factors takes no more swaps than the
/// block has letters.
std::uint32_t block_bits(const CascadeLayer& layer, std::uint64_t max_points) {
  std::set<Permutation> products;
  for (const Transformation& action : layer.actions) products.insert(factor_of(action));
  const auto fits = [&](std::uint32_t bits) {
    return std::ranges::all_of(products, [&](const Permutation& p) { return p.reflection_length() <= 1U << bits; });
  };
  std::uint32_t bits = 0;
  for (; !fits(bits); ++bits) {
    if (products.size() * products.size() > max_points / layer.width)
      throw LimitError(
          fmt::format("{} of {} labels are products of {} letters, too many for the limit of "
                      "{} entries in the cascade of single swaps",
                      counted(products.size(), "permutation"), layer.width, 1U << bits, max_points));
    std::set<Permutation> longer;
    for (const Permutation& first : products) {
      TimeLimit::check();
      for (const Permutation& second : products) longer.insert(first * second);
    }
    products = std::move(longer);
  }
  return bits;
}

/// Walks the old layers; between two new ones it holds what every context and node stands for.
class Spreading {
 public:
  Spreading(const Cascade& old, const SwapCascadeOptions& options) : old_(old), options_(options) {
    result_.alphabet = old.alphabet;
    result_.method = old.method + ", one swap a letter";
    result_.has_start = old.has_start;
    for (Letter letter = 0; letter < old.alphabet.size(); ++letter) contexts_.push_back({.old = letter});
    nodes_.push_back({});
    // Below layer k a position is needed modulo the longest block that is still to come.
    bits_below_.assign(old.layers.size() + 1, 0);
    for (const CascadeLayer& layer : old.layers) bits_.push_back(block_bits(layer, options.max_entries));
    for (std::size_t k = old.layers.size(); k-- > 0;) bits_below_[k] = std::max(bits_[k], bits_below_[k + 1]);
  }

  Cascade run() {
    for (std::uint32_t bit = 0; bit < bits_below_[0]; ++bit) add_counter(bit);
    while (last_ < old_.layers.size()) spread();
    result_.layers.back().wiring.next.clear();
    for (Context& node : result_.readout.next.back())
      if (node != kNoContext) node = nodes_[node].old;
    return trim(result_);
  }

 private:
  /// Spreads the layers from `last_`, where the ones before ended, as far as they are columns of each other.
  void spread() {
    layer_ = last_;
    const std::vector<Transformation>& actions = old_layer().actions;
    const bool has_constants = !std::ranges::all_of(actions, &Transformation::is_permutation);
    do ++last_;
    while (!has_constants && last_ < old_.layers.size() && is_column(last_));
    elements_ = {};
    one_ = first_pending_ = elements_.number(Permutation::identity(old_layer().width));
    images_ = {};
    const std::uint32_t none = images_.number({});
    for (std::vector<Known>* all : {&contexts_, &nodes_})
      for (Known& known : *all) known = {known.old, known.position, one_, one_, none};
    for (std::uint32_t bit = 0; bit < bits_[layer_]; ++bit) add_gathering(bit);
    if (bits_[layer_] > 0) add_pending(!has_constants);
    if (!has_constants) return add_labels();
    add_base();
    add_resets();
  }

  /// True where layer k moves its labels as layer k−1 does, of which it sees nothing but the letter.
  bool is_column(std::size_t k) const {
    const CascadeLayer &layer = old_.layers[k], &before = old_.layers[k - 1];
    if (layer.width != before.width || layer.actions != before.actions ||
        layer.wiring.action_of != before.wiring.action_of)
      return false;
    const std::vector<Context>& next = before.wiring.next;
    for (std::size_t entry = 0; entry < next.size(); ++entry)
      if (next[entry] != kNoContext && next[entry] != entry / layer.width) return false;
    return true;
  }

  const CascadeLayer& old_layer() const { return old_.layers[layer_]; }
  std::uint32_t block() const { return 1U << bits_[layer_]; }
  std::uint32_t place(const Known& known) const { return known.position & (block() - 1); }
  const Transformation& action_of(const Known& context) const {
    return old_layer().actions[old_layer().wiring.action_of[context.old]];
  }

  /// The remaining work: the pending swaps, then the letters of the present block.
  Permutation left(const Known& known) const {
    Permutation rest = Permutation::identity(old_layer().width);
    const std::vector<Transposition> swaps = transpositions_of(elements_[known.pending]);
    for (std::size_t i = place(known); i < swaps.size(); ++i) rest = rest * permutation_of(swaps[i], rest.degree());
    return rest * elements_[known.begun];
  }

  /// The position's bit flips where all lower ones are set.
  void add_counter(std::uint32_t bit) {
    CascadeLayer layer;
    layer.width = 2;
    layer.actions = {Transformation::identity(2), Transformation::from_images({1, 0})};
    for (const Known& context : contexts_)
      layer.wiring.action_of.push_back(context.position == (1U << bit) - 1 ? 1 : 0);
    add(std::move(layer), 0, [bit](Side, const Known& known) {
      return [=](Label label) { return Known{.old = known.old, .position = known.position | label << bit}; };
    });
  }

  /// A register for the product of the first half of every 2^(bit+1) letters, written at the half's last letter and
  /// read while the second half lasts.
  void add_gathering(std::uint32_t bit) {
    const std::uint32_t half = 1U << bit;
    const auto values =
        add_register([&](const Known& context) { return (place(context) & (2 * half - 1)) == half - 1; });
    add(std::move(made_), 0, [=, this](Side, const Known& known) {
      return [=, this](Label label) {
        if ((place(known) & half) == 0) return known;
        const std::uint32_t begun = elements_.number(elements_[values[label]] * elements_[known.begun]);
        return Known{known.old, known.position, begun, known.pending, known.images};
      };
    });
  }

  /// The register for the product of a whole block, written at its last letter. What comes after it in the last of the
  /// old layers need not know the letter, nor which have begun the block.
  void add_pending(bool is_followed_by_labels) {
    const auto values = add_register([&](const Known& context) { return place(context) == block() - 1; });
    first_pending_ = values.front();
    const bool forgets = is_followed_by_labels && last_ == old_.layers.size();
    add(std::move(made_), 0, [=, this](Side side, const Known& known) {
      return [=, this](Label label) {
        if (forgets && side == Side::kContext) return Known{0, known.position, one_, values[label], known.images};
        const Known now{known.old, known.position, known.begun, values[label], known.images};
        // The readout asks only for what is left to be done.
        if (side == Side::kContext) return now;
        return Known{known.old, known.position, elements_.number(left(now)), one_, known.images};
      };
    });
  }

  /// Makes `made_`, resets that write the product up to the letter where `is_written`; the elements of the labels.
  template <class IsWritten>
  std::vector<std::uint32_t> add_register(IsWritten is_written) {
    Numbered<std::uint32_t> values;
    std::vector<Action> action_of_context;
    for (const Known& context : contexts_) {
      TimeLimit::check();
      if (!is_written(context))
        action_of_context.push_back(0);
      else
        action_of_context.push_back(
            1 + values.number(elements_.number(elements_[context.begun] * factor_of(action_of(context)))));
    }
    made_ = resets(static_cast<Label>(values.values().size()));
    made_.wiring.action_of = std::move(action_of_context);
    return values.values();
  }

  /// Action 0 is the identity, action 1 + c the constant c.
  static CascadeLayer resets(Label width) {
    CascadeLayer layer;
    layer.width = width;
    layer.actions.push_back(Transformation::identity(width));
    for (Label label = 0; label < width; ++label) layer.actions.push_back(Transformation::constant(width, label));
    return layer;
  }

  /// The old layers' labels, from the ones that the first pending product takes to the initial labels.
  void add_labels() {
    for (;; ++layer_) {
      add_points(old_.initial[layer_], [this](Side side, const Known& known) {
        return [=, this, rest = left(known)](Label label) { return below(side, known, rest[label]); };
      });
      if (layer_ + 1 == last_) return;
    }
  }

  /// Points under the swaps, starting where the first pending product takes them to `start`.
  template <class Follow>
  void add_points(Point start, Follow follow) {
    CascadeLayer layer;
    layer.width = old_layer().width;
    Numbered<std::vector<Point>> actions;
    for (const Known& context : contexts_) {
      const Permutation swap = swap_at(context);
      layer.wiring.action_of.push_back(actions.number({swap.images().begin(), swap.images().end()}));
    }
    for (const std::vector<Point>& images : actions.values())
      layer.actions.push_back(Transformation::from_images(images));
    add(std::move(layer), elements_[first_pending_].inverse()[start], follow);
  }

  /// The pending swap whose turn it is; the letter's own where blocks are single letters.
  Permutation swap_at(const Known& context) const {
    if (block() == 1) return factor_of(action_of(context));
    const std::vector<Transposition> swaps = transpositions_of(elements_[context.pending]);
    const std::uint32_t turn = place(context);
    const Point degree = old_layer().width;
    return turn < swaps.size() ? permutation_of(swaps[turn], degree) : Permutation::identity(degree);
  }

  /// A layer of swaps for each point of a base of the group; together they tell the element that all letters make, from
  /// then on in `begun`.
  void add_base() {
    std::vector<Permutation> generators;
    for (const Transformation& action : old_layer().actions) generators.push_back(factor_of(action));
    const auto generated = PermutationGroup::from_generators(old_layer().width, std::move(generators));
    if (const Integer elements = order(generated); elements > kMaxGroup)
      throw LimitError(
          fmt::format("a group of {} elements beside constants; the cascade of single swaps takes up to {}",
                      elements.str(), kMaxGroup));
    const auto group = GroupElements::enumerate(generated, kMaxGroup);
    const std::vector<Point> base = base_of(group);
    std::map<std::vector<Point>, std::uint32_t> element_of;
    for (ElementIndex i = 0; i < group.size(); ++i) {
      std::vector<Point> images;
      for (const Point point : base) images.push_back(group.images(i)[point]);
      element_of.emplace(std::move(images), elements_.number(group[i]));
    }
    for (const Point point : base) {
      const bool is_last = point == base.back();
      add_points(point, [&, is_last](Side, const Known& known) {
        return [&, known, is_last, rest = left(known)](Label label) {
          std::vector<Point> images = images_[known.images];
          images.push_back(rest[label]);
          if (!is_last) return Known{known.old, known.position, known.begun, known.pending, images_.number(images)};
          const auto element = element_of.find(images);
          if (element == element_of.end()) return Known{.old = kNoContext};
          return Known{known.old, known.position, element->second, one_, 0};
        };
      });
    }
  }

  /// Points that only the identity fixes, each moved by an element that fixes the ones before.
  static std::vector<Point> base_of(const GroupElements& group) {
    std::vector<Point> base;
    std::vector<ElementIndex> fixing(group.size());
    std::iota(fixing.begin(), fixing.end(), ElementIndex{0});
    for (Point point = 0; fixing.size() > 1; ++point) {
      const std::size_t before = fixing.size();
      std::erase_if(fixing, [&](ElementIndex g) { return group.images(g)[point] != point; });
      if (fixing.size() < before) base.push_back(point);
    }
    return base;
  }

  /// The point r that the last constant wrote: identity under bijections, c·g⁻¹ under the constant c. The label is r·g.
  void add_resets() {
    CascadeLayer layer = resets(old_layer().width);
    for (const Known& context : contexts_) {
      const auto constant = action_of(context).constant_image();
      const bool writes = constant && !action_of(context).is_permutation();
      layer.wiring.action_of.push_back(writes ? 1 + elements_[context.begun].inverse()[*constant] : 0);
    }
    add(std::move(layer), old_.initial[layer_], [this](Side side, const Known& known) {
      return [=, this](Label label) { return below(side, known, elements_[known.begun][label]); };
    });
  }

  /// The input of the next old layer, by the label of this one.
  Known below(Side side, const Known& known, Label label) const {
    const CascadeLayer& layer = old_layer();
    const std::size_t entry = std::size_t{known.old} * layer.width + label;
    Known next = known;
    if (side == Side::kNode)
      next.old = old_.readout.next[layer_][entry];
    else if (layer_ + 1 == last_)
      next.old = layer.wiring.next.empty() ? 0 : layer.wiring.next[entry];
    if (layer_ + 1 < last_) return next;  // a column of the same: what is pending there is pending here
    return {.old = next.old, .position = known.position & ((1U << bits_below_[last_]) - 1)};
  }

  /// Appends the layer and follows every label to the contexts and nodes below it: `follow(side, known)` is a function
  /// of the label.
  template <class Follow>
  void add(CascadeLayer layer, Label initial, Follow follow) {
    layer.wiring.next = table(contexts_, Side::kContext, layer.width, follow);
    result_.readout.next.push_back(table(nodes_, Side::kNode, layer.width, follow));
    result_.initial.push_back(initial);
    result_.layers.push_back(std::move(layer));
  }

  template <class Follow>
  std::vector<Context> table(std::vector<Known>& all, Side side, Label width, const Follow& follow) {
    total_ += std::uint64_t{all.size()} * width;
    if (total_ > options_.max_entries)
      throw LimitError(
          fmt::format("the cascade of single swaps has more than {} entries in its tables, the most that is tried here",
                      options_.max_entries));
    RecordSet numbers(std::tuple_size_v<decltype(Known{}.record())>);
    std::vector<Known> next;
    std::vector<Context> entries;
    entries.reserve(all.size() * width);
    for (const Known& known : all) {
      TimeLimit::check();
      const auto of_label = follow(side, known);
      for (Label label = 0; label < width; ++label) {
        const Known to = of_label(label);
        if (to.old == kNoContext) {
          entries.push_back(kNoContext);
          continue;
        }
        const RecordSet::Insertion inserted = numbers.insert(to.record());
        if (inserted.fresh) next.push_back(to);
        entries.push_back(inserted.index);
      }
    }
    all = std::move(next);
    return entries;
  }

  const Cascade& old_;
  const SwapCascadeOptions& options_;
  Cascade result_;
  std::vector<std::uint32_t> bits_, bits_below_;  ///< per old layer: of its blocks; of the longest from there on
  std::vector<Known> contexts_, nodes_;
  std::size_t layer_ = 0, last_ = 0;  ///< the old layer; past the last one that has the same product pending
  Numbered<Permutation> elements_;
  Numbered<std::vector<Point>> images_;
  std::uint32_t one_ = 0, first_pending_ = 0;
  CascadeLayer made_;
  std::uint64_t total_ = 0;
};

}  // namespace

Cascade swap_cascade(const Cascade& cascade, const SwapCascadeOptions& options) {
  return Spreading(cascade, options).run();
}

Cascade smallest_swap_cascade(std::span<const Cascade* const> cascades, const SwapCascadeOptions& options) {
  if (cascades.empty()) throw InputError("there is no cascade to cut into single swaps");
  const auto size = [](const Cascade& cascade) {
    std::uint64_t labels = 0;
    for (const CascadeLayer& layer : cascade.layers) labels += layer.width;
    return std::pair(cascade.layers.size(), labels);
  };
  std::optional<Cascade> best;
  std::exception_ptr limit;
  for (const Cascade* const cascade : cascades) try {
      Cascade cut = swap_cascade(*cascade, options);
      if (!best || size(cut) < size(*best)) best = std::move(cut);
    } catch (const LimitError&) {
      if (!limit) limit = std::current_exception();
    }
  if (!best) std::rethrow_exception(limit);
  return std::move(*best);
}

}  // namespace krohn
