#include "krohn/groups/structure/small_groups.h"

#include <doctest/doctest.h>

#include <set>

#include "krohn/groups/error.h"
#include "krohn/groups/names/recognise.h"

using namespace krohn;

TEST_CASE("there are as many groups of each order as the literature counts") {
  // OEIS A000001.
  const std::vector<std::size_t> counts{1,  1, 1, 2, 1, 2, 1, 5, 2,  2, 1, 5, 1, 2, 1,
                                        14, 1, 5, 1, 5, 2, 2, 1, 15, 2, 2, 5, 4, 1, 4};
  for (std::uint32_t order_of_group = 1; order_of_group <= counts.size(); ++order_of_group) {
    CAPTURE(order_of_group);
    const std::vector<PermutationGroup> groups = groups_of_order(order_of_group);
    CHECK(groups.size() == counts[order_of_group - 1]);
    for (const PermutationGroup& group : groups) {
      CHECK(group.degree() == order_of_group);
      CHECK(is_transitive(group));
      CHECK(order(group) == order_of_group);
    }
  }
  CHECK_THROWS_AS(groups_of_order(0), InputError);
  CHECK_THROWS_AS(groups_of_order(32), InputError);
}

TEST_CASE("the groups of order 8 and 12 have their names") {
  const auto names = [](std::uint32_t order_of_group) {
    std::set<std::string> result;
    for (const PermutationGroup& group : groups_of_order(order_of_group)) result.insert(recognised_name(group));
    return result;
  };
  CHECK(names(8) == std::set<std::string>{"Z_8", "Z_2×Z_4", "Z_2^3", "D_4", "Q_8"});
  CHECK(names(12) == std::set<std::string>{"Z_12", "Z_2×Z_6", "A_4", "D_6", "Q_12"});
}
