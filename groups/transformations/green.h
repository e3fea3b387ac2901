// groups/transformations/green.h — Green's relations of a monoid of transformations, without enumerating its elements
// (Linton, Pfeiffer, Robertson, Ruškuc 1998; East, Egri-Nagy, Mitchell, Péresse 2019).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "krohn/groups/base/record_set.h"
#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/groups/permutations/stabiliser_chain.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

// The orbit of sets of points under transformations, and its strongly connected
// components.

/// All images of the whole set (and, when asked, of every singleton) under products of the generators. Sets are
/// numbered in breadth-first order; number 0 is the whole set. Strongly connected components are the classes of sets
/// that are images of each other; the sets of one class have the same size, and words that map one onto another are
/// bijections between them.
class SetOrbit {
 public:
  using Index = RecordSet::Index;
  enum class Seeds : std::uint8_t { kWholeSet, kWholeSetAndSingletons };

  /// O(sets · generators · degree). All generators must have degree `degree`; throws InputError when not, LimitError
  /// past `max_sets`, naming `--max-sets`.
  static SetOrbit of(std::span<const Transformation> generators, Point degree, Seeds seeds,
                     std::uint64_t max_sets = 2'000'000);

  Index size() const { return sets_.size(); }
  Point degree() const { return degree_; }
  std::uint32_t generators() const { return generators_; }
  Point cardinality(Index set) const { return cardinality_[set]; }
  bool contains(Index set, Point point) const { return (sets_[set][point / 32] >> (point % 32)) & 1; }
  /// The points of a set, increasing. O(degree).
  std::vector<Point> members(Index set) const;
  /// Is every point of `inner` in `outer`? O(degree/32).
  bool is_subset(Index inner, Index outer) const;
  /// With singletons as seeds: the number of {point}.
  Index singleton(Point point) const { return singleton_[point]; }
  /// The number of a set given by its points, if it is in the orbit.
  std::optional<Index> find(std::span<const Point> points) const;

  /// { p·generator : p ∈ set }.
  Index image(Index set, std::uint32_t generator) const { return image_[std::size_t{set} * generators_ + generator]; }
  /// The strongly connected component; images never have a larger number.
  std::uint32_t class_of(Index set) const { return class_of_[set]; }
  std::uint32_t classes() const { return classes_; }

 private:
  SetOrbit(Point degree, std::uint32_t generators)
      : sets_((std::size_t{degree} + 31) / 32), degree_(degree), generators_(generators) {}
  void close(std::span<const Transformation> generators, std::uint64_t max_sets);

  RecordSet sets_;
  Point degree_;
  std::uint32_t generators_;
  std::uint32_t classes_ = 0;
  std::vector<Point> cardinality_;
  std::vector<Index> image_;
  std::vector<Index> singleton_;
  std::vector<std::uint32_t> class_of_;
};

/// One D-class (= J-class: the monoid is finite). Its egg-box has a row per R-class and a column per L-class; every
/// cell is an H-class with as many elements as the group. In a regular class an L-class is an image set; in others
/// several L-classes may share one.
struct DClass {
  Point rank = 0;  ///< image size of every element
  std::uint64_t r_classes = 0;
  std::uint64_t l_classes = 0;
  PermutationGroup group = PermutationGroup::from_generators(0, {});  ///< Schützenberger group, on `rank` points;
                                                                      ///< the maximal subgroup when regular
  Integer group_order = 1;
  Integer size = 0;  ///< r_classes · l_classes · group_order
  bool regular = false;
  std::uint64_t idempotents = 0;  ///< cells that are groups
  Transformation representative = Transformation::identity(0);
  std::vector<std::uint32_t> word;   ///< a word (generator indices) for `representative`
  std::vector<std::uint32_t> below;  ///< the D-classes that this one covers in the J-order
};

struct GreenOptions {
  std::uint64_t max_r_classes = 2'000'000;  ///< LimitError beyond, naming `--max-classes`
  std::uint64_t max_sets = 2'000'000;       ///< image sets
};

/// The D-classes of the monoid ⟨generators⟩ with its identity. Cost grows with the number of R-classes and image sets,
/// not of elements: T_8 has 16,777,216 elements, 4,140 R-classes and 255 image sets.
class GreenStructure {
 public:
  static GreenStructure of(std::span<const Transformation> generators, Point degree, const GreenOptions& options = {});

  /// D-class 0 holds the identity; the others follow in the order in which left multiplication finds them.
  std::span<const DClass> d_classes() const { return d_classes_; }
  Integer size() const;
  Integer idempotents() const;
  std::uint64_t r_classes() const { return static_cast<std::uint64_t>(reps_.size()); }

  /// The cells of one egg-box: `cells[r][l]` is true when H-class (r, l) contains an idempotent.
  struct EggBox {
    std::vector<std::vector<Point>> kernels;  ///< per row: the kernel class of each point
    std::vector<std::vector<Point>> images;   ///< per column: the image set
    std::vector<std::vector<bool>> cells;
  };
  EggBox egg_box(std::uint32_t d_class) const;

  /// A word whose map lies in row `row` of the egg-box and has the image of column `column`. O(word · sets of the
  /// component).
  std::vector<std::uint32_t> cell_word(std::uint32_t d_class, std::uint32_t row, std::uint32_t column) const;

  /// For a D-class of several R-classes: a generator g such that g · representative lies in another row. Some word
  /// takes that back to the row, and so to the element (stability of finite monoids): the two are L-related.
  std::uint32_t row_changing_generator(std::uint32_t d_class) const;

  /// Words that map the image of `representative` onto itself and generate what the monoid does there: the group of the
  /// class when it is regular. Each comes with its action on the points of the image, in increasing order.
  struct Loop {
    std::vector<std::uint32_t> word;
    Permutation action;
  };
  std::vector<Loop> loops(std::uint32_t d_class) const;
  /// The image of `representative`, increasing.
  const std::vector<Point>& image_of(std::uint32_t d_class) const;

 private:
  using Set = SetOrbit::Index;
  /// An R-class by an element whose image is the root of its component: point p goes to root point `order[kernel[p]]`.
  struct Representative {
    std::uint32_t key = 0;     ///< of (component, kernel) in keys_
    std::uint32_t parent = 0;  ///< the R-class that it was found from …
    std::uint32_t letter = 0;  ///< … by multiplying with this generator from the left …
    Set image = 0;             ///< … giving this image, which a path then took to the root
    std::uint32_t d_class = 0;
    std::vector<Point> order;
  };
  struct Component {
    Set root = 0;
    std::vector<Set> sets;
    std::vector<Point> root_points;
  };

  GreenStructure(std::span<const Transformation> generators, Point degree, const GreenOptions& options);
  void find_paths();
  void find_groups();
  void find_r_classes(const GreenOptions& options);
  void find_d_classes();
  void fill(std::uint32_t d_class);
  void find_order();

  std::vector<Permutation> schutzenberger_generators(const Component& component) const;
  std::vector<Point> image_points(std::span<const Point> images) const;
  /// The R-class of the map `images`, or its number of R-classes when it is new; then `fresh` describes it.
  std::uint32_t locate(std::span<const Point> images, Representative& fresh);
  /// The permutation k of root points with (the map of `order`) = known · k, when their kernels are equal.
  static Permutation quotient(const Representative& known, std::span<const Point> order);
  StabiliserChain two_sided_group(std::span<const std::uint32_t> rows, std::vector<Permutation>& generators);
  void add_right_steps(std::uint32_t d_class, std::vector<std::set<std::uint32_t>>& steps);
  std::vector<Point> element(const Representative& rep) const;
  std::vector<std::uint32_t> word(std::uint32_t r_class) const;
  std::map<Set, std::vector<std::uint32_t>> words_from_root(const Component& component) const;
  void append_path_to_root(Set set, std::vector<std::uint32_t>& word) const;
  std::vector<Point> left_multiple(std::uint32_t generator, std::span<const Point> images) const;
  std::uint32_t component_of(const Representative& rep) const { return keys_[rep.key][0]; }
  std::span<const std::uint32_t> kernel_of(const Representative& rep) const { return keys_[rep.key].subspan(1); }
  bool is_transversal(std::span<const std::uint32_t> kernel, Set image) const;

  std::vector<Transformation> generators_;
  Point degree_;
  SetOrbit orbit_;
  std::vector<Component> components_;       ///< by class of the orbit
  std::vector<Point> to_root_;              ///< set · degree + point ↦ index of its root point along the path
  std::vector<std::uint32_t> path_letter_;  ///< per set: the first letter of its path to the root
  struct Group {
    PermutationGroup group;
    StabiliserChain chain;
    Integer order;
  };
  std::vector<Group> groups_;  ///< by class of the orbit
  RecordSet keys_;
  std::vector<std::vector<std::uint32_t>> reps_of_key_;
  std::vector<Representative> reps_;
  std::vector<std::uint32_t> left_;  ///< r · generators + g ↦ R-class of g · r
  std::vector<DClass> d_classes_;
  std::vector<std::vector<std::uint32_t>> rows_;  ///< per D-class: its R-classes
  std::vector<std::vector<Permutation>> cosets_;  ///< per D-class: what tells the L-classes of one image apart
};

}  // namespace krohn
