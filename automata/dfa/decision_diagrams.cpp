#include "krohn/automata/dfa/decision_diagrams.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <unordered_set>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

DecisionDiagrams::DecisionDiagrams(std::size_t max_nodes, std::string too_large)
    : max_nodes_(max_nodes), too_large_(std::move(too_large)) {}

DecisionDiagrams::Ref DecisionDiagrams::make(std::uint32_t variable, Ref low, Ref high) {
  if (low == high) return low;
  const RecordSet::Insertion node = nodes_.insert(std::array{variable, low, high});
  if (node.fresh && nodes_.size() % 4096 == 0) TimeLimit::check();
  if (nodes_.size() > max_nodes_) throw LimitError(too_large_);
  return node.index;
}

DecisionDiagrams::Ref DecisionDiagrams::choose(Ref condition, Ref then, Ref otherwise) {
  if (is_leaf(condition)) return number_of(condition) != 0 ? then : otherwise;
  if (then == otherwise || (then == leaf(1) && otherwise == leaf(0))) return then == otherwise ? then : condition;
  const std::array operands{condition, then, otherwise};
  if (const std::optional<Ref> known = chosen_.find(operands)) return *known;
  const std::uint32_t first = std::min({variable_of(condition), variable_of(then), variable_of(otherwise)});
  const auto of = [&](bool is_true) {
    return choose(child(condition, first, is_true), child(then, first, is_true), child(otherwise, first, is_true));
  };
  const Ref where_false = of(false);
  return chosen_.add(operands, make(first, where_false, of(true)));
}

namespace {

using Ref = DecisionDiagrams::Ref;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// A literal by the name of its proposition, and whether it holds; all of some are a product.
using Product = std::map<std::string, bool>;

/// Reads the name of a letter. Nothing for what is none.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : text_(text) {}

  /// "{a,b}".
  std::optional<std::set<std::string>> valuation() {
    std::set<std::string> holding;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      if (!holding.empty() && !take(',')) return std::nullopt;
      const auto name = proposition();
      if (!name || !holding.insert(*name).second) return std::nullopt;
    }
    return text_.empty() ? std::optional(holding) : std::nullopt;
  }

  /// "a&!b|c".
  std::optional<std::vector<Product>> sum() {
    if (text_ == "true") return std::vector<Product>(1);
    std::vector<Product> products;
    do {
      Product& product = products.emplace_back();
      do {
        const bool holds = !take('!');
        const auto name = proposition();
        if (!name || !product.emplace(*name, holds).second) return std::nullopt;
      } while (take('&'));
    } while (take('|'));
    return text_.empty() ? std::optional(products) : std::nullopt;
  }

 private:
  bool take(char sign) {
    if (!text_.starts_with(sign)) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::optional<std::string> proposition() {
    const bool is_quoted = take('"');
    const std::size_t length =
        is_quoted ? text_.find('"')
                  : static_cast<std::size_t>(std::ranges::find_if_not(text_, is_plain) - text_.begin());
    if (length == 0 || length == std::string_view::npos) return std::nullopt;
    std::string name(text_.substr(0, length));
    text_.remove_prefix(is_quoted ? length + 1 : length);
    return name;
  }

  std::string_view text_;
};

/// The letters of an alphabet as sums of products, if all of them are; those in braces as one, of `propositions`.
std::optional<std::vector<std::vector<Product>>> sums_of(const Alphabet& alphabet, std::set<std::string>& propositions,
                                                         bool are_given) {
  std::vector<std::set<std::string>> valuations;
  std::vector<std::vector<Product>> sums;
  for (const Symbol& symbol : alphabet.symbols()) {
    if (const auto valuation = NameReader(symbol.name).valuation()) {
      valuations.push_back(*valuation);
    } else if (const auto sum = NameReader(symbol.name).sum(); sum && !are_given) {
      sums.push_back(*sum);
      for (const Product& product : *sum)
        for (const auto& [name, holds] : product) propositions.insert(name);
    } else {
      return std::nullopt;
    }
  }
  if (valuations.empty()) return sums;
  if (!sums.empty()) return std::nullopt;
  if (!are_given)
    for (const auto& valuation : valuations) propositions.insert(valuation.begin(), valuation.end());
  for (const auto& valuation : valuations) {
    if (!std::ranges::includes(propositions, valuation)) return std::nullopt;
    Product& product = sums.emplace_back(1).front();
    for (const std::string& name : propositions) product.emplace(name, valuation.contains(name));
  }
  return sums;
}

/// A name of one of the two kinds, and not of the many that no formula gives.
bool may_be_class(const Symbol& symbol) {
  return symbol.name == "true" || symbol.name.starts_with('{') || symbol.name.find('!') != std::string::npos;
}

/// From the diagram of a class's characteristic function to its name.
class Sums {
 public:
  Sums(DecisionDiagrams& diagrams, const std::vector<std::string>& propositions)
      : diagrams_(diagrams), propositions_(propositions) {}

  std::string name(Ref function) {
    if (function == DecisionDiagrams::leaf(1)) return "true";
    std::vector<Cube> cubes;
    if (auto only = cube(function)) {
      cubes.push_back(*std::move(only));
    } else {
      Cube path;
      cover(function, function, path, cubes);
    }
    // By length and then by name, which is from the last variable to the first.
    const auto order = [](const Cube& cube) {
      std::vector<std::pair<std::int64_t, bool>> literals;
      for (auto literal = cube.rbegin(); literal != cube.rend(); ++literal)
        literals.emplace_back(-std::int64_t{literal->first}, literal->second);
      return std::pair(cube.size(), literals);
    };
    std::ranges::sort(cubes, {}, order);
    std::string sum;
    for (const Cube& cube : cubes) {
      if (!sum.empty()) sum += '|';
      std::string product;
      for (auto literal = cube.rbegin(); literal != cube.rend(); ++literal)
        product += (product.empty() ? "" : "&") + std::string(literal->second ? "" : "!") +
                   written_proposition(propositions_[literal->first]);
      sum += product;
    }
    return sum;
  }

 private:
  using Cube = std::vector<std::pair<std::uint32_t, bool>>;

  /// The only product, if the function is one.
  std::optional<Cube> cube(Ref function) const {
    Cube literals;
    while (function != DecisionDiagrams::leaf(1)) {
      const Ref low = diagrams_.low(function), high = diagrams_.high(function);
      const bool holds = low == DecisionDiagrams::leaf(0);
      if (!holds && high != DecisionDiagrams::leaf(0)) return std::nullopt;
      literals.emplace_back(diagrams_.variable_of(function), holds);
      function = holds ? high : low;
    }
    return literals;
  }

  /// Adds cubes, each with the literals of `path` before, that hold wherever `least` does and nowhere but where `most`
  /// does. The function that they add up to.
  Ref cover(Ref least, Ref most, Cube& path, std::vector<Cube>& cubes) {
    constexpr std::size_t kMaxProducts = std::size_t{1} << 16;
    if (least == DecisionDiagrams::leaf(0)) return least;
    if (most == DecisionDiagrams::leaf(1)) {
      cubes.push_back(path);
      if (++products_ > kMaxProducts)
        throw LimitError(fmt::format("the classes of valuations are sums of more than {} products", kMaxProducts));
      return most;
    }
    const std::uint32_t variable = std::min(diagrams_.variable_of(least), diagrams_.variable_of(most));
    const auto side = [&](bool is_true) {
      const Ref other = diagrams_.negation(diagrams_.child(most, variable, !is_true));
      path.emplace_back(variable, is_true);
      const Ref covered = cover(diagrams_.conjunction(diagrams_.child(least, variable, is_true), other),
                                diagrams_.child(most, variable, is_true), path, cubes);
      path.pop_back();
      return covered;
    };
    const Ref where_false = side(false), where_true = side(true);
    const auto rest = [&](bool is_true, Ref covered) {
      return diagrams_.conjunction(diagrams_.child(least, variable, is_true), diagrams_.negation(covered));
    };
    const Ref both =
        cover(diagrams_.disjunction(rest(false, where_false), rest(true, where_true)),
              diagrams_.conjunction(diagrams_.child(most, variable, false), diagrams_.child(most, variable, true)),
              path, cubes);
    return diagrams_.make(variable, diagrams_.disjunction(where_false, both), diagrams_.disjunction(where_true, both));
  }

  DecisionDiagrams& diagrams_;
  const std::vector<std::string>& propositions_;
  std::size_t products_ = 0;
};

/// The nodes of a diagram, and for every node and leaf those that lead to it.
struct Above {
  std::map<Ref, std::vector<Ref>> parents;

  Above(const DecisionDiagrams& diagrams, Ref root) {
    std::vector<Ref> queue{root};
    parents[root];
    for (std::size_t i = 0; i < queue.size(); ++i)
      if (const Ref node = queue[i]; !DecisionDiagrams::is_leaf(node))
        for (const Ref child : {diagrams.low(node), diagrams.high(node)}) {
          const auto [found, is_new] = parents.try_emplace(child);
          found->second.push_back(node);
          if (is_new) queue.push_back(child);
        }
  }

  /// The valuations at which the diagram has this leaf; only nodes above the leaf are visited.
  Ref where(DecisionDiagrams& diagrams, Ref root, Ref leaf) const {
    std::map<Ref, Ref> made{{leaf, DecisionDiagrams::leaf(1)}};
    std::map<std::uint32_t, std::set<Ref>, std::greater<>> by_variable;  // children have larger ones
    const auto add_parents = [&](Ref ref) {
      for (const Ref parent : parents.at(ref)) by_variable[diagrams.variable_of(parent)].insert(parent);
    };
    add_parents(leaf);
    const auto of = [&](Ref child) {
      const auto found = made.find(child);
      return found == made.end() ? DecisionDiagrams::leaf(0) : found->second;
    };
    while (!by_variable.empty()) {
      const auto [variable, nodes] = *by_variable.begin();
      by_variable.erase(by_variable.begin());
      for (const Ref node : nodes) {
        made[node] = diagrams.make(variable, of(diagrams.low(node)), of(diagrams.high(node)));
        add_parents(node);
      }
    }
    return made.at(root);
  }
};

}  // namespace

std::string written_proposition(const std::string& proposition) {
  const bool is_name = proposition != "true" && std::ranges::all_of(proposition, is_plain);
  return is_name ? proposition : "\"" + proposition + "\"";
}

std::shared_ptr<DecisionDiagrams> ValuationClasses::empty_diagrams() {
  constexpr std::size_t kMaxNodes = std::size_t{1} << 26;
  return std::make_shared<DecisionDiagrams>(
      kMaxNodes, fmt::format("functions of valuations need decision diagrams of more than {} nodes", kMaxNodes));
}

std::optional<ValuationClasses> ValuationClasses::of(const Alphabet& alphabet, const ValuationClasses* among) {
  if (std::ranges::none_of(alphabet.symbols(), may_be_class)) return std::nullopt;
  std::set<std::string> propositions;
  if (among != nullptr) propositions.insert(among->propositions.begin(), among->propositions.end());
  const auto sums = sums_of(alphabet, propositions, among != nullptr);
  if (!sums) return std::nullopt;
  ValuationClasses result{ValuationClasses::empty_diagrams(), 0, {propositions.rbegin(), propositions.rend()}};
  DecisionDiagrams& diagrams = *result.diagrams;
  std::vector<Ref> functions;
  for (const std::vector<Product>& sum : *sums) {
    Ref function = DecisionDiagrams::leaf(0);
    for (const Product& product : sum) {
      Ref all = DecisionDiagrams::leaf(1);
      for (const auto& [name, holds] : product) {  // from the last variable to the first
        const auto variable = static_cast<std::uint32_t>(
            std::ranges::lower_bound(result.propositions, name, std::greater<>()) - result.propositions.begin());
        const Ref none = DecisionDiagrams::leaf(0);
        all = diagrams.make(variable, holds ? none : all, holds ? all : none);
      }
      function = diagrams.disjunction(function, all);
    }
    functions.push_back(function);
  }
  // The order matters to a valuation that two letters have; one that no letter has stays without.
  const Ref none = DecisionDiagrams::leaf(alphabet.size());
  Ref first = none, covered = DecisionDiagrams::leaf(0);
  result.classes = none;
  for (Letter letter = 0; letter < functions.size(); ++letter) {
    const Letter other = alphabet.size() - 1 - letter;
    result.classes = diagrams.choose(functions[letter], DecisionDiagrams::leaf(letter), result.classes);
    first = diagrams.choose(functions[other], DecisionDiagrams::leaf(other), first);
    covered = diagrams.disjunction(covered, functions[letter]);
  }
  const bool is_partition = first == result.classes && (among != nullptr || covered == DecisionDiagrams::leaf(1));
  return is_partition ? std::optional(std::move(result)) : std::nullopt;
}

ValuationClasses ValuationClasses::over(std::shared_ptr<DecisionDiagrams> other,
                                        std::vector<std::string> variables) const {
  std::map<std::string, Ref> variable_of;
  for (std::uint32_t i = 0; i < variables.size(); ++i) variable_of[variables[i]] = other->variable(i);
  DecisionDiagrams::Memo done(1);
  const auto copy = [&](const auto& self, Ref ref) -> Ref {
    if (DecisionDiagrams::is_leaf(ref)) return ref;
    if (const auto known = done.find({&ref, 1})) return *known;
    const Ref where_false = self(self, diagrams->low(ref)), where_true = self(self, diagrams->high(ref));
    const Ref variable = variable_of.at(propositions[diagrams->variable_of(ref)]);
    return done.add({&ref, 1}, other->choose(variable, where_true, where_false));
  };
  const Ref copied = copy(copy, classes);
  return {std::move(other), copied, std::move(variables)};
}

std::optional<Letter> ValuationClasses::find(std::string_view valuation) const {
  const auto holding = NameReader(valuation).valuation();
  if (!holding) return std::nullopt;
  for (const std::string& name : *holding)
    if (!std::ranges::binary_search(propositions, name, std::greater<>())) return std::nullopt;
  Ref ref = classes;
  while (!DecisionDiagrams::is_leaf(ref))
    ref = holding->contains(propositions[diagrams->variable_of(ref)]) ? diagrams->high(ref) : diagrams->low(ref);
  return DecisionDiagrams::number_of(ref);
}

std::vector<Letter> ValuationClasses::in_order() const {
  std::vector<Letter> order;
  std::unordered_set<Ref> entered;  // whatever leads to it then leads to nothing new
  const auto walk = [&](const auto& self, Ref ref) -> void {
    if (!entered.insert(ref).second) return;
    if (DecisionDiagrams::is_leaf(ref)) return order.push_back(DecisionDiagrams::number_of(ref));
    self(self, diagrams->low(ref));
    self(self, diagrams->high(ref));
  };
  walk(walk, classes);
  return order;
}

std::vector<std::string> ValuationClasses::names(std::size_t count) const {
  const Above above(*diagrams, classes);
  std::set<std::uint32_t, std::greater<>> variables;  // by name
  for (const auto& [ref, parents] : above.parents)
    if (!DecisionDiagrams::is_leaf(ref)) variables.insert(diagrams->variable_of(ref));
  std::vector<std::string> names(count);
  if (!variables.empty() && variables.size() < 32 && count == std::size_t{1} << variables.size()) {
    const std::vector<std::uint32_t> order(variables.begin(), variables.end());
    std::vector<std::string> literals;
    for (const std::uint32_t variable : order) literals.push_back(written_proposition(propositions[variable]));
    for (std::size_t valuation = 0; valuation < count; ++valuation) {
      Ref ref = classes;
      std::string holding;
      for (std::size_t i = order.size(); i-- > 0;) ref = diagrams->child(ref, order[i], (valuation >> i & 1) != 0);
      for (std::size_t i = 0; i < order.size(); ++i)
        if ((valuation >> i & 1) != 0) holding += (holding.empty() ? "" : ",") + literals[i];
      names[DecisionDiagrams::number_of(ref)] = "{" + holding + "}";
    }
    return names;
  }
  Sums sums(*diagrams, propositions);
  for (std::uint32_t i = 0; i < count; ++i)
    names[i] = sums.name(above.where(*diagrams, classes, DecisionDiagrams::leaf(i)));
  return names;
}

AlphabetRefinement refine(const ValuationClasses& a, Letter letters_of_a, const ValuationClasses& b,
                          Letter letters_of_b) {
  std::set<std::string, std::greater<>> propositions(a.propositions.begin(), a.propositions.end());
  propositions.insert(b.propositions.begin(), b.propositions.end());
  ValuationClasses merged{ValuationClasses::empty_diagrams(), 0, {propositions.begin(), propositions.end()}};
  using Parents = std::pair<Letter, Letter>;
  std::map<Parents, std::uint32_t> numbers;
  const auto decide = [&](const std::vector<Ref>& refs) -> std::optional<Ref> {
    if (!DecisionDiagrams::is_leaf(refs[0]) || !DecisionDiagrams::is_leaf(refs[1])) return std::nullopt;
    const Parents parents(DecisionDiagrams::number_of(refs[0]), DecisionDiagrams::number_of(refs[1]));
    return DecisionDiagrams::leaf(
        numbers.try_emplace(parents, static_cast<std::uint32_t>(numbers.size())).first->second);
  };
  DecisionDiagrams::Memo done(2);
  const std::vector<Ref> both{a.over(merged.diagrams, merged.propositions).classes,
                              b.over(merged.diagrams, merged.propositions).classes};
  merged.classes = merged.diagrams->apply(both, done, decide);
  const std::vector<std::string> names = merged.names(numbers.size());

  AlphabetRefinement result;
  std::vector<std::string> in_order;
  for (const auto& [parents, number] : numbers) {
    if (parents == Parents(letters_of_a, letters_of_b)) continue;
    in_order.push_back(names[number]);
    result.in_a.push_back(parents.first == letters_of_a ? std::nullopt : std::optional(parents.first));
    result.in_b.push_back(parents.second == letters_of_b ? std::nullopt : std::optional(parents.second));
  }
  result.merged = Alphabet::from_names(in_order);
  return result;
}

}  // namespace krohn
