#include "krohn/automata/monoid/group_witness.h"

#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "krohn/groups/random.h"

namespace krohn {
namespace {

constexpr std::size_t kProducts = 2000;
constexpr std::size_t kRandomProducts = 500;
constexpr std::size_t kMaxWord = 20'000;
constexpr std::size_t kPerPrime = 60;  ///< elements of each prime order that are paired

struct Element {
  Permutation action;
  Word word;
};

Element product(const Element& a, const Element& b) {
  Element result{a.action * b.action, a.word};
  result.word.insert(result.word.end(), b.word.begin(), b.word.end());
  return result;
}

/// Short products first, each once; then, of a group that has more, random ones.
std::vector<Element> some_elements(std::span<const GreenStructure::Loop> loops) {
  std::vector<Element> elements;
  std::set<Permutation> known;
  for (const GreenStructure::Loop& loop : loops)
    if (known.insert(loop.action).second) elements.push_back({loop.action, loop.word});
  const std::size_t generators = elements.size();
  for (std::size_t i = 0; i < elements.size() && elements.size() < kProducts; ++i)
    for (std::size_t g = 0; g < generators; ++g) {
      Element next = product(elements[i], elements[g]);
      if (next.word.size() <= kMaxWord && known.insert(next.action).second) elements.push_back(std::move(next));
    }
  if (elements.size() < kProducts) return elements;
  Random random(1);
  for (std::size_t i = 0; i < kRandomProducts; ++i) {
    Element next = product(elements[random.below(elements.size())], elements[random.below(elements.size())]);
    if (next.word.size() <= kMaxWord) elements.push_back(std::move(next));
  }
  return elements;
}

std::optional<Element> power(const Element& element, std::uint64_t exponent) {
  if (exponent > kMaxWord / element.word.size()) return std::nullopt;
  Element result = element;
  for (std::uint64_t i = 1; i < exponent; ++i) result = product(result, element);
  return result;
}

std::vector<std::uint64_t> primes_of(std::uint64_t n) {
  std::vector<std::uint64_t> primes;
  for (std::uint64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) primes.push_back(p);
    while (n % p == 0) n /= p;
  }
  if (n > 1) primes.push_back(n);
  return primes;
}

}  // namespace

std::optional<Word> odd_word(std::span<const GreenStructure::Loop> loops) {
  for (const Element& element : some_elements(loops)) {
    const std::uint64_t order = element.action.order();
    if ((order & (order - 1)) != 0) return element.word;
  }
  return std::nullopt;
}

std::optional<std::pair<Word, Word>> coprime_words(std::span<const GreenStructure::Loop> loops) {
  std::map<std::uint64_t, std::vector<Element>> of_order;
  for (const Element& element : some_elements(loops)) {
    const std::uint64_t order = element.action.order();
    for (const std::uint64_t p : primes_of(order)) {
      std::vector<Element>& same = of_order[p];
      if (same.size() >= kPerPrime) continue;
      if (auto root = power(element, order / p)) same.push_back(*std::move(root));
    }
  }
  for (const auto& [p, first] : of_order)
    for (const auto& [q, second] : of_order) {
      if (q <= p) continue;
      for (const Element& u : first)
        for (const Element& v : second) {
          const std::uint64_t order = (u.action * v.action).order();
          if (order > 1 && std::gcd(order, p * q) == 1) return std::pair{u.word, v.word};
        }
    }
  return std::nullopt;
}

}  // namespace krohn
