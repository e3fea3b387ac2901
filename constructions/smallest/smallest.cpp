#include "krohn/constructions/smallest/smallest.h"

#include <fmt/format.h>
#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/constructions/build/architectures.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/groups/representations/least_representation.h"
#include "krohn/groups/structure/composition.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {
namespace {

using Rational = boost::multiprecision::cpp_rational;

constexpr std::size_t kEveryPrecision = 4;
constexpr std::size_t kMaxEntries = 4096;  ///< of a system that is solved exactly

/// True if each of the last columns is a combination of those before the last ones.
bool last_columns_depend(std::vector<std::vector<Rational>> columns, std::size_t questions) {
  std::vector<std::pair<std::size_t, std::size_t>> pivots;  // column, row
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::vector<Rational>& column = columns[j];
    for (const auto& [earlier, row] : pivots) {
      if (column[row] == 0) continue;
      const Rational times = column[row] / columns[earlier][row];
      for (std::size_t i = 0; i < column.size(); ++i) column[i] -= times * columns[earlier][i];
    }
    const auto pivot = std::ranges::find_if(column, [](const Rational& x) { return x != 0; });
    if (pivot == column.end()) continue;
    if (j + questions >= columns.size()) return false;
    pivots.emplace_back(j, static_cast<std::size_t>(pivot - column.begin()));
  }
  return true;
}

/// H_0 comes with its label, and need not be what the label's codeword is.
bool starts_at_codeword(const Layer& layer) {
  for (std::size_t i = 0; i < codeword_count(layer); ++i)
    if (codeword_label(layer, i) == layer.initial_label && codeword(layer, i) == layer.initial) return true;
  return false;
}

/// True if what is shown is a linear function of the codewords of the only layer, or of them and 1.
bool reads_linearly(const Network& network, std::span<const std::uint32_t> shown, bool with_constant) {
  const Layer& layer = network.layers[0];
  if (!starts_at_codeword(layer)) return false;
  if (layer.decoder.unit_copies > 0) return true;
  const std::size_t codes = codeword_count(layer), numbers = std::size_t{layer.dimension} * layer.columns;
  const std::set<std::uint32_t> values(shown.begin(), shown.end());
  if (!layer.decoder.book.empty() || codes * (numbers + values.size()) > kMaxEntries) return false;
  std::vector<std::vector<Rational>> columns(numbers + with_constant + values.size(), std::vector<Rational>(codes));
  for (std::size_t i = 0; i < codes; ++i) {
    const Eigen::MatrixXd code = codeword(layer, i);
    for (std::size_t k = 0; k < numbers; ++k) columns[k][i] = Rational(code.data()[k]);
    if (with_constant) columns[numbers][i] = 1;
    const State state = network.readout.next.at(0).at(codeword_label(layer, i));
    std::size_t at = numbers + with_constant;
    for (const std::uint32_t value : values) columns[at++][i] = state != kNoContext && shown[state] == value ? 1 : 0;
  }
  return last_columns_depend(std::move(columns), values.size());
}

bool is_identity(const Matrix& matrix) {
  const auto* map = std::get_if<MapMatrix>(&matrix);
  return map != nullptr && map->map.is_identity();
}

bool is_diagonal(const Matrix& matrix) {
  return is_identity(matrix) || std::holds_alternative<DiagonalMatrix>(matrix) ||
         std::holds_alternative<ZeroMatrix>(matrix) || std::holds_alternative<RotationBlocks>(matrix);
}

bool is_in_unit_interval(const Matrix& matrix) {
  const auto* diagonal = std::get_if<DiagonalMatrix>(&matrix);
  return is_identity(matrix) || std::holds_alternative<ZeroMatrix>(matrix) ||
         (diagonal != nullptr && std::ranges::all_of(diagonal->values, [](double x) { return x >= 0 && x <= 1; }));
}

PlanSize size_of_plan(const PlanRow& row, const Network& network, std::span<const std::uint32_t> shown) {
  PlanSize size;
  size.construction = row.construction;
  size.layers = row.layers;
  size.numbers = row.state_numbers;
  size.reflections = row.reflections;
  const bool exact = row.exact_in.size() == kEveryPrecision;
  const bool made_for_a_format = row.construction.starts_with("rotation-locked") ||
                                 row.construction.starts_with("rotation-grid") ||
                                 row.construction == "diagonal-unit-circle";
  size.has_finitely_many_values = row.snap_every == 0 && (exact || !made_for_a_format) && !row.wraps_in;
  size.wraps_in = row.wraps_in;
  size.is_diagonal = size.is_in_unit_interval = true;
  for (const Layer& layer : network.layers) {
    size.widest_numbers = std::max(size.widest_numbers, std::uint64_t{layer.dimension} * layer.columns);
    size.widest_labels = std::max(size.widest_labels, std::uint64_t{layer.labels});
    for (const Transition& transition : layer.transitions) {
      size.adds_inputs = size.adds_inputs || (transition.b.size() > 0 && !transition.b.isZero(0));
      size.is_diagonal = size.is_diagonal && is_diagonal(transition.a);
      size.is_in_unit_interval = size.is_in_unit_interval && is_in_unit_interval(transition.a);
    }
  }
  if (network.layers.size() != 1 || !exact) return size;
  size.reads_affinely = reads_linearly(network, shown, true);
  size.reads_linearly = size.reads_affinely && reads_linearly(network, shown, false);
  return size;
}

}  // namespace

std::vector<PlanSize> plan_sizes(const Dfa& automaton, std::span<const std::uint32_t> shown) {
  std::vector<PlanSize> sizes;
  plan(automaton, {},
       [&](const PlanRow& row, const Network& network) { sizes.push_back(size_of_plan(row, network, shown)); });
  return sizes;
}

namespace {

constexpr std::uint64_t kPrimeBelow = std::uint64_t{1} << 31;

using Vector = std::vector<std::uint64_t>;

std::uint64_t prime_below(std::uint64_t n) {
  do --n;
  while (!is_prime(n));
  return n;
}

/// Columns of the matrix, as functions of the state, that are independent modulo a prime and span all others.
class Columns {
 public:
  struct Member {
    std::vector<std::uint8_t> values;  ///< by state
    HankelMinor::Column column;
    State pivot = 0;
  };

  Columns(const Dfa& automaton, std::span<const std::uint32_t> shown, std::uint64_t prime) : prime_(prime) {
    const State n = automaton.states();
    for (const std::uint32_t s : std::set(shown.begin(), shown.end())) {
      std::vector<std::uint8_t> values(n);
      for (State q = 0; q < n; ++q) values[q] = shown[q] == s;
      add(std::move(values), {{}, s});
    }
    for (std::size_t i = 0; i < members_.size() && members_.size() < n; ++i)
      for (Letter letter = 0; letter < automaton.letters() && members_.size() < n; ++letter) {
        TimeLimit::check();
        std::vector<std::uint8_t> values(n);
        for (State q = 0; q < n; ++q) values[q] = members_[i].values[automaton.next(q, letter)];
        HankelMinor::Column column = members_[i].column;
        column.word.insert(column.word.begin(), letter);
        add(std::move(values), std::move(column));
      }
  }

  const std::vector<Member>& members() const { return members_; }

 private:
  void add(std::vector<std::uint8_t> values, HankelMinor::Column column) {
    Vector rest(values.begin(), values.end());
    for (std::size_t k = 0; k < reduced_.size(); ++k) {
      const std::uint64_t times = rest[members_[k].pivot];
      if (times == 0) continue;
      for (std::size_t q = 0; q < rest.size(); ++q) rest[q] = (rest[q] + (prime_ - times) * reduced_[k][q]) % prime_;
    }
    const auto pivot = std::ranges::find_if(rest, [](std::uint64_t x) { return x != 0; });
    if (pivot == rest.end()) return;
    const std::uint64_t scale = inverse_modulo(*pivot, prime_);
    members_.push_back({std::move(values), std::move(column), static_cast<State>(pivot - rest.begin())});
    for (std::uint64_t& x : rest) x = x * scale % prime_;
    reduced_.push_back(std::move(rest));
  }

  std::uint64_t prime_;
  std::vector<Member> members_;
  std::vector<Vector> reduced_;  ///< 1 at the member's pivot, 0 at those of earlier members
};

std::vector<Word> shortest_words(const Dfa& automaton) {
  const ShortestWords shortest(automaton);
  if (shortest.states().size() < automaton.states())
    throw InputError("the rank of the Hankel matrix", "some states cannot be reached; drop them first");
  std::vector<Word> words;
  for (State state = 0; state < automaton.states(); ++state) words.push_back(*shortest.to(state));
  return words;
}

/// For a determinant of m rows of zeros and ones: (m+1)^{(m+1)/2} / 2^m.
double bits_of_hadamard_bound(std::uint64_t m) {
  const auto size = static_cast<double>(m);
  return (size + 1) / 2 * std::log2(size + 1) - size;
}

}  // namespace

Shown outputs_shown(const Dfa& automaton) { return {automaton.outputs().begin(), automaton.outputs().end()}; }

Shown states_shown(const Dfa& automaton) {
  Shown shown(automaton.states());
  std::iota(shown.begin(), shown.end(), 0U);
  return shown;
}

std::uint64_t hankel_rank_modulo(const Dfa& automaton, std::span<const std::uint32_t> shown, std::uint64_t prime) {
  return Columns(automaton, shown, prime).members().size();
}

HankelRank hankel_rank(const Dfa& automaton, std::span<const std::uint32_t> shown, std::uint32_t max_states) {
  if (automaton.states() > max_states)
    throw LimitError(
        fmt::format("the Hankel matrix of {}; at most {} are taken", counted(automaton.states(), "state"), max_states));
  const std::vector<std::vector<Letter>> words = shortest_words(automaton);
  HankelRank result;
  result.modulo_2 = hankel_rank_modulo(automaton, shown, 2);
  double bits = 0;
  for (std::uint64_t prime = prime_below(kPrimeBelow); !result.is_exact; prime = prime_below(prime)) {
    const Columns columns(automaton, shown, prime);
    if (columns.members().size() > result.rank) {
      result.rank = columns.members().size();
      result.minor = {{}, {}, prime};
      for (const Columns::Member& member : columns.members()) {
        result.minor.rows.push_back(words[member.pivot]);
        result.minor.columns.push_back(member.column);
      }
    }
    bits += 30.9;  // less than the binary logarithm of every prime in use
    result.is_exact = result.rank == automaton.states() || bits > bits_of_hadamard_bound(result.rank + 1);
  }
  return result;
}

bool holds(const Dfa& automaton, std::span<const std::uint32_t> shown, const HankelRank& claimed) {
  const HankelMinor& minor = claimed.minor;
  const std::size_t n = minor.rows.size();
  if (n != claimed.rank || minor.columns.size() != n) return false;
  std::vector<Vector> matrix(n, Vector(n));
  for (std::size_t i = 0; i < n; ++i) {
    const State before = automaton.run(minor.rows[i]);
    for (std::size_t j = 0; j < n; ++j)
      matrix[i][j] = shown[automaton.run(minor.columns[j].word, before)] == minor.columns[j].shown ? 1 : 0;
  }
  const std::uint64_t p = minor.prime;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t row = k;
    while (row < n && matrix[row][k] == 0) ++row;
    if (row == n) return false;
    std::swap(matrix[row], matrix[k]);
    const std::uint64_t inverse = inverse_modulo(matrix[k][k], p);
    for (std::size_t i = k + 1; i < n; ++i) {
      const std::uint64_t times = (p - matrix[i][k] * inverse % p) % p;
      for (std::size_t j = k; j < n; ++j) matrix[i][j] = (matrix[i][j] + times * matrix[k][j]) % p;
    }
  }
  return true;
}

namespace {

constexpr std::size_t kMaxPairs = 300;

Permutation on_image(const Transformation& map, const std::vector<Point>& image) {
  std::vector<Point> images;
  for (const Point point : image)
    images.push_back(static_cast<Point>(std::ranges::lower_bound(image, map[point]) - image.begin()));
  return Permutation::from_images(std::move(images));
}

/// The points that the letter moves around for ever.
std::vector<Point> lasting_image(const Transformation& map) {
  Transformation power = map;
  while (power.rank() != (power * map).rank()) power = power * map;
  return power.image_set();
}

LeastNumber of_letter(const Transformation& map, const std::string& name) {
  const std::vector<Point> image = lasting_image(map);
  const bool drops = image.size() < map.degree();
  const std::uint64_t order = on_image(map, image).order();
  const std::uint64_t turns = order == 1 ? 0 : order == 2 ? 1 : 2;
  if (drops && turns == 0) return {1, fmt::format("\"{}\" merges states", name)};
  const std::string moved = fmt::format("has order {}", order);
  if (drops) return {1 + turns, fmt::format("\"{}\" merges states and {} on those left", name, moved)};
  return {turns, fmt::format("\"{}\" {}{}", name, moved, turns > 1 ? ", and a reflection has order 2" : "")};
}

std::uint64_t ceiling(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// How few letters generate the whole group, as far as one and two are tried; otherwise some that do.
std::size_t few_generators(const std::vector<Permutation>& letters, Point degree, const Integer& whole) {
  const auto generates = [&](std::vector<Permutation> some) {
    return order(PermutationGroup::from_generators(degree, std::move(some))) == whole;
  };
  for (const Permutation& a : letters)
    if (generates({a})) return 1;
  std::size_t tried = 0;
  for (std::size_t i = 0; i < letters.size(); ++i)
    for (std::size_t j = 0; j < i && tried < kMaxPairs; ++j, ++tried) {
      TimeLimit::check();
      if (generates({letters[i], letters[j]})) return 2;
    }
  std::vector<Permutation> kept = letters;
  for (std::size_t i = kept.size(); i-- > 0;) {
    std::vector<Permutation> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (generates(fewer)) kept = std::move(fewer);
  }
  return kept.size();
}

/// The least w with |P| dividing w!.
std::uint64_t least_degree(const Integer& order_of_group) {
  std::uint64_t w = 1;
  for (Integer factorial = 1; factorial % order_of_group != 0;) factorial *= ++w;
  return w;
}

/// The least numbers of a layer whose finite groups of matrices have this simple group as a section.
std::uint64_t least_numbers(const CompositionFactor& factor) {
  if (factor.order == 2) return 1;
  if (factor.name.starts_with("Z_")) return 2;
  return factor.name == "A_5" ? 3 : 4;
}

void raise(LeastNumber& least, std::uint64_t value, const std::string& because) {
  if (value > least.value) least = {value, because};
}

}  // namespace

LeastNumber reflections_of_any_layer(const Dfa& automaton) {
  LeastNumber least;
  std::set<Permutation> letters;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) {
    const Transformation map = automaton.letter_map(letter);
    const LeastNumber one = of_letter(map, automaton.alphabet().name(letter));
    raise(least, one.value, one.because);
    if (map.is_permutation() && !map.is_identity()) letters.insert(map.to_permutation());
  }
  if (!automaton.is_permutation_automaton() || letters.empty()) return least;
  const std::vector<Permutation> list(letters.begin(), letters.end());
  const PermutationGroup group = PermutationGroup::from_generators(automaton.states(), list);
  const Integer whole = order(group);
  const std::uint64_t dimension = least_orthogonal_dimension(group, whole);
  if (dimension <= least.value) return least;
  const std::size_t few = few_generators(list, automaton.states(), whole);
  raise(least, ceiling(dimension, few),
        fmt::format("the group needs {}, and {} letter{} generate{} it", counted(dimension, "dimension"), few,
                    few == 1 ? "" : "s", few == 1 ? "s" : ""));
  return least;
}

DivisorBounds divisor_bounds(const Dfa& automaton, const GreenStructure& green) {
  DivisorBounds bounds;
  const bool some = automaton.states() > 1;
  const char* const why = some ? "there are states to tell apart" : "there is nothing to tell apart";
  bounds.labels = {some ? 2U : 1U, why};
  bounds.numbers = {some ? 1U : 0U, why};
  bounds.diagonal = LeastNumber{some ? 1U : 0U, why};
  std::set<std::vector<Permutation>> known;
  for (const DClass& box : green.d_classes()) {
    if (!box.regular || box.group_order == 1 || !known.insert(box.group.generator_values()).second) continue;
    TimeLimit::check();
    bool solvable = true;
    for (const CompositionFactor& factor : composition_factors(box.group)) {
      const std::string because = fmt::format("{} divides the monoid", factor.name);
      raise(bounds.labels, least_degree(factor.order), because);
      raise(bounds.numbers, least_numbers(factor), because);
      solvable = solvable && factor.name.starts_with("Z_");
    }
    if (!solvable) {
      bounds.diagonal.reset();
    } else if (bounds.diagonal) {
      const std::size_t length = derived_series(box.group).size() - 1;
      raise(*bounds.diagonal, length, fmt::format("a group in the monoid has derived length {}", length));
    }
  }
  return bounds;
}

std::optional<LeastNumber> layers_of_resets(const Dfa& automaton, std::uint64_t max_elements) {
  TransformationMonoid::Options options;
  options.max_elements = max_elements;
  const auto monoid = TransformationMonoid::enumerate(letter_maps(automaton), automaton.states(), options);
  if (!monoid.complete()) return std::nullopt;
  if (monoid.size() == 1) return LeastNumber{0, "no letter moves a state"};
  const auto text = [&](TransformationMonoid::Element e) { return automaton.alphabet().format_word(monoid.word(e)); };
  for (TransformationMonoid::Element x = 0; x < monoid.size(); ++x)
    if (!monoid.is_idempotent(x)) return LeastNumber{2, fmt::format("xx ≠ x for x = {}", text(x))};
  for (TransformationMonoid::Element x = 0; x < monoid.size(); ++x)
    for (TransformationMonoid::Element y = 0; y < monoid.size(); ++y) {
      TimeLimit::check();
      const TransformationMonoid::Element yx = monoid.product(y, x);
      if (monoid.product(x, yx) != yx)
        return LeastNumber{2, fmt::format("xyx ≠ yx for x = {}, y = {}", text(x), text(y))};
    }
  return LeastNumber{1, "some letter moves a state"};
}

namespace {

constexpr const char* kNumbers = "numbers of state";
constexpr const char* kReflections = "reflections per letter";
constexpr const char* kLinear = "one layer, no inputs added, read linearly";
constexpr const char* kAffine = "one layer, read linearly";
constexpr const char* kFinite = "one layer, finitely many values, read in any way";
constexpr const char* kRepresentation = "one layer, a matrix for each element of the group";
constexpr const char* kCascade = "cascade of permutations and resets";

class Bounds {
 public:
  Bounds(const Dfa& automaton, std::span<const std::uint32_t> shown, const std::function<void(const Smallest&)>& found)
      : automaton_(automaton), shown_(shown), found_(found), plans_(plan_sizes(automaton, shown)) {}

  Smallest take() {
    attempt("the rank of the Hankel matrix", [this] { add_rank(); });
    add_one_hot();
    attempt("the transition monoid", [this] { add_monoid(); });
    if (automaton_.is_permutation_automaton()) attempt("the characters of the group", [this] { add_representation(); });
    attempt("reflections", [this] { add_reflections(); });
    attempt("cascades", [this] { add_cascades(); });
    attempt("integers", [this] { add_integers(); });
    check();
    return std::move(result_);
  }

 private:
  void attempt(const std::string& what, const std::function<void()>& add) {
    try {
      add();
    } catch (const LimitError& error) {
      result_.limits.push_back(fmt::format("{}: {}", what, error.what()));
    }
    if (found_) found_(result_);
  }

  SizeBound& add(const char* counted, std::string model, LeastNumber least) {
    result_.bounds.push_back({counted, std::move(model), least.value, std::move(least.because), {}, {}});
    return result_.bounds.back();
  }

  static void offer(SizeBound& bound, std::uint64_t count, const std::string& construction) {
    if (bound.built && *bound.built <= count) return;
    bound.built = count;
    bound.construction = construction;
  }

  template <class Fits>
  void offer_numbers(SizeBound& bound, Fits fits) {
    for (const PlanSize& plan : plans_)
      if (plan.layers == 1 && plan.has_finitely_many_values && fits(plan))
        offer(bound, plan.numbers, plan.construction);
  }

  void offer_reflections(SizeBound& bound) {
    for (const PlanSize& plan : plans_)
      if (plan.layers == 1 && plan.has_finitely_many_values && plan.reflections >= 0)
        offer(bound, static_cast<std::uint64_t>(plan.reflections), plan.construction);
  }

  void add_rank() {
    const HankelRank rank = hankel_rank(automaton_, shown_);
    if (!holds(automaton_, shown_, rank)) throw Error("a minor of the Hankel matrix is 0; please report this");
    SizeBound& linear =
        add(kNumbers, kLinear, {rank.rank, fmt::format("the Hankel matrix has rank {} over the rationals", rank.rank)});
    offer_numbers(linear, [](const PlanSize& plan) { return plan.reads_linearly && !plan.adds_inputs; });
    SizeBound& affine =
        add(kNumbers, kAffine, {rank.rank - 1, fmt::format("the rank {} counts the constant 1", rank.rank)});
    offer_numbers(affine, [](const PlanSize& plan) { return plan.reads_affinely; });
    result_.rank = rank;
  }

  void add_one_hot() {
    SizeBound& bound =
        add(kNumbers, "one layer, a unit vector for each state",
            {automaton_.states(), fmt::format("there {} {} state{}", automaton_.states() == 1 ? "is" : "are",
                                              automaton_.states(), automaton_.states() == 1 ? "" : "s")});
    for (const PlanSize& plan : plans_)
      if (plan.construction == "one-hot") offer(bound, plan.numbers, plan.construction);
  }

  void add_monoid() {
    const GreenStructure green = GreenStructure::of(letter_maps(automaton_), automaton_.states());
    const FiniteValuesBound finite = finite_values_bound(automaton_, green);
    // Nothing is claimed beyond its words.
    const bool is_checked = holds(automaton_, finite);
    if (!is_checked)
      result_.limits.push_back(finite.chain.empty()
                                   ? "no words for the idempotents below each other were found within the limits, so "
                                     "that nothing is said of finitely many values"
                                   : "the group at the end of the idempotents is too large for its check, so that "
                                     "nothing is said of finitely many values");
    const std::uint64_t steps = finite.numbers - finite.group_dimension;
    std::string because;
    if (steps > 0) because = fmt::format("idempotents below each other: {}", steps + 1);
    if (finite.group_dimension > 0)
      because += fmt::format("{}the group {} needs {}{}", steps > 0 ? "; " : "", finite.group_name,
                             finite.group_dimension, finite.group_dimension == 4 ? " at least" : "");
    if (because.empty()) because = "nothing is to be told apart";
    if (is_checked) {
      offer_numbers(add(kNumbers, kFinite, {finite.numbers, because}), [](const PlanSize&) { return true; });
      result_.finite_values = finite;
    }
    DivisorBounds divisors = divisor_bounds(automaton_, green);
    widest_labels_ = divisors.labels;
    diagonal_ = divisors.diagonal;
    SizeBound& widest =
        add("numbers of the widest layer", "any number of layers, finitely many values", std::move(divisors.numbers));
    for (const PlanSize& plan : plans_)
      if (plan.has_finitely_many_values) offer(widest, plan.widest_numbers, plan.construction);
    const ComplexityBounds complexity = complexity_bounds(green, automaton_.states());
    group_layers_ = {complexity.lower, fmt::format("Krohn–Rhodes complexity: {}", complexity.lower_by)};
    if (complexity.upper == 0) add_resets();
  }

  void add_resets() {
    const auto layers = layers_of_resets(automaton_);
    if (!layers) return;
    SizeBound& bound = add("layers", "diagonal matrices in [0, 1], finitely many values", *layers);
    for (const PlanSize& plan : plans_)
      if (plan.is_in_unit_interval && plan.has_finitely_many_values) offer(bound, plan.layers, plan.construction);
  }

  void add_representation() {
    std::vector<Permutation> letters;
    for (Letter letter = 0; letter < automaton_.letters(); ++letter)
      letters.push_back(automaton_.letter_map(letter).to_permutation());
    const CharacterTable table = CharacterTable::of(PermutationGroup::from_generators(automaton_.states(), letters));
    const LeastRepresentation least = least_faithful_dimension(table);
    const auto because = [](const LeastRepresentation& representation) {
      return fmt::format("characters: real parts of dimension {}", fmt::join(representation.blocks, " + "));
    };
    offer_numbers(add(kNumbers, kRepresentation, {least.value, because(least)}), [](const PlanSize&) { return true; });
    const LeastRepresentation fewest = least_reflections(table, letters);
    offer_reflections(add(kReflections, kRepresentation, {fewest.value, because(fewest)}));
  }

  void add_reflections() {
    constexpr std::uint64_t kMaxElements = 20'000;
    SizeBound& bound = add(kReflections, kFinite, reflections_of_any_layer(automaton_));
    if (const CrossingSearch search = crossing_idempotents(automaton_, kMaxElements); search.found) {
      bound.is_impossible = true;
      bound.because = to_string(*search.found, automaton_);
    } else {
      offer_reflections(bound);
    }
  }

  void add_cascades() {
    if (!widest_labels_) return;
    std::vector<Cascade> cascades;
    for (const auto& decompose : {std::function([this] { return holonomy_decomposition(automaton_); }),
                                  std::function([this] { return chain_decomposition(automaton_); })})
      attempt("a decomposition", [&] { cascades.push_back(decompose()); });
    SizeBound& labels = add("labels of the widest layer", kCascade, *widest_labels_);
    for (const PlanSize& plan : plans_)
      if (plan.construction.starts_with("cascade-")) offer(labels, plan.widest_labels, plan.construction);
    SizeBound& groups = add("layers with groups", kCascade, *group_layers_);
    for (const Cascade& cascade : cascades) offer(groups, layers_with_groups(cascade), "cascade-" + cascade.method);
    if (!diagonal_) return;
    SizeBound& diagonal = add("layers", "diagonal complex matrices, finitely many values", *diagonal_);
    // Turns that are written for one format have as many layers as exact ones.
    for (const PlanSize& plan : plans_)
      if ((plan.is_diagonal && plan.has_finitely_many_values) || plan.construction == "diagonal-unit-circle")
        offer(diagonal, plan.layers, plan.construction);
  }

  /// N numbers of 8 bits have 256^N values; a group that a type cannot hold (MATH.md §4, Integers) takes more than any.
  void add_integers() {
    const Algebra algebra = analyse_within_limits(automaton_);
    const std::uint64_t least = ceiling(static_cast<std::uint64_t>(std::bit_width(automaton_.states() - 1)), 8);
    for (const IntegerKind& kind : kIntegerKinds) {
      const Verdict& verdict = algebra.verdict(kind.property);
      if (verdict.answer == Answer::kUnknown) throw LimitError(algebra.limit);
      const bool none = verdict.answer == Answer::kNo;
      std::string because = none ? verdict.witness : "256 values each, for " + counted(automaton_.states(), "state");
      SizeBound& bound =
          add(kNumbers, fmt::format("diagonal layers of {} integers of 8 bits", kind.name), {least, because});
      bound.is_impossible = none;
      for (const PlanSize& plan : plans_)
        if (plan.construction == kind.construction || (plan.wraps_in && kind.wraps))
          offer(bound, plan.numbers, plan.construction);
    }
  }

  static std::uint64_t layers_with_groups(const Cascade& cascade) {
    return static_cast<std::uint64_t>(std::ranges::count_if(cascade.layers, [](const CascadeLayer& layer) {
      return std::ranges::any_of(layer.actions,
                                 [](const Transformation& a) { return a.is_permutation() && !a.is_identity(); });
    }));
  }

  void check() const {
    for (const SizeBound& bound : result_.bounds)
      if (bound.built && *bound.built < bound.at_least)
        throw Error(fmt::format("{} ({}): {} builds {}, but {} are proved to be needed; please report this",
                                bound.counted, bound.model, bound.construction, *bound.built, bound.at_least));
  }

  const Dfa& automaton_;
  std::span<const std::uint32_t> shown_;
  const std::function<void(const Smallest&)>& found_;
  std::vector<PlanSize> plans_;
  Smallest result_;
  std::optional<LeastNumber> widest_labels_, group_layers_, diagonal_;
};

}  // namespace

Smallest smallest(const Dfa& automaton, std::span<const std::uint32_t> shown,
                  const std::function<void(const Smallest&)>& found) {
  return Bounds(automaton, shown, found).take();
}

}  // namespace krohn
