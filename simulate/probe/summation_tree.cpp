#include "krohn/simulate/probe/summation_tree.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace krohn {
namespace {

class Builder {
 public:
  Builder(std::uint32_t terms, const TermsBelow& below) : below_(below) { tree_.terms = terms; }

  /// The number of the subtree of these terms, in rising order; nothing where they have none.
  std::optional<std::uint32_t> build(const std::vector<std::uint32_t>& terms) {
    std::uint32_t branch = terms[0], size = 1;
    std::map<std::uint32_t, std::vector<std::uint32_t>> meeting;  // by the size of the node where they meet the first
    for (std::size_t i = 1; i < terms.size(); ++i) meeting[below_(terms[0], terms[i])].push_back(terms[i]);
    for (const auto& [total, group] : meeting) {
      if (total != size + group.size()) return std::nullopt;
      SummationTree::Node node{{branch}};
      for (const std::vector<std::uint32_t>& part : parts(group, total)) {
        const auto child = build(part);
        if (!child) return std::nullopt;
        node.children.push_back(*child);
      }
      tree_.nodes.push_back(std::move(node));
      branch = tree_.terms + static_cast<std::uint32_t>(tree_.nodes.size()) - 1;
      size = total;
    }
    return branch;
  }

  SummationTree take() { return std::move(tree_); }

 private:
  /// What meets the first term's way in one node: terms that meet below it belong to one child.
  std::vector<std::vector<std::uint32_t>> parts(const std::vector<std::uint32_t>& group, std::uint32_t total) const {
    std::vector<std::vector<std::uint32_t>> parts;
    for (const std::uint32_t term : group) {
      const auto home =
          std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return below_(part[0], term) < total; });
      if (home == parts.end())
        parts.push_back({term});
      else
        home->push_back(term);
    }
    return parts;
  }

  const TermsBelow& below_;
  SummationTree tree_;
};

/// The terms below each node, in rising order.
std::vector<std::vector<std::uint32_t>> leaves_below(const SummationTree& tree) {
  std::vector<std::vector<std::uint32_t>> leaves;
  for (const SummationTree::Node& node : tree.nodes) {
    std::vector<std::uint32_t> all;
    for (const std::uint32_t child : node.children) {
      if (tree.is_term(child))
        all.push_back(child);
      else
        all.insert(all.end(), leaves[child - tree.terms].begin(), leaves[child - tree.terms].end());
    }
    std::ranges::sort(all);
    leaves.push_back(std::move(all));
  }
  return leaves;
}

/// Whether below this node one term after the other, from the first to the last or the other way, joins the sum.
bool is_chain(const SummationTree& tree, std::uint32_t number, bool from_last) {
  std::vector<std::uint32_t> joined;
  while (!tree.is_term(number)) {
    const auto& children = tree.node(number).children;
    if (children.size() != 2) return false;
    const bool first_is_sum = !tree.is_term(children[0]), second_is_sum = !tree.is_term(children[1]);
    if (first_is_sum && second_is_sum) return false;
    if (!first_is_sum && !second_is_sum) {
      joined.push_back(children[from_last ? 0 : 1]);
      number = children[from_last ? 1 : 0];
    } else {
      joined.push_back(children[first_is_sum ? 1 : 0]);
      number = children[first_is_sum ? 0 : 1];
    }
  }
  joined.push_back(number);
  return from_last ? std::ranges::is_sorted(joined) : std::ranges::is_sorted(joined, std::greater{});
}

bool is_pairwise(const SummationTree& tree, const std::vector<std::vector<std::uint32_t>>& leaves) {
  const auto size = [&](std::uint32_t number) { return tree.is_term(number) ? 1 : leaves[number - tree.terms].size(); };
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const auto& children = tree.nodes[i].children;
    if (children.size() != 2 || size(children[0]) != size(children[1])) return false;
    if (leaves[i].back() - leaves[i].front() + 1 != leaves[i].size()) return false;
  }
  return true;
}

/// The number of lanes that take every k-th term, each one after the other; 0 where there are none.
std::uint32_t lanes_of(const SummationTree& tree, const std::vector<std::vector<std::uint32_t>>& leaves) {
  for (std::uint32_t lanes = tree.terms / 2; lanes > 1; --lanes) {
    if (tree.terms % lanes != 0) continue;
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      bool is_lane = leaves[i].size() == tree.terms / lanes;
      for (std::size_t j = 1; is_lane && j < leaves[i].size(); ++j) is_lane = leaves[i][j] - leaves[i][j - 1] == lanes;
      found += is_lane && is_chain(tree, tree.terms + static_cast<std::uint32_t>(i), false) ? 1 : 0;
    }
    if (found == lanes) return lanes;
  }
  return 0;
}

std::string parentheses(const SummationTree& tree, std::uint32_t number) {
  if (tree.is_term(number)) return std::to_string(number);
  std::string text = "(";
  for (const std::uint32_t child : tree.node(number).children)
    text += (text.size() > 1 ? " " : "") + parentheses(tree, child);
  return text + ")";
}

}  // namespace

bool SummationTree::is_binary() const {
  return std::ranges::all_of(nodes, [](const Node& node) { return node.children.size() == 2; });
}

bool SummationTree::is_sequential() const {
  return is_chain(*this, terms + static_cast<std::uint32_t>(nodes.size()) - 1, false);
}

std::string to_string(const SummationTree& tree) {
  const std::uint32_t root = tree.terms + static_cast<std::uint32_t>(tree.nodes.size()) - 1;
  const auto leaves = leaves_below(tree);
  if (tree.is_sequential()) return "one after the other";
  if (is_chain(tree, root, true)) return "one after the other, from the last to the first";
  std::size_t most = 0;
  for (const auto& node : tree.nodes) most = std::max(most, node.children.size());
  if (tree.nodes.size() == 1) return "all at once";
  if (most > 2) return "up to " + std::to_string(most) + " numbers at once";
  if (is_pairwise(tree, leaves)) return "pairwise";
  if (const std::uint32_t lanes = lanes_of(tree, leaves))
    return "in " + std::to_string(lanes) + " lanes, then the lanes' sums";
  constexpr std::uint32_t kShort = 16;
  return tree.terms <= kShort ? parentheses(tree, root) : "in another order";
}

std::optional<SummationTree> summation_tree(std::uint32_t terms, const TermsBelow& below) {
  std::vector<std::uint32_t> all(terms);
  std::iota(all.begin(), all.end(), 0);
  Builder builder(terms, below);
  if (!builder.build(all)) return std::nullopt;
  return builder.take();
}

}  // namespace krohn
