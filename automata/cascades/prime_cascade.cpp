#include "krohn/automata/cascades/prime_cascade.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "krohn/automata/cascades/numbered.h"
#include "krohn/automata/cascades/trim.h"
#include "krohn/groups/error.h"
#include "krohn/groups/names/recognise.h"
#include "krohn/groups/structure/composition_series.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
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

  /// What a context of the old layer multiplies g with: a bijection, or nothing for a constant.
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

}  // namespace krohn
