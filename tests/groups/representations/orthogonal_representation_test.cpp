#include "krohn/groups/representations/orthogonal_representation.h"

#include <doctest/doctest.h>

#include <Eigen/Core>

#include "krohn/groups/error.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/group_elements.h"
#include "krohn/groups/representations/irreducible_blocks.h"

using namespace krohn;

namespace {

/// Orthogonal matrices that move codewords as the generators move points, and codewords that tell points apart.
void require_representation(const PermutationGroup& group, const OrthogonalRepresentation& r) {
  const auto n = static_cast<Eigen::Index>(r.dimension());
  REQUIRE(r.generators.size() == group.generators().size());
  double least = 3;
  for (std::size_t i = 0; i < r.codewords.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (r.point_of[i] != r.point_of[j]) least = std::min(least, (r.codewords[i] - r.codewords[j]).norm());
  CHECK(least == doctest::Approx(r.least_distance));
  for (std::size_t g = 0; g < r.generators.size(); ++g) {
    const Eigen::MatrixXd& m = r.generators[g];
    REQUIRE((m * m.transpose() - Eigen::MatrixXd::Identity(n, n)).norm() < 1e-10);
    for (std::size_t i = 0; i < r.codewords.size(); ++i) {
      const Eigen::VectorXd moved = m * r.codewords[i];
      std::size_t nearest = 0;
      for (std::size_t j = 0; j < r.codewords.size(); ++j)
        if ((moved - r.codewords[j]).norm() < (moved - r.codewords[nearest]).norm()) nearest = j;
      REQUIRE((moved - r.codewords[nearest]).norm() < 1e-9);
      REQUIRE(r.point_of[nearest] == group.generators()[g].value[r.point_of[i]]);
    }
  }
}

}  // namespace

TEST_CASE("the smallest separating representations of known groups") {
  struct Fact {
    const char* group;
    std::uint32_t dimension, most_reflections;
    std::size_t codewords;
    double distance;
  };
  for (const Fact& fact : {Fact{"S3", 2, 2, 3, std::sqrt(3.0)},
                           {"S4", 3, 3, 4, std::sqrt(8.0 / 3)},
                           {"S5", 4, 4, 5, std::sqrt(2.5)},
                           {"S6", 5, 5, 6, std::sqrt(2.4)},
                           {"A5", 3, 2, 20, 0.7136441795},  // the edge of a dodecahedron
                           {"D4", 2, 2, 4, std::sqrt(2.0)},
                           {"D8", 2, 2, 8, 0.7653668647},
                           {"Z7", 2, 2, 7, 0.8677674782},
                           {"Q8", 4, 4, 8, std::sqrt(2.0)},
                           {"PSL(3,2)", 6, 6, 7, std::sqrt(7.0 / 3)}}) {
    CAPTURE(fact.group);
    const PermutationGroup group = named_group(fact.group);
    const OrthogonalRepresentation r = smallest_separating_representation(group, 0);
    require_representation(group, r);
    CHECK(r.dimension() == fact.dimension);
    CHECK(*std::max_element(r.reflections.begin(), r.reflections.end()) == fact.most_reflections);
    CHECK(r.codewords.size() == fact.codewords);
    CHECK(r.least_distance == doctest::Approx(fact.distance));
  }
}

TEST_CASE("S_5 on six points needs four dimensions, not five, and 120 codewords") {
  // PGL(2,5) on the projective line: x + 1, 2x, −1/x.
  const auto group = PermutationGroup::from_generators(
      6, {parse_cycles("(1 2 3 4 5)", 6), parse_cycles("(2 3 5 4)", 6), parse_cycles("(1 6)(2 5)", 6)});
  const OrthogonalRepresentation r = smallest_separating_representation(group, 0);
  require_representation(group, r);
  CHECK(r.dimension() == 4);
  CHECK(*std::max_element(r.reflections.begin(), r.reflections.end()) == 4);
  CHECK(r.codewords.size() <= 120);
  CHECK(r.least_distance > 0.36);
}

TEST_CASE("Z_2 × Z_4 in three dimensions") {
  const PermutationGroup group = named_group("Z2xZ4");
  const GroupElements elements = GroupElements::enumerate(group);
  std::vector<Permutation> regular;
  for (std::size_t g = 0; g < group.generators().size(); ++g) {
    std::vector<Point> images;
    for (ElementIndex e = 0; e < elements.size(); ++e) images.push_back(elements.times_generator(e, g));
    regular.push_back(Permutation::from_images(std::move(images)));
  }
  const PermutationGroup acting = PermutationGroup::from_generators(elements.size(), std::move(regular));
  const OrthogonalRepresentation r = smallest_separating_representation(acting, 0);
  require_representation(acting, r);
  CHECK(r.dimension() == 3);
  CHECK(r.codewords.size() == 8);
  CHECK(r.least_distance > 1.13);
}

TEST_CASE("real characters: norm 1, 2 or 4, orthogonal to each other, and as many dimensions as the group allows") {
  for (const char* name : {"S3", "S4", "A5", "Q8", "D5", "Z5", "Z2xZ4"}) {
    CAPTURE(name);
    const PermutationGroup group = named_group(name);
    const GroupElements elements = GroupElements::enumerate(group);
    std::vector<std::vector<double>> characters;
    for (const IrreducibleBlock& block : irreducible_blocks(elements, 400, 1)) characters.push_back(block.character);
    const double size = static_cast<double>(elements.size());
    double regular = 0;
    for (std::size_t i = 0; i < characters.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t e = 0; e < characters[i].size(); ++e) product += characters[i][e] * characters[j][e];
        product /= size;
        if (i != j) {
          CHECK(std::abs(product) < 1e-6);
          continue;
        }
        const double type = std::round(product);
        CHECK(product == doctest::Approx(type));
        CHECK((type == 1 || type == 2 || type == 4));
        regular += characters[i][0] * characters[i][0] / type;
      }
    CHECK(regular == doctest::Approx(size));  // the regular representation holds every block: Σ χ(1)²/⟨χ,χ⟩ = |G|
  }
}

TEST_CASE("limits") {
  RepresentationOptions options;
  options.max_order = 100;
  CHECK_THROWS_AS(smallest_separating_representation(named_group("S5"), 0, options), LimitError);
}
