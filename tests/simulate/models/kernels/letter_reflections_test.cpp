// Reflections by the letters that tokens read: on every instruction set beside states written out letter after letter,
// and gradients beside finite differences of them.

#include "krohn/groups/base/random.h"
#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tests/simulate/models/kernels/lists.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

using Word = std::vector<std::uint32_t>;

struct Drawn {
  std::size_t letters, reflections, keys, values;
  std::vector<Word> words;  ///< in the order of a dictionary
};

/// Numbers in ±scale, the same for every type.
/// Sorted words, with empty and equal ones among them.
std::vector<Word> some_words(std::size_t letters, std::size_t count, std::size_t longest, std::uint64_t seed) {
  Random random(seed);
  std::vector<Word> words;
  for (std::size_t i = 0; i < count; ++i) {
    Word word(random.below(static_cast<unsigned>(longest) + 1));
    for (auto& letter : word) letter = static_cast<std::uint32_t>(random.below(static_cast<unsigned>(letters)));
    words.push_back(word);
    if (i % 5 == 0) words.push_back(word);
  }
  std::ranges::sort(words);
  return words;
}

template <class Real>
struct Lists {
  explicit Lists(const Drawn& from) : drawn_as(from) {
    const std::size_t steps = from.reflections;
    q = drawn<Real>(from.letters * (from.keys + 1), 1);
    k = drawn<Real>(from.letters * (steps * from.keys + 2), 2, 1 / std::sqrt(static_cast<double>(from.keys)));
    v = drawn<Real>(from.letters * steps * from.values, 3);
    beta = drawn<Real>(from.letters * steps, 4);
    for (const Word& word : from.words) positions = std::max(positions, word.size());
    for (std::size_t w = 0; w < from.words.size(); ++w) {
      const Word& word = from.words[w];
      std::size_t common = 0;
      if (w > 0)
        while (common < word.size() && common < from.words[w - 1].size() && word[common] == from.words[w - 1][common])
          ++common;
      path.resize((w + 1) * positions);
      for (std::size_t t = 0; t < word.size(); ++t)
        if (t < common) {
          path[w * positions + t] = path[(w - 1) * positions + t];
        } else {
          path[w * positions + t] = static_cast<std::uint32_t>(source.size());
          source.push_back(word[t]);
        }
      length.push_back(static_cast<std::uint32_t>(word.size()));
      shared.push_back(static_cast<std::uint32_t>(common));
    }
    o.assign(source.size() * from.values, 7);
    by_o = drawn<Real>(o.size(), 5);
  }

  const Drawn& drawn_as;
  std::vector<Real> q, k, v, beta, o, by_o;
  std::vector<std::uint32_t> source, path, length, shared;
  std::size_t positions = 0;
};

/// o, and the gradients by q, k, v and β of Σ by_o · o.
template <class Real>
std::vector<std::vector<double>> by_kernels(const TrainingKernels<Real>& kernels, const Drawn& from) {
  Lists<Real> lists(from);
  LetterReflections<Real> letters{};
  Reflections<Real>& run = letters.run;
  run.words = from.words.size(), run.reflections = from.reflections, run.keys = from.keys, run.values = from.values;
  run.source = lists.source.data(), run.sources = from.letters;
  run.q = lists.q.data(), run.k = lists.k.data(), run.v = lists.v.data(), run.beta = lists.beta.data();
  run.q_row = from.keys + 1, run.k_row = from.reflections * from.keys + 2;
  run.v_row = from.reflections * from.values, run.beta_row = from.reflections;
  run.o = lists.o.data(), run.o_row = from.values, run.lacks_row = run.v_row;
  std::vector<Real> lacks(lists.source.size() * run.lacks_row), befores = lacks;
  run.lacks = lacks.data(), letters.befores = befores.data();
  letters.positions = lists.positions, letters.path = lists.path.data();
  letters.length = lists.length.data(), letters.shared = lists.shared.data();
  std::vector<Real> scratch(letter_reflection_scratch(letters));
  run.scratch = scratch.data();
  kernels.reflect_letters(letters);
  std::vector<Real> by_q(lists.q.size(), 1), by_k(lists.k.size(), 1), by_v(lists.v.size(), 1),
      by_beta(lists.beta.size(), 1);  // what they give is added
  kernels.reflect_letters_adjoint(letters,
                                  {lists.by_o.data(), by_q.data(), by_k.data(), by_v.data(), by_beta.data(), nullptr});
  std::vector<std::vector<double>> result;
  for (const auto& list : {lists.o, by_q, by_k, by_v, by_beta}) result.emplace_back(list.begin(), list.end());
  for (std::size_t i = 1; i < result.size(); ++i)
    for (double& number : result[i]) --number;
  return result;
}

/// Every word from its first letter on, with a state of keys × values; shared tokens are written several times.
std::vector<double> answers(const Lists<double>& lists) {
  const Drawn& from = lists.drawn_as;
  std::vector<double> o(lists.o.size());
  for (std::size_t w = 0; w < from.words.size(); ++w) {
    std::vector<double> state(from.keys * from.values, 0);
    for (std::size_t t = 0; t < from.words[w].size(); ++t) {
      const std::size_t letter = from.words[w][t];
      for (std::size_t j = 0; j < from.reflections; ++j)
        for (std::size_t c = 0; c < from.values; ++c) {
          const double* const k = lists.k.data() + letter * (from.reflections * from.keys + 2) + j * from.keys;
          double lack = lists.v[(letter * from.reflections + j) * from.values + c];
          for (std::size_t i = 0; i < from.keys; ++i) lack -= k[i] * state[i * from.values + c];
          for (std::size_t i = 0; i < from.keys; ++i)
            state[i * from.values + c] += k[i] * lists.beta[letter * from.reflections + j] * lack;
        }
      for (std::size_t c = 0; c < from.values; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < from.keys; ++i)
          sum += lists.q[letter * (from.keys + 1) + i] * state[i * from.values + c];
        o[lists.path[w * lists.positions + t] * from.values + c] = sum;
      }
    }
  }
  return o;
}

std::vector<std::vector<double>> by_differences(const Drawn& from) {
  Lists<double> lists(from);
  const auto of = [&] { return answers(lists); };
  std::vector<std::vector<double>> result = {of()};
  for (std::vector<double>* const list : {&lists.q, &lists.k, &lists.v, &lists.beta})
    result.push_back(slopes(*list, lists.by_o, of));
  return result;
}

}  // namespace

TEST_CASE("reflections by letter are those written out, with words that share their beginnings") {
  std::vector<Drawn> cases = {
      {1, 1, 2, 1, {{0}}},
      {2, 1, 3, 5, some_words(2, 12, 5, 1)},
      {5, 1, 4, 32, some_words(5, 10, 6, 2)},
      {12, 1, 6, 17, some_words(12, 8, 5, 3)},  // the most rows of C
      {3, 2, 4, 33, some_words(3, 9, 4, 4)},
      {2, 6, 8, 3, some_words(2, 6, 3, 5)},
      {2, 1, 3, 4, {{}, {}, {0, 1, 1}, {0, 1, 1}, {0, 1, 1, 0}, {1}}},
      {2, 1, 3, 4, {{0, 0, 0, 1}, {0, 0, 1}, {0, 1, 0, 0}, {0, 1, 0, 0, 1}, {0, 1, 1}, {1, 0}}},
  };
  // As many values as rows: loops of their own.
  for (std::size_t rows = 1; rows <= kMaxLetterRows; ++rows)
    for (std::size_t reflections = 1; reflections <= std::min<std::size_t>(rows, 2); ++reflections)
      if (rows % reflections == 0)
        cases.push_back({rows / reflections, reflections, 3, rows, some_words(rows / reflections, 5, 4, rows)});
  for (const Drawn& from : cases) {
    CAPTURE(from.letters);
    CAPTURE(from.reflections);
    CAPTURE(from.values);
    const auto expected = by_differences(from), exact = by_kernels(training_kernels<double>(), from);
    CHECK(difference({exact[0]}, {expected[0]}) < 1e-13);
    CHECK(difference(exact, expected) < 1e-8);
    for (const InstructionSet set : available_instruction_sets()) {
      CAPTURE(to_string(set));
      CHECK(difference(by_kernels(training_kernels(set), from), exact) < 2e-5);
    }
  }
}
