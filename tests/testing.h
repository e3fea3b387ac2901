// tests/testing.h — the header that every test comes in by: doctest, the parts of the standard library that tests use
// again and again, the message of an error, and an empty folder for a test's files.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "krohn/groups/base/error.h"

namespace krohn::test {

/// The message of the error of a kind that the body throws.
template <class Kind = InputError, class Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error";
}

/// Tells whether a part stands in a text.
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// How often a part stands in a text.
inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

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
