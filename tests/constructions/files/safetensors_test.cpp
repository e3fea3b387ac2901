#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/atomic_file.h"
#include "tests/testing.h"

using namespace krohn;
using krohn::test::Scratch;

namespace {

TensorFile parse(const std::string& bytes) { return parse_safetensors(std::as_bytes(std::span(bytes)), "f"); }

/// The bytes of a file with this header and a buffer of `buffer` zero bytes.
std::string with_header(const std::string& header, std::size_t buffer) {
  std::string result(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(result.data(), &length, 8);
  return result + header + std::string(buffer, '\0');
}

Tensor bytes_tensor(std::vector<std::uint64_t> shape, std::string dtype, std::size_t bytes, int fill) {
  return {std::move(dtype), std::move(shape), std::vector<std::byte>(bytes, static_cast<std::byte>(fill))};
}

TensorFile example() {
  TensorFile file{.metadata = {{"format", "krohn"}, {"ключ", "\"quoted\"\n"}}};
  file.tensors["odd"] = bytes_tensor({3}, "U8", 3, 1);
  file.tensors["a.matrix"] = bytes_tensor({2, 3}, "F64", 48, 2);
  file.tensors["scalar"] = bytes_tensor({}, "I32", 4, 3);
  file.tensors["empty"] = bytes_tensor({5, 0, 2}, "F32", 0, 4);
  file.tensors["half"] = bytes_tensor({1, 1}, "BF16", 2, 5);
  return file;
}

}  // namespace

TEST_CASE("files round trip, and the bytes are a function of the content") {
  for (const TensorFile& file : {TensorFile{}, example()}) {
    const std::string bytes = format_safetensors(file);
    CHECK(parse(bytes) == file);
    CHECK(format_safetensors(parse(bytes)) == bytes);
  }
  const Scratch scratch("safetensors-round");
  const std::string path = (scratch / "round.safetensors").string();
  write_safetensors(example(), path);
  CHECK(read_safetensors(path) == example());
}

TEST_CASE("the bytes are the format's: length, JSON, spaces, tensors aligned to their elements") {
  TensorFile file;
  file.tensors["a"] = bytes_tensor({1}, "U8", 1, 7);
  file.tensors["b"] = bytes_tensor({1}, "U32", 4, 9);
  const std::string header =
      R"({"b":{"dtype":"U32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[1],"data_offsets":[4,5]}})";
  std::string expected = with_header(header + std::string((8 - header.size() % 8) % 8, ' '), 0);
  expected += "\x09\x09\x09\x09\x07";
  CHECK(format_safetensors(file) == expected);
}

TEST_CASE("the order of the entries in the header does not matter, the order of the offsets does") {
  const TensorFile file = parse(with_header(
      R"({"z":{"data_offsets":[0,2],"dtype":"U8","shape":[2]},"a":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
      3));
  CHECK(file.tensors.at("z").bytes.size() == 2);
  CHECK(file.tensors.at("a").shape == std::vector<std::uint64_t>{1});
}

TEST_CASE("every element type of the format is read and written, packed ones too") {
  TensorFile file;
  for (const auto& [type, bytes] :
       {std::pair{"F4", 4}, {"F6_E2M3", 6},     {"F6_E3M2", 6}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8},
        {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"BOOL", 8},    {"U8", 8},      {"I8", 8},      {"U16", 16},
        {"I16", 16},        {"F16", 16},        {"BF16", 16},   {"U32", 32},    {"I32", 32},    {"F32", 32},
        {"U64", 64},        {"I64", 64},        {"F64", 64},    {"C64", 64}})
    file.tensors[type] = bytes_tensor({2, 4}, type, static_cast<std::size_t>(bytes), bytes);
  CHECK(file.tensors.size() == 22);
  CHECK(parse(format_safetensors(file)) == file);
}

TEST_CASE("a file that the official library wrote") {
  // safetensors 0.8.0 for Python: weights = arange(6).reshape(2, 3), odd = [1, 2, 3], scalar = −7, and a few more.
  const TensorFile file = read_safetensors(std::string(KROHN_TEST_DATA) + "/safetensors/official.safetensors");
  CHECK(file.metadata == std::map<std::string, std::string>{{"written by", "safetensors 0.8.0"}});
  REQUIRE(file.tensors.size() == 6);
  const Tensor& weights = file.tensors.at("weights");
  CHECK(weights.dtype == "F32");
  CHECK(weights.shape == std::vector<std::uint64_t>{2, 3});
  float last = 0;
  std::memcpy(&last, weights.bytes.data() + 20, 4);
  CHECK(last == 5);
  std::int64_t scalar = 0;
  std::memcpy(&scalar, file.tensors.at("scalar").bytes.data(), 8);
  CHECK(scalar == -7);
  CHECK(file.tensors.at("scalar").elements() == 1);
  CHECK(file.tensors.at("none").elements() == 0);
  CHECK(file.tensors.at("flags").dtype == "BOOL");
  CHECK(file.tensors.at("odd").bytes == std::vector<std::byte>{std::byte{1}, std::byte{2}, std::byte{3}});
}

TEST_CASE("faults are refused with the reason") {
  struct Fault {
    const char* header;
    std::size_t buffer;
    const char* reason;
  };
  const Fault faults[] = {
      {"", 0, "begin with"},
      {" {}", 0, "begin with"},
      {"\xEF\xBB\xBF{}", 0, "begin with"},
      {"[]", 0, "begin with"},
      {"{", 0, "not JSON"},
      {"{} x", 0, "not JSON"},
      {"{}", 1, "of no tensor"},
      {"{\"a\":1}", 0, "the header has a number"},
      {"{\"a\":null}", 0, "the header has null"},
      {"{\"\xFF\":{}}", 0, "not JSON"},
      {R"({"__metadata__":{"a":1}})", 0, "the header has a number"},
      {R"({"__metadata__":{"a":{}}})", 0, "the header has an object"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", 0, "repeats the key \"a\""},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "repeats"},
      {R"({"a":{"dtype":"U8","shape":[1]}})", 1, "lacks"},
      {R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1, "repeats the key \"dtype\""},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"extra":1}})", 1, "unknown field \"extra\""},
      {R"({"a":{"dtype":"U7","shape":[1],"data_offsets":[0,1]}})", 1, "unknown tensor type \"U7\""},
      {R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1, "negative number -1"},
      {R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", 1, "1.5, which is not an integer"},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,1]}})", 1, "not an integer below 2^64"},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "overflows"},
      {R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0, "overflows"},
      {R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1, "the header has an array"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}})", 1, "its shape and type need 2"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1, "has 1 data_offsets"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}})", 1, "has 3 data_offsets"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1, "begins at offset 1 and ends before it, at 0"},
      {R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2, "has 12 bits by its shape and type F4"},
      {R"({"a":{"dtype":"F6_E2M3","shape":[5],"data_offsets":[0,4]}})", 4, "has 30 bits"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,2]}})", 1, "outside its buffer"},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,18446744073709551615]}})", 1, "outside"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, "repeats"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "overlap"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
       3, "a gap"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2, "1 byte behind the last tensor"},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.header);
    const std::string message = test::error_of([&] { parse(with_header(fault.header, fault.buffer)); });
    CAPTURE(message);
    CHECK(message.rfind("f: ", 0) == 0);
    CHECK(test::contains(message, fault.reason));
  }
  CHECK_THROWS_WITH_AS(parse(with_header(std::string("{}\0{}", 5), 0)), "f: the header contains a zero byte",
                       InputError);
}

TEST_CASE("lengths that lie are refused before anything is allocated") {
  for (const std::uint64_t length : {std::uint64_t{1} << 32, UINT64_MAX, UINT64_MAX - 7, std::uint64_t{100'000'001},
                                     std::uint64_t{99'999'999}, std::uint64_t{3}}) {
    CAPTURE(length);
    std::string bytes(10, ' ');
    std::memcpy(bytes.data(), &length, 8);
    CHECK_THROWS_AS(parse(bytes), InputError);
  }
  for (std::size_t size = 0; size < 8; ++size) CHECK_THROWS_AS(parse(std::string(size, '\0')), InputError);
}

TEST_CASE("deep and wide headers end at the first fault") {
  CHECK_THROWS_AS(parse(with_header("{\"a\":" + std::string(1'000'000, '['), 0)), InputError);
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "{\"a\":";
  CHECK_THROWS_AS(parse(with_header(deep, 0)), InputError);
}

TEST_CASE("every truncation is refused") {
  const std::string bytes = format_safetensors(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_THROWS_AS(parse(bytes.substr(0, size)), InputError);
  CHECK_THROWS_AS(parse(bytes + '\0'), InputError);
}

TEST_CASE("every damaged byte is refused or gives another well-formed file") {
  const std::string bytes = format_safetensors(example());
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        const TensorFile file = parse(damaged);
        CHECK(parse(format_safetensors(file)) == file);
        CHECK_FALSE(file == example());
      } catch (const InputError&) {
      }
    }
}

TEST_CASE("what cannot be written is refused") {
  TensorFile file;
  file.tensors["a"] = bytes_tensor({2}, "U8", 3, 0);
  CHECK_THROWS_AS(format_safetensors(file), InputError);
  file.tensors["a"] = bytes_tensor({1}, "X", 1, 0);
  CHECK_THROWS_AS(format_safetensors(file), InputError);
  file.tensors.clear();
  file.tensors["__metadata__"] = bytes_tensor({1}, "U8", 1, 0);
  CHECK_THROWS_AS(format_safetensors(file), InputError);
  file.tensors.clear();
  file.metadata["a"] = "\xFF";
  CHECK_THROWS_AS(format_safetensors(file), InputError);
  file.metadata["a"] = std::string(100'000'000, 'x');
  CHECK_THROWS_AS(format_safetensors(file), LimitError);
}

TEST_CASE("a file that is not there is a SystemError") {
  CHECK_THROWS_AS(read_safetensors((Scratch("safetensors-absent") / "absent.safetensors").string()), SystemError);
}
