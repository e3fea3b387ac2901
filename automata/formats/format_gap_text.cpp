// The statements of a GAP text, as far as they say which transformations generate what. Values are computed as GAP
// would; whatever else a text does is refused where it stands, since it may change what was said before.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_draft.h"
#include "krohn/automata/formats/formats.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxPoints = std::size_t{1} << 20, kMaxImages = std::size_t{1} << 26;
constexpr int kDeepest = 50;

using Numbers = std::vector<std::uint32_t>;
using Map = std::shared_ptr<const Numbers>;  ///< images from 0; points past its end are fixed

/// A function that is named where a value is expected, as in List(l, AsPermutation).
struct Function {
  std::string_view name;
};
/// The number of a semigroup.
struct Generated {
  std::size_t number;
};

struct Value;
using List = std::vector<Value>;

struct Value {
  std::variant<std::int64_t, std::string, Map, Numbers, List, Generated, Function> is;
  std::string_view variable{};  ///< that it was taken from
};

template <class Kind>
bool is(const Value& value) {
  return std::holds_alternative<Kind>(value.is);
}
template <class Kind>
const Kind& as(const Value& value) {
  return std::get<Kind>(value.is);
}

constexpr std::string_view kGenerating[] = {
    "Semigroup",          "Monoid", "Group", "SemigroupByGenerators", "MonoidByGenerators", "GroupByGenerators",
    "GroupWithGenerators"};
constexpr std::string_view kComputing[] = {"Transformation", "TransformationNC", "AsTransformation",
                                           "AsPermutation",  "PermList",         "List"};
constexpr std::string_view kStatements[] = {"for",   "while",    "repeat", "if",   "function", "return", "local",
                                            "break", "continue", "rec",    "quit", "QUIT",     "end"};
/// Procedures that define or change what a name stands for.
constexpr std::string_view kChanging[] = {"Read",       "ReadPackage",   "BindGlobal", "Unbind",
                                          "EvalString", "InstallMethod", "ASS_GVAR",   "Apply"};

template <std::size_t count>
bool is_one_of(std::string_view word, const std::string_view (&words)[count]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

Numbers first_numbers(std::size_t count) {
  Numbers all(count);
  for (std::uint32_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

std::uint32_t image(const Numbers& map, std::uint32_t point) { return point < map.size() ? map[point] : point; }

bool is_bijective(const Numbers& map) {
  std::vector<bool> hit(map.size());
  for (const std::uint32_t point : map) {
    if (point >= map.size() || hit[point]) return false;
    hit[point] = true;
  }
  return true;
}

class GapReader {
 public:
  GapReader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  GapText read() {
    for (skip_blanks(); at_ < text_.size(); skip_blanks())
      if (!take(";")) read_statement();
    return finish();
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    throw InputError(position_in(text_, at, where_), message);
  }

  // --- Words and signs

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
        ++at_;
      else
        return;
    }
  }

  bool is_word_byte(std::size_t at) const {
    return at < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at])) != 0 || text_[at] == '_');
  }

  /// A name or a number here, or nothing.
  std::string_view word_here() {
    skip_blanks();
    std::size_t end = at_;
    while (is_word_byte(end)) ++end;
    return text_.substr(at_, end - at_);
  }

  bool at(std::string_view sign) {
    skip_blanks();
    return text_.substr(at_).starts_with(sign);
  }

  bool take(std::string_view sign) {
    if (!at(sign)) return false;
    at_ += sign.size();
    return true;
  }

  void expect(std::string_view sign) {
    if (!take(sign)) fail(at_, fmt::format("a {} is expected here", sign));
  }

  std::string read_string() {
    const std::size_t start = at_++;
    std::string text;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size())
        text += text_[++at_] == 'n' ? '\n' : text_[at_];
      else
        text += text_[at_];
    }
    if (at_ == text_.size()) fail(start, "this string is not closed");
    ++at_;
    return text;
  }

  // --- Statements

  void refuse_statement(std::string_view word, std::size_t start) const {
    if (is_one_of(word, kStatements))
      fail(start,
           fmt::format("{} is not read; a text is made of assignments, lists, transformations, permutations, their "
                       "products and powers, and Semigroup, Monoid or Group of them",
                       in_quotes(word)));
  }

  void read_statement() {
    const std::size_t start = at_;
    const std::string_view word = word_here();
    uses_variables_ = false;
    refuse_statement(word, start);
    at_ += word.size();
    const bool is_name = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0;
    if (is_name && take(":=")) {
      Value value = read_expression();
      note_loose(word, value);
      value.variable = {};
      variables_.insert_or_assign(word, std::move(value));
    } else if (is_name && at("(") && !is_function(word) && !variables_.contains(word)) {
      skip_query(start);
    } else {
      at_ = start;
      const Value value = read_expression();
      if (at(":=")) fail(at_, "only a whole variable is assigned; write the list anew");
      note_loose({}, value);
      if (is<Generated>(value)) spoken_of_.insert(as<Generated>(value).number);
    }
    skip_blanks();
    if (at_ < text_.size()) expect(";");
  }

  static bool is_function(std::string_view word) {
    return is_one_of(word, kGenerating) || is_one_of(word, kComputing) || word == "PartialPerm";
  }

  /// A question such as Size(S) changes nothing, and its answer is not kept: its text is passed over. A call with a
  /// list may change the list.
  void skip_query(std::size_t start) {
    at_ = start;
    while (at_ < text_.size() && !at(";")) {
      const std::size_t here = at_;
      const std::string_view word = word_here();
      const auto known = variables_.find(word);
      if (is_one_of(word, kStatements) || is_one_of(word, kChanging) || at(":=") || at("->"))
        fail(here, fmt::format("{} may change what was said before, and is not read",
                               in_quotes(word.empty() ? text_.substr(here, 2) : word)));
      if (known != variables_.end() && (is<List>(known->second) || is<Numbers>(known->second)))
        fail(start, fmt::format("this may change the list {}; write the list as it is to be", in_quotes(word)));
      if (at_ < text_.size() && text_[at_] == '"')
        read_string();
      else
        at_ += std::max<std::size_t>(word.size(), at_ < text_.size() ? 1 : 0);
    }
  }

  /// Transformations that no semigroup is made of yet are the letters of a text without one.
  void note_loose(std::string_view name, const Value& value) {
    Value kept = value;
    if (kept.variable.empty()) kept.variable = name;
    if (!is<Map>(value) && !(is<List>(value) && is<Map>(as<List>(value).front()))) return;
    loose_depend_ = loose_depend_ || uses_variables_;
    if (is<Map>(value))
      loose_.push_back(std::move(kept));
    else
      for (const Value& element : as<List>(value)) loose_.push_back(element);
  }

  // --- Expressions

  /// Products and quotients, from the left.
  Value read_expression() {
    if (++depth_ > kDeepest) fail(at_, fmt::format("brackets nested deeper than {} levels", kDeepest));
    Value value = read_power();
    for (;;) {
      skip_blanks();
      const std::size_t sign = at_;
      if (take("*")) {
        const Value right = read_power();
        value = product(value, right, sign);
      } else if (take("/")) {
        const Value right = read_power();
        value = product(value, power(map_of(right, sign), -1, sign), sign);
      } else {
        --depth_;
        return value;
      }
    }
  }

  Value read_power() {
    Value value = read_operand();
    skip_blanks();
    const std::size_t sign = at_;
    if (!take("^")) return value;
    const bool negative = take("-");
    const Value exponent = read_operand();
    if (at("^")) fail(at_, "a power of a power; write brackets");
    if (is<std::int64_t>(exponent)) {
      const std::int64_t number = as<std::int64_t>(exponent);
      return power(map_of(value, sign), negative ? -number : number, sign);
    }
    if (negative) fail(sign, "a number is expected as the exponent");
    const Value by = map_of(exponent, sign);  // conjugation
    return product(product(power(by, -1, sign), map_of(value, sign), sign), by, sign);
  }

  Value read_operand() {
    skip_blanks();
    const std::size_t start = at_;
    if (at_ == text_.size()) fail(at_, "the text ends where a value is expected");
    if (text_[at_] == '"') return {read_string()};
    if (take("[")) return indexed(read_list());
    if (take("(")) return read_brackets(start);
    const std::string_view word = word_here();
    refuse_statement(word, start);
    if (word.empty()) fail(start, fmt::format("{} is not read here", in_quotes(text_.substr(start, 1))));
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return {read_number()};
    at_ += word.size();
    if (word == "IdentityTransformation") return made({});
    if (at("(") && !variables_.contains(word)) return read_call(word, start);
    if (is_function(word)) return {Function{word}};
    const auto known = variables_.find(word);
    if (known == variables_.end())
      fail(start, fmt::format("{} is not known here; it is neither assigned before nor a function that is read",
                              in_quotes(word)));
    uses_variables_ = true;
    if (is<List>(known->second)) spend(as<List>(known->second).size());
    if (is<Numbers>(known->second)) spend(as<Numbers>(known->second).size());
    Value value = known->second;
    value.variable = word;
    return indexed(std::move(value));
  }

  std::int64_t read_number() {
    const std::size_t start = at_;
    const std::string_view word = word_here();
    const auto number = number_in<std::uint64_t>(word);
    if (!number || *number > INT64_MAX / 4)
      fail(start, fmt::format("{} is not a number that is read", in_quotes(word)));
    at_ += word.size();
    return static_cast<std::int64_t>(*number);
  }

  /// An element of a list, `list[2]`.
  Value indexed(Value value) {
    while (take("[")) {
      const std::size_t start = at_;
      const Value index = read_expression();
      expect("]");
      const std::int64_t at = is<std::int64_t>(index) ? as<std::int64_t>(index) : 0;
      const std::size_t size = is<List>(value)      ? as<List>(value).size()
                               : is<Numbers>(value) ? as<Numbers>(value).size()
                                                    : 0;
      if (at < 1 || static_cast<std::uint64_t>(at) > size) fail(start, "no element of the list has this number");
      const auto place = static_cast<std::size_t>(at - 1);
      value = is<List>(value) ? Value(as<List>(value)[place]) : Value{std::int64_t{as<Numbers>(value)[place]}};
    }
    return value;
  }

  /// After the bracket: a list of values, or a range `[first..last]`, `[first, second..last]`.
  Value read_list() {
    List list;
    Numbers numbers;
    while (!take("]")) {
      const std::size_t start = at_;
      Value value = read_expression();
      const bool is_point = is<std::int64_t>(value);
      if (is_point && !list.empty()) fail(start, "a number among other values");
      if (!is_point && !numbers.empty()) fail(start, "a number is expected, as before");
      if (is_point)
        numbers.push_back(point(value, start));
      else
        list.push_back(std::move(value));
      if (at("..")) return read_range(numbers);
      if (numbers.size() > kMaxPoints || list.size() > kMaxPoints)
        fail(at_, fmt::format("a list of more than {} elements", kMaxPoints));
      if (!at("]")) expect(",");
    }
    spend(numbers.size());
    return list.empty() ? Value{std::move(numbers)} : Value{std::move(list)};
  }

  Value read_range(const Numbers& given) {
    expect("..");
    const std::size_t start = at_;
    const std::int64_t last = point(read_expression(), start);
    if (given.empty() || given.size() > 2)
      fail(start, "no range of GAP's: [first..last] or [first, second..last], a list of its own");
    const std::int64_t first = given[0], step = given.size() == 1 ? 1 : std::int64_t{given[1]} - first;
    if (step == 0 || (last - first) % step != 0)
      fail(start, "no range of GAP's: [first..last] or [first, second..last], a list of its own");
    expect("]");
    Numbers numbers;
    for (std::int64_t number = first; step > 0 ? number <= last : number >= last; number += step)
      numbers.push_back(static_cast<std::uint32_t>(number));
    spend(numbers.size());
    return {std::move(numbers)};
  }

  std::uint32_t point(const Value& value, std::size_t start) const {
    if (!is<std::int64_t>(value) || as<std::int64_t>(value) < 1 || as<std::int64_t>(value) > std::int64_t{kMaxPoints})
      fail(start, fmt::format("a point from 1 to {} is expected here", kMaxPoints));
    return static_cast<std::uint32_t>(as<std::int64_t>(value));
  }

  /// After the bracket: an expression, or the cycles of a permutation, `(1,2)(3,4)`, `()`.
  Value read_brackets(std::size_t start) {
    Numbers images;
    if (!take(")")) {
      const std::size_t inside = at_;
      Value value = read_expression();
      if (take(")")) return indexed(std::move(value));
      if (!at(",")) fail(at_, "a ) is expected here");
      std::vector<std::uint32_t> cycle{point(value, inside)};
      close_cycle(cycle, images, start);
    }
    while (at("(")) {
      const std::size_t next = at_;
      expect("(");
      if (take(")")) continue;
      std::vector<std::uint32_t> cycle{point({read_number()}, next)};
      close_cycle(cycle, images, next);
    }
    return made(std::move(images));
  }

  void close_cycle(std::vector<std::uint32_t>& cycle, Numbers& images, std::size_t start) {
    while (take(",")) {
      skip_blanks();
      const std::size_t here = at_;
      cycle.push_back(point(read_expression(), here));
    }
    expect(")");
    const std::uint32_t largest = *std::max_element(cycle.begin(), cycle.end());
    for (std::uint32_t more = static_cast<std::uint32_t>(images.size()); more < largest; ++more) images.push_back(more);
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      std::uint32_t& from = images[cycle[i] - 1];
      if (from != cycle[i] - 1) fail(start, "the cycles of a permutation are disjoint, and no point is in one twice");
      from = cycle[(i + 1) % cycle.size()] - 1;
    }
    if (!is_bijective(images)) fail(start, "the cycles of a permutation are disjoint, and no point is in one twice");
  }

  // --- Functions

  using Argument = std::pair<Value, std::size_t>;

  Value read_call(std::string_view name, std::size_t start) {
    if (name.starts_with("PartialPerm"))
      fail(start,
           "partial permutations are not read; a transformation that sends the missing points to one more point, "
           "fixed by all, says the same");
    if (!is_function(name))
      fail(start, fmt::format("{}(…) is not read; write the transformations or permutations that it stands for",
                              visible(cut_short(name, 60))));
    expect("(");
    std::vector<Argument> arguments;
    while (!take(")")) {
      skip_blanks();
      const std::size_t here = at_;
      Value value = read_expression();
      arguments.emplace_back(std::move(value), here);
      if (!at(")")) expect(",");
    }
    if (is_one_of(name, kGenerating)) return generated(arguments, start);
    return indexed(computed(name, arguments, start));
  }

  Value computed(std::string_view name, const std::vector<Argument>& arguments, std::size_t start) {
    if (arguments.empty()) fail(start, fmt::format("{} of nothing", name));
    const auto& [first, at] = arguments.front();
    if (name == "List" && arguments.size() == 2 && is<Function>(arguments[1].first)) {
      if (!is<List>(first)) fail(at, "a list of transformations or permutations is expected here");
      List list;
      for (const Value& value : as<List>(first))
        list.push_back(converted(as<Function>(arguments[1].first).name, value, at));
      return {std::move(list)};
    }
    if (name == "Transformation" && arguments.size() == 2) return from_pairs(first, arguments[1].first, at);
    const bool may_have_degree = name == "AsTransformation" && arguments.size() == 2;
    if (arguments.size() != 1 && !may_have_degree) fail(start, fmt::format("{} of {} things", name, arguments.size()));
    if (may_have_degree) {
      Numbers longer = *as<Map>(map_of(first, at));
      const std::uint32_t degree = point(arguments[1].first, arguments[1].second);
      while (longer.size() < degree) longer.push_back(static_cast<std::uint32_t>(longer.size()));
      if (longer.size() > degree) fail(arguments[1].second, "fewer points than it moves");
      return made(std::move(longer));
    }
    return converted(name, first, at);
  }

  Value converted(std::string_view name, const Value& value, std::size_t at) {
    if (name == "AsTransformation") return {as<Map>(map_of(value, at))};
    if (name == "AsPermutation") {
      if (!is_bijective(*as<Map>(map_of(value, at)))) fail(at, "this is no permutation");
      return {as<Map>(value)};
    }
    if (!is<Numbers>(value)) fail(at, "a list of points is expected here");
    Numbers images;
    for (const std::uint32_t to : as<Numbers>(value)) images.push_back(to - 1);
    if (name == "PermList" && !is_bijective(images)) fail(at, "this is no permutation");
    return made(std::move(images));
  }

  /// Transformation([2, 3], [5, 1]) sends 2 to 5 and 3 to 1.
  Value from_pairs(const Value& from, const Value& to, std::size_t at) {
    if (!is<Numbers>(from) || !is<Numbers>(to) || as<Numbers>(from).size() != as<Numbers>(to).size())
      fail(at, "two lists of as many points are expected here");
    std::uint32_t largest = 0;
    for (const Value* list : {&from, &to})
      for (const std::uint32_t point : as<Numbers>(*list)) largest = std::max(largest, point);
    Numbers images = first_numbers(largest);
    std::set<std::uint32_t> seen;
    for (std::size_t i = 0; i < as<Numbers>(from).size(); ++i) {
      if (!seen.insert(as<Numbers>(from)[i]).second) fail(at, "a point is given twice");
      images[as<Numbers>(from)[i] - 1] = as<Numbers>(to)[i] - 1;
    }
    return made(std::move(images));
  }

  Value generated(const std::vector<Argument>& arguments, std::size_t start) {
    List all;
    for (const auto& [value, at] : arguments) {
      if (is<List>(value) && arguments.size() == 1) {
        for (const Value& element : as<List>(value)) all.push_back(checked_map(element, at));
      } else {
        all.push_back(checked_map(value, at));
      }
    }
    if (all.empty()) fail(start, "generators are expected here");
    made_.push_back({{}, start, {}, {}});
    keep_generators(made_.back(), all);
    return {Generated{made_.size() - 1}};
  }

  static void keep_generators(GapSemigroup& semigroup, const List& all) {
    std::set<std::string_view> names;
    for (const Value& value : all) {
      semigroup.generators.push_back(as<Map>(value));
      if (!value.variable.empty()) names.insert(value.variable);
    }
    if (names.size() != all.size()) return;
    for (const Value& value : all) semigroup.names.emplace_back(value.variable);
  }

  // --- Transformations

  const Value& checked_map(const Value& value, std::size_t at) const {
    if (!is<Map>(value)) fail(at, "a transformation or a permutation is expected here");
    return value;
  }
  Value map_of(const Value& value, std::size_t at) const { return checked_map(value, at); }

  void spend(std::size_t images) {
    images_ += images;
    if (images_ > 4 * kMaxImages)
      throw LimitError(fmt::format("{}: more than 2^28 images in its values; the limit protects the memory", where_));
  }

  Value made(Numbers images) {
    spend(images.size());
    return {std::make_shared<const Numbers>(std::move(images))};
  }

  /// First the left, then the right.
  Value product(const Value& left, const Value& right, std::size_t at) {
    const Numbers &f = *as<Map>(checked_map(left, at)), &g = *as<Map>(checked_map(right, at));
    Numbers images = first_numbers(std::max(f.size(), g.size()));
    for (std::uint32_t& to : images) to = image(g, image(f, to));
    return made(std::move(images));
  }

  Value power(const Value& value, std::int64_t exponent, std::size_t at) {
    const Numbers& map = *as<Map>(checked_map(value, at));
    Value base = value;
    if (exponent < 0) {
      if (!is_bijective(map)) fail(at, "only a permutation has an inverse");
      Numbers inverse(map.size());
      for (std::uint32_t point = 0; point < map.size(); ++point) inverse[map[point]] = point;
      base = made(std::move(inverse));
    }
    Value result = made(first_numbers(map.size()));
    for (std::uint64_t left = static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent); left > 0; left /= 2) {
      if (left % 2 == 1) result = product(result, base, at);
      if (left > 1) base = product(base, base, at);
    }
    return result;
  }

  // --- What it comes to

  const Value* find(std::string_view name) const {
    const auto known = variables_.find(name);
    return known == variables_.end() ? nullptr : &known->second;
  }

  std::vector<std::string> strings(std::string_view name) const {
    std::vector<std::string> all;
    const Value* value = find(name);
    if (value == nullptr || (is<Numbers>(*value) && as<Numbers>(*value).empty())) return all;
    const auto refuse = [&] { throw InputError(where_, fmt::format("{} is not a list of strings", name)); };
    if (!is<List>(*value)) refuse();
    for (const Value& element : as<List>(*value)) {
      if (!is<std::string>(element)) refuse();
      all.push_back(as<std::string>(element));
    }
    return all;
  }

  GapText finish() {
    GapText text;
    for (const auto& [name, value] : variables_)
      if (is<Generated>(value)) {
        made_[as<Generated>(value).number].variables.emplace_back(name);
        spoken_of_.insert(as<Generated>(value).number);
      }
    for (const std::size_t number : spoken_of_) text.semigroups.push_back(std::move(made_[number]));
    if (text.semigroups.empty() && !loose_.empty()) {
      if (loose_depend_)
        throw InputError(where_,
                         "some transformations are made of others, and no Semigroup, Monoid or Group says which "
                         "are the generators; add S := Semigroup(…);");
      text.semigroups.push_back({{}, 0, {}, {}});
      keep_generators(text.semigroups.back(), loose_);
    }
    text.letters = strings("letters");
    text.outputs = strings("outputs");
    if (const Value* value = find("accepting")) {
      if (!is<Numbers>(*value)) throw InputError(where_, "accepting is not a list of points");
      text.accepting.emplace(as<Numbers>(*value));
    }
    if (const Value* value = find("initial")) {
      if (!is<std::int64_t>(*value) || as<std::int64_t>(*value) < 1) throw InputError(where_, "initial is not a point");
      text.initial = static_cast<std::uint64_t>(as<std::int64_t>(*value));
    }
    return text;
  }

  std::string_view text_, where_;
  std::size_t at_ = 0, images_ = 0;
  int depth_ = 0;
  std::map<std::string_view, Value> variables_;
  std::vector<GapSemigroup> made_;
  std::set<std::size_t>
      spoken_of_;  ///< semigroups that are statements by themselves, or values of variables in the end
  List loose_;
  bool uses_variables_ = false, loose_depend_ = false;  ///< the statement; a loose transformation
};

}  // namespace

GapText read_gap_text(std::string_view text, std::string_view where) { return GapReader(text, where).read(); }

}  // namespace krohn
