#include "krohn/automata/classes/class_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

using Element = SyntacticSemigroup::Element;

/// (pq)^ω and (pq)^ω p, or q and with the other side turned around, each once.
std::vector<std::pair<Element, Element>> loops_with_way(
    const SyntacticSemigroup& semigroup, const std::vector<Element>& there, const std::vector<Element>& back,
    bool way_after, std::map<std::pair<Element, Element>, std::pair<Element, Element>>& of) {
  std::set<std::pair<Element, Element>> found;
  for (const Element p : there) {
    TimeLimit::check();
    for (const Element q : back) {
      const Element loop = semigroup.idempotent_power(semigroup.product(p, q));
      const std::pair<Element, Element> pair{loop, way_after ? semigroup.product(loop, p) : semigroup.product(q, loop)};
      if (found.insert(pair).second) of.emplace(pair, std::make_pair(p, q));
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace

std::optional<std::string> threshold_violation(const SyntacticSemigroup& semigroup) {
  for (const Element e : semigroup.idempotents())
    for (const Element f : semigroup.idempotents()) {
      const std::vector<Element> there = semigroup.between(e, f), back = semigroup.between(f, e);
      for (const Element b : back) {
        TimeLimit::check();
        for (const Element a : there) {
          const Element ab = semigroup.product(a, b);
          for (const Element c : there) {
            if (c >= a) break;
            if (semigroup.product(ab, c) == semigroup.product(semigroup.product(c, b), a)) continue;
            require_witness(is_idempotent_word(semigroup.dfa(), semigroup.word(e)) &&
                                is_idempotent_word(semigroup.dfa(), semigroup.word(f)),
                            "LTT");
            for (const Element way : {a, c}) require_witness(semigroup.run({e, way, f}) == semigroup.run({way}), "LTT");
            require_witness(semigroup.run({f, b, e}) == semigroup.run({b}), "LTT");
            require_witness(semigroup.run({a, b, c}) != semigroup.run({c, b, a}), "LTT");
            return fmt::format(
                "with e = {}, f = {} idempotent, a = {} and c = {} from e to f and b = {} back, abc ≠ cba",
                semigroup.quoted(e), semigroup.quoted(f), semigroup.quoted(a), semigroup.quoted(c),
                semigroup.quoted(b));
          }
        }
      }
    }
  return std::nullopt;
}

std::optional<std::string> dot_depth_one_violation(const SyntacticSemigroup& semigroup) {
  for (const Element e : semigroup.idempotents())
    for (const Element f : semigroup.idempotents()) {
      const std::vector<Element> there = semigroup.between(e, f), back = semigroup.between(f, e);
      std::map<std::pair<Element, Element>, std::pair<Element, Element>> left_of, right_of;
      const auto left = loops_with_way(semigroup, there, back, true, left_of);
      const auto right = loops_with_way(semigroup, there, back, false, right_of);
      for (const auto& [g, way] : left) {
        TimeLimit::check();
        for (const auto& [h, way_back] : right) {
          if (semigroup.product(way, way_back) == semigroup.product(g, h)) continue;
          const auto [a, b] = left_of.at({g, way});
          const auto [c, d] = right_of.at({h, way_back});
          require_witness(is_idempotent_word(semigroup.dfa(), semigroup.word(e)) &&
                              is_idempotent_word(semigroup.dfa(), semigroup.word(f)),
                          "dot-depth one");
          for (const Element x : {a, c})
            require_witness(semigroup.run({e, x, f}) == semigroup.run({x}), "dot-depth one");
          for (const Element x : {b, d})
            require_witness(semigroup.run({f, x, e}) == semigroup.run({x}), "dot-depth one");
          const auto power = [&](Element x, Element y) {
            const Word left = semigroup.word(x), right = semigroup.word(y), once = joined({&left, &right});
            Word all = once;
            while (!is_idempotent_word(semigroup.dfa(), all)) all.insert(all.end(), once.begin(), once.end());
            return all;
          };
          const Word in_a = semigroup.word(a), in_d = semigroup.word(d), left_word = power(a, b),
                     right_word = power(c, d);
          require_witness(images_of_word(semigroup.dfa(), joined({&left_word, &in_a, &in_d, &right_word})) !=
                              images_of_word(semigroup.dfa(), joined({&left_word, &right_word})),
                          "dot-depth one");
          return fmt::format(
              "with e = {}, f = {} idempotent, a = {} and c = {} from e to f, b = {} and d = {} back, "
              "(ab)^ω ad (cd)^ω ≠ (ab)^ω (cd)^ω",
              semigroup.quoted(e), semigroup.quoted(f), semigroup.quoted(a), semigroup.quoted(c), semigroup.quoted(b),
              semigroup.quoted(d));
        }
      }
    }
  return std::nullopt;
}

namespace {

/// The loops w·x at a word x of the map e: what e·w·e are, each with one w.
std::map<Element, Element> long_loops(const SyntacticSemigroup& semigroup, Element e) {
  std::map<Element, Element> loops;
  for (Element w = 0; w < semigroup.size(); ++w) loops.emplace(semigroup.product(semigroup.product(e, w), e), w);
  return loops;
}

bool long_loops_commute(const SyntacticSemigroup& semigroup, Element e, const std::map<Element, Element>& loops) {
  for (const auto& [f, w] : loops) {
    TimeLimit::check();
    const Element fw = semigroup.product(f, w);
    if (semigroup.product(fw, e) != f) return false;
    for (const auto& [g, v] : loops) {
      if (g >= f) break;
      if (semigroup.product(semigroup.product(f, v), e) != semigroup.product(semigroup.product(g, w), e)) return false;
    }
  }
  return true;
}

}  // namespace

bool is_locally_testable_of_order(const SyntacticSemigroup& semigroup, std::uint64_t k) {
  const std::size_t j = k - 1;
  std::map<Element, std::map<Element, Element>> loops_at;
  for (const Element e : semigroup.of_length(j)) {
    const auto entry = loops_at.emplace(e, long_loops(semigroup, e)).first;
    if (!long_loops_commute(semigroup, e, entry->second)) return false;
  }
  // x = (bc)^m b has the period bc: the loop y = bc from the left is p = cb from the right, y·x = x·p.
  std::set<std::array<Element, 3>> seen;
  for (std::size_t period = 1; period < j; ++period) {
    const std::size_t m = j / period, beta = j % period;
    for (const Element b : semigroup.of_length(beta))
      for (const Element c : semigroup.of_length(period - beta)) {
        const Element y = semigroup.product(b, c), p = semigroup.product(c, b);
        Element e = b;
        for (std::size_t i = 0; i < m; ++i) e = semigroup.product(y, e);
        if (!seen.insert({e, y, p}).second) continue;
        TimeLimit::check();
        const Element once = semigroup.product(e, p);
        if (semigroup.product(once, p) != once) return false;
        for (const auto& [f, w] : loops_at.at(e))
          if (semigroup.product(y, f) != semigroup.product(f, p)) return false;
      }
  }
  return true;
}

bool is_dot_depth_one_of_width(const SyntacticSemigroup& semigroup, std::uint64_t k) {
  constexpr std::uint64_t kMaxProducts = 2'000'000;
  std::uint64_t products = 0;
  const auto spend = [&](std::size_t some, std::size_t others) {
    if ((products += std::uint64_t{some} * others) > kMaxProducts)
      throw LimitError(fmt::format("k is not determined: more than {} products", kMaxProducts));
  };
  // Words of k−1 letters, each with the elements that it ends; one that another word ends says nothing new.
  std::vector<std::pair<Element, std::vector<Element>>> ends;
  for (const Element e : semigroup.of_length(k - 1)) {
    if (std::ranges::any_of(ends, [e](const auto& end) { return std::ranges::binary_search(end.second, e); })) continue;
    std::vector<Element> ended = semigroup.between(0, e);
    std::erase_if(ends, [&](const auto& end) { return std::ranges::binary_search(ended, end.first); });
    ends.emplace_back(e, std::move(ended));
  }
  for (const auto& [e, back] : ends)
    for (const auto& [f, there] : ends) {
      spend(2 * there.size(), back.size());
      std::map<std::pair<Element, Element>, std::pair<Element, Element>> of;
      auto left = loops_with_way(semigroup, there, back, true, of),
           right = loops_with_way(semigroup, there, back, false, of);
      if (e == f) left.emplace_back(0, 0), right.emplace_back(0, 0);  // paths on which nothing is read
      spend(left.size(), right.size());
      for (const auto& [g, way] : left) {
        TimeLimit::check();
        for (const auto& [h, way_back] : right)
          if (semigroup.product(e, semigroup.product(way, way_back)) != semigroup.product(e, semigroup.product(g, h)))
            return false;
      }
    }
  return true;
}

}  // namespace krohn
