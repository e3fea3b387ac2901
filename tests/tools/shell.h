// tests/tools/shell.h — runs the command as a person would, in a directory of its own.
#pragma once

#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "krohn/automata/formats/json.h"
#include "tests/testing.h"

namespace krohn::test {

struct Outcome {
  int status = -1;
  std::string out, err;
};

/// A folder to run the command in.
class Workplace : public Scratch {
 public:
  explicit Workplace(const std::string& name) : Scratch("workplace-" + name) {}

  /// A line of shell with `krohn` on the path and this as the working directory.
  Outcome shell(const std::string& line) const {
    const std::string script = "cd '" + path().string() + "' && krohn() { '" KROHN_COMMAND "' \"$@\"; }\n{ " + line +
                               "\n} >.out 2>.err </dev/null";
    write(".script", script);
    const int raw = std::system(("bash '" + (*this / ".script").string() + "'").c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, contents(*this / ".out"), contents(*this / ".err")};
  }

  /// Runs a line that must end with `status` and say every part of `says`: on standard error after a
  /// refusal (status 2), else on standard output. A part that begins with "2> " is looked for on standard error, and
  /// one that begins with "! " must be missing.
  Outcome expect(int status, const std::string& line, const std::vector<std::string>& says = {}) const {
    const Outcome outcome = shell(line);
    INFO(line, "\n", outcome.out, outcome.err);
    CHECK(outcome.status == status);
    for (const std::string& told : says) {
      const bool is_error = status == 2 || told.starts_with("2> ");
      const std::string after = told.substr(told.starts_with("2> ") ? 3 : 0),
                        part = after.substr(after.starts_with("! ") ? 2 : 0);
      const bool is_said = contains(is_error ? outcome.err : outcome.out, part);
      CHECK_MESSAGE(is_said == (part == after), told);
    }
    return outcome;
  }

  /// Runs a line that must end with `status`, and reads what it prints as JSON.
  nlohmann::json report(int status, const std::string& line) const {
    return nlohmann::json::parse(expect(status, line).out);
  }

  /// Runs a line that the rest of a test needs.
  void make(const std::string& line) const {
    const Outcome outcome = shell(line);
    REQUIRE_MESSAGE(outcome.status == 0, line, "\n", outcome.out, outcome.err);
  }

  /// Names of the files that stand here, hidden ones of krohn included, those of this class not.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      const std::string name = entry.path().filename().string();
      if (name != ".out" && name != ".err" && name != ".script") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

/// A path of tests/data, quoted for the shell.
inline std::string data(const std::string& name) { return "'" KROHN_TEST_DATA "/" + name + "'"; }

/// Runs a command with a limit of time until its outcome is as promised, at most four times, each with twice the time
/// of the one before, since a loaded machine starts, wakes and ends processes late. `run` takes the seconds and returns
/// an outcome; `wrong` returns why one is not as promised, or "". Returns "", or all reasons.
template <class Run, class Wrong>
std::string broken_promises(double seconds, const Run& run, const Wrong& wrong) {
  std::string reasons;
  for (int round = 0; round < 4; ++round, seconds *= 2) {
    const auto outcome = run(seconds);
    const std::string reason = wrong(outcome, seconds);
    if (reason.empty()) return "";
    std::ostringstream all;
    all << seconds << " s: " << reason << "; status " << outcome.status << "\n" << outcome.out << outcome.err << "\n";
    reasons += all.str();
  }
  return reasons;
}

}  // namespace krohn::test
