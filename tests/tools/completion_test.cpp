#include "tests/tools/shell.h"

using namespace krohn::test;

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
  CHECK(offered(place, "krohn train parity --model delt", 4) == "deltaproduct\ndeltanet\n");
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
