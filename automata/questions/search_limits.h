// automata/questions/search_limits.h — what every search does about its limits.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "krohn/automata/questions/questions.h"
#include "krohn/automata/questions/word_tree.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {

/// To be called for every pair that is expanded.
inline void check_limits(const WordTree& tree, const QuestionLimits& limits) {
  TimeLimit::check();
  if (tree.size() > limits.max_pairs)
    throw LimitError(
        fmt::format("the search met more than {} of states; raise --max-pairs", counted(limits.max_pairs, "pair")));
}

/// Goes through the tree by the words' lengths until `found` is a node: every node first moves without a letter, to
/// nodes of the same length, then reads one.
template <class MoveSilently, class ReadLetters>
void by_length(const WordTree& tree, const WordTree::Index& found, MoveSilently move_silently,
               ReadLetters read_letters) {
  for (WordTree::Index begin = 0; begin < tree.size() && found == WordTree::kRoot;) {
    for (WordTree::Index node = begin; node < tree.size(); ++node) move_silently(node);
    const WordTree::Index end = tree.size();
    if (found != WordTree::kRoot) break;
    for (WordTree::Index node = begin; node < end && found == WordTree::kRoot; ++node) read_letters(node);
    begin = end;
  }
}

/// What `search.run()` returns. A limit that it meets also says how far it came.
template <class Search>
DecidingWord run_search(Search& search) {
  try {
    return search.run();
  } catch (const LimitError& error) {
    throw LimitError(fmt::format("{}\nNo word of fewer than {} decides the question.", error.what(),
                                 counted(search.length(), "letter")));
  }
}

/// A yes, or the word to `node`.
inline DecidingWord answer(const WordTree& tree, WordTree::Index node, bool in_first, bool in_second) {
  DecidingWord result;
  result.pairs = tree.size();
  if (node == WordTree::kRoot) return result;
  result.word = tree.word_to(node);
  result.in_first = in_first;
  result.in_second = in_second;
  return result;
}

}  // namespace krohn
