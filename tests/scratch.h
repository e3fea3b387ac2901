// tests/scratch.h — an empty folder for a test's files, and what is in a file.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace krohn::test {

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// An empty folder that goes away with it. Test programs run side by side, so each has its own, whatever the name.
class Scratch {
 public:
  explicit Scratch(const std::string& name) : path_(of_process() / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::filesystem::remove_all(path_);
    std::error_code others_stay;
    std::filesystem::remove(of_process(), others_stay);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  static std::filesystem::path of_process() {
    return std::filesystem::path(KROHN_TEST_TMP) / "scratch" / std::to_string(::getpid());
  }

  std::filesystem::path path_;
};

}  // namespace krohn::test
