#include "krohn/groups/transformations/green.h"

#include <fmt/format.h>
#include <boost/dynamic_bitset.hpp>

#include <algorithm>
#include <bit>
#include <cassert>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

void add(std::vector<std::uint32_t>& record, Point point) { record[point / 32] |= 1U << (point % 32); }

}  // namespace

SetOrbit SetOrbit::of(std::span<const Transformation> generators, Point degree, Seeds seeds, std::uint64_t max_sets) {
  if (degree == 0) throw InputError("the orbit of sets needs at least one point");
  for (const Transformation& generator : generators)
    if (generator.degree() != degree)
      throw InputError(fmt::format("a generator of degree {} among those of degree {}", generator.degree(), degree));
  SetOrbit orbit(degree, static_cast<std::uint32_t>(generators.size()));
  std::vector<std::uint32_t> record(orbit.sets_.words(), 0);
  for (Point point = 0; point < degree; ++point) add(record, point);
  orbit.sets_.insert(record);
  if (seeds == Seeds::kWholeSetAndSingletons)
    for (Point point = 0; point < degree; ++point) {
      std::fill(record.begin(), record.end(), 0);
      add(record, point);
      orbit.singleton_.push_back(orbit.sets_.insert(record).index);
    }
  orbit.close(generators, max_sets);
  return orbit;
}

void SetOrbit::close(std::span<const Transformation> generators, std::uint64_t max_sets) {
  std::vector<std::uint32_t> record(sets_.words());
  for (Index set = 0; set < sets_.size(); ++set) {
    TimeLimit::check();
    const std::vector<Point> from = members(set);
    cardinality_.push_back(static_cast<Point>(from.size()));
    for (const Transformation& generator : generators) {
      std::fill(record.begin(), record.end(), 0);
      for (const Point point : from) add(record, generator[point]);
      image_.push_back(sets_.insert(record).index);
      if (sets_.size() > max_sets) throw LimitError(fmt::format("more than {} image sets; raise --max-sets", max_sets));
    }
  }
  class_of_ = strong_components(sets_.size(), generators_, image_);
  for (const std::uint32_t number : class_of_) classes_ = std::max(classes_, number + 1);
}

std::vector<Point> SetOrbit::members(Index set) const {
  std::vector<Point> points;
  const RecordSet::Record record = sets_[set];
  for (std::size_t i = 0; i < record.size(); ++i)
    for (std::uint32_t word = record[i]; word != 0; word &= word - 1)
      points.push_back(static_cast<Point>(32 * i) + static_cast<Point>(std::countr_zero(word)));
  return points;
}

bool SetOrbit::is_subset(Index inner, Index outer) const {
  const RecordSet::Record a = sets_[inner], b = sets_[outer];
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] & ~b[i]) return false;
  return true;
}

std::optional<SetOrbit::Index> SetOrbit::find(std::span<const Point> points) const {
  std::vector<std::uint32_t> record(sets_.words(), 0);
  for (const Point point : points) add(record, point);
  return sets_.find(record);
}

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// Names the classes of equal values by first appearance; `order` receives the value of each class.
std::vector<std::uint32_t> kernel_of_values(std::span<const Point> values, std::vector<Point>& order) {
  std::vector<std::uint32_t> kernel(values.size());
  std::vector<std::uint32_t> number(values.size(), kNone);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t& name = number[values[i]];
    if (name == kNone) {
      name = static_cast<std::uint32_t>(order.size());
      order.push_back(values[i]);
    }
    kernel[i] = name;
  }
  return kernel;
}

/// One element of every coset chain · t inside the group that `generators` and the chain's group generate.
std::vector<Permutation> right_cosets(const StabiliserChain& chain, const std::vector<Permutation>& generators) {
  std::vector<Permutation> cosets{chain.least_in_right_coset(Permutation::identity(chain.degree()))};
  std::set<Permutation> known(cosets.begin(), cosets.end());
  for (std::size_t i = 0; i < cosets.size(); ++i)
    for (const Permutation& generator : generators) {
      TimeLimit::check();
      const Permutation next = chain.least_in_right_coset(cosets[i] * generator);
      if (known.insert(next).second) cosets.push_back(next);
    }
  return cosets;
}

/// The transitive reduction of an acyclic relation.
std::vector<std::vector<std::uint32_t>> covering_relation(const std::vector<std::set<std::uint32_t>>& steps) {
  const std::size_t count = steps.size();
  std::vector<boost::dynamic_bitset<>> reach(count);
  // Depth first with an explicit stack: a node's reach is complete when it is left.
  std::vector<std::uint32_t> stack;
  for (std::uint32_t start = 0; start < count; ++start) {
    stack.push_back(start);
    while (!stack.empty()) {
      TimeLimit::check();
      const std::uint32_t d = stack.back();
      const std::size_t before = stack.size();
      for (const std::uint32_t e : steps[d])
        if (reach[e].empty()) stack.push_back(e);
      if (stack.size() > before) continue;
      stack.pop_back();
      if (!reach[d].empty()) continue;
      reach[d].resize(count);
      for (const std::uint32_t e : steps[d]) {
        reach[d] |= reach[e];
        reach[d].set(e);
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> covers(count);
  for (std::uint32_t d = 0; d < count; ++d) {
    boost::dynamic_bitset<> indirect(count);
    for (const std::uint32_t e : steps[d]) indirect |= reach[e];
    for (const std::uint32_t e : steps[d])
      if (!indirect.test(e)) covers[d].push_back(e);
  }
  return covers;
}

}  // namespace

GreenStructure GreenStructure::of(std::span<const Transformation> generators, Point degree,
                                  const GreenOptions& options) {
  GreenStructure structure(generators, degree, options);
  structure.find_paths();
  structure.find_groups();
  structure.find_r_classes(options);
  structure.find_d_classes();
  return structure;
}

GreenStructure::GreenStructure(std::span<const Transformation> generators, Point degree, const GreenOptions& options)
    : generators_(generators.begin(), generators.end()),
      degree_(degree),
      orbit_(SetOrbit::of(generators, degree, SetOrbit::Seeds::kWholeSet, options.max_sets)),
      components_(orbit_.classes()),
      keys_(std::size_t{degree} + 1) {}

/// In every component, paths from each set to the root, found backwards from the root.
void GreenStructure::find_paths() {
  // The largest array of all: filled bit by bit, so that a limit of memory is noticed before all of it is there.
  to_root_.reserve(std::size_t{orbit_.size()} * degree_);
  path_letter_.assign(orbit_.size(), kNone);
  std::vector<std::vector<std::pair<Set, std::uint32_t>>> arrivals(orbit_.size());
  for (Set set = 0; set < orbit_.size(); ++set) {
    to_root_.resize(to_root_.size() + degree_, 0);
    TimeLimit::check();
    Component& component = components_[orbit_.class_of(set)];
    if (component.sets.empty()) component.root = set;
    component.sets.push_back(set);
    for (std::uint32_t g = 0; g < orbit_.generators(); ++g)
      if (orbit_.class_of(orbit_.image(set, g)) == orbit_.class_of(set))
        arrivals[orbit_.image(set, g)].push_back({set, g});
  }
  for (Component& component : components_) {
    component.root_points = orbit_.members(component.root);
    for (std::size_t i = 0; i < component.root_points.size(); ++i)
      to_root_[std::size_t{component.root} * degree_ + component.root_points[i]] = static_cast<Point>(i);
    std::vector<Set> queue{component.root};
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const auto& [from, g] : arrivals[queue[i]]) {
        if (from == component.root || path_letter_[from] != kNone) continue;
        path_letter_[from] = g;
        for (const Point point : orbit_.members(from))
          to_root_[std::size_t{from} * degree_ + point] =
              to_root_[std::size_t{queue[i]} * degree_ + generators_[g][point]];
        queue.push_back(from);
      }
  }
}

/// The maps of loops at the root: P's inverse path, a letter inside the component, the path back.
std::vector<Permutation> GreenStructure::schutzenberger_generators(const Component& component) const {
  std::set<std::vector<Point>> distinct;
  std::vector<Point> images(component.root_points.size());
  for (const Set set : component.sets) {
    TimeLimit::check();
    const std::vector<Point> points = orbit_.members(set);
    for (std::uint32_t g = 0; g < orbit_.generators(); ++g) {
      const Set to = orbit_.image(set, g);
      if (orbit_.class_of(to) != orbit_.class_of(set)) continue;
      for (const Point point : points)
        images[to_root_[std::size_t{set} * degree_ + point]] =
            to_root_[std::size_t{to} * degree_ + generators_[g][point]];
      distinct.insert(images);
    }
  }
  std::vector<Permutation> result;
  for (const std::vector<Point>& permutation : distinct) {
    Permutation value = Permutation::from_images(permutation);
    if (!value.is_identity()) result.push_back(std::move(value));
  }
  return result;
}

void GreenStructure::find_groups() {
  for (Component& component : components_) {
    PermutationGroup group = PermutationGroup::from_generators(static_cast<Point>(component.root_points.size()),
                                                               schutzenberger_generators(component));
    StabiliserChain chain(group);
    Integer order = chain.order();
    groups_.push_back({std::move(group), std::move(chain), std::move(order)});
  }
}

std::vector<Point> GreenStructure::image_points(std::span<const Point> images) const {
  std::vector<bool> hit(degree_, false);
  for (const Point image : images) hit[image] = true;
  std::vector<Point> points;
  for (Point point = 0; point < degree_; ++point)
    if (hit[point]) points.push_back(point);
  return points;
}

Permutation GreenStructure::quotient(const Representative& known, std::span<const Point> order) {
  std::vector<Point> images(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) images[known.order[i]] = order[i];
  return Permutation::from_images(std::move(images));
}

std::uint32_t GreenStructure::locate(std::span<const Point> images, Representative& fresh) {
  const std::optional<Set> image = orbit_.find(image_points(images));
  assert(image.has_value());  // every image of an element is an image of the whole set
  const std::uint32_t component = orbit_.class_of(*image);
  std::vector<Point> rooted(degree_);
  for (Point point = 0; point < degree_; ++point)
    rooted[point] = to_root_[std::size_t{*image} * degree_ + images[point]];
  fresh.order.clear();
  std::vector<std::uint32_t> record = kernel_of_values(rooted, fresh.order);
  record.insert(record.begin(), component);
  fresh.key = keys_.insert(record).index;
  fresh.image = *image;
  if (fresh.key == reps_of_key_.size()) reps_of_key_.emplace_back();
  for (const std::uint32_t known : reps_of_key_[fresh.key])
    if (groups_[component].chain.contains(quotient(reps_[known], fresh.order))) return known;
  return static_cast<std::uint32_t>(reps_.size());
}

std::vector<Point> GreenStructure::element(const Representative& rep) const {
  const std::vector<Point>& root = components_[component_of(rep)].root_points;
  const std::span<const std::uint32_t> kernel = kernel_of(rep);
  std::vector<Point> images(degree_);
  for (Point point = 0; point < degree_; ++point) images[point] = root[rep.order[kernel[point]]];
  return images;
}

std::vector<Point> GreenStructure::left_multiple(std::uint32_t generator, std::span<const Point> images) const {
  std::vector<Point> product(degree_);
  for (Point point = 0; point < degree_; ++point) product[point] = images[generators_[generator][point]];
  return product;
}

void GreenStructure::find_r_classes(const GreenOptions& options) {
  const auto add = [&](Representative rep) {
    reps_of_key_[rep.key].push_back(static_cast<std::uint32_t>(reps_.size()));
    reps_.push_back(std::move(rep));
    if (reps_.size() > options.max_r_classes)
      throw LimitError(fmt::format("more than {}, {} so far at least; raise --max-classes",
                                   counted(options.max_r_classes, "R-class", "es"), counted(reps_.size(), "element")));
  };
  Representative rep;
  const Transformation identity = Transformation::identity(degree_);
  locate(identity.images(), rep);
  rep.parent = kNone;
  add(rep);
  for (std::uint32_t r = 0; r < reps_.size(); ++r) {
    TimeLimit::check();
    const std::vector<Point> own = element(reps_[r]);
    for (std::uint32_t g = 0; g < generators_.size(); ++g) {
      const std::uint32_t found = locate(left_multiple(g, own), rep);
      left_.push_back(found);
      if (found < reps_.size()) continue;
      rep.parent = r;
      rep.letter = g;
      add(rep);
    }
  }
}

std::vector<std::uint32_t> GreenStructure::word(std::uint32_t r_class) const {
  // The letters from the left, newest first, each followed (after the older word) by the path to the root.
  std::vector<std::uint32_t> line, result;
  for (std::uint32_t r = r_class; r != kNone; r = reps_[r].parent) line.push_back(r);
  for (const std::uint32_t r : line)
    if (reps_[r].parent != kNone) result.push_back(reps_[r].letter);
  for (auto r = line.rbegin(); r != line.rend(); ++r) append_path_to_root(reps_[*r].image, result);
  return result;
}

void GreenStructure::append_path_to_root(Set set, std::vector<std::uint32_t>& word) const {
  for (; path_letter_[set] != kNone; set = orbit_.image(set, path_letter_[set])) word.push_back(path_letter_[set]);
}

/// A shortest word from the root to every set of its component.
std::map<GreenStructure::Set, std::vector<std::uint32_t>> GreenStructure::words_from_root(
    const Component& component) const {
  std::map<Set, std::vector<std::uint32_t>> words{{component.root, {}}};
  std::vector<Set> queue{component.root};
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t g = 0; g < orbit_.generators(); ++g) {
      const Set to = orbit_.image(queue[i], g);
      if (orbit_.class_of(to) != orbit_.class_of(component.root) || words.count(to)) continue;
      std::vector<std::uint32_t> longer = words.at(queue[i]);
      longer.push_back(g);
      words.emplace(to, std::move(longer));
      queue.push_back(to);
    }
  return words;
}

std::vector<GreenStructure::Loop> GreenStructure::loops(std::uint32_t d_class) const {
  const Component& component = components_[component_of(reps_[rows_[d_class].front()])];
  std::map<std::vector<Point>, std::vector<std::uint32_t>> distinct;
  for (const auto& [set, there] : words_from_root(component))
    for (std::uint32_t g = 0; g < orbit_.generators(); ++g) {
      TimeLimit::check();
      if (orbit_.class_of(orbit_.image(set, g)) != orbit_.class_of(set)) continue;
      std::vector<std::uint32_t> word = there;
      word.push_back(g);
      append_path_to_root(orbit_.image(set, g), word);
      std::vector<Point> action(component.root_points.size());
      for (std::size_t i = 0; i < action.size(); ++i) {
        Point point = component.root_points[i];
        for (const std::uint32_t letter : word) point = generators_[letter][point];
        action[i] = to_root_[std::size_t{component.root} * degree_ + point];
      }
      const auto [entry, fresh] = distinct.try_emplace(std::move(action), word);
      if (!fresh && word.size() < entry->second.size()) entry->second = word;
    }
  std::vector<Loop> result;
  for (const auto& [action, word] : distinct) {
    Permutation permutation = Permutation::from_images(action);
    if (!permutation.is_identity()) result.push_back({word, std::move(permutation)});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Loop& a, const Loop& b) { return a.word.size() < b.word.size(); });
  return result;
}

const std::vector<Point>& GreenStructure::image_of(std::uint32_t d_class) const {
  return components_[component_of(reps_[rows_[d_class].front()])].root_points;
}

std::vector<std::uint32_t> GreenStructure::cell_word(std::uint32_t d_class, std::uint32_t row,
                                                     std::uint32_t column) const {
  const Component& component = components_[component_of(reps_[rows_[d_class].front()])];
  std::vector<std::uint32_t> result = word(rows_[d_class][row]);
  const std::vector<std::uint32_t> there =
      words_from_root(component).at(component.sets[column / cosets_[d_class].size()]);
  result.insert(result.end(), there.begin(), there.end());
  return result;
}

std::uint32_t GreenStructure::row_changing_generator(std::uint32_t d_class) const {
  const std::uint32_t row = rows_[d_class].front();
  for (std::uint32_t g = 0; g < generators_.size(); ++g) {
    const std::uint32_t to = left_[std::size_t{row} * generators_.size() + g];
    if (to != row && reps_[to].d_class == d_class) return g;
  }
  assert(false && "the R-classes of a D-class are strongly connected by left multiplication");
  return 0;
}

bool GreenStructure::is_transversal(std::span<const std::uint32_t> kernel, Set image) const {
  if (orbit_.cardinality(image) <= 64 && degree_ <= 64) {
    std::uint64_t seen = 0;
    for (Point point = 0; point < degree_; ++point)
      if (orbit_.contains(image, point)) {
        const std::uint64_t bit = std::uint64_t{1} << kernel[point];
        if (seen & bit) return false;
        seen |= bit;
      }
    return true;
  }
  std::vector<bool> seen(degree_, false);
  for (const Point point : orbit_.members(image)) {
    if (seen[kernel[point]]) return false;
    seen[kernel[point]] = true;
  }
  return true;
}

void GreenStructure::find_d_classes() {
  // D-related R-classes are those that multiplication from the left connects strongly.
  const std::vector<std::uint32_t> component = strong_components(static_cast<std::uint32_t>(reps_.size()),
                                                                 static_cast<std::uint32_t>(generators_.size()), left_);
  const std::uint32_t count = 1 + *std::max_element(component.begin(), component.end());
  // Numbered by first appearance, so that D-class 0 holds the identity and words get longer with the numbers.
  std::vector<std::uint32_t> number(count, kNone);
  for (std::uint32_t r = 0; r < reps_.size(); ++r) {
    std::uint32_t& d = number[component[r]];
    if (d == kNone) {
      d = static_cast<std::uint32_t>(rows_.size());
      rows_.emplace_back();
    }
    reps_[r].d_class = d;
    rows_[d].push_back(r);
  }
  d_classes_.resize(count);
  cosets_.resize(count);
  for (std::uint32_t d = 0; d < count; ++d) fill(d);
  find_order();
}

void GreenStructure::fill(std::uint32_t d_class) {
  DClass& d = d_classes_[d_class];
  const std::vector<std::uint32_t>& rows = rows_[d_class];
  const Representative& first = reps_[rows.front()];
  const Component& component = components_[component_of(first)];
  const Group& group = groups_[component_of(first)];
  d.rank = static_cast<Point>(component.root_points.size());
  d.r_classes = rows.size();
  d.size = group.order * rows.size() * component.sets.size();
  d.representative = Transformation::from_images(element(first));
  d.word = word(rows.front());
  for (const std::uint32_t r : rows) {
    TimeLimit::check();
    for (const Set image : component.sets) d.idempotents += is_transversal(kernel_of(reps_[r]), image);
  }
  d.regular = d.idempotents > 0;
  cosets_[d_class] = {Permutation::identity(d.rank)};
  d.group = group.group;
  d.group_order = group.order;
  if (!d.regular && group.order > 1) {
    std::vector<Permutation> generators;
    const StabiliserChain chain = two_sided_group(rows, generators);
    d.group = PermutationGroup::from_generators(d.rank, generators);
    d.group_order = chain.order();
    cosets_[d_class] = right_cosets(chain, group.group.generator_values());
  }
  d.l_classes = component.sets.size() * cosets_[d_class].size();
}

/// With x the element of the first row: all h with x·h = m·x for some m of the monoid, which is the Schützenberger
/// group of the H-class. A row is reached from the first by products m_r, with m_r·x = rep_r·h_r; an edge g·rep_r =
/// rep_s·k that closes a loop gives the generator h_s⁻¹·k·h_r.
StabiliserChain GreenStructure::two_sided_group(std::span<const std::uint32_t> rows,
                                                std::vector<Permutation>& generators) {
  const Point rank = static_cast<Point>(components_[component_of(reps_[rows.front()])].root_points.size());
  std::map<std::uint32_t, Permutation> transport{{rows.front(), Permutation::identity(rank)}};
  std::set<Permutation> distinct;
  std::vector<std::uint32_t> queue{rows.front()};
  Representative scratch;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    TimeLimit::check();
    const std::uint32_t r = queue[i];
    const std::vector<Point> own = element(reps_[r]);
    for (std::uint32_t g = 0; g < generators_.size(); ++g) {
      const std::uint32_t s = left_[r * generators_.size() + g];
      if (reps_[s].d_class != reps_[r].d_class) continue;
      locate(left_multiple(g, own), scratch);
      const Permutation moved = quotient(reps_[s], scratch.order) * transport.at(r);
      const auto [entry, fresh] = transport.try_emplace(s, moved);
      if (fresh) {
        queue.push_back(s);
      } else if (const Permutation loop = entry->second.inverse() * moved; !loop.is_identity()) {
        distinct.insert(loop);
      }
    }
  }
  generators.assign(distinct.begin(), distinct.end());
  return StabiliserChain(PermutationGroup::from_generators(rank, generators));
}

/// Multiplies one element of every L-class of the first row by every generator that leads out of its component. One row
/// is enough: the others are its left multiples.
void GreenStructure::add_right_steps(std::uint32_t d_class, std::vector<std::set<std::uint32_t>>& steps) {
  const Representative rep = reps_[rows_[d_class].front()];
  const std::span<const std::uint32_t> kernel = kernel_of(rep);
  const Component& component = components_[component_of(rep)];
  std::vector<Point> from_root(component.root_points.size());
  std::vector<Point> images(degree_);
  Representative scratch;
  for (const Set set : component.sets) {
    TimeLimit::check();
    for (const Point point : orbit_.members(set)) from_root[to_root_[std::size_t{set} * degree_ + point]] = point;
    for (std::uint32_t g = 0; g < generators_.size(); ++g) {
      if (orbit_.class_of(orbit_.image(set, g)) == orbit_.class_of(set)) continue;
      for (const Permutation& coset : cosets_[d_class]) {
        for (Point point = 0; point < degree_; ++point)
          images[point] = generators_[g][from_root[coset[rep.order[kernel[point]]]]];
        const std::uint32_t found = locate(images, scratch);
        assert(found < reps_.size());
        steps[d_class].insert(reps_[found].d_class);
      }
    }
  }
}

/// Steps down the J-order are multiplications from the left, of any row, and from the right. The covering relation is
/// what remains when steps that longer ways replace are taken out.
void GreenStructure::find_order() {
  const auto count = static_cast<std::uint32_t>(d_classes_.size());
  std::vector<std::set<std::uint32_t>> steps(count);
  for (std::uint32_t r = 0; r < reps_.size(); ++r)
    for (std::size_t g = 0; g < generators_.size(); ++g)
      steps[reps_[r].d_class].insert(reps_[left_[r * generators_.size() + g]].d_class);
  for (std::uint32_t d = 0; d < count; ++d) add_right_steps(d, steps);
  for (std::uint32_t d = 0; d < count; ++d) steps[d].erase(d);
  const std::vector<std::vector<std::uint32_t>> covers = covering_relation(steps);
  for (std::uint32_t d = 0; d < count; ++d) d_classes_[d].below = covers[d];
}

Integer GreenStructure::size() const {
  Integer total = 0;
  for (const DClass& d : d_classes_) total += d.size;
  return total;
}

Integer GreenStructure::idempotents() const {
  Integer total = 0;
  for (const DClass& d : d_classes_) total += d.idempotents;
  return total;
}

GreenStructure::EggBox GreenStructure::egg_box(std::uint32_t d_class) const {
  EggBox box;
  const Component& component = components_[component_of(reps_[rows_[d_class].front()])];
  const std::size_t repeats = cosets_[d_class].size();
  for (const Set set : component.sets)
    for (std::size_t i = 0; i < repeats; ++i) box.images.push_back(orbit_.members(set));
  for (const std::uint32_t r : rows_[d_class]) {
    const std::span<const std::uint32_t> kernel = kernel_of(reps_[r]);
    box.kernels.emplace_back(kernel.begin(), kernel.end());
    std::vector<bool>& row = box.cells.emplace_back();
    for (const Set set : component.sets)
      for (std::size_t i = 0; i < repeats; ++i) row.push_back(is_transversal(kernel, set));
  }
  return box;
}

}  // namespace krohn
