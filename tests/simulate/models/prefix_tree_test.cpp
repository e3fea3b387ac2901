// Prefixes that words share: all small batches by brute force, and what models make of a batch beside its words alone.

#include "krohn/simulate/models/prefix_tree.h"

#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

using Word = std::vector<Letter>;

TrainingBatch batch_of(const std::vector<Word>& words) {
  TrainingBatch batch{.words = static_cast<std::uint32_t>(words.size())};
  for (const Word& word : words) {
    batch.lengths.push_back(static_cast<std::uint32_t>(word.size()));
    batch.positions = std::max(batch.positions, batch.lengths.back());
  }
  batch.letters.assign(std::size_t{batch.positions} * batch.words, 0);
  for (std::size_t w = 0; w < words.size(); ++w)
    for (std::size_t t = 0; t < words[w].size(); ++t) batch.letters[t * words.size() + w] = words[w][t];
  return batch;
}

/// All words of up to three of two letters.
std::vector<Word> small_words() {
  std::vector<Word> words = {{}};
  for (std::size_t i = 0; words[i].size() < 3; ++i)
    for (const Letter letter : {0U, 1U}) {
      Word longer = words[i];
      longer.push_back(letter);
      words.push_back(longer);
    }
  return words;
}

bool is_tree_of(const PrefixTree& tree, const std::vector<Word>& words) {
  std::set<Word> prefixes;
  for (const Word& word : words)
    for (std::size_t length = 1; length <= word.size(); ++length)
      prefixes.insert(Word(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(length)));
  if (tree.size() != prefixes.size()) return false;
  const std::vector<Word> numbers(prefixes.begin(), prefixes.end());
  std::vector<Word> of_node(tree.size());
  for (std::size_t w = 0; w < words.size(); ++w)
    for (std::size_t t = 0; t < words[w].size(); ++t) {
      const std::uint32_t node = tree.node(w, t);
      const Word prefix(words[w].begin(), words[w].begin() + static_cast<std::ptrdiff_t>(t) + 1);
      if (node >= tree.size() || (!of_node[node].empty() && of_node[node] != prefix)) return false;
      of_node[node] = prefix;
      if (node < tree.begin(words[w][t], t) || node >= tree.end(words[w][t], t)) return false;
      if (tree.parent[node] != (t == 0 ? PrefixTree::kRoot : tree.node(w, t - 1))) return false;
    }
  return std::ranges::none_of(of_node, [](const Word& word) { return word.empty(); });
}

/// A dictionary's order, by its definition.
bool is_order_of(const PrefixOrder& order, const std::vector<Word>& words) {
  std::vector<std::uint32_t> expected(words.size());
  std::iota(expected.begin(), expected.end(), 0U);
  std::ranges::stable_sort(expected, [&](std::uint32_t a, std::uint32_t b) { return words[a] < words[b]; });
  if (order.words != expected || order.shared.size() != words.size()) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t shared = 0;
    if (i > 0) {
      const Word &before = words[expected[i - 1]], &own = words[expected[i]];
      while (shared < std::min(before.size(), own.size()) && before[shared] == own[shared]) ++shared;
    }
    if (order.shared[i] != shared) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the order of words that agree up to where a number of 64 bits ends, and beyond") {
  std::mt19937_64 random(5);
  std::size_t batches = 0;
  for (const std::uint64_t greatest :
       {0ULL, 1ULL, 2ULL, 3ULL, 6ULL, 7ULL, 14ULL, 254ULL, 255ULL, 0x7ffffffeULL, 0xfffffffeULL, 0xffffffffULL}) {
    const std::size_t fit = 64 / static_cast<std::size_t>(std::bit_width(greatest + 1));
    CAPTURE(greatest);
    for (int turn = 0; turn < 300; ++turn) {
      // All begin as one word does; lengths and the letter that differs lie around the border.
      Word stem;
      for (std::size_t t = 0; t < fit + 3; ++t) stem.push_back(static_cast<Letter>(random() % (greatest + 1)));
      stem[0] = static_cast<Letter>(greatest);
      std::vector<Word> words;
      for (std::size_t w = 0; w < 1 + random() % 6; ++w) {
        Word word(stem.begin(),
                  stem.begin() + static_cast<std::ptrdiff_t>(fit - std::min<std::size_t>(fit, 2) + random() % 5));
        if (!word.empty() && random() % 2 == 0) {
          const std::size_t at = word.size() - 1 - random() % std::min<std::size_t>(word.size(), 3);
          word[at] = static_cast<Letter>(random() % (greatest + 1));
        }
        words.push_back(word);
      }
      REQUIRE(is_order_of(prefix_order(batch_of(words)), words));
      if (greatest < 255) REQUIRE(is_tree_of(prefix_tree(batch_of(words), greatest + 1), words));
      ++batches;
    }
  }
  CHECK(batches == 3600);
}

TEST_CASE("every batch of three small words is the tree of its prefixes, in an order that shares the most") {
  const std::vector<Word> all = small_words();
  for (const Word& first : all)
    for (const Word& second : all)
      for (const Word& third : all) {
        const std::vector<Word> words = {first, second, third};
        const TrainingBatch batch = batch_of(words);
        REQUIRE(is_tree_of(prefix_tree(batch, 2), words));
        REQUIRE(is_order_of(prefix_order(batch), words));
        const PrefixOrder order = prefix_order(batch);
        std::size_t own = 0;
        for (std::size_t i = 0; i < 3; ++i) {
          const Word& word = words[order.words[i]];
          REQUIRE(order.shared[i] <= word.size());
          if (i > 0)
            REQUIRE(std::equal(word.begin(), word.begin() + order.shared[i], words[order.words[i - 1]].begin()));
          own += word.size() - order.shared[i];
        }
        REQUIRE(own == prefix_tree(batch, 2).size());
      }
  CHECK(prefix_tree(batch_of({}), 3).size() == 0);
}

TEST_CASE("a batch's loss and gradient are those of its words, each read alone") {
  const auto task = make_task("S3/swaps");
  // Words of few letters share their beginnings, and two are the same.
  TrainingBatch batch = draw_batch(*task, {2, 7}, 5, 0, 24);
  for (const char* name :
       {"bilinear:hidden=17,inputs=3,bias,input-bias", "bilinear:hidden=16,inputs=3",
        "bilinear:block=2,hidden=6,inputs=3,bias", "deltaproduct:width=4,heads=2,keys=3,values=5,mlp=3,signed",
        "deltaproduct:width=4,heads=1,keys=3,values=17,reflections=2,mlp=0", "gru:layers=2,hidden=9",
        "lstm:hidden=5,one-hot", "bilinear:hidden=16,inputs=3,scale-free"}) {
    CAPTURE(name);
    const auto model = make_model<double>(name, *task, 9);
    std::vector<double> together(model->parameters().size(), 0), alone = together;
    const BatchLoss loss = model->loss(batch, together);
    double sum = 0;
    std::uint64_t right = 0;
    for (std::uint32_t word = 0; word < batch.words; ++word) {
      TrainingBatch one{1, batch.lengths[word], {}, {batch.lengths[word]}, {}};
      for (std::uint32_t t = 0; t < one.positions; ++t) one.letters.push_back(batch.letters[t * batch.words + word]);
      for (const TrainingBatch::Target& target : batch.targets)
        if (target.word == word) one.targets.push_back({target.position, 0, target.label, target.smoothing});
      std::vector<double> gradient(alone.size(), 0);
      const BatchLoss own = model->loss(one, gradient);
      const double share = static_cast<double>(one.targets.size()) / static_cast<double>(batch.targets.size());
      sum += share * own.loss;
      right += own.right;
      for (std::size_t i = 0; i < gradient.size(); ++i) alone[i] += share * gradient[i];
    }
    CHECK(loss.targets == batch.targets.size());
    CHECK(loss.right == right);
    CHECK(loss.loss == doctest::Approx(sum).epsilon(1e-12));
    double worst = 0;
    for (std::size_t i = 0; i < alone.size(); ++i) worst = std::max(worst, std::abs(together[i] - alone[i]));
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("targets at one prefix that ask for different things all count") {
  const auto task = make_task("parity");
  const auto model = make_model<double>("deltaproduct:width=4,heads=1,keys=3,values=3,mlp=3", *task, 9);
  // Two equal words, whose answers are not the same.
  TrainingBatch batch{2, 1, {0, 0}, {1, 1}, {{0, 0, 0, 0}, {0, 1, 1, 0}}};
  const BatchLoss both = model->loss(batch, {});
  batch.targets[1].label = 0;
  const double zero = model->loss(batch, {}).loss;
  batch.targets[0].label = batch.targets[1].label = 1;
  const double one = model->loss(batch, {}).loss;
  CHECK(both.targets == 2);
  CHECK(both.right == 1);
  CHECK(both.loss == doctest::Approx((zero + one) / 2).epsilon(1e-14));
  CHECK(std::abs(zero - one) > 1e-3);
}
