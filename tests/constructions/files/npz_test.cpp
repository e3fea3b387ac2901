#include "krohn/constructions/files/npz.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/error.h"

using namespace krohn;

namespace {

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T value;
  REQUIRE(at + sizeof(T) <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The CRC of the ZIP format, bit by bit.
std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

/// The entries of an archive, found from its end as readers do.
std::map<std::string, std::string> entries_of(const std::string& zip) {
  const std::size_t end = zip.size() - 22;
  REQUIRE(number_at<std::uint32_t>(zip, end) == 0x06054b50);
  const auto count = number_at<std::uint16_t>(zip, end + 10);
  std::size_t at = number_at<std::uint32_t>(zip, end + 16);
  CHECK(at + number_at<std::uint32_t>(zip, end + 12) == end);
  std::map<std::string, std::string> entries;
  for (int i = 0; i < count; ++i) {
    REQUIRE(number_at<std::uint32_t>(zip, at) == 0x02014b50);
    const auto crc = number_at<std::uint32_t>(zip, at + 16), size = number_at<std::uint32_t>(zip, at + 24);
    const auto name_size = number_at<std::uint16_t>(zip, at + 28);
    const auto local = number_at<std::uint32_t>(zip, at + 42);
    const std::string name = zip.substr(at + 46, name_size);
    REQUIRE(number_at<std::uint32_t>(zip, local) == 0x04034b50);
    CHECK(zip.substr(local + 30, name_size) == name);
    entries[name] = zip.substr(local + 30 + name_size, size);
    CHECK(crc_of(entries[name]) == crc);
    at += 46 + name_size;
  }
  return entries;
}

}  // namespace

TEST_CASE("an archive holds every tensor and text, described as NumPy describes arrays") {
  TensorFile file;
  file.tensors.emplace("a.b", make_tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}));
  file.tensors.emplace("one", make_tensor(std::vector<std::int64_t>{-7}, {}));
  file.tensors.emplace("row", make_tensor(std::vector<std::uint8_t>{1, 2}, {2}));
  file.metadata["text"] = "grün";
  const std::string zip = format_npz(file);
  CHECK(zip == format_npz(file));
  const auto entries = entries_of(zip);
  struct Fact {
    const char* name;
    const char* description;
    std::size_t bytes;
  };
  CHECK(entries.size() == 4);
  for (const Fact& fact :
       {Fact{"a.b.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, ), }", 24},
        Fact{"one.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (), }", 8},
        Fact{"row.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (2, ), }", 2},
        Fact{"metadata.text.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (5, ), }", 5}}) {
    CAPTURE(fact.name);
    REQUIRE(entries.contains(fact.name));
    const std::string& npy = entries.at(fact.name);
    CHECK(npy.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t header = number_at<std::uint16_t>(npy, 8);
    CHECK((10 + header) % 64 == 0);
    CHECK(npy.substr(10, std::strlen(fact.description)) == fact.description);
    CHECK(npy[10 + header - 1] == '\n');
    CHECK(npy.size() == 10 + header + fact.bytes);
  }
  CHECK(entries.at("metadata.text.npy").ends_with("grün"));
  CHECK(number_at<float>(entries.at("a.b.npy"), entries.at("a.b.npy").size() - 4) == 6);
}

TEST_CASE("element types that NumPy lacks are refused") {
  TensorFile file;
  file.tensors.emplace("half", Tensor{"BF16", {1}, {std::byte{0}, std::byte{0}}});
  CHECK_THROWS_WITH_AS(format_npz(file), doctest::Contains("BF16"), InputError);
}
