#include "krohn/groups/names/named_group.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cctype>
#include <map>
#include <span>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"

namespace krohn {

// The syntax of group names: atoms, direct products, powers, wreath products.

/// "S3 x Z2^2" as a tree.
struct GroupExpression {
  enum class Kind : std::uint8_t { kAtom, kProduct, kPower, kWreath };
  Kind kind = Kind::kAtom;
  std::string atom;                    ///< of an atom, lower case: "s", "psl", "rubik"
  std::vector<std::uint64_t> numbers;  ///< an atom's parameters; the exponent of a power
  std::vector<GroupExpression> parts;  ///< two of products and wreath products, one of powers
};

// The atoms of group names: families of groups with their standard generators.

namespace {

/// The numbers and brackets after an atom's letters.
enum class Shape : std::uint8_t { kBare, kNumber, kPair };

struct Atom {
  std::string_view letters;
  Shape shape;
};

/// Longer names before their prefixes.
constexpr std::array<Atom, 14> kAtoms{{{"rubik", Shape::kBare},
                                       {"agl", Shape::kPair},
                                       {"psl", Shape::kPair},
                                       {"pgl", Shape::kPair},
                                       {"gl", Shape::kPair},
                                       {"s", Shape::kNumber},
                                       {"a", Shape::kNumber},
                                       {"z", Shape::kNumber},
                                       {"c", Shape::kNumber},
                                       {"d", Shape::kNumber},
                                       {"v", Shape::kNumber},
                                       {"q", Shape::kNumber},
                                       {"f", Shape::kNumber},
                                       {"m", Shape::kNumber}}};

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) { normalise(); }

  GroupExpression read() {
    GroupExpression expression = read_product();
    if (at_ < text_.size()) fail("expected \"x\", \"wr\", \"^\" or the end");
    return expression;
  }

 private:
  /// Lower case, without spaces and "_", with the column of every byte kept.
  void normalise() {
    for (std::size_t i = 0; i < name_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(name_[i]);
      if (std::isspace(byte) || byte == '_') continue;
      if (name_.substr(i, 2) == "×") {
        put("x", i++);
      } else if (name_.substr(i, 3) == "≀") {
        put("wr", i);
        i += 2;
      } else {
        put(std::string(1, static_cast<char>(std::tolower(byte))), i);
      }
    }
  }
  void put(std::string_view bytes, std::size_t offset) {
    text_ += bytes;
    offset_.insert(offset_.end(), bytes.size(), offset);
  }

  static GroupExpression join(GroupExpression::Kind kind, GroupExpression left, GroupExpression right) {
    GroupExpression expression;
    expression.kind = kind;
    expression.parts.push_back(std::move(left));
    expression.parts.push_back(std::move(right));
    return expression;
  }

  GroupExpression read_product() {
    GroupExpression left = read_wreath();
    while (take("x")) left = join(GroupExpression::Kind::kProduct, std::move(left), read_wreath());
    return left;
  }

  GroupExpression read_wreath() {
    GroupExpression left = read_power();
    while (take("wr")) left = join(GroupExpression::Kind::kWreath, std::move(left), read_power());
    return left;
  }

  GroupExpression read_power() {
    GroupExpression base = read_atom();
    if (!take("^")) return base;
    GroupExpression power;
    power.kind = GroupExpression::Kind::kPower;
    power.numbers = {read_number()};
    constexpr std::uint64_t kLargestExponent = 1000;
    if (power.numbers.front() == 0 || power.numbers.front() > kLargestExponent)
      fail(fmt::format("an exponent is a number from 1 to {}", kLargestExponent));
    power.parts.push_back(std::move(base));
    return power;
  }

  GroupExpression read_atom() {
    if (take("(")) {
      constexpr int kDeepest = 100;
      if (++depth_ > kDeepest) fail(fmt::format("brackets are nested more than {} deep", kDeepest));
      GroupExpression inner = read_product();
      expect(")");
      --depth_;
      return inner;
    }
    for (const Atom& atom : kAtoms) {
      if (!take(atom.letters)) continue;
      GroupExpression expression;
      expression.atom = atom.letters;
      if (atom.shape == Shape::kNumber) expression.numbers = {read_number()};
      if (atom.shape == Shape::kPair) expression.numbers = read_pair();
      return expression;
    }
    fail("no group has this name");
  }

  std::vector<std::uint64_t> read_pair() {
    expect("(");
    const std::uint64_t first = read_number();
    expect(",");
    const std::uint64_t second = read_number();
    expect(")");
    return {first, second};
  }

  std::uint64_t read_number() {
    constexpr std::uint64_t kLargest = 1'000'000;
    if (at_ == text_.size() || !std::isdigit(static_cast<unsigned char>(text_[at_]))) fail("expected a number");
    std::uint64_t value = 0;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      value = value * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > kLargest)
        throw LimitError(fmt::format("group \"{}\": a parameter is larger than {}", name_, kLargest));
    }
    return value;
  }

  bool take(std::string_view token) {
    if (std::string_view(text_).substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(fmt::format("expected \"{}\"", token));
  }
  [[noreturn]] void fail(std::string_view message) const {
    static const std::vector<std::string> kExamples = {"s5",  "a5",  "z60",      "c60",      "d4",       "v4",
                                                       "q8",  "f20", "agl(1,5)", "psl(2,7)", "pgl(2,5)", "gl(3,2)",
                                                       "m11", "m12", "m22",      "m23",      "m24",      "rubik"};
    const std::size_t column = (at_ < offset_.size() ? offset_[at_] : name_.size()) + 1;
    throw InputError(fmt::format("group \"{}\", column {}", name_, column),
                     fmt::format("{}.{} Groups are written S5, A5, Z60, D4, V4, Q8, F20, PSL(2,7), M11, Rubik, Z2xZ4, "
                                 "Z2^3, S2wrS3",
                                 message, did_you_mean(text_, kExamples)));
  }

  std::string_view name_;
  std::string text_;
  std::vector<std::size_t> offset_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

/// Reads a name: `product := wreath (x wreath)*`, `wreath := power (wr power)*`, `power := atom (^ number)?`, `atom :=
/// ( product ) | letters number | letters ( number , number ) | rubik`. Case, spaces and "_" do not matter; "×" is x,
/// "≀" is wr. Throws InputError with the column and near misses.
GroupExpression parse_group_expression(std::string_view name) { return Reader(name).read(); }

namespace {

using Numbers = std::span<const std::uint64_t>;

/// The permutation point ↦ image(point).
template <class Image>
Permutation make(std::uint64_t degree, Image image) {
  std::vector<Point> images(degree);
  for (std::uint64_t point = 0; point < degree; ++point) images[point] = static_cast<Point>(image(point));
  return Permutation::from_images(std::move(images));
}

/// (first first+1 … n), points from 1.
Permutation long_cycle(std::uint64_t n, std::uint64_t first = 1) {
  return make(n, [&](std::uint64_t p) { return p + 1 < first ? p : p + 1 == n ? first - 1 : p + 1; });
}

PermutationGroup group(std::uint64_t degree, std::vector<Permutation> generators, std::string name) {
  return PermutationGroup::from_generators(static_cast<Point>(degree), std::move(generators), std::move(name));
}

PermutationGroup symmetric(std::uint64_t n) {
  std::vector<Permutation> generators;
  if (n >= 2) generators.push_back(parse_cycles("(1 2)", static_cast<Point>(n)));
  if (n >= 3) generators.push_back(long_cycle(n));
  return group(n, std::move(generators), fmt::format("S{}", n));
}

PermutationGroup alternating(std::uint64_t n) {
  std::vector<Permutation> generators;
  if (n >= 3) generators.push_back(parse_cycles("(1 2 3)", static_cast<Point>(n)));
  if (n >= 4) generators.push_back(long_cycle(n, n % 2 == 1 ? 1 : 2));
  return group(n, std::move(generators), fmt::format("A{}", n));
}

PermutationGroup cyclic(std::uint64_t m) {
  if (m == 0) throw InputError("Z0: the order of a cyclic group is at least 1");
  std::vector<Permutation> generators;
  if (m >= 2) generators.push_back(long_cycle(m));
  FreeBlock residues;
  for (std::uint64_t residue = 0; residue < m; ++residue) residues.names.push_back(std::to_string(residue));
  return group(m, std::move(generators), fmt::format("Z{}", m)).with_blocks({std::move(residues)});
}

PermutationGroup klein(const std::string& name) {
  return group(4, {parse_cycles("(1 2)(3 4)", 4), parse_cycles("(1 3)(2 4)", 4)}, name);
}

PermutationGroup dihedral(std::uint64_t n) {
  if (n == 0) throw InputError("D0: D<n> is the dihedral group of order 2n; n is at least 1");
  if (n == 1) return group(2, {parse_cycles("(1 2)", 2)}, "D1");
  if (n == 2) return klein("D2");
  return group(n, {long_cycle(n), make(n, [&](std::uint64_t p) { return (n - p) % n; })}, fmt::format("D{}", n));
}

std::vector<std::string> quaternion_names(std::uint64_t k) {
  if (k == 2) return {"1", "i", "-1", "-i", "j", "k", "-j", "-k"};
  std::vector<std::string> names;
  for (const char* tail : {"", "b"})
    for (std::uint64_t i = 0; i < 2 * k; ++i) {
      const std::string power = i == 0 ? "" : i == 1 ? "a" : fmt::format("a^{}", i);
      names.push_back(power.empty() && *tail == '\0' ? "1" : power + tail);
    }
  return names;
}

/// a^(2k) = 1, b² = a^k, b⁻¹ab = a⁻¹; point i + 2k·j stands for a^i b^j and the group acts by right multiplication.
PermutationGroup quaternion(std::uint64_t order) {
  if (order < 8 || order % 4 != 0)
    throw InputError(
        fmt::format("Q{}: Q<n> is the quaternion or dicyclic group of order n, a multiple of 4 from 8", order));
  const std::uint64_t k = order / 4, row = 2 * k;
  const Permutation a =
      make(order, [&](std::uint64_t p) { return p < row ? (p + 1) % row : row + (p - row + row - 1) % row; });
  const Permutation b = make(order, [&](std::uint64_t p) { return p < row ? p + row : (p - row + k) % row; });
  return group(order, {a, b}, fmt::format("Q{}", order)).with_blocks({{0, quaternion_names(k)}});
}

void require_prime(std::uint64_t p, const std::string& name) {
  if (!is_prime(p)) throw InputError(fmt::format("{}: {} is not a prime", name, p));
}

std::uint64_t multiplicative_order(std::uint64_t a, std::uint64_t p) {
  std::uint64_t order = 1;
  for (std::uint64_t power = a % p; power != 1 % p; power = power * a % p) ++order;
  return order;
}

std::uint64_t primitive_root(std::uint64_t p) {
  std::uint64_t root = 1;
  while (multiplicative_order(root, p) != p - 1) ++root;
  return root;
}

/// x ↦ ax + b on Z_p for the a of multiplicative order d.
PermutationGroup affine(std::uint64_t p, std::uint64_t d, std::string name) {
  std::vector<Permutation> generators{make(p, [&](std::uint64_t x) { return (x + 1) % p; })};
  const std::uint64_t a = power_modulo(primitive_root(p), (p - 1) / d, p);
  if (d > 1) generators.push_back(make(p, [&](std::uint64_t x) { return a * x % p; }));
  return group(p, std::move(generators), std::move(name));
}

PermutationGroup frobenius(std::uint64_t order) {
  std::uint64_t p = 1, rest = order;
  for (std::uint64_t d = 2; d <= rest; ++d)
    for (; rest % d == 0; rest /= d) p = d;
  const std::uint64_t d = order / p;
  if (p < 3 || d < 2 || (p - 1) % d != 0)
    throw InputError(
        fmt::format("F{}: F<n> is the Frobenius group of order n = p·d, p prime, d ≥ 2 a divisor of p − 1 "
                    "(F20, F21, F42)",
                    order));
  return affine(p, d, fmt::format("F{}", order));
}

PermutationGroup affine_line(Numbers n) {
  const std::string name = fmt::format("AGL({},{})", n[0], n[1]);
  if (n[0] != 1) throw InputError(name + ": only AGL(1,p) has a name here");
  require_prime(n[1], name);
  return affine(n[1], n[1] - 1, name);
}

/// PSL(2,p) or PGL(2,p) on 0, …, p−1, ∞ = p: x ↦ x+1, x ↦ scale·x, x ↦ −1/x.
PermutationGroup projective_line(std::uint64_t p, bool special, std::string name) {
  require_prime(p, name);
  const std::uint64_t root = primitive_root(p), scale = special ? root * root % p : root;
  std::vector<Permutation> generators{make(p + 1, [&](std::uint64_t x) { return x == p ? p : (x + 1) % p; })};
  if (scale != 1) generators.push_back(make(p + 1, [&](std::uint64_t x) { return x == p ? p : scale * x % p; }));
  generators.push_back(make(p + 1, [&](std::uint64_t x) {
    return x == p ? 0 : x == 0 ? p : (p - power_modulo(x, p - 2, p)) % p;
  }));
  return group(p + 1, std::move(generators), std::move(name));
}

/// v ↦ vA on the non-zero vectors of F_2³, v−1 being the point of the vector with the bits of v.
Permutation linear_map(std::uint64_t row0, std::uint64_t row1, std::uint64_t row2) {
  return make(7, [&](std::uint64_t p) {
    const std::uint64_t v = p + 1;
    return ((v & 1 ? row0 : 0) ^ (v & 2 ? row1 : 0) ^ (v & 4 ? row2 : 0)) - 1;
  });
}

PermutationGroup general_linear(Numbers n, const std::string& name) {
  if (n[0] != 3 || n[1] != 2) throw InputError(name + ": only GL(3,2) has a name here");
  return group(7, {linear_map(2, 4, 3), linear_map(3, 2, 4)}, name);
}

PermutationGroup projective_special(Numbers n) {
  const std::string name = fmt::format("PSL({},{})", n[0], n[1]);
  if (n[0] == 3) return general_linear(n, name);
  if (n[0] != 2) throw InputError(name + ": only PSL(2,p) and PSL(3,2) have names here");
  return projective_line(n[1], true, name);
}

PermutationGroup projective_general(Numbers n) {
  const std::string name = fmt::format("PGL({},{})", n[0], n[1]);
  if (n[0] != 2) throw InputError(name + ": only PGL(2,p) has a name here");
  return projective_line(n[1], false, name);
}

/// Generators as printed in GAP and in Conway and Sloane, Sphere Packings, ch. 10.
PermutationGroup mathieu(std::uint64_t n) {
  static const std::map<std::uint64_t, std::vector<const char*>> kGenerators = {
      {11, {"(1 2 3 4 5 6 7 8 9 10 11)", "(3 7 11 8)(4 10 5 6)"}},
      {12, {"(1 2 3 4 5 6 7 8 9 10 11)", "(3 7 11 8)(4 10 5 6)", "(1 12)(2 11)(3 6)(4 8)(5 9)(7 10)"}},
      {22,
       {"(1 2 3 4 5 6 7 8 9 10 11)(12 13 14 15 16 17 18 19 20 21 22)",
        "(1 4 5 9 3)(2 8 10 7 6)(12 15 16 20 14)(13 19 21 18 17)",
        "(1 21)(2 10 8 6)(3 13 4 17)(5 19 9 18)(11 22)(12 14 16 20)"}},
      {23,
       {"(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23)",
        "(3 17 10 7 9)(4 13 14 19 5)(8 18 11 12 23)(15 20 22 21 16)"}},
      {24,
       {"(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23)",
        "(3 17 10 7 9)(4 13 14 19 5)(8 18 11 12 23)(15 20 22 21 16)",
        "(1 24)(2 23)(3 12)(4 16)(5 18)(6 10)(7 20)(8 14)(9 21)(11 17)(13 22)(15 19)"}}};
  const auto found = kGenerators.find(n);
  if (found == kGenerators.end())
    throw InputError(fmt::format("M{}: the Mathieu groups are M11, M12, M22, M23 and M24", n));
  std::vector<Permutation> generators;
  for (const char* cycles : found->second) generators.push_back(parse_cycles(cycles, static_cast<Point>(n)));
  return group(n, std::move(generators), fmt::format("M{}", n));
}

/// The numbering of the stickers in GAP's example "Analyzing Rubik's Cube with GAP" (M. Schönert, 1993).
PermutationGroup rubik() {
  std::vector<Permutation> turns;
  for (const char* cycles : {"(1 3 8 6)(2 5 7 4)(9 33 25 17)(10 34 26 18)(11 35 27 19)",
                             "(9 11 16 14)(10 13 15 12)(1 17 41 40)(4 20 44 37)(6 22 46 35)",
                             "(17 19 24 22)(18 21 23 20)(6 25 43 16)(7 28 42 13)(8 30 41 11)",
                             "(25 27 32 30)(26 29 31 28)(3 38 43 19)(5 36 45 21)(8 33 48 24)",
                             "(33 35 40 38)(34 37 39 36)(3 9 46 32)(2 12 47 29)(1 14 48 27)",
                             "(41 43 48 46)(42 45 47 44)(14 22 30 38)(15 23 31 39)(16 24 32 40)"})
    turns.push_back(parse_cycles(cycles, 48));
  return group(48, std::move(turns), "Rubik").with_generator_names({"U", "L", "F", "R", "B", "D"});
}

}  // namespace

/// The group of an atom of a name: ("s", {5}), ("psl", {2, 7}), ("rubik", {}). Conventions: groups/names/named_group.h.
/// Throws InputError when a parameter is out of range.
PermutationGroup build_atom(const std::string& atom, std::span<const std::uint64_t> numbers) {
  if (atom == "s") return symmetric(numbers[0]);
  if (atom == "a") return alternating(numbers[0]);
  if (atom == "z" || atom == "c") return cyclic(numbers[0]);
  if (atom == "d") return dihedral(numbers[0]);
  if (atom == "q") return quaternion(numbers[0]);
  if (atom == "f") return frobenius(numbers[0]);
  if (atom == "m") return mathieu(numbers[0]);
  if (atom == "agl") return affine_line(numbers);
  if (atom == "psl") return projective_special(numbers);
  if (atom == "pgl") return projective_general(numbers);
  if (atom == "gl") return general_linear(numbers, fmt::format("GL({},{})", numbers[0], numbers[1]));
  if (atom == "rubik") return rubik();
  assert(atom == "v");
  if (numbers[0] != 4) throw InputError(fmt::format("V{}: Klein's four-group is V4", numbers[0]));
  return klein("V4");
}

namespace {

PermutationGroup build(const GroupExpression& expression);

PermutationGroup build_power(const GroupExpression& expression) {
  const PermutationGroup base = build(expression.parts.front());
  PermutationGroup power = base;
  for (std::uint64_t i = 1; i < expression.numbers.front(); ++i) power = direct_product(power, base);
  return power;
}

PermutationGroup build(const GroupExpression& expression) {
  switch (expression.kind) {
    case GroupExpression::Kind::kAtom:
      return build_atom(expression.atom, expression.numbers);
    case GroupExpression::Kind::kPower:
      return build_power(expression);
    case GroupExpression::Kind::kWreath:
      return wreath_product(build(expression.parts[0]), build(expression.parts[1]));
    case GroupExpression::Kind::kProduct:
      break;
  }
  return direct_product(build(expression.parts[0]), build(expression.parts[1]));
}

}  // namespace

PermutationGroup named_group(std::string_view name) { return build(parse_group_expression(name)); }

bool is_group_name(std::string_view name) {
  try {
    parse_group_expression(name);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::vector<NamedGroupInfo> named_groups() {
  return {{"S<n>", "the symmetric group on n points", "S5"},
          {"A<n>", "the alternating group on n points", "A5"},
          {"Z<m>, C<m>", "the cyclic group of order m; elements are residues", "Z60"},
          {"D<n>", "the dihedral group of order 2n on n points", "D4"},
          {"V4", "Klein's four-group, regular on 4 points", "V4"},
          {"Q<n>", "the (generalised) quaternion or dicyclic group of order n, regular", "Q8"},
          {"F<n>", "the Frobenius group of order n = p·d on p points", "F20"},
          {"AGL(1,p)", "the affine maps x ↦ ax + b of Z_p", "AGL(1,5)"},
          {"PSL(2,p)", "the projective special linear group on p + 1 points", "PSL(2,7)"},
          {"PGL(2,p)", "the projective general linear group on p + 1 points", "PGL(2,5)"},
          {"GL(3,2)", "PSL(2,7) on the 7 points of the Fano plane", "GL(3,2)"},
          {"M11, M12, M22, M23, M24", "the Mathieu groups", "M11"},
          {"Rubik", "the face turns of Rubik's cube on 48 stickers", "Rubik"},
          {"GxH", "the direct product on disjoint points", "Z2xZ4"},
          {"G^k", "the k-th direct power", "Z2^3"},
          {"GwrH", "the wreath product, imprimitive", "S2wrS3"}};
}

}  // namespace krohn
