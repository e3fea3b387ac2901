#include "krohn/automata/families/families.h"

#include <fmt/format.h>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/permutations/stabiliser_chain.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMaxElementsAsLetters = 120;

std::string label(const PermutationGroup& group) { return group.name().empty() ? "the group" : group.name(); }

Alphabet letters_of(const PermutationGroup& group, std::span<const NamedPermutation> letters, bool with_pause) {
  if (letters.empty())
    throw InputError(fmt::format("{} has no generators here, so there is no alphabet; use \"all\"", label(group)));
  std::vector<std::string> names;
  for (const NamedPermutation& letter : letters) names.push_back(letter.name);
  if (with_pause) names.push_back("pause");
  return Alphabet::from_names(names);
}

/// The elements of a group with the products by each letter, row e, column `letter`.
struct WordProblem {
  GroupElements elements;
  std::vector<ElementIndex> products;
  std::vector<std::string> names;
};

WordProblem tabulate_products(const PermutationGroup& group, std::span<const NamedPermutation> letters,
                              const TableLimit& limit) {
  GroupElements elements = GroupElements::enumerate(group, limit.max_states);
  check_table_size("the word problem of " + label(group), elements.size(), letters.size(), limit);
  std::vector<ElementIndex> factors;
  for (const NamedPermutation& letter : letters) {
    const auto found = elements.find(letter.value);
    if (!found) throw InputError(fmt::format("letter {} is not in {}", letter.name, label(group)));
    factors.push_back(*found);
  }
  std::vector<ElementIndex> products = elements.right_multiplication(factors, limit.max_entries);
  std::vector<std::string> names;
  for (ElementIndex e = 0; e < elements.size(); ++e) names.push_back(elements.name(e));
  return {std::move(elements), std::move(products), std::move(names)};
}

}  // namespace

Dfa word_problem(const PermutationGroup& group, std::span<const NamedPermutation> letters, const TableLimit& limit) {
  Alphabet alphabet = letters_of(group, letters, false);
  WordProblem problem = tabulate_products(group, letters, limit);
  std::vector<Output> outputs(problem.elements.size());
  for (Output e = 0; e < outputs.size(); ++e) outputs[e] = e;
  return Dfa::moore(std::move(alphabet), std::move(problem.products), 0, std::move(outputs), problem.names)
      .with_state_names(problem.names);
}

Dfa identity_problem(const PermutationGroup& group, std::span<const NamedPermutation> letters,
                     const TableLimit& limit) {
  Alphabet alphabet = letters_of(group, letters, false);
  WordProblem problem = tabulate_products(group, letters, limit);
  std::vector<bool> accepting(problem.elements.size(), false);
  accepting[0] = true;
  return Dfa::acceptor(std::move(alphabet), std::move(problem.products), 0, accepting)
      .with_state_names(std::move(problem.names));
}

Dfa point_action(const PermutationGroup& group, std::span<const NamedPermutation> letters, const TableLimit& limit) {
  if (group.degree() == 0) throw InputError(fmt::format("{} acts on no points", label(group)));
  check_table_size("the points of " + label(group), group.degree(), letters.size(), limit);
  std::vector<std::string> names = numerals(std::uint64_t{group.degree()} + 1);
  names.erase(names.begin());  // points are counted from 1
  return tabulate(
      letters_of(group, letters, false), group.degree(), 0,
      [&](State q, Letter letter) { return letters[letter].value[q]; }, [](State q) { return q; }, std::move(names));
}

Dfa delayed_word_problem(const PermutationGroup& group, std::span<const NamedPermutation> letters, std::uint64_t tokens,
                         const TableLimit& limit) {
  if (tokens == 0) throw InputError("tokens=0: a transition takes at least one token");
  Alphabet alphabet = letters_of(group, letters, true);
  const WordProblem problem = tabulate_products(group, letters, limit);
  const std::uint64_t size = problem.elements.size(), count = letters.size(), pending = count + 1;
  const std::uint64_t waiting = saturating_product(saturating_product(tokens - 1, size), pending);
  check_table_size(fmt::format("the word problem of {} with {} per transition", label(group), counted(tokens, "token")),
                   waiting > UINT64_MAX - size ? UINT64_MAX : waiting + size, pending, limit);
  const auto product = [&](std::uint64_t e, std::uint64_t letter) -> std::uint64_t {
    return letter == count ? e : problem.products[e * count + letter];
  };
  // The phase is the number of letters read, modulo `tokens`. In the last phase, the first |G| states, the next letter
  // multiplies; in phase p < tokens − 1 a product waits with its letter in state |G| + (p·|G| + e)·pending + letter.
  const auto wait = [=](std::uint64_t phase, std::uint64_t e, std::uint64_t letter) {
    return size + (phase * size + e) * pending + letter;
  };
  const auto next = [&](State q, Letter letter) -> std::uint64_t {
    if (q < size) return tokens == 1 ? product(q, letter) : wait(0, q, letter);
    const std::uint64_t held = (q - size) % pending, e = (q - size) / pending % size,
                        phase = (q - size) / pending / size;
    return phase + 2 == tokens ? product(e, held) : wait(phase + 1, e, held);
  };
  const std::uint64_t start = tokens == 1 ? 0 : wait(0, 0, count);
  return tabulate(
      std::move(alphabet), size + waiting, static_cast<State>(start), next,
      [&](State q) { return q < size ? q : (q - size) / pending % size; }, problem.names);
}

Dfa full_transformation_monoid(std::uint64_t n, const TableLimit& limit) {
  check_table_size(fmt::format("T{}", n), n, 3, limit);
  std::vector<std::string> letters;
  if (n >= 3) letters.push_back("cycle");
  if (n >= 2) letters.push_back("swap");
  letters.push_back("collapse");
  std::vector<std::string> points = numerals(n + 1);
  points.erase(points.begin());
  return tabulate(
      Alphabet::from_names(letters), n, 0,
      [&](State q, Letter letter) -> std::uint64_t {
        if (letters[letter] == "cycle") return (q + 1) % n;
        if (q >= 2) return q;
        return letters[letter] == "swap" ? 1 - q : 0;
      },
      [](State q) { return q; }, std::move(points));
}

std::string_view default_generating_set(const PermutationGroup& group) {
  return order(group) <= kMaxElementsAsLetters ? "all" : "standard";
}

std::vector<std::string> letter_names(std::uint64_t count) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count; ++i)
    names.push_back(count <= 26 ? std::string(1, static_cast<char>('a' + i)) : fmt::format("a{}", i + 1));
  return names;
}

Dfa random_automaton(std::uint64_t m, std::uint64_t letters, std::uint64_t seed, const TableLimit& limit) {
  check_table_size(fmt::format("random:m={},letters={}", m, letters), m, letters, limit);
  Random random(seed);
  std::vector<bool> accepting(m);
  for (std::uint64_t q = 0; q < m; ++q) accepting[q] = random.below(2) == 1;
  return tabulate_acceptor(
      Alphabet::from_names(letter_names(letters)), m, 0, [&](State, Letter) { return random.below(m); },
      [&](State q) { return accepting[q]; });
}

Dfa random_state_machine(std::uint64_t m, std::uint64_t seed, std::optional<std::uint64_t> initial,
                         const TableLimit& limit) {
  check_table_size(fmt::format("rsm:m={}", m), m + 1, m, limit);
  if (initial && *initial >= m)
    throw InputError(fmt::format("rsm:m={}: initial={} is not a state; states are 0 … {}", m, *initial, m - 1));
  Random random(seed);
  std::vector<Permutation> rows;
  for (std::uint64_t q = 0; q < m; ++q) rows.push_back(random_permutation(static_cast<Point>(m), random));
  const auto next = [&](State q, Letter letter) { return q == m ? letter : rows[q][letter]; };
  std::vector<std::string> outputs = numerals(m);
  const Alphabet alphabet = Alphabet::from_names(outputs);
  if (initial)
    return tabulate(
        alphabet, m, static_cast<State>(*initial), next, [](State q) { return q; }, std::move(outputs));
  outputs.push_back("start");
  return tabulate(
      alphabet, m + 1, static_cast<State>(m), next, [](State q) { return q; }, std::move(outputs));
}

Dfa random_permutation_automaton(std::uint64_t m, std::uint64_t letters, std::uint64_t seed, const TableLimit& limit) {
  check_table_size(fmt::format("permutations:m={},letters={}", m, letters), m, letters, limit);
  Random random(seed);
  std::vector<Permutation> columns;
  for (std::uint64_t letter = 0; letter < letters; ++letter)
    columns.push_back(random_permutation(static_cast<Point>(m), random));
  return tabulate(
      Alphabet::from_names(letter_names(letters)), m, 0, [&](State q, Letter letter) { return columns[letter][q]; },
      [](State q) { return q; }, numerals(m));
}

}  // namespace krohn
