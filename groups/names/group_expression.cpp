#include "krohn/groups/names/group_expression.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "krohn/groups/error.h"
#include "krohn/groups/near_miss.h"

namespace krohn {
namespace {

/// What follows an atom's letters.
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

GroupExpression parse_group_expression(std::string_view name) { return Reader(name).read(); }

}  // namespace krohn
