#include "krohn/automata/families/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "krohn/automata/language.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/names/named_group.h"

namespace krohn {
namespace {

std::string plain_spelling(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (!std::isspace(byte) && c != '_') text += static_cast<char>(std::tolower(byte));
  }
  return text;
}

std::uint64_t number_of(const std::string& digits, std::string_view name) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 63;
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (value > kLargest / 10) throw LimitError(fmt::format("name \"{}\": a parameter is larger than 2^63", name));
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

/// "types=2,depth=3", "5" or "5,seed=1".
bool read_parameters(const std::string& text, std::string_view name, FamilyName& result) {
  static const std::regex kParameter("(?:([a-z]+)=)?([0-9]+)(?:,|$)");
  auto at = text.cbegin();
  std::smatch match;
  while (at != text.cend()) {
    if (!std::regex_search(at, text.cend(), match, kParameter, std::regex_constants::match_continuous)) return false;
    const std::uint64_t value = number_of(match[2].str(), name);
    if (match[1].matched)
      result.named.emplace_back(match[1].str(), value);
    else if (result.number)
      return false;
    else
      result.number = value;
    at = match[0].second;
  }
  return true;
}

}  // namespace

std::optional<FamilyName> parse_family_name(std::string_view name) {
  constexpr std::size_t kLongestName = 200;  // longer ones are not names, and std::regex recurses
  if (name.size() > kLongestName) return std::nullopt;
  static const std::regex kName("([a-z]+(?:-[a-z]+)*)(?:([0-9]+)|\\(([0-9]+)\\))?((?:-[a-z]+)*)(?::(.+))?");
  const std::string text = plain_spelling(name);
  std::smatch match;
  if (!std::regex_match(text, match, kName)) return std::nullopt;
  FamilyName result;
  result.family = match[1].str() + match[4].str();
  for (const std::size_t group : {2u, 3u})
    if (match[group].matched) result.number = number_of(match[group].str(), name);
  if (match[5].matched && !read_parameters(match[5].str(), name, result)) return std::nullopt;
  return result;
}

namespace {

struct Parameter {
  std::string name;
  std::uint64_t least = 1;
  std::optional<std::uint64_t> otherwise = std::nullopt;  ///< the value when it is not given
  bool optional = false;                                  ///< may be left out without a value
};

using Values = std::map<std::string, std::uint64_t>;

struct Family {
  std::string name;                   ///< as in FamilyName::family
  std::vector<Parameter> parameters;  ///< the first one takes the unnamed number
  FamilyInfo info;
  Dfa (*build)(const Values&, const TableLimit&);
};

std::optional<std::uint64_t> value_if_given(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional<std::uint64_t>(found->second);
}

std::vector<Family> counting_entries() {
  return {{"parity",
           {},
           {"parity", "words over {0,1} with an odd number of ones", "Grazzi, Ebrahimi", "parity"},
           [](const Values&, const TableLimit&) { return parity(); }},
          {"sum",
           {{"m"}},
           {"sum<m>", "the sum of the letters 0 … m−1 modulo m: Sum(m)", "Fan", "sum5"},
           [](const Values& v, const TableLimit& limit) { return sum_modulo(v.at("m"), limit); }},
          {"modadd",
           {{"m"}},
           {"modadd<m>", "modular addition; the same automaton as sum<m>", "Ebrahimi", "modadd10"},
           [](const Values& v, const TableLimit& limit) { return sum_modulo(v.at("m"), limit); }},
          {"counter",
           {{"m"}},
           {"counter<m>", "(1^m)*, modular counting; \"(11)*\" is counter2", "Grazzi", "counter3"},
           [](const Values& v, const TableLimit& limit) { return modular_counter(v.at("m"), limit); }},
          {"saturating",
           {{"m"}},
           {"saturating<m>", "a counter over {+,−} that stays within 0 … m−1", "classic", "saturating12"},
           [](const Values& v, const TableLimit& limit) { return saturating_counter(v.at("m"), limit); }}};
}

std::vector<Family> classic_entries() {
  return {{"evenpair",
           {{"m", 2}},
           {"evenpair<m>", "words over 0 … m−1 whose last letter equals the first: EvenPair(m)", "Fan", "evenpair5"},
           [](const Values& v, const TableLimit& limit) { return even_pair(v.at("m"), limit); }},
          {"tomita",
           {{"index"}},
           {"tomita<1–7>", "Tomita's seven languages over {0,1}", "Tomita 1982", "tomita3"},
           [](const Values& v, const TableLimit&) { return tomita(v.at("index")); }},
          {"dyck",
           {{"types"}, {"depth", 0}},
           {"dyck:types=<k>,depth=<d>", "balanced words over k kinds of brackets, at most d deep", "classic",
            "dyck:types=2,depth=3"},
           [](const Values& v, const TableLimit& limit) { return bounded_dyck(v.at("types"), v.at("depth"), limit); }}};
}

std::vector<Family> arithmetic_entries() {
  return {
      {"modarith",
       {{"m"}},
       {"modarith<m>", "arithmetic modulo m with * before + and −: ModArith(m), m² states", "Fan", "modarith5"},
       [](const Values& v, const TableLimit& limit) { return modular_arithmetic(v.at("m"), limit); }},
      {"modarith-strict",
       {{"m"}},
       {"modarith<m>-strict", "the same with the digit/operator phase and an error state, 2m² + 1 states", "Fan",
        "modarith5-strict"},
       [](const Values& v, const TableLimit& limit) { return modular_arithmetic_strict(v.at("m"), limit); }},
      {"ltrarith",
       {{"m"}},
       {"ltrarith<m>", "arithmetic modulo m from left to right, 3m states", "Ebrahimi", "ltrarith5"},
       [](const Values& v, const TableLimit& limit) { return left_to_right_arithmetic(v.at("m"), limit); }},
      {"ltrarith-strict",
       {{"m"}},
       {"ltrarith<m>-strict", "the same with phases and an error state, 4m + 1 states", "Ebrahimi", "ltrarith5-strict"},
       [](const Values& v, const TableLimit& limit) { return left_to_right_arithmetic_strict(v.at("m"), limit); }},
      {"brackets",
       {{"m"}, {"depth", 0}},
       {"brackets:m=<m>,depth=<d>", "arithmetic modulo m with brackets at most d deep and unary minus", "Grazzi",
        "brackets:m=3,depth=2"},
       [](const Values& v, const TableLimit& limit) { return bracketed_arithmetic(v.at("m"), v.at("depth"), limit); }}};
}

std::vector<Family> random_entries() {
  return {{"random",
           {{"m"}, {"letters", 1, 2}, {"seed", 0, 1}},
           {"random:m=<m>,letters=<k>,seed=<s>", "a uniformly random acceptor with m states", "classic",
            "random:m=10,letters=4,seed=1"},
           [](const Values& v, const TableLimit& limit) {
             return random_automaton(v.at("m"), v.at("letters"), v.at("seed"), limit);
           }},
          {"permutations",
           {{"m"}, {"letters", 1, 2}, {"seed", 0, 1}},
           {"permutations:m=<m>,letters=<k>,seed=<s>", "random permutations of m states; the output is the state",
            "classic", "permutations:m=6,letters=2,seed=1"},
           [](const Values& v, const TableLimit& limit) {
             return random_permutation_automaton(v.at("m"), v.at("letters"), v.at("seed"), limit);
           }},
          {"rsm",
           {{"m"}, {"seed", 0, 1}, {"initial", 0, {}, true}},
           {"rsm:m=<m>,seed=<s>",
            "the random state machine δ(q,σ) = π_q(σ); the first letter is the initial state (or initial=<q>)",
            "Ebrahimi", "rsm:m=10,seed=1"},
           [](const Values& v, const TableLimit& limit) {
             return random_state_machine(v.at("m"), v.at("seed"), value_if_given(v, "initial"), limit);
           }},
          {"t",
           {{"n"}},
           {"T<n>", "the full transformation monoid acting on n points", "classic", "T4"},
           [](const Values& v, const TableLimit& limit) { return full_transformation_monoid(v.at("n"), limit); }}};
}

const std::vector<Family>& entries() {
  static const std::vector<Family> kEntries = [] {
    std::vector<Family> all;
    for (const auto& part : {counting_entries(), classic_entries(), arithmetic_entries(), random_entries()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kEntries;
}

std::string parameter_list(const Family& family) {
  std::string text;
  for (const Parameter& parameter : family.parameters) text += (text.empty() ? "" : ", ") + parameter.name;
  return text.empty() ? "none" : text;
}

/// Puts the given numbers to the parameters of the family and checks that every one is there and in range.
Values bind(const Family& family, const FamilyName& given, std::string_view name) {
  const auto fail = [&](const std::string& message) {
    throw InputError(fmt::format("name \"{}\": {} (for example {})", name, message, family.info.example));
  };
  Values values;
  const auto put = [&](const std::string& key, std::uint64_t value) {
    if (!values.emplace(key, value).second) fail(fmt::format("parameter {} is given twice", key));
  };
  if (given.number && family.parameters.empty()) fail("this family takes no number");
  if (given.number) put(family.parameters.front().name, *given.number);
  for (const auto& [key, value] : given.named) {
    const bool known = std::any_of(family.parameters.begin(), family.parameters.end(),
                                   [&key = key](const Parameter& parameter) { return parameter.name == key; });
    if (!known) fail(fmt::format("unknown parameter \"{}\"; parameters are: {}", key, parameter_list(family)));
    put(key, value);
  }
  for (const Parameter& parameter : family.parameters) {
    if (values.find(parameter.name) == values.end()) {
      if (parameter.optional) continue;
      if (!parameter.otherwise) fail(fmt::format("parameter {} is missing", parameter.name));
      values[parameter.name] = *parameter.otherwise;
    }
    if (values[parameter.name] < parameter.least)
      fail(fmt::format("parameter {} is {}; it is at least {}", parameter.name, values[parameter.name],
                       parameter.least));
  }
  return values;
}

const Family* find_family(const std::string& name) {
  const auto found =
      std::find_if(entries().begin(), entries().end(), [&](const Family& family) { return family.name == name; });
  return found == entries().end() ? nullptr : &*found;
}

std::string trimmed_lower(std::string_view text) {
  std::string result;
  for (const char c : text) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto first = result.find_first_not_of(" \t"), last = result.find_last_not_of(" \t");
  return first == std::string::npos ? "" : result.substr(first, last - first + 1);
}

/// The part after the group in "S5/points/transpositions" or "S5/tokens=4".
struct GroupSuffixes {
  bool points = false, identity = false;
  std::optional<std::uint64_t> tokens;
  std::optional<std::string> generators;
};

GroupSuffixes read_suffixes(std::string_view name, std::string_view text) {
  GroupSuffixes result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('/'), text.size());
    const std::string part = trimmed_lower(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto assignment = parse_family_name("x:" + part);
    if (part == "points") {
      result.points = true;
    } else if (part == "identity") {
      result.identity = true;
    } else if (assignment && assignment->named.size() == 1 && assignment->named[0].first == "tokens") {
      result.tokens = assignment->named[0].second;
    } else if (result.generators) {
      throw InputError(
          fmt::format("name \"{}\": generators are given twice, \"{}\" and \"{}\"", name, *result.generators, part));
    } else {
      result.generators = part;
    }
  }
  if (int{result.points} + int{result.identity} + int{result.tokens.has_value()} > 1)
    throw InputError(fmt::format("name \"{}\": \"points\", \"identity\" and \"tokens\" exclude each other", name));
  return result;
}

Dfa group_language(std::string_view name, std::string_view expression, std::string_view suffix_text,
                   const LanguageOptions& options, const TableLimit& limit) {
  const GroupSuffixes suffixes = read_suffixes(name, suffix_text);
  if (suffixes.generators && options.generators)
    throw InputError(fmt::format("name \"{}\": generators are given in the name and as an option", name));
  const PermutationGroup group = named_group(expression);
  std::string set = suffixes.generators ? *suffixes.generators : options.generators.value_or("");
  if (set.empty())
    set = suffixes.points && !group.generators().empty() ? "standard" : std::string(default_generating_set(group));
  const std::vector<NamedPermutation> letters = generating_set(group, set, {.max_elements = limit.max_states});
  if (suffixes.points) return point_action(group, letters, limit);
  if (suffixes.identity) return identity_problem(group, letters, limit);
  if (suffixes.tokens) return delayed_word_problem(group, letters, *suffixes.tokens, limit);
  return word_problem(group, letters, limit);
}

/// Why the text is not a group either, as the reader of group names puts it.
std::string group_reason(std::string_view expression) {
  try {
    named_group(expression);
    return {};
  } catch (const InputError& error) {
    return fmt::format("; as a {}", error.what());
  }
}

[[noreturn]] void unknown_name(std::string_view name, std::string_view expression) {
  std::vector<std::string> known;
  for (const Family& family : entries()) known.push_back(family.name);
  const auto given = parse_family_name(name);
  const std::string hint = did_you_mean(given ? given->family : std::string(name), known);
  throw InputError(fmt::format("no language is called \"{}\".{} `krohn tasks --list` prints the names{}", name, hint,
                               hint.empty() ? group_reason(expression) : ""));
}

}  // namespace

std::vector<FamilyInfo> families() {
  std::vector<FamilyInfo> result;
  for (const Family& family : entries()) result.push_back(family.info);
  for (const NamedGroupInfo& group : named_groups())
    result.push_back({group.pattern, "the word problem of " + group.summary, "Grazzi", group.example});
  const std::string sets = fmt::format("{}", fmt::join(generating_set_names(), ", "));
  result.push_back(
      {"<group>/<generators>", "the same with these letters: " + sets + ", or cycles", "Grazzi", "S5/swaps"});
  result.push_back({"<group>/points", "the group acting on its points, from point 1", "Grazzi", "S5/points"});
  result.push_back({"<group>/identity", "the words whose product is the identity", "Grazzi", "S3/identity"});
  result.push_back({"<group>/tokens=<k>", "the word problem with k tokens per transition", "Grazzi", "Z60/tokens=2"});
  return result;
}

Dfa named_language(std::string_view name, const LanguageOptions& options) {
  const TableLimit limit{.max_states = options.max_states};
  const auto given = trimmed_lower(name) == "(11)*" ? parse_family_name("counter2") : parse_family_name(name);
  if (const Family* family = given ? find_family(given->family) : nullptr) {
    if (options.generators)
      throw InputError(fmt::format("name \"{}\": generators can be chosen for groups only", name));
    return family->build(bind(*family, *given, name), limit);
  }
  const std::size_t slash = name.find('/');
  const std::string_view expression = name.substr(0, slash);
  if (!is_group_name(expression)) unknown_name(name, expression);
  return group_language(name, expression, slash == std::string_view::npos ? "" : name.substr(slash + 1), options,
                        limit);
}

}  // namespace krohn
