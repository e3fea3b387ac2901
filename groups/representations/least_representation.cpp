#include "krohn/groups/representations/least_representation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

using Vector = std::vector<std::uint64_t>;
using Basis = std::vector<Vector>;  ///< in reduced echelon form

/// Arithmetic modulo a prime below 2^31.
struct Field {
  std::uint64_t p;
  std::uint64_t power(std::uint64_t x, std::uint64_t n) const { return power_modulo(x, n, p); }
  std::uint64_t inverse(std::uint64_t x) const { return inverse_modulo(x, p); }
  std::uint64_t minus(std::uint64_t x, std::uint64_t y) const { return (x + p - y) % p; }
};

std::size_t pivot_of(const Vector& row) {
  return static_cast<std::size_t>(std::ranges::find_if(row, [](std::uint64_t x) { return x != 0; }) - row.begin());
}

void subtract(const Field& field, Vector& from, std::uint64_t times, const Vector& row) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = field.minus(from[i], times * row[i] % field.p);
}

/// Brings rows to reduced echelon form and drops what depends on the others.
Basis reduced(const Field& field, std::vector<Vector> rows) {
  Basis basis;
  for (Vector& row : rows) {
    for (const Vector& known : basis) subtract(field, row, row[pivot_of(known)], known);
    const std::size_t pivot = pivot_of(row);
    if (pivot == row.size()) continue;
    const std::uint64_t scale = field.inverse(row[pivot]);
    for (std::uint64_t& x : row) x = x * scale % field.p;
    for (Vector& known : basis) subtract(field, known, known[pivot], row);
    basis.push_back(std::move(row));
  }
  return basis;
}

/// The vectors x with M x = 0, M square, row by row.
Basis null_space(const Field& field, std::vector<Vector> matrix) {
  const std::size_t n = matrix.size();
  const Basis rows = reduced(field, std::move(matrix));
  std::vector<std::size_t> pivots;
  for (const Vector& row : rows) pivots.push_back(pivot_of(row));
  Basis result;
  for (std::size_t free = 0; free < n; ++free) {
    if (std::ranges::count(pivots, free) > 0) continue;
    Vector x(n, 0);
    x[free] = 1;
    for (std::size_t i = 0; i < rows.size(); ++i) x[pivots[i]] = field.minus(0, rows[i][free]);
    result.push_back(std::move(x));
  }
  return result;
}

Vector times(const Field& field, const std::vector<Vector>& matrix, const Vector& x) {
  Vector y(matrix.size(), 0);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] = (y[i] + matrix[i][j] * x[j]) % field.p;
  return y;
}

/// The polynomial of least degree that takes the matrix to 0 on x: coefficients from the constant one up.
Vector annihilator(const Field& field, const std::vector<Vector>& matrix, Vector x) {
  const std::size_t n = x.size();
  // Rows are (power of the matrix on x | which combination of powers it is).
  std::vector<Vector> rows;
  for (std::size_t degree = 0; degree <= n; ++degree) {
    Vector row = x;
    row.resize(2 * n + 1, 0);
    row[n + degree] = 1;
    for (const Vector& known : rows) subtract(field, row, row[pivot_of(known)], known);
    if (pivot_of(row) >= n) return {row.begin() + static_cast<std::ptrdiff_t>(n), row.end()};
    const std::uint64_t scale = field.inverse(row[pivot_of(row)]);
    for (std::uint64_t& value : row) value = value * scale % field.p;
    rows.push_back(std::move(row));
    x = times(field, matrix, x);
  }
  throw Error("the powers of a matrix do not repeat");
}

std::vector<std::uint64_t> roots(const Field& field, const Vector& polynomial) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t x = 0; x < field.p; ++x) {
    std::uint64_t value = 0;
    for (auto c = polynomial.rbegin(); c != polynomial.rend(); ++c) value = (value * x + *c) % field.p;
    if (value == 0) found.push_back(x);
  }
  return found;
}

/// The eigenspaces of a matrix that is diagonal in some basis.
std::vector<Basis> eigenspaces(const Field& field, const std::vector<Vector>& matrix, Random& random) {
  const std::size_t n = matrix.size();
  std::vector<Basis> spaces;
  std::set<std::uint64_t> known;
  for (std::size_t found = 0; found < n;) {
    Vector x(n);
    for (std::uint64_t& value : x) value = random.below(field.p);
    for (const std::uint64_t root : roots(field, annihilator(field, matrix, std::move(x)))) {
      if (!known.insert(root).second) continue;
      std::vector<Vector> shifted = matrix;
      for (std::size_t i = 0; i < n; ++i) shifted[i][i] = field.minus(shifted[i][i], root);
      spaces.push_back(null_space(field, std::move(shifted)));
      found += spaces.back().size();
    }
  }
  return spaces;
}

/// The matrix of a map on a space that it keeps; the basis is reduced, so coordinates stand at its pivots.
std::vector<Vector> restricted(const Field& field, const std::vector<Vector>& matrix, const Basis& basis) {
  std::vector<Vector> result(basis.size(), Vector(basis.size()));
  for (std::size_t j = 0; j < basis.size(); ++j) {
    const Vector image = times(field, matrix, basis[j]);
    for (std::size_t i = 0; i < basis.size(); ++i) result[i][j] = image[pivot_of(basis[i])];
  }
  return result;
}

std::vector<Basis> split(const Field& field, const std::vector<Vector>& matrix, const Basis& space, Random& random) {
  std::vector<Basis> parts;
  for (const Basis& part : eigenspaces(field, restricted(field, matrix, space), random)) {
    std::vector<Vector> vectors;
    for (const Vector& coordinates : part) {
      Vector x(space[0].size(), 0);
      for (std::size_t i = 0; i < coordinates.size(); ++i)
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = (x[k] + coordinates[i] * space[i][k]) % field.p;
      vectors.push_back(std::move(x));
    }
    parts.push_back(reduced(field, std::move(vectors)));
  }
  return parts;
}

}  // namespace

CharacterTable CharacterTable::of(const PermutationGroup& group, std::uint64_t max_elements) {
  CharacterTable table(GroupElements::enumerate(group, max_elements));
  table.order_ = table.elements_.size();
  table.find_classes();
  table.find_power_maps();
  table.choose_prime();
  table.find_class_algebra();
  table.find_characters();
  table.check();
  return table;
}

void CharacterTable::find_classes() {
  constexpr std::uint32_t kNone = UINT32_MAX;
  class_of_.assign(elements_.size(), kNone);
  std::vector<std::pair<Permutation, Permutation>> conjugators;
  for (const NamedPermutation& generator : elements_.group().generators())
    conjugators.emplace_back(generator.value.inverse(), generator.value);
  for (ElementIndex first = 0; first < elements_.size(); ++first) {
    if (class_of_[first] != kNone) continue;
    if (classes() == kMaxClasses)
      throw LimitError(fmt::format("the group has more than {} conjugacy classes", kMaxClasses));
    std::vector<ElementIndex> members{first};
    class_of_[first] = classes();
    for (std::size_t i = 0; i < members.size(); ++i) {
      TimeLimit::check();
      const Permutation element = elements_[members[i]];
      for (const auto& [inverse, generator] : conjugators) {
        const ElementIndex next = *elements_.find(inverse * element * generator);
        if (class_of_[next] != kNone) continue;
        class_of_[next] = classes();
        members.push_back(next);
      }
    }
    representatives_.push_back(first);
    sizes_.push_back(members.size());
  }
}

void CharacterTable::find_power_maps() {
  for (const ElementIndex representative : representatives_) {
    const Permutation g = elements_[representative];
    std::vector<std::uint32_t>& powers = powers_.emplace_back(1, 0);
    for (Permutation power = g; !power.is_identity(); power = power * g)
      powers.push_back(class_of_[*elements_.find(power)]);
  }
}

void CharacterTable::choose_prime() {
  std::uint64_t exponent = 1;
  for (std::uint32_t c = 0; c < classes(); ++c) exponent = std::lcm(exponent, element_order(c));
  prime_ = 1;
  do prime_ += exponent;
  while (prime_ < 5 || prime_ * prime_ <= 4 * order_ || !is_prime(prime_));
}

void CharacterTable::find_class_algebra() {
  const std::uint32_t n = classes();
  algebra_.assign(n, std::vector<std::uint64_t>(std::size_t{n} * n, 0));
  std::vector<Permutation> targets;
  for (const ElementIndex representative : representatives_) targets.push_back(elements_[representative]);
  for (ElementIndex x = 0; x < elements_.size(); ++x) {
    TimeLimit::check();
    const Permutation inverse = elements_[x].inverse();
    for (std::uint32_t l = 0; l < n; ++l)
      ++algebra_[class_of_[x]][std::size_t{class_of_[*elements_.find(inverse * targets[l])]} * n + l];
  }
}

void CharacterTable::find_characters() {
  const Field field{prime_};
  const std::uint32_t n = classes();
  std::vector<Vector> identity(n, Vector(n, 0));
  for (std::uint32_t i = 0; i < n; ++i) identity[i][i] = 1;
  std::vector<Basis> spaces{identity};
  Random random(1);
  for (std::uint32_t j = 1; j < n && spaces.size() < n; ++j) {
    TimeLimit::check();
    std::vector<Vector> matrix(n, Vector(n));
    for (std::uint32_t k = 0; k < n; ++k)
      for (std::uint32_t l = 0; l < n; ++l) matrix[k][l] = algebra_[j][std::size_t{k} * n + l] % prime_;
    std::vector<Basis> finer;
    for (Basis& space : spaces) {
      if (space.size() == 1)
        finer.push_back(std::move(space));
      else
        std::ranges::move(split(field, matrix, space, random), std::back_inserter(finer));
    }
    spaces = std::move(finer);
  }
  for (const Basis& space : spaces) {
    // With the identity's entry 1, entry l is the central character: what the sum of class l is multiplied with.
    Vector row = space.at(0);
    const std::uint64_t scale = field.inverse(row[0]);
    std::uint64_t norm = 0;
    for (std::uint64_t& x : row) x = x * scale % prime_;
    for (std::uint32_t c = 0; c < n; ++c)
      norm = (norm + row[c] * row[powers_[c].back()] % prime_ * field.inverse(sizes_[c])) % prime_;
    const std::uint64_t square = order_ % prime_ * field.inverse(norm) % prime_;
    std::uint64_t degree = 1;
    while (degree * degree <= order_ && degree * degree % prime_ != square) ++degree;
    for (std::uint32_t c = 0; c < n; ++c) row[c] = degree * row[c] % prime_ * field.inverse(sizes_[c]) % prime_;
    degrees_.push_back(static_cast<std::uint32_t>(degree));
    characters_.push_back(std::move(row));
  }
}

void CharacterTable::check() const {
  const Field field{prime_};
  const std::uint32_t n = classes();
  const std::set<Vector> different(characters_.begin(), characters_.end());
  std::uint64_t squares = 0;
  for (const std::uint32_t degree : degrees_) squares += std::uint64_t{degree} * degree;
  bool holds = different.size() == n && squares == order_;
  for (std::uint32_t row = 0; holds && row < n; ++row) {
    Vector central(n);
    for (std::uint32_t c = 0; c < n; ++c)
      central[c] = characters_[row][c] * (sizes_[c] % prime_) % prime_ * field.inverse(degrees_[row]) % prime_;
    for (std::uint32_t j = 0; j < n; ++j)
      for (std::uint32_t k = 0; k < n; ++k) {
        std::uint64_t sum = 0;
        for (std::uint32_t l = 0; l < n; ++l)
          sum = (sum + algebra_[j][std::size_t{k} * n + l] % prime_ * central[l]) % prime_;
        holds = holds && sum == central[j] * central[k] % prime_;
      }
  }
  if (!holds) throw Error("a character table fails its check; please report this");
}

std::uint32_t CharacterTable::class_of(const Permutation& element) const {
  const auto index = elements_.find(element);
  if (!index) throw InputError(fmt::format("{} is not in the group", to_string(element)));
  return class_of_[*index];
}

std::uint32_t CharacterTable::fixed_dimension(std::uint32_t row, std::uint32_t c) const {
  std::uint64_t sum = 0;
  for (const std::uint32_t power : powers_[c]) sum = (sum + characters_[row][power]) % prime_;
  return static_cast<std::uint32_t>(sum * Field{prime_}.inverse(powers_[c].size()) % prime_);
}

int CharacterTable::indicator(std::uint32_t row) const {
  std::uint64_t sum = 0;
  for (std::uint32_t c = 0; c < classes(); ++c)
    sum = (sum + sizes_[c] % prime_ * characters_[row][powers_[c][2 % powers_[c].size()]]) % prime_;
  sum = sum * Field{prime_}.inverse(order_) % prime_;
  return sum == 0 ? 0 : sum == 1 ? 1 : -1;
}

std::vector<RealIrreducible> CharacterTable::real_irreducibles() const {
  std::vector<RealIrreducible> result;
  std::set<Vector> conjugates;
  for (std::uint32_t row = 0; row < classes(); ++row) {
    if (conjugates.contains(characters_[row])) continue;
    Vector conjugate(classes());
    for (std::uint32_t c = 0; c < classes(); ++c) conjugate[c] = characters_[row][powers_[c].back()];
    conjugates.insert(std::move(conjugate));
    RealIrreducible real;
    real.indicator = indicator(row);
    const std::uint32_t copies = real.indicator == 1 ? 1 : 2;
    real.dimension = copies * degrees_[row];
    for (std::uint32_t c = 0; c < classes(); ++c) {
      real.moved.push_back(real.dimension - copies * fixed_dimension(row, c));
      if (real.moved.back() == 0) real.kernel |= std::uint64_t{1} << c;
    }
    result.push_back(std::move(real));
  }
  std::ranges::stable_sort(result, [](const RealIrreducible& a, const RealIrreducible& b) {
    return std::pair(a.dimension, ~a.kernel) < std::pair(b.dimension, ~b.kernel);
  });
  return result;
}

namespace {

constexpr std::uint64_t kIdentity = 1;  ///< the kernel that holds class 0 alone

std::uint64_t whole_group(const CharacterTable& table) {
  return table.classes() == 64 ? UINT64_MAX : (std::uint64_t{1} << table.classes()) - 1;
}

/// Sets of irreducibles by increasing index, each of which makes the joint kernel smaller, with at most `most`
/// reflections for any letter.
class ReflectionSearch {
 public:
  ReflectionSearch(const std::vector<RealIrreducible>& blocks, const std::set<std::uint32_t>& letters,
                   std::uint64_t max_steps)
      : blocks_(blocks), letters_(letters), max_steps_(max_steps) {}

  bool find(std::uint64_t kernel, std::uint32_t most) {
    most_ = most;
    failed_.clear();
    chosen_.clear();
    return extend(kernel, 0, std::vector<std::uint32_t>(letters_.size(), 0));
  }

  std::vector<std::uint32_t> dimensions() const {
    std::vector<std::uint32_t> result;
    for (const std::size_t i : chosen_) result.push_back(blocks_[i].dimension);
    return result;
  }

 private:
  bool extend(std::uint64_t kernel, std::size_t from, const std::vector<std::uint32_t>& used) {
    if (kernel == kIdentity) return true;
    if (++steps_ > max_steps_) throw LimitError("too many sets of irreducible representations");
    TimeLimit::check();
    if (!failed_.insert({kernel, from, used}).second) return false;
    for (std::size_t i = from; i < blocks_.size(); ++i) {
      if ((kernel & blocks_[i].kernel) == kernel) continue;
      std::vector<std::uint32_t> more = used;
      bool fits = true;
      std::size_t at = 0;
      for (const std::uint32_t letter : letters_) fits = (more[at++] += blocks_[i].moved[letter]) <= most_ && fits;
      if (!fits) continue;
      chosen_.push_back(i);
      if (extend(kernel & blocks_[i].kernel, i + 1, more)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  struct Place {
    std::uint64_t kernel;
    std::size_t from;
    std::vector<std::uint32_t> used;
    auto operator<=>(const Place&) const = default;
  };

  const std::vector<RealIrreducible>& blocks_;
  const std::set<std::uint32_t>& letters_;
  std::uint64_t max_steps_, steps_ = 0;
  std::uint32_t most_ = 0;
  std::set<Place> failed_;
  std::vector<std::size_t> chosen_;
};

}  // namespace

LeastRepresentation least_faithful_dimension(const CharacterTable& table) {
  const std::vector<RealIrreducible> blocks = table.real_irreducibles();
  // Dijkstra's search over joint kernels.
  std::map<std::uint64_t, LeastRepresentation> best{{whole_group(table), {}}};
  std::set<std::pair<std::uint64_t, std::uint64_t>> queue{{0, whole_group(table)}};
  while (!queue.empty()) {
    TimeLimit::check();
    const auto [dimension, kernel] = *queue.begin();
    queue.erase(queue.begin());
    if (kernel == kIdentity) return best[kernel];
    for (const RealIrreducible& block : blocks) {
      const std::uint64_t smaller = kernel & block.kernel;
      if (smaller == kernel) continue;
      const auto known = best.find(smaller);
      if (known != best.end() && known->second.value <= dimension + block.dimension) continue;
      if (known != best.end()) queue.erase({known->second.value, smaller});
      LeastRepresentation next = best[kernel];
      next.value += block.dimension;
      next.blocks.push_back(block.dimension);
      queue.emplace(next.value, smaller);
      best[smaller] = std::move(next);
    }
  }
  throw Error("no sum of all irreducible representations is faithful; please report this");
}

LeastRepresentation least_reflections(const CharacterTable& table, std::span<const Permutation> letters,
                                      std::uint64_t max_steps) {
  const std::vector<RealIrreducible> blocks = table.real_irreducibles();
  std::set<std::uint32_t> classes;
  for (const Permutation& letter : letters) classes.insert(table.class_of(letter));
  ReflectionSearch search(blocks, classes, max_steps);
  std::uint32_t most = 0;
  while (!search.find(whole_group(table), most)) ++most;
  return {most, search.dimensions()};
}

std::uint64_t least_faithful_dimension(const std::vector<Integer>& invariants) {
  std::uint64_t dimension = 0;
  for (const Integer& d : invariants) dimension += d == 2 ? 1 : 2;
  return dimension;
}

}  // namespace krohn
