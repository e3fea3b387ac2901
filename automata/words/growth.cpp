#include "krohn/automata/words/growth.h"

#include <algorithm>
#include <vector>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/words/count.h"

namespace krohn {
namespace {

struct Bounds {
  double at_least = 0, at_most = 0;
};

/// The transitions that stay in one strongly connected component of useful states.
struct Block {
  struct Arc {
    std::uint32_t source, target;  ///< positions in the component
  };
  std::uint32_t states = 0;
  std::vector<Arc> arcs;
};

/// The spectral radius of an irreducible matrix M of counts lies between the least and the greatest (Mx)ᵢ/xᵢ for every
/// positive x. Iterating with I + M, which is primitive, closes the gap.
Bounds spectral_radius(const Block& block, std::uint32_t max_iterations) {
  std::vector<double> x(block.states, 1.0), image(block.states);
  Bounds bounds;
  for (std::uint32_t iteration = 0; iteration < max_iterations; ++iteration) {
    std::fill(image.begin(), image.end(), 0.0);
    for (const Block::Arc& arc : block.arcs) image[arc.source] += x[arc.target];
    bounds = {image[0] / x[0], image[0] / x[0]};
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      bounds.at_least = std::min(bounds.at_least, image[i] / x[i]);
      bounds.at_most = std::max(bounds.at_most, image[i] / x[i]);
      x[i] += image[i];
      largest = std::max(largest, x[i]);
    }
    if (bounds.at_most - bounds.at_least <= 1e-12 * bounds.at_most) break;
    for (double& value : x) value /= largest;
  }
  return bounds;
}

std::vector<Block> blocks_of(const Dfa& dfa, const Components& components, const std::vector<bool>& useful) {
  std::vector<Block> blocks(components.count);
  std::vector<std::uint32_t> position(dfa.states());
  for (State state = 0; state < dfa.states(); ++state)
    if (useful[state]) position[state] = blocks[components.of[state]].states++;
  for (State state = 0; state < dfa.states(); ++state)
    for (const State target : dfa.row(state))
      if (useful[state] && components.of[state] == components.of[target])
        blocks[components.of[state]].arcs.push_back({position[state], position[target]});
  return blocks;
}

/// The most components with a cycle on any path through useful ones.
std::uint32_t cycles_on_best_path(const Dfa& dfa, const Components& components, const std::vector<Block>& blocks) {
  const auto arcs = condensation(dfa, components);
  std::vector<std::uint32_t> best(components.count, 0);
  for (Component c = components.count; c-- > 0;) {
    if (blocks[c].states == 0) continue;
    for (const Component target : arcs[c]) best[c] = std::max(best[c], best[target]);
    best[c] += blocks[c].arcs.empty() ? 0 : 1;
  }
  return *std::max_element(best.begin(), best.end());
}

}  // namespace

Growth growth(const Dfa& dfa, std::uint32_t max_iterations) {
  const Dfa reachable = canonical(dfa);
  const std::vector<bool> useful = coaccessible_states(reachable);
  const Components components = strongly_connected_components(reachable);
  const std::vector<Block> blocks = blocks_of(reachable, components, useful);
  Growth result;
  for (const Block& block : blocks) {
    if (block.arcs.size() <= block.states) continue;  // no cycle, or a single one
    const Bounds bounds = spectral_radius(block, max_iterations);
    result.kind = GrowthKind::kExponential;
    result.rate_at_least = std::max(result.rate_at_least, bounds.at_least);
    result.rate_at_most = std::max(result.rate_at_most, bounds.at_most);
  }
  if (result.kind == GrowthKind::kExponential) return result;
  const std::uint32_t cycles = cycles_on_best_path(reachable, components, blocks);
  if (cycles == 0) return result;
  return {GrowthKind::kPolynomial, cycles - 1, 1.0, 1.0};
}

}  // namespace krohn
