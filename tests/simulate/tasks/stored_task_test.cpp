#include "krohn/simulate/tasks/stored_task.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "krohn/groups/error.h"
#include "krohn/simulate/tasks/tasks.h"

using namespace krohn;

namespace {

LanguageOptions with_alphabet(const char* alphabet) {
  LanguageOptions options;
  options.alphabet = alphabet;
  return options;
}

LanguageOptions with_generators(const char* generators) {
  LanguageOptions options;
  options.generators = generators;
  return options;
}

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
