// The classes of valuations, by decision diagrams.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "krohn/automata/dfa/decision_diagrams.h"
#include "krohn/automata/formats/format_mata_formula.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

constexpr std::uint32_t kMaxVariables = 512;  // also the depth of the recursions
constexpr std::size_t kMaxNodes = std::size_t{1} << 22;

using Ref = DecisionDiagrams::Ref;
constexpr Ref leaf(std::uint32_t number) { return DecisionDiagrams::leaf(number); }
constexpr bool is_leaf(Ref ref) { return DecisionDiagrams::is_leaf(ref); }
constexpr std::uint32_t number_of(Ref ref) { return DecisionDiagrams::number_of(ref); }
constexpr std::uint64_t key_of(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

/// The diagram, with leaves 0 and 1, of a formula.
Ref diagram_of(const MataFormula& formula, DecisionDiagrams& diagrams) {
  std::vector<Ref> stack;
  for (const MataFormula::Step& step : formula.steps) {
    if (step.kind == MataFormula::kName) {
      stack.push_back(diagrams.variable(step.name));
    } else if (step.kind == MataFormula::kTrue || step.kind == MataFormula::kFalse) {
      stack.push_back(leaf(step.kind == MataFormula::kTrue ? 1 : 0));
    } else if (step.kind == MataFormula::kNot) {
      stack.back() = diagrams.negation(stack.back());
    } else {
      const Ref right = stack.back();
      stack.pop_back();
      stack.back() = step.kind == MataFormula::kAnd ? diagrams.conjunction(stack.back(), right)
                                                    : diagrams.disjunction(stack.back(), right);
    }
  }
  return stack.back();
}

/// A product of diagrams. Leaf 0 means that every factor is 0 there; leaf i > 0 remembers the leaves of its two halves.
struct Product {
  Ref root = leaf(0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> halves;  ///< empty for a single formula
  std::size_t left = 0, right = 0;                              ///< indices of the halves
};

class ProductTree {
 public:
  ProductTree(DecisionDiagrams& diagrams, std::vector<Ref> factors) : diagrams_(diagrams), factors_(factors.size()) {
    for (const Ref factor : factors) products_.push_back({factor, {}, 0, 0});
    // Pairs, then pairs of pairs: the factors of a level are multiplied once each, log(factors) levels in all.
    for (std::size_t done = 0; products_.size() - done > 1; done += 2) multiply(done, done + 1);
  }

  Ref root() const { return products_.back().root; }

  /// Calls `visit(factor, class)` for all classes of every factor; `class_of_leaf` numbers the leaves of the root.
  template <class Visit>
  void for_each_class(const std::vector<Letter>& class_of_leaf, Visit visit) const {
    using Holder = std::pair<Letter, std::uint32_t>;  // a class and the leaf that it has in some product
    std::vector<std::vector<Holder>> holders(products_.size());
    for (std::uint32_t number = 1; number < class_of_leaf.size(); ++number)
      holders.back().emplace_back(class_of_leaf[number], number);
    for (std::size_t i = products_.size(); i-- > 0;) {
      for (const auto& [letter, number] : holders[i])
        if (i < factors_) {
          visit(i, letter);
        } else {
          const auto& [left, right] = products_[i].halves[number];
          if (left != 0) holders[products_[i].left].emplace_back(letter, left);
          if (right != 0) holders[products_[i].right].emplace_back(letter, right);
        }
      holders[i] = {};
    }
  }

 private:
  void multiply(std::size_t left, std::size_t right) {
    Product product{leaf(0), {{0, 0}}, left, right};
    std::unordered_map<std::uint64_t, std::uint32_t> numbers{{key_of(0, 0), 0}};
    const auto decide = [&](const std::vector<Ref>& refs) -> std::optional<Ref> {
      if (!is_leaf(refs[0]) || !is_leaf(refs[1])) return std::nullopt;
      const std::uint32_t a = number_of(refs[0]), b = number_of(refs[1]);
      const auto [entry, is_new] = numbers.try_emplace(key_of(a, b), static_cast<std::uint32_t>(product.halves.size()));
      if (is_new) product.halves.emplace_back(a, b);
      return leaf(entry->second);
    };
    DecisionDiagrams::Memo done(2);
    product.root = diagrams_.apply({products_[left].root, products_[right].root}, done, decide);
    products_.push_back(std::move(product));
  }

  DecisionDiagrams& diagrams_;
  std::size_t factors_;
  std::vector<Product> products_;
};

/// Walks a diagram once, 0 before 1, and names every leaf but 0 by the least path to it. A path that was walked before
/// cannot lead to a new leaf, so each node is entered once.
class LeafNamer {
 public:
  LeafNamer(const DecisionDiagrams& diagrams, std::uint32_t variables) : diagrams_(diagrams), path_(variables, '-') {}

  void walk(Ref ref) {
    if (is_leaf(ref)) {
      if (number_of(ref) != 0 && names_.try_emplace(number_of(ref), path_).second) order_.push_back(number_of(ref));
      return;
    }
    if (!entered_.emplace(ref, true).second) return;
    char& sign = path_[diagrams_.variable_of(ref)];
    sign = '0';
    walk(diagrams_.low(ref));
    sign = '1';
    walk(diagrams_.high(ref));
    sign = '-';
    finished_.push_back(ref);
  }

  /// Leaves in the order of their names.
  const std::vector<std::uint32_t>& order() const { return order_; }

  std::string name(std::uint32_t number) const {
    if (path_.empty()) return "true";
    return names_.at(number) + (paths_.at(number) > 1 ? "|…" : "");
  }

  /// How many paths lead to each leaf, saturating at 2.
  void count_paths(Ref root) {
    std::unordered_map<Ref, int> count{{root, 1}};
    for (auto ref = finished_.rbegin(); ref != finished_.rend(); ++ref)  // parents before children
      for (const Ref child : {diagrams_.low(*ref), diagrams_.high(*ref)})
        count[child] = std::min(count[child] + count.at(*ref), 2);
    for (const std::uint32_t number : order_) paths_[number] = count.at(leaf(number));
  }

 private:
  const DecisionDiagrams& diagrams_;
  std::string path_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::unordered_map<std::uint32_t, int> paths_;
  std::unordered_map<Ref, bool> entered_;
  std::vector<Ref> finished_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

MataClasses distinguish(std::span<const MataFormula> formulas, std::uint32_t variables, std::string_view where) {
  if (variables > kMaxVariables)
    throw LimitError(
        fmt::format("{}: {} in the formulas; the limit is {}", where, counted(variables, "bit"), kMaxVariables));
  MataClasses result;
  result.classes_of.resize(formulas.size());
  DecisionDiagrams diagrams(
      kMaxNodes,
      fmt::format("{}: the bit formulas need a decision diagram of more than {} nodes; the limit protects the "
                  "memory. Split the file or use @NFA-explicit",
                  where, kMaxNodes));
  std::vector<Ref> factors;  // distinct and not false
  std::unordered_map<Ref, std::vector<std::size_t>> formulas_of;
  for (std::size_t i = 0; i < formulas.size(); ++i) {
    const Ref ref = diagram_of(formulas[i], diagrams);
    if (ref == leaf(0)) continue;
    std::vector<std::size_t>& same = formulas_of[ref];
    if (same.empty()) factors.push_back(ref);
    same.push_back(i);
  }
  if (factors.empty()) return result;
  const ProductTree tree(diagrams, factors);
  LeafNamer namer(diagrams, variables);
  namer.walk(tree.root());
  namer.count_paths(tree.root());
  std::vector<Letter> class_of_leaf(namer.order().size() + 1);
  for (const std::uint32_t number : namer.order()) {
    class_of_leaf[number] = static_cast<Letter>(result.names.size());
    result.names.push_back(namer.name(number));
  }
  tree.for_each_class(class_of_leaf, [&](std::size_t factor, Letter letter) {
    for (const std::size_t formula : formulas_of[factors[factor]]) result.classes_of[formula].push_back(letter);
  });
  for (std::vector<Letter>& classes : result.classes_of) std::sort(classes.begin(), classes.end());
  return result;
}

}  // namespace krohn
