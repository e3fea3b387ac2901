#include <Eigen/Core>

#include "krohn/groups/base/decompositions.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/permutation.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/permutations/stabilisers.h"
#include "tests/groups/random_groups.h"
#include "tests/groups/transitive_groups.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

/// Knuth's form of Schreier–Sims (Combinatorica 11, 1991), without chance or cleverness: for every k the group Γ(k) of
/// elements that fix the points k, k+1, …, a transversal of Γ(k) in Γ(k+1) and generators. O(n⁵) products at worst.
class ReferenceStabiliserChain {
 public:
  explicit ReferenceStabiliserChain(const PermutationGroup& group)
      : transversal_(group.degree()), generators_(group.degree()) {
    for (Point k = 0; k < group.degree(); ++k) {
      transversal_[k].resize(k + std::size_t{1});
      transversal_[k][k] = Permutation::identity(group.degree());
    }
    for (const NamedPermutation& generator : group.generators())
      if (!contains(generator.value)) add_generator(transversal_.size() - 1, generator.value);
  }

  Integer order() const {
    Integer product = 1;
    for (const auto& row : transversal_) product *= std::ranges::count_if(row, [](auto& r) { return r.has_value(); });
    return product;
  }
  bool contains(const Permutation& permutation) const { return in_group(permutation, transversal_.size()); }

 private:
  /// Membership in Γ(points).
  bool in_group(Permutation permutation, std::size_t points) const {
    for (std::size_t k = points; k-- > 0;) {
      const auto& representative = transversal_[k][permutation[static_cast<Point>(k)]];
      if (!representative) return false;
      permutation = permutation * representative->inverse();
    }
    return permutation.is_identity();
  }

  /// Knuth's algorithm A: the generator fixes every point past k.
  void add_generator(std::size_t k, const Permutation& generator) {
    generators_[k].push_back(generator);
    for (std::size_t j = 0; j <= k; ++j)
      if (const std::optional<Permutation> representative = transversal_[k][j])
        add_product(k, *representative * generator);
  }

  /// Knuth's algorithm B.
  void add_product(std::size_t k, const Permutation& product) {
    std::optional<Permutation>& representative = transversal_[k][product[static_cast<Point>(k)]];
    if (!representative) {
      representative = product;
      for (std::size_t i = 0; i < generators_[k].size(); ++i) add_product(k, product * Permutation(generators_[k][i]));
      return;
    }
    const Permutation rest = product * representative->inverse();
    if (!in_group(rest, k)) add_generator(k - 1, rest);
  }

  std::vector<std::vector<std::optional<Permutation>>> transversal_;  ///< [k][j]: in Γ(k+1), takes k to j ≤ k
  std::vector<std::vector<Permutation>> generators_;                  ///< [k]: of Γ(k+1)
};

bool is_invariant(const PermutationGroup& group, const BlockSystem& system) {
  for (const NamedPermutation& g : group.generators())
    for (Point p = 0; p < group.degree(); ++p)
      for (Point q = 0; q < group.degree(); ++q)
        if ((system.block_of[p] == system.block_of[q]) != (system.block_of[g.value[p]] == system.block_of[g.value[q]]))
          return false;
  return true;
}

/// Every invariant partition of a few points, by trying all partitions.
std::vector<std::vector<Point>> all_invariant_partitions(const PermutationGroup& group) {
  std::vector<std::vector<Point>> found;
  std::vector<Point> block_of(group.degree(), 0);
  const auto choose = [&](auto&& self, Point point, Point blocks) -> void {
    if (point == group.degree()) {
      if (is_invariant(group, {blocks, block_of})) found.push_back(block_of);
      return;
    }
    for (Point block = 0; block <= blocks; ++block) {
      block_of[point] = block;
      self(self, point + 1, std::max(blocks, block + 1));
    }
  };
  choose(choose, 0, 0);
  return found;
}

}  // namespace

TEST_CASE("every transitive group of degree 2–8: primitive as GAP says") {
  for (const TransitiveGroup& row : transitive_groups()) {
    CAPTURE(row.label);
    CHECK(is_primitive(row.group) == row.primitive);
    CHECK(minimal_block_systems(row.group).empty() == row.primitive);
  }
}

TEST_CASE("minimal block systems are the minimal ones among all invariant partitions") {
  for (const TransitiveGroup& row : transitive_groups()) {
    if (row.group.degree() > 6) continue;
    CAPTURE(row.label);
    const auto all = all_invariant_partitions(row.group);
    const auto finer = [](const std::vector<Point>& a, const std::vector<Point>& b) {
      for (std::size_t p = 0; p < a.size(); ++p)
        for (std::size_t q = 0; q < a.size(); ++q)
          if (a[p] == a[q] && b[p] != b[q]) return false;
      return true;
    };
    const auto trivial = [](const std::vector<Point>& a) {
      const Point blocks = *std::max_element(a.begin(), a.end()) + 1;
      return blocks == 1 || blocks == a.size();
    };
    std::size_t minimal = 0;
    const std::vector<BlockSystem> systems = minimal_block_systems(row.group);
    for (const auto& a : all) {
      if (trivial(a) ||
          std::any_of(all.begin(), all.end(), [&](const auto& b) { return b != a && !trivial(b) && finer(b, a); }))
        continue;
      ++minimal;
      CHECK(std::any_of(systems.begin(), systems.end(), [&](const BlockSystem& s) { return s.block_of == a; }));
    }
    CHECK(systems.size() == minimal);
  }
}

TEST_CASE("block systems of known groups") {
  CHECK(minimal_block_systems(named_group("Z12")).size() == 2);
  CHECK(minimal_block_systems(named_group("V4")).size() == 3);
  CHECK(minimal_block_systems(named_group("S10wrS10")).front().blocks == 10);
  CHECK(order(action_on_blocks(named_group("S4wrS5"), minimal_block_systems(named_group("S4wrS5")).front())) == 120);
  CHECK(is_primitive(named_group("M24")));
  CHECK(is_primitive(named_group("S1")));
  CHECK_FALSE(is_primitive(named_group("Rubik")));
  CHECK_THROWS_AS(minimal_block_systems(named_group("S2xS2")), InputError);
  CHECK_THROWS_AS(finest_block_system(named_group("S3"), 0, 3), InputError);
  // Two orbits of three points that move together: the pairs are a partition too.
  const auto twice = PermutationGroup::from_generators(6, {parse_cycles("(1 2 3)(4 5 6)", 6)});
  CHECK(finest_block_system(twice, 0, 3).blocks == 3);
  CHECK(members(finest_block_system(twice, 0, 3)).front() == std::vector<Point>{0, 3});
}

TEST_CASE("random groups: the finest block system is invariant and joins the points") {
  Random random(59);
  for (int round = 0; round < 100; ++round) {
    const PermutationGroup group = random_group(12, random);
    const auto a = static_cast<Point>(random.below(group.degree())),
               b = static_cast<Point>(random.below(group.degree()));
    const BlockSystem system = finest_block_system(group, a, b);
    CHECK(system.block_of[a] == system.block_of[b]);
    CHECK(is_invariant(group, system));
  }
}

namespace {

/// Independent of cycles: the rank of P − I.
Point codimension_of_fixed_space(const Permutation& p) {
  Eigen::MatrixXd m = -Eigen::MatrixXd::Identity(p.degree(), p.degree());
  for (Point point = 0; point < p.degree(); ++point) m(p[point], point) += 1;
  return static_cast<Point>(numerical_rank(m, 1e-9));
}

}  // namespace

TEST_CASE("cycles are read, multiplied left to right, and printed") {
  CHECK(to_string(parse_cycles("(1 2 3)(4 5)", 5)) == "(1 2 3)(4 5)");
  CHECK(to_string(parse_cycles("(3,1,2)", 4)) == "(1 2 3)");
  CHECK(parse_cycles("()", 3).is_identity());
  CHECK(to_string(parse_cycles("(1 2)(2 3)", 3)) == "(1 3 2)");  // 1→2→3, 2→1, 3→2
}

TEST_CASE("bad cycles are refused with the column") {
  for (const char* text : {"", "(1 2", "1 2", "(1 2 2)", "(6)", "(0 1)", "(1 x)", "(99999999999999999999)"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_cycles(text, 5), InputError);
  }
}

TEST_CASE("reflection length is the codimension of the fixed space") {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const Permutation p = random_permutation(9, random);
    CAPTURE(to_string(p));
    CHECK(p.reflection_length() == codimension_of_fixed_space(p));
  }
}

TEST_CASE("products act first f, then g; inverses and orders agree with repeated products") {
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    const Permutation f = random_permutation(8, random), g = random_permutation(8, random), product = f * g;
    for (Point q = 0; q < 8; ++q) CHECK(product[q] == g[f[q]]);
    CHECK((f * f.inverse()).is_identity());
    Permutation power = f;
    std::uint64_t k = 1;
    for (; !power.is_identity(); ++k) power = power * f;
    CHECK(k == f.order());
  }
}

TEST_CASE("images that are no bijection are refused") {
  CHECK_THROWS_AS(Permutation::from_images({0, 0}), InputError);
  CHECK_THROWS_AS(Permutation::from_images({0, 2}), InputError);
  CHECK_THROWS_AS(Permutation::identity(3) * Permutation::identity(4), InputError);
}

TEST_CASE("orders of large groups are exact") {
  CHECK(order(named_group("M24")) == 244823040);
  CHECK(order(named_group("M12")) == 95040);
  CHECK(order(named_group("Rubik")).str() == "43252003274489856000");
  CHECK(order(named_group("S100")) == factorial(100));
  CHECK(StabiliserChain(named_group("S100")).order() == factorial(100));
  CHECK(order(named_group("A1000")) == factorial(1000) / 2);
  Integer wreath = factorial(10);
  for (int i = 0; i < 10; ++i) wreath *= factorial(10);
  CHECK(order(named_group("S10wrS10")) == wreath);
}

TEST_CASE("giants are found, and nothing else is taken for one") {
  for (const char* name : {"S2", "S3", "A3", "S7", "A7", "S8", "A8", "A9", "S24", "A24", "S1000", "A1001"}) {
    CAPTURE(name);
    const std::optional<Giant> giant = find_giant(named_group(name));
    REQUIRE(giant);
    CHECK(giant->symmetric == (name[0] == 'S'));
    CHECK(std::to_string(giant->points) == name + 1);
  }
  for (const char* name : {"S1", "Z5", "D4", "PSL(2,7)", "PGL(2,7)", "M11", "M12", "M23", "M24", "S5xS5", "S8wrS2",
                           "AGL(1,11)", "Rubik", "Z30"}) {
    CAPTURE(name);
    CHECK_FALSE(find_giant(named_group(name)));
  }
  const auto moved = PermutationGroup::from_generators(
      20, {parse_cycles("(3 5)", 20), parse_cycles("(5 7 9 11)", 20), parse_cycles("(11 13 15 17 19)", 20)});
  REQUIRE(find_giant(moved));
  CHECK(find_giant(moved)->name() == "S_9");
  CHECK(order(moved) == factorial(9));
}

TEST_CASE("random groups: the chain agrees with the deterministic reference") {
  Random random(41);
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const PermutationGroup group = random_group(12, random);
    const StabiliserChain chain(group);
    const ReferenceStabiliserChain reference(group);
    CHECK(chain.order() == reference.order());
    CHECK(order(group) == reference.order());
    for (int i = 0; i < 20; ++i) {
      const Permutation p = random_permutation(group.degree(), random);
      CHECK(chain.contains(p) == reference.contains(p));
      CHECK(reference.contains(chain.random_element(random)));
    }
    if (chain.order() > 5040) continue;
    std::set<std::vector<Point>> base_images;
    for (const Permutation& g : elements_by_closure(group)) {
      CHECK(chain.contains(g));
      std::vector<Point> images;
      for (const Point b : chain.base()) images.push_back(g[b]);
      base_images.insert(images);
    }
    CHECK(base_images.size() == chain.order());
  }
  for (const char* name : {"M11", "M12", "PSL(2,11)", "S4wrS2", "Z2^6", "Q16"}) {
    CAPTURE(name);
    CHECK(ReferenceStabiliserChain(named_group(name)).order() == order(named_group(name)));
  }
}

TEST_CASE("a chain starts with the base that is asked for") {
  const PermutationGroup m12 = named_group("M12");
  const std::vector<Point> first{7, 3, 11};
  const StabiliserChain chain(m12, {.first_base = first});
  const std::vector<Point> base = chain.base();
  CHECK(std::equal(first.begin(), first.end(), base.begin()));
  CHECK(chain.order() == 95040);
  const std::vector<Point> redundant{0, 1, 2, 3, 4};
  CHECK(StabiliserChain(named_group("Z5"), {.first_base = redundant}).base() == redundant);
  const std::vector<Point> twice{1, 1}, outside{12};
  CHECK_THROWS_AS(StabiliserChain(m12, {.first_base = twice}), InputError);
  CHECK_THROWS_AS(StabiliserChain(m12, {.first_base = outside}), InputError);
}

TEST_CASE("stabilisers of points, sets and blocks are what filtering the elements gives") {
  Random random(43);
  for (int round = 0; round < 80; ++round) {
    CAPTURE(round);
    const PermutationGroup group = random_group(7, random);
    std::vector<Point> points;
    for (Point p = 0; p < group.degree(); ++p)
      if (random.below(3) == 0) points.push_back(p);
    random.shuffle(std::span(points));
    const BlockSystem system =
        finest_block_system(group, static_cast<Point>(random.below(group.degree())), group.degree() - 1);
    const auto in_points = [&](Point p) { return std::find(points.begin(), points.end(), p) != points.end(); };
    const StabiliserChain pointwise(pointwise_stabiliser(group, points)), setwise(set_stabiliser(group, points)),
        kernel(kernel_on_blocks(group, system));
    std::size_t fixing = 0, keeping = 0, inside = 0;
    for (const Permutation& g : elements_by_closure(group)) {
      const bool fixes = std::all_of(points.begin(), points.end(), [&](Point p) { return g[p] == p; });
      const bool keeps = std::all_of(points.begin(), points.end(), [&](Point p) { return in_points(g[p]); });
      bool blocks = true;
      for (Point p = 0; p < group.degree(); ++p) blocks = blocks && system.block_of[p] == system.block_of[g[p]];
      CHECK(pointwise.contains(g) == fixes);
      CHECK(setwise.contains(g) == keeps);
      CHECK(kernel.contains(g) == blocks);
      fixing += fixes;
      keeping += keeps;
      inside += blocks;
    }
    CHECK(pointwise.order() == fixing);
    CHECK(setwise.order() == keeping);
    CHECK(kernel.order() == inside);
  }
  CHECK(order(point_stabiliser(named_group("M24"), 5)) == 10200960);
  const std::vector<Point> octad{0, 1, 2};
  CHECK(order(set_stabiliser(named_group("M24"), octad)) == 244823040 / 2024);
  const std::vector<Point> many{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK_THROWS_AS(set_stabiliser(named_group("S20"), many, 1000), LimitError);
}

TEST_CASE("a permutation is the product of its transpositions, and of no fewer: all of up to 7 points") {
  std::uint64_t permutations = 0;
  for (Point degree = 0; degree <= 7; ++degree) {
    std::vector<Point> images(degree);
    std::iota(images.begin(), images.end(), Point{0});
    do {
      const Permutation permutation = Permutation::from_images(images);
      const std::vector<Transposition> swaps = transpositions_of(permutation);
      Permutation product = Permutation::identity(degree);
      bool in_order = true;
      for (const Transposition& swap : swaps) {
        in_order = in_order && swap.first < swap.second;
        product = product * permutation_of(swap, degree);
      }
      if (product != permutation || swaps.size() != permutation.reflection_length() || !in_order) {
        CAPTURE(to_string(permutation));
        FAIL("not its product");
      }
      ++permutations;
    } while (std::ranges::next_permutation(images).found);
  }
  CHECK(permutations == 1 + 1 + 2 + 6 + 24 + 120 + 720 + 5040);
  CHECK(transpositions_of(parse_cycles("(2 5 3)", 5)) == std::vector<Transposition>{{1, 4}, {1, 2}});
}

TEST_CASE("a swap of points that are not there is refused; one point on either side of the last") {
  CHECK(to_string(permutation_of({0, 4}, 5)) == "(1 5)");
  CHECK(permutation_of({2, 2}, 3).is_identity());
  CHECK_THROWS_WITH_AS(permutation_of({0, 5}, 5), doctest::Contains("points 0 and 5 among 5 points"), InputError);
  CHECK_THROWS_AS(permutation_of({5, 0}, 5), InputError);
}
