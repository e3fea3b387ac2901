#include "krohn/constructions/smallest/hankel_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "krohn/automata/dfa/graph.h"
#include "krohn/groups/error.h"
#include "krohn/groups/primes.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
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

/// Of a determinant of m rows of zeros and ones: (m+1)^{(m+1)/2} / 2^m.
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
        fmt::format("the Hankel matrix of {} states; at most {} are taken", automaton.states(), max_states));
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

}  // namespace krohn
