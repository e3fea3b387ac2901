// Arguments are read as they were typed: every argument of every verb arrives byte for byte.

#include <CLI/CLI.hpp>

#include "tests/tools/shell.h"
#include "tools/krohn/verb.h"

using namespace krohn::test;

namespace {

using Arguments = std::vector<std::string>;

/// Texts that some library of command lines reads as something else, then random bytes, rich in such characters.
Arguments odd_texts() {
  Arguments texts{"",          "[]",   "[ab]", "[a,b]", "[[a],[,]]", "{}",       "%%",   "++",   "--",
                  "-",         "-x",   "-1",   "---",   "--json",    "--json=1", "info", "help", "a,b",
                  ",",         ",,a,", "=x",   " ",     "\"a\"",     "'a'",      "\\",   "\x01", "\x01\x02",
                  "\x01\x03x", "/x",   "!x",   "$HOME", "\n",        "\xFF\xFE", "ä",    "0x10", "true"};
  const std::string rich = "[]{}(),%\"'\\=-+ :!\n\x01\x02\x03\xFF";
  std::mt19937_64 random(7);
  for (int i = 0; i < 60; ++i) {
    std::string text;
    for (auto length = 1 + random() % 7; length > 0; --length)
      text += random() % 2 == 0 ? rich[random() % rich.size()] : static_cast<char>(1 + random() % 255);
    texts.push_back(text);
  }
  return texts;
}

bool looks_like_option(const std::string& text) { return text.size() > 1 && text[0] == '-'; }

/// The values that reach the option, before it makes something of them.
Arguments values_of(CLI::App& app, const CLI::Option& option, const Arguments& arguments) {
  try {
    krohn::parse_as_typed(app, arguments);
  } catch (const CLI::Error&) {  // another argument is missing, or this is no number
  } catch (const krohn::InputError&) {
  } catch (const std::bad_optional_access&) {  // the check for numbers is off
  }
  return option.reduced_results();
}

/// Turns off the checks of the option's values but the first, which hands them over as they were typed. Throws where
/// there is no such check.
void take_anything(CLI::Option& option) {
  option.get_validator(krohn::kAsTyped);
  try {
    for (int i = 0;; ++i)
      if (CLI::Validator* check = option.get_validator(i); check->get_name() != krohn::kAsTyped) check->active(false);
  } catch (const CLI::OptionNotFound&) {  // all are off
  }
}

}  // namespace

TEST_CASE("every argument of every verb arrives byte for byte") {
  CLI::App app;
  krohn::Work chosen;
  krohn::build_command(app, chosen);
  const Arguments texts = odd_texts();
  std::size_t options = 0, positionals = 0;
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) {
    CAPTURE(verb->get_name());
    std::vector<CLI::Option*> places;
    for (CLI::Option* option : verb->get_options()) {
      if (option->get_items_expected_max() == 0) continue;  // a flag
      CAPTURE(option->get_name());
      take_anything(*option);
      if (option->get_positional()) places.push_back(option);
      Arguments names;
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      for (const std::string& name : names) {
        ++options;
        const bool is_long = name.starts_with("--");
        for (const std::string& text : texts) {
          CAPTURE(text);
          CHECK(values_of(app, *option, {verb->get_name(), name, text}) == Arguments{text});
          if (is_long || !text.empty())
            CHECK(values_of(app, *option, {verb->get_name(), name + (is_long ? "=" : "") + text}) == Arguments{text});
        }
      }
    }
    for (std::size_t place = 0; place < places.size(); ++place) {
      CAPTURE(places[place]->get_name());
      ++positionals;
      const bool is_repeatable = places[place]->get_expected_max() > 1;
      for (std::size_t i = 0; i + 3 < texts.size(); ++i) {
        const std::size_t after = i + (is_repeatable ? 3 : 1);
        const Arguments given(texts.begin() + static_cast<std::ptrdiff_t>(i),
                              texts.begin() + static_cast<std::ptrdiff_t>(after));
        CAPTURE(given);
        Arguments line{verb->get_name()};
        line.insert(line.end(), place, "x");
        if (std::ranges::none_of(given, looks_like_option)) {
          Arguments plain = line;
          plain.insert(plain.end(), given.begin(), given.end());
          CHECK(values_of(app, *places[place], plain) == given);
        }
        line.push_back("--");
        line.insert(line.end(), given.begin(), given.end());
        CHECK(values_of(app, *places[place], line) == given);
      }
    }
  }
  CHECK(options > 200);
  CHECK(positionals > 30);
}

TEST_CASE("targets of every kind hold what arrives") {
  std::string plain, read;
  std::optional<std::string> maybe;
  Arguments repeated, list;
  std::vector<double> numbers;
  CLI::App app;
  krohn::Verb verb(app.add_subcommand("verb"));
  verb.add_option("--plain", plain, "");
  verb.add_option("--maybe", maybe, "");
  verb.add_option(
      "--read", [&](const std::string& text) { read = text; }, "");
  verb.add_option("REPEATED", repeated, "");
  verb.add_list("--list", list, "");
  verb.add_list("--numbers", numbers, "");
  for (const std::string& text : odd_texts()) {
    CAPTURE(text);
    krohn::parse_as_typed(app, {"verb", "--plain", text, "--maybe=" + text, "--read", text, "--", text, text});
    CHECK(plain == text);
    CHECK(maybe == text);
    CHECK(read == text);
    CHECK(repeated == Arguments{text, text});
  }
  krohn::parse_as_typed(app, {"verb", "--list", "a,,[b", "--list=", "x", "--numbers=1,2", "--numbers", "-3e-1"});
  CHECK(list == Arguments{"a", "", "[b", ""});
  CHECK(repeated == Arguments{"x"});  // no value of the list
  CHECK(numbers == std::vector<double>{1, 2, -0.3});
  for (const char* wrong : {"", "1,", "1,,2", "a"})
    CHECK_THROWS_AS(krohn::parse_as_typed(app, {"verb", "--numbers", wrong}), CLI::ValidationError);
}

TEST_CASE("words in brackets are words") {
  const Workplace place("brackets");
  place.write("[p.dot]", "digraph { p [shape=doublecircle]; i [shape=point]; i -> p; p -> p [label=a]; }");
  struct Fact {
    const char *line, *said;
  };
  for (const auto& [line, said] :
       {Fact{R"(krohn run 'regex:\[[ab,]*\]' '[ab]')", "\"[ab]\" (4 letters): accept"},
        Fact{R"(krohn run 'regex:\[[ab,]*\]' '[a,b]')", "\"[a,b]\" (5 letters): accept"},
        Fact{R"(krohn run 'regex:[\[\]]*' '[]')", "\"[]\" (2 letters): accept"},
        Fact{R"(krohn run 'regex:[\[\]]*' '[[]]')", "\"[[]]\" (4 letters): accept"},
        Fact{R"(krohn run 'regex:("[1,2,3]")*' '[1,2,3]')", "\"[1,2,3]\" (1 letter): accept"},
        Fact{R"(krohn run 'regex:\+*' ++)", "\"++\" (2 letters): accept"},
        Fact{R"(krohn run 'regex:-x|info' info -- -x)", "\"-x\" (2 letters): accept"},
        Fact{R"(krohn classify '[p.dot]')", "acceptance: 1 state, a monoid"}}) {
    CAPTURE(line);
    const Outcome outcome = place.expect(0, line);
    CHECK_MESSAGE(contains(outcome.out, said), (outcome.out + outcome.err));
  }
}

namespace {

/// Bash's candidates after `words`, one a line; the last word is being typed.
std::string offered(const Workplace& place, const std::string& words, int position) {
  return place
      .shell("krohn completion bash > krohn.bash && source krohn.bash && COMP_WORDS=(" + words +
             ") && COMP_CWORD=" + std::to_string(position) + " && { _krohn; printf '%s\\n' \"${COMPREPLY[@]}\"; }")
      .out;
}

}  // namespace

TEST_CASE("bash completes verbs, options and their values") {
  const Workplace place("completion");
  CHECK(offered(place, "krohn ver", 1) == "verify\n");
  CHECK(offered(place, "krohn verify --prec", 2) == "--precision\n");
  CHECK(offered(place, "krohn verify --precision tf", 3) == "tf32\n");
  CHECK(offered(place, "krohn compile --construction two", 3) == "two-layer-reflections\n");
  CHECK(offered(place, "krohn info name:tom", 2) == "name:tomita3\n");
  CHECK(offered(place, "krohn info name : tom", 4) == "tomita3\n");  // as a shell breaks it
  CHECK(contains(offered(place, "krohn info name :", 3), "\nmodarith5\n"));
  CHECK(offered(place, "krohn train modarith-b", 2) == "modarith-brackets5\n");
  CHECK(offered(place, "krohn train parity --model delt", 4) == "deltaproduct\ndelta\ndeltanet\n");
  CHECK(offered(place, "krohn help ver", 2) == "verify\n");
  place.write("abb.safetensors", "");
  CHECK(offered(place, "krohn verify abb", 2) == "abb.safetensors\n");
}

TEST_CASE("scripts are valid for their shells") {
  const Workplace place("completion-syntax");
  place.expect(0, "krohn completion bash | bash -n");
  place.expect(0, "krohn completion zsh > _krohn; ! command -v zsh >/dev/null || zsh -n _krohn");
  const std::string zsh = contents(place / "_krohn");
  CHECK(zsh.starts_with("#compdef krohn\n"));
  for (const char* part : {"'verify:Prove a model", "--precision[", "(fp64 fp32 fp16 bf16)",
                           "compadd -- 'name:parity' ", ":LANGUAGE:_krohn_language"})
    CHECK(contains(zsh, part));
  place.expect(0, "krohn completion fish > krohn.fish; ! command -v fish >/dev/null || fish -n krohn.fish");
  const std::string fish = contents(place / "krohn.fish");
  for (const char* part :
       {"-a verify -d 'Prove a model", "-s o -l output -r -F", "-l precision -x -a '", "-a 'bash zsh fish'"})
    CHECK(contains(fish, part));
}

TEST_CASE("the manual page holds every help page, and man reads it without a complaint") {
  const Workplace place("manual");
  place.make("krohn help --man > krohn.1");
  const std::string page = contents(place / "krohn.1");
  CHECK(page.starts_with(".TH KROHN 1 "));
  for (const char* part : {".SH NAME\nkrohn \\- ", ".SH VERIFY\n", "\\-\\-precision", ".SH COMPLETION\n"})
    CHECK(contains(page, part));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    if (line.starts_with('.'))
      CHECK((line.starts_with(".TH ") || line.starts_with(".SH ") || line == ".nf" || line == ".fi"));
  }
  place.expect(0,
               "! command -v groff >/dev/null || [ -z \"$(groff -man -Tutf8 -K utf8 -ww krohn.1 2>&1 >/dev/null)\" ]");
}

TEST_CASE("a language may be longer than any name of a file") {
  const Workplace place("long-language");
  std::string language = "search:first";  // a list of keywords is the commonest use of a search
  for (int i = 0; i < 1000; ++i) language += fmt::format("|word{}", i);
  CHECK(contains(place.expect(0, "krohn run '" + language + "' my-word17 wor").out, "accept"));
  for (const char* line : {"verify", "eval", "audit", "snap -o x.safetensors", "extract -o x.dot",
                           "compare z.safetensors", "check x.cert", "classify --corpus"}) {
    const Outcome outcome = place.shell(fmt::format("krohn {} '{}'", line, language));
    CHECK_MESSAGE(outcome.status != 0, line);
    CHECK_MESSAGE(!contains(outcome.err, "filesystem error"), outcome.err.substr(0, 200));
  }
}
