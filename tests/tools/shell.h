// tests/tools/shell.h — runs the command as a person would, in a directory of its own.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "krohn/automata/formats/json.h"

namespace krohn::test {

struct Outcome {
  int status = -1;
  std::string out, err;
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// An empty directory that goes away with it.
class Workplace {
 public:
  explicit Workplace(const std::string& name) : path_(std::filesystem::path(KROHN_TEST_TMP) / ("workplace-" + name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Workplace() { std::filesystem::remove_all(path_); }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

  /// A line of shell with `krohn` on the path and this as the working directory.
  Outcome shell(const std::string& line) const {
    const std::string script = "cd '" + path_.string() + "' && krohn() { '" KROHN_COMMAND "' \"$@\"; }\n{ " + line +
                               "\n} >.out 2>.err </dev/null";
    std::ofstream(path_ / ".script") << script;
    const int raw = std::system(("bash '" + (path_ / ".script").string() + "'").c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, contents(path_ / ".out"), contents(path_ / ".err")};
  }

  /// Names of the files that stand here, hidden ones of krohn included, those of this class not.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if (name != ".out" && name != ".err" && name != ".script") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

/// A path of tests/data, quoted for the shell.
inline std::string data(const std::string& name) { return "'" KROHN_TEST_DATA "/" + name + "'"; }

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace krohn::test
