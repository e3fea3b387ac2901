#include "krohn/simulate/tasks/tasks.h"
#include "krohn/groups/names/named_group.h"
#include "krohn/groups/permutations/permutation_group.h"
#include "krohn/simulate/tasks/task.h"
#include "tests/automata/calculator.h"
#include "tests/testing.h"

using namespace krohn;
using krohn::test::Calculator;
using krohn::test::left_to_right;

namespace {

LanguageOptions with_alphabet(const char* alphabet) { return {.alphabet = alphabet}; }

LanguageOptions with_generators(const char* generators) { return {.generators = generators}; }

/// A cycle of so many states: its JSON has a line for each.
Dfa cycle(State states) {
  std::vector<State> next;
  for (State state = 0; state < states; ++state) next.push_back((state + 1) % states);
  std::vector<bool> accepting(states, false);
  accepting[0] = true;
  return Dfa::acceptor(Alphabet::from_names(std::vector<std::string>{"a"}), next, 0, accepting);
}

}  // namespace

TEST_CASE("a task is the stored one, whatever the options of reading are now") {
  const auto task = make_task("regex:(a|b)*a", with_alphabet("ba"));
  const auto stored = stored_task(*task, with_alphabet("ba"));
  for (const LanguageOptions& now : {LanguageOptions{}, with_alphabet("ab"), with_alphabet("abc")}) {
    const auto again = restored_task(task->info().name, stored, now, "here");
    CHECK(again->alphabet() == task->alphabet());
    CHECK(*again->oracle() == *task->oracle());
    CHECK(again->info().content == task->info().content);
    CHECK(again->sample(20, 1, 3) == task->sample(20, 1, 3));
  }
  CHECK(make_task("regex:(a|b)*a")->alphabet() != task->alphabet());
}

TEST_CASE("the generators of a group are stored; those of another language are not its own") {
  const auto task = make_task("S3", with_generators("(1 2 3),(1 2)"));
  const auto stored = stored_task(*task, with_generators("(1 2 3),(1 2)"));
  for (const LanguageOptions& now : {LanguageOptions{}, with_generators("(1 2),(1 2 3)")}) {
    const auto again = restored_task("S3", stored, now, "here");
    CHECK(*again->oracle() == *task->oracle());
    CHECK(again->info().content == task->info().content);
  }
  // Letters in another order are another task, to a checkpoint too.
  CHECK(make_task("S3", with_generators("(1 2),(1 2 3)"))->info().content != task->info().content);
  CHECK(make_task("S3")->info().content.empty());
  // A named task takes no generators, and those that a question beside it is read with are not its.
  const auto parity = make_task("parity");
  CHECK(*restored_task("parity", stored_task(*parity), with_generators("all"), "here")->oracle() == *parity->oracle());
  CHECK_THROWS_AS(restored_task("parity", {}, with_generators("all"), "here"), InputError);
}

TEST_CASE("every kind of language comes back as it was: letters, answers and their order") {
  std::vector<std::string> names;
  for (const char* name :
       {"parity", "sum5", "evenpair5", "modarith5", "ltrarith5", "modadd10", "tomita3", "Z12", "Z2xZ4", "S4",
        "S4/swaps", "Z6/tokens=2", "S3/tokens=3", "rsm:m=4,seed=2", "random:m=6,seed=3", "T3", "D5", "A5"})
    for (const char* prefix : {"", "name:"}) names.push_back(std::string(prefix) + name);
  for (const char* text : {"regex:(a|b)*abb", "regex:[α-ω]*β", "regex:a", "regex:()", "search:\"q\"",
                           "ltlf:G(p -> F q)", "expr:regex:(0|1)*1 & ~regex:(0|1)*0", "name:sum5/prefixes"})
    names.emplace_back(text);
  std::size_t kept = 0;
  for (const std::string& name : names) {
    CAPTURE(name);
    std::unique_ptr<Task> task;
    try {
      task = make_task(name);
    } catch (const InputError&) {
      continue;  // no words without letters, or no such name
    }
    const auto again = restored_task(name, stored_task(*task), {}, "here");
    CHECK(again->alphabet() == task->alphabet());
    CHECK(std::ranges::equal(again->labels(), task->labels()));
    CHECK(*again->oracle() == *task->oracle());
    CHECK(again->info().content == task->info().content);
    const std::uint64_t length = task->info().train.greatest;
    CHECK(again->sample(length, 1, 3) == task->sample(length, 1, 3));
    ++kept;
  }
  CHECK(kept > 38);
}

TEST_CASE("an automaton too large to be stored is read again, and has to be the same") {
  // The longest text that is stored has 4 MiB; a byte more and only its fingerprint is.
  State fits = 0, most = 1'000'000;
  const auto has_automaton = [](State states) {
    return stored_task(*language_task("regex:x", cycle(states))).contains("automaton");
  };
  while (fits + 1 < most) {
    const State middle = fits + (most - fits) / 2;
    (has_automaton(middle) ? fits : most) = middle;
  }
  const auto stored = stored_task(*language_task("regex:x", cycle(fits)));
  CHECK(stored.at("automaton").size() <= (std::size_t{4} << 20));
  CHECK(stored.at("automaton").size() > (std::size_t{4} << 20) - 64);
  CHECK(restored_task("regex:x", stored, {}, "here")->oracle()->states() == fits);

  std::map<std::string, std::string> large = stored_task(*make_task("regex:(a|b)*a", with_alphabet("ba")));
  large.erase("automaton");
  CHECK(restored_task("regex:(a|b)*a", large, with_alphabet("ba"), "here")->alphabet().name(0) == "b");
  CHECK_THROWS_WITH_AS(restored_task("regex:(a|b)*a", large, {}, "here"),
                       doctest::Contains("made for another automaton than \"regex:(a|b)*a\" is now"), InputError);
}

TEST_CASE("a stored automaton that was changed is refused; files that store nothing are read by name") {
  const auto task = make_task("regex:(a|b)*a");
  auto stored = stored_task(*task);
  stored["automaton"] = stored_task(*make_task("regex:(a|b)*b"))["automaton"];
  CHECK_THROWS_WITH_AS(restored_task("regex:(a|b)*a", stored, {}, "here"), doctest::Contains("here"), InputError);
  stored["automaton"] = "{";
  CHECK_THROWS_AS(restored_task("regex:(a|b)*a", stored, {}, "here"), InputError);
  CHECK(restored_task("regex:(a|b)*a", {}, with_alphabet("ba"), "here")->alphabet().name(0) == "b");
  // No automaton answers brackets, and nothing is stored of them.
  CHECK(stored_task(*make_task("modarith-brackets5")).empty());
  CHECK(restored_task("modarith-brackets5", {}, {}, "here")->oracle() == nullptr);
}

namespace {

std::vector<std::string> names_of(const Task& task, const std::vector<TaskToken>& sample) {
  std::vector<std::string> names;
  for (const TaskToken& token : sample) names.push_back(task.alphabet().name(token.letter));
  return names;
}

std::string target_name(const Task& task, const TaskToken& token) {
  return token.target ? task.labels()[*token.target] : "none";
}

/// The only target of a sample, after checking that it stands at `position`.
std::string only_target(const Task& task, const std::vector<TaskToken>& sample, std::size_t position) {
  for (std::size_t t = 0; t < sample.size(); ++t) CHECK(sample[t].target.has_value() == (t == position));
  return target_name(task, sample[position]);
}

std::vector<std::string> slice(const std::vector<std::string>& items, std::size_t first, std::size_t last) {
  return {items.begin() + static_cast<std::ptrdiff_t>(first), items.begin() + static_cast<std::ptrdiff_t>(last)};
}

}  // namespace

TEST_CASE("every task of the papers: targets stand where they should and agree with the oracle") {
  CHECK(tasks().size() == 15);
  for (const TaskInfo& listed : tasks()) {
    CAPTURE(listed.name);
    const auto task = make_task(listed.name);
    const TaskInfo& info = task->info();
    CHECK(info.name == listed.name);
    CHECK(info.source == listed.source);
    CHECK(info.length_unit == listed.length_unit);
    CHECK(info.place == listed.place);
    CHECK(info.chance == doctest::Approx(listed.chance));
    CHECK(info.train.least == listed.train.least);
    CHECK(info.test.greatest == listed.test.greatest);
    for (const LengthRange& range : {info.train, info.test}) {
      const auto sample = task->sample(range.greatest, 3, 0);
      std::size_t due = 0;
      State state = task->oracle() ? task->oracle()->initial() : 0;
      for (const TaskToken& token : sample) {
        due += token.target.has_value();
        if (token.target) CHECK(*token.target < task->labels().size());
        if (!task->oracle()) continue;
        state = task->oracle()->next(state, token.letter);
        if (token.target) CHECK(task->oracle()->output(state) == *token.target);
      }
      CHECK(due == (info.place == TargetPlace::kEnd ? 1 : range.greatest));
    }
  }
}

TEST_CASE("Fan's tasks at every prefix ask what they ask of the prefix") {
  struct Fact {
    const char* name;
    std::uint64_t length, every;
  };
  for (const auto& [name, length, every] : {Fact{"sum5", 40, 1}, {"evenpair5", 40, 1}, {"modarith5", 39, 2}}) {
    CAPTURE(name);
    const auto plain = make_task(name), prefixes = make_task(std::string(name) + "/prefixes");
    CHECK(prefixes->info().name == std::string(name) + "/prefixes");
    CHECK(prefixes->info().chance == plain->info().chance);
    CHECK(std::ranges::equal(prefixes->labels(), plain->labels()));
    for (std::uint64_t index = 0; index < 20; ++index) {
      const auto asked = prefixes->sample(length, 3, index), whole = plain->sample(length, 3, index);
      REQUIRE(asked.size() == whole.size());
      State state = plain->oracle()->initial();
      for (std::size_t t = 0; t < asked.size(); ++t) {
        CHECK(asked[t].letter == whole[t].letter);
        state = plain->oracle()->next(state, asked[t].letter);
        CHECK(asked[t].target.has_value() == (t % every == 0));
        if (asked[t].target) CHECK(*asked[t].target == plain->oracle()->output(state));
      }
      CHECK(asked.back().target == whole.back().target);
    }
    const Dfa asked = prefixes->asked_inputs(1).value();
    State state = asked.initial();
    for (const TaskToken& token : prefixes->sample(length, 3, 0)) {
      state = asked.next(state, token.letter);
      CHECK(asked.accepts(state) == token.target.has_value());
    }
    CHECK(sample_plan(*prefixes, length).has_value() == (every == 1));
  }
  CHECK_THROWS_AS(make_task("parity/prefixes"), InputError);
  CHECK_THROWS_AS(make_task("modadd5/prefixes"), InputError);
}

TEST_CASE("Fan's tasks compute their definitions") {
  const auto sum = make_task("sum5"), pair = make_task("evenpair5"), arithmetic = make_task("modarith5");
  for (std::uint64_t index = 0; index < 200; ++index) {
    CAPTURE(index);
    const std::uint64_t length = 1 + index % 41;
    const auto residues = sum->sample(length, 1, index), letters = pair->sample(length, 2, index);
    REQUIRE(residues.size() == length);
    long total = 0;
    for (const std::string& name : names_of(*sum, residues)) total += std::stol(name);
    CHECK(only_target(*sum, residues, length - 1) == std::to_string(total % 5));
    CHECK(only_target(*pair, letters, length - 1) == (letters.front().letter == letters.back().letter ? "1" : "0"));
    const std::uint64_t odd = 1 + 2 * (index % 20);
    const auto expression = arithmetic->sample(odd, 3, index);
    REQUIRE(expression.size() == odd);
    const long value = Calculator(names_of(*arithmetic, expression), 5).evaluate();
    CHECK(only_target(*arithmetic, expression, odd - 1) == std::to_string(value));
  }
  CHECK_THROWS_AS(arithmetic->sample(4, 1, 0), InputError);
  CHECK_THROWS_AS(sum->sample(0, 1, 0), InputError);
}

TEST_CASE("Grazzi's formal languages compute their definitions") {
  const auto parity = make_task("parity"), plain = make_task("modarith-equals5"),
             brackets = make_task("modarith-brackets5");
  CHECK(plain->alphabet().size() == 10);  // |Σ| of E.1.2
  CHECK(brackets->alphabet().size() == 12);
  std::set<std::string> seen;
  for (std::uint64_t index = 0; index < 300; ++index) {
    CAPTURE(index);
    long ones = 0;
    for (const TaskToken& token : parity->sample(20, 1, index)) {
      ones += token.letter;
      CHECK(target_name(*parity, token) == std::to_string(ones % 2));
    }
    const std::uint64_t length = 2 + index % 50;
    const auto flat = plain->sample(length, 2, index), nested = brackets->sample(length, 3, index);
    REQUIRE(flat.size() == length);
    REQUIRE(nested.size() == length);
    const auto flat_names = names_of(*plain, flat), nested_names = names_of(*brackets, nested);
    const std::size_t equals = length % 2 == 0 ? length - 1 : length - 2;
    CHECK(flat_names[equals] == "=");
    if (length % 2 == 1) CHECK(flat_names.back() == "[PAD]");
    CHECK(only_target(*plain, flat, equals) == std::to_string(Calculator(slice(flat_names, 0, equals), 5).evaluate()));
    CHECK(nested_names.back() == "=");
    CHECK(only_target(*brackets, nested, length - 1) ==
          std::to_string(Calculator(slice(nested_names, 0, length - 1), 5).evaluate()));
    seen.insert(nested_names.begin(), nested_names.end());
  }
  CHECK(seen.size() == 11);  // every token but [PAD]
  CHECK(brackets->oracle() == nullptr);
}

TEST_CASE("group word problems multiply permutations, with and without pauses") {
  struct Fact {
    const char *name, *group;
    std::uint64_t tokens;
    std::size_t letters, most_moved;
  };
  for (const Fact& fact :
       {Fact{"S5", "S5", 1, 120, 5}, Fact{"S5/swaps", "S5", 1, 11, 2}, Fact{"S5/swaps and 3-cycles", "S5", 1, 31, 3},
        Fact{"S5/tokens=4", "S5", 4, 121, 5}, Fact{"Z60", "Z60", 1, 60, 60}, Fact{"Z60/tokens=2", "Z60", 2, 61, 60},
        Fact{"D4", "D4", 1, 8, 4}}) {
    CAPTURE(fact.name);
    const auto task = make_task(fact.name);
    const PermutationGroup group = named_group(fact.group);
    const bool residues = fact.group[0] == 'Z';
    CHECK(task->labels()[0] == (residues ? "0" : "()"));  // Grazzi: the identity is number 0
    CHECK(task->alphabet().size() == fact.letters + 1);
    const auto value_of = [&](const std::string& name) {
      if (name == "pause") return Permutation::identity(group.degree());
      if (!residues) return parse_cycles(name, group.degree());
      Permutation power = Permutation::identity(group.degree());
      for (long i = std::stol(name); i > 0; --i) power = power * group.generators()[0].value;
      return power;
    };
    const auto sample = task->sample(100, 7, 4);
    REQUIRE(sample.size() == 101);
    CHECK(task->alphabet().name(sample[0].letter) == "[BOS]");
    CHECK(!sample[0].target);
    std::vector<Permutation> products{Permutation::identity(group.degree())};
    for (std::uint64_t t = 1; t <= 100; ++t) {
      CAPTURE(t);
      const std::string name = task->alphabet().name(sample[t].letter);
      CHECK((name == "pause") == (t % fact.tokens != 0));
      products.push_back(products.back() * value_of(name));
      const Permutation& expected = products[t < fact.tokens ? 0 : t - fact.tokens + 1];
      CHECK(target_name(*task, sample[t]) == group.element_name(expected));
      std::size_t moved = 0;
      for (Point p = 0; p < group.degree(); ++p) moved += value_of(name)[p] != p;
      CHECK(moved <= fact.most_moved);
    }
  }
}

TEST_CASE("Ebrahimi's tasks compute their definitions between [BOS] and [EOI]") {
  const auto sum = make_task("modadd20"), arithmetic = make_task("ltrarith20"), machine = make_task("rsm:m=6,seed=9");
  const Dfa rows = named_language("rsm:m=6,seed=9,initial=0");
  for (std::uint64_t index = 0; index < 200; ++index) {
    CAPTURE(index);
    const std::uint64_t n = 1 + index % 30;
    for (const auto& [task, tokens] :
         std::map<const Task*, std::uint64_t>{{sum.get(), n}, {arithmetic.get(), 2 * n - 1}, {machine.get(), n}}) {
      const auto sample = task->sample(n, 5, index);
      const auto names = names_of(*task, sample);
      REQUIRE(names.size() == tokens + 2);
      CHECK(names.front() == "[BOS]");
      CHECK(names.back() == "[EOI]");
      const auto inputs = slice(names, 1, names.size() - 1);
      long expected = 0;
      if (task == sum.get()) {
        for (const std::string& input : inputs) expected += std::stol(input);
        expected %= 20;
      } else if (task == arithmetic.get()) {
        expected = left_to_right(inputs, 20);
      } else {
        State state = static_cast<State>(std::stol(inputs[0]));
        for (std::size_t i = 1; i < inputs.size(); ++i)
          state = rows.next(state, static_cast<Letter>(std::stol(inputs[i])));
        expected = state;
      }
      CHECK(only_target(*task, sample, names.size() - 1) == std::to_string(expected));
    }
  }
}

TEST_CASE("labels are spread as theory says") {
  struct Fact {
    const char* name;
    std::uint64_t length;
    std::map<std::string, double> share;  // checked ones
  };
  constexpr int kSamples = 4000;
  for (const Fact& fact :
       {Fact{"sum5", 40, {{"0", .2}, {"1", .2}, {"2", .2}, {"3", .2}, {"4", .2}}},
        Fact{"evenpair5", 40, {{"0", .8}, {"1", .2}}}, Fact{"parity", 40, {{"0", .5}, {"1", .5}}},
        Fact{"modadd10", 10, {{"0", .1}, {"9", .1}}}, Fact{"S3", 30, {{"()", 1. / 6}, {"(1 2 3)", 1. / 6}}},
        Fact{"rsm:m=4,seed=2", 30, {}}, Fact{"modarith-brackets2", 21, {}}}) {
    CAPTURE(fact.name);
    const auto task = make_task(fact.name);
    std::map<std::string, int> count;
    for (std::uint64_t index = 0; index < kSamples; ++index) {
      std::string last;
      const auto stream = task->open(fact.length, 11, index);
      while (const auto token = stream->next())
        if (token->target) last = task->labels()[*token->target];
      ++count[last];
    }
    for (const auto& entry : fact.share) {
      const std::string& label = entry.first;
      const double share = entry.second;
      CAPTURE(label);
      const double deviation = std::sqrt(kSamples * share * (1 - share));
      CHECK(std::abs(count[label] - kSamples * share) < 5 * deviation);
    }
    CHECK(count.size() >= 2);
  }
}

TEST_CASE("samples are pure functions of length, seed and index") {
  for (const TaskInfo& info : tasks()) {
    CAPTURE(info.name);
    const auto task = make_task(info.name), again = make_task(info.name);
    const auto sample = task->sample(info.train.greatest, 1, 5);
    CHECK(sample == again->sample(info.train.greatest, 1, 5));
    CHECK(sample != task->sample(info.train.greatest, 2, 5));
    CHECK(sample != task->sample(info.train.greatest, 1, 6));
  }
  // Drawn at once or letter by letter, behind what is there.
  for (const TaskInfo& info : tasks()) {
    CAPTURE(info.name);
    const auto task = make_task(info.name);
    std::uint64_t length = info.least_length;
    for (int i = 0; i < 60; ++i, length += info.length_step) {
      const std::uint64_t own = i < 59 ? length : info.least_length + (9000 / info.length_step) * info.length_step;
      std::vector<Letter> letters{7};
      std::vector<TaskLabel> due{9};
      task->draw(own, 3, 11, letters, due);
      std::vector<TaskToken> tokens;
      for (std::size_t t = 1; t < letters.size(); ++t)
        tokens.push_back({letters[t], due[t] == Task::kNoLabel ? std::nullopt : std::optional(due[t])});
      CHECK((letters[0] == 7 && due[0] == 9 && due.size() == letters.size()));
      CHECK(tokens == task->sample(own, 3, 11));
    }
  }
  // A longer input begins with the shorter one where the layout allows, across the buffers of the stream.
  for (const char* name : {"sum5", "S5/tokens=4", "modarith5", "ltrarith10"}) {
    CAPTURE(name);
    const auto task = make_task(name);
    const auto shorter = task->sample(4201, 8, 0), longer = task->sample(9001, 8, 0);
    for (std::size_t t = 0; t + 2 < shorter.size(); ++t) CHECK(shorter[t].letter == longer[t].letter);
  }
}

TEST_CASE("samples never change: the first ones of seed 1") {
  struct Fact {
    const char *task, *tokens, *targets;  ///< of samples 0 and 1, five inputs each
  };
  for (const Fact& fact :
       {Fact{"modarith5", "2 * 1 * 3 1 + 0 + 4", "none none none none 1 none none none none 0"},
        Fact{"S3/tokens=2", "[BOS] pause (1 2) pause (1 3 2) pause [BOS] pause (1 3) pause (1 2) pause",
             "none () () (1 2) (1 2) (2 3) none () () (1 3) (1 3) (1 3 2)"},
        Fact{"modadd20", "[BOS] 9 7 2 0 0 [EOI] [BOS] 17 19 1 4 2 [EOI]",
             "none none none none none none 18 none none none none none none 3"}}) {
    CAPTURE(fact.task);
    const auto task = make_task(fact.task);
    std::vector<std::string> tokens, targets;
    for (const std::uint64_t index : {0, 1}) {
      const auto sample = task->sample(5, 1, index);
      for (const std::string& name : names_of(*task, sample)) tokens.push_back(name);
      for (const TaskToken& token : sample) targets.push_back(target_name(*task, token));
    }
    CHECK(fmt::format("{}", fmt::join(tokens, " ")) == fact.tokens);
    CHECK(fmt::format("{}", fmt::join(targets, " ")) == fact.targets);
  }
}

TEST_CASE("lengths are uniform among those that the task has") {
  const auto task = make_task("modarith5");
  DatasetOptions options{.lengths = {2, 9}};
  std::map<std::uint64_t, int> count;
  for (std::uint64_t index = 0; index < 4000; ++index) ++count[sample_length(*task, options, index)];
  CHECK(count.size() == 4);
  for (const std::uint64_t length : {3u, 5u, 7u, 9u}) CHECK(std::abs(count[length] - 1000) < 150);
  options.lengths = {4, 4};
  CHECK_THROWS_AS(sample_length(*task, options, 0), InputError);
  options.lengths = {9, 2};
  CHECK_THROWS_AS(sample_length(*task, options, 0), InputError);
}

TEST_CASE("a long sample is written without being held") {
  const auto task = make_task("modarith-brackets5");
  const auto stream = task->open(2'000'000, 1, 0);
  std::uint64_t tokens = 0;
  std::optional<TaskToken> last;
  while (const auto token = stream->next()) last = token, ++tokens;
  CHECK(tokens == 2'000'000);
  CHECK(last->target.has_value());
}

TEST_CASE("wrong names") {
  for (const char* name : {"sun5", "modarith-equals", "modarith-equals0", "modarith-equals:k=3", "modarith-brackets",
                           "modarith-brackets5:m=5", "W7", "", "S5/nothing"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(make_task(name), InputError);
  }
  CHECK_THROWS_AS(make_task("modarith-brackets99999999"), LimitError);
  CHECK_THROWS_AS(make_task("M24"), LimitError);
}

TEST_CASE("any language is a task: uniform words, the automaton's output after every letter") {
  const std::string file = std::string(KROHN_TEST_DATA) + "/aalpy/tomita_3.dot";
  for (const std::string& name : {std::string("name:parity"), std::string("name:S3"), std::string("name:modarith3"),
                                  std::string("regex:(a|b)*abb"), file}) {
    CAPTURE(name);
    const auto task = make_task(name);
    const Dfa automaton = load_language(name);
    CHECK(task->info().name == name);
    CHECK(task->info().chance == 1.0 / static_cast<double>(automaton.output_names().size()));
    REQUIRE(task->alphabet() == automaton.alphabet());
    for (std::uint64_t index = 0; index < 20; ++index) {
      State state = automaton.initial();
      const std::vector<TaskToken> sample = task->sample(12, 5, index);
      CHECK(sample.size() == 12);
      for (const TaskToken& token : sample) {
        state = automaton.next(state, token.letter);
        REQUIRE(token.target.has_value());
        CHECK(task->labels()[*token.target] == automaton.output_names()[automaton.output(state)]);
      }
    }
  }
  // The paper's task has a token in front; the language has not.
  CHECK(make_task("S3")->alphabet().size() == make_task("name:S3")->alphabet().size() + 1);
  CHECK_THROWS_AS(make_task("absent.dot"), SystemError);
  CHECK_THROWS_AS(make_task("name:tomita9"), InputError);
  CHECK_THROWS_AS(make_task("regex:(a"), InputError);
  CHECK_THROWS_AS(make_task("regex:()"), InputError);
}
