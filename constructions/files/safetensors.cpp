#include "krohn/constructions/files/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <Eigen/Core>
#include <boost/crc.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian, and so are the bytes in memory");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::string_view kMetadataKey = "__metadata__";

struct ElementType {
  std::string_view name;
  std::uint64_t bits;
};
/// All of the format (0.8). Elements of fewer than 8 bits are packed; a tensor is a whole number of bytes.
constexpr std::array kElementTypes{
    ElementType{"BOOL", 8},        ElementType{"U8", 8},          ElementType{"I8", 8},   ElementType{"F4", 4},
    ElementType{"F6_E2M3", 6},     ElementType{"F6_E3M2", 6},     ElementType{"U16", 16}, ElementType{"I16", 16},
    ElementType{"F8_E4M3", 8},     ElementType{"F8_E5M2", 8},     ElementType{"U32", 32}, ElementType{"I32", 32},
    ElementType{"F8_E4M3FNUZ", 8}, ElementType{"F8_E5M2FNUZ", 8}, ElementType{"F16", 16}, ElementType{"F32", 32},
    ElementType{"F8_E8M0", 8},     ElementType{"BF16", 16},       ElementType{"U64", 64}, ElementType{"I64", 64},
    ElementType{"F64", 64},        ElementType{"C64", 64},
};

std::uint64_t element_bits(std::string_view dtype) {
  for (const ElementType& type : kElementTypes)
    if (type.name == dtype) return type.bits;
  throw InputError("unknown tensor type " + in_quotes(dtype));
}

/// The bytes that shape and type ask for.
std::uint64_t bytes_needed(const std::string& name, const std::string& dtype, const std::vector<std::uint64_t>& shape) {
  std::uint64_t bits = element_bits(dtype);
  for (const std::uint64_t extent : shape)
    if (__builtin_mul_overflow(bits, extent, &bits))
      throw InputError(fmt::format("tensor {} has a shape whose size overflows 64 bits", in_quotes(name)));
  if (bits % 8 != 0)
    throw InputError(fmt::format("tensor {} has {} by its shape and type {}, no whole number of bytes", in_quotes(name),
                                 counted(bits, "bit"), dtype));
  return bits / 8;
}

/// The header's entry for one tensor.
struct Entry {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;
};

/// Follows the header's events through the few places that a well-formed one has; anything else is a fault at once, so
/// that neither depth nor repetition costs anything.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
  std::string fault;

  bool start_object(std::size_t) override {
    if (place_ == Place::kStart) return go(Place::kTop);
    if (place_ == Place::kTop && key_ == kMetadataKey) return go(Place::kMetadata);
    if (place_ != Place::kTop) return unexpected("an object");
    entries.emplace_back().name = key_;
    fields_.clear();
    return go(Place::kTensor);
  }

  bool end_object() override {
    if (place_ == Place::kTop) return go(Place::kEnd);
    if (place_ == Place::kTensor && fields_.size() != 3)
      return fail(fmt::format("tensor {} lacks one of dtype, shape, data_offsets", in_quotes(entries.back().name)));
    return go(Place::kTop);
  }

  bool key(std::string& key) override {
    key_ = std::move(key);
    switch (place_) {
      case Place::kTop:
        return names_.insert(key_).second || repeated();
      case Place::kMetadata:
        return metadata.try_emplace(key_).second || repeated();
      default:
        return known_field() && (fields_.insert(key_).second || repeated());
    }
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::kTensor && key_ == "shape") return go(Place::kShape);
    if (place_ == Place::kTensor && key_ == "data_offsets") return go(Place::kOffsets);
    return unexpected("an array");
  }

  bool end_array() override {
    if (place_ == Place::kOffsets && entries.back().offsets.size() != 2)
      return fail(fmt::format("tensor {} has {} data_offsets; it needs 2", in_quotes(entries.back().name),
                              entries.back().offsets.size()));
    return go(Place::kTensor);
  }

  bool number_unsigned(std::uint64_t number) override {
    if (place_ == Place::kShape) return entries.back().shape.push_back(number), true;
    if (place_ == Place::kOffsets) return entries.back().offsets.push_back(number), true;
    return unexpected("a number");
  }

  bool string(std::string& text) override {
    if (place_ == Place::kMetadata) return metadata[key_] = std::move(text), true;
    if (place_ == Place::kTensor && key_ == "dtype") return entries.back().dtype = std::move(text), true;
    return unexpected("a string");
  }

  bool number_integer(std::int64_t number) override {
    return unexpected(fmt::format("the negative number {}", number));
  }
  bool number_float(double, const std::string& text) override {
    return unexpected(fmt::format("{}, which is not an integer below 2^64", cut_short(text, 40)));
  }
  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool binary(nlohmann::json::binary_t&) override { return unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail(fmt::format("the header is not JSON at its byte {}", position));
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

  bool go(Place place) {
    place_ = place;
    return true;
  }
  bool fail(std::string text) {
    fault = std::move(text);
    return false;
  }
  bool unexpected(std::string_view what) {
    return fail(
        fmt::format("the header has {} where none can be{}", what, key_.empty() ? "" : ", near \"" + key_ + "\""));
  }
  bool repeated() { return fail(fmt::format("the header repeats the key {}", in_quotes(key_))); }
  bool known_field() {
    return key_ == "dtype" || key_ == "shape" || key_ == "data_offsets" ||
           fail(fmt::format("tensor {} has the unknown field {}", in_quotes(entries.back().name), in_quotes(key_)));
  }

  Place place_ = Place::kStart;
  std::string key_;
  std::set<std::string> names_;
  std::set<std::string> fields_;
};

HeaderReader read_header(std::string_view header) {
  // The parser takes a zero byte for the end of its input and skips a byte-order mark: neither may hide anything.
  if (header.empty() || header.front() != '{') throw InputError("the header does not begin with \"{\"");
  if (header.find('\0') != std::string_view::npos) throw InputError("the header contains a zero byte");
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(header, &reader)) throw InputError(reader.fault);
  return reader;
}

/// The header's length as the file states it, where that can be; `beginning` has at least its 8 bytes.
std::uint64_t stated_length(std::span<const std::byte> beginning) {
  std::uint64_t length = 0;
  std::memcpy(&length, beginning.data(), kLengthBytes);
  const bool begins_header = beginning.size() > kLengthBytes && beginning[kLengthBytes] == std::byte{'{'};
  const std::string kind =
      begins_header ? "" : kind_of_binary({reinterpret_cast<const char*>(beginning.data()), beginning.size()});
  if (!kind.empty()) throw InputError("not a safetensors file; it is " + kind);
  if (length == 0 || (length > kMaxHeaderBytes && !begins_header))
    throw InputError("not a safetensors file: the header does not begin with \"{\"");
  if (length > kMaxHeaderBytes)
    throw InputError(fmt::format("the header claims {}; at most {} are allowed", counted(length, "byte"),
                                 with_thousands(kMaxHeaderBytes)));
  return length;
}

/// The header's length after the checks that need no JSON.
std::uint64_t header_length(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes)
    throw InputError(
        fmt::format("{}; a safetensors file starts with 8 bytes of header length", counted(file.size(), "byte")));
  const std::uint64_t length = stated_length(file);
  if (length > file.size() - kLengthBytes)
    throw InputError(
        fmt::format("the header claims {}; the file has {} after the length: it is truncated or not "
                    "a safetensors file",
                    counted(length, "byte"), file.size() - kLengthBytes));
  return length;
}

/// Tensors must tile the buffer: sorted by offset, each begins where the one before ended.
void require_tiling(std::vector<Entry>& entries, std::uint64_t buffer) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  std::uint64_t end = 0;
  for (const Entry& entry : entries) {
    const std::uint64_t first = entry.offsets[0], last = entry.offsets[1];
    if (last < first)
      throw InputError(
          fmt::format("tensor {} begins at offset {} and ends before it, at {}: its data_offsets are the "
                      "wrong way round",
                      in_quotes(entry.name), first, last));
    if (first != end)
      throw InputError(fmt::format("tensor {} begins at offset {}, where {} was expected: {}", in_quotes(entry.name),
                                   first, end, first < end ? "tensors overlap" : "a gap"));
    if (last > buffer)
      throw InputError(fmt::format("tensor {} ends at offset {}, outside its buffer of {}", in_quotes(entry.name), last,
                                   counted(buffer, "byte")));
    const std::uint64_t needed = bytes_needed(entry.name, entry.dtype, entry.shape);
    if (last - first != needed)
      throw InputError(fmt::format("tensor {} has {}; its shape and type need {}", in_quotes(entry.name),
                                   counted(last - first, "byte"), needed));
    end = last;
  }
  if (end != buffer)
    throw InputError(fmt::format("{} behind the last tensor, of no tensor", counted(buffer - end, "byte")));
}

TensorFile parse_checked(std::span<const std::byte> file) {
  const std::uint64_t length = header_length(file);
  HeaderReader header =
      read_header({reinterpret_cast<const char*>(file.data()) + kLengthBytes, static_cast<std::size_t>(length)});
  const std::span<const std::byte> buffer = file.subspan(kLengthBytes + length);
  require_tiling(header.entries, buffer.size());
  TensorFile result;
  result.metadata = std::move(header.metadata);
  for (Entry& entry : header.entries) {
    const auto bytes = buffer.subspan(entry.offsets[0], entry.offsets[1] - entry.offsets[0]);
    result.tensors.emplace(std::move(entry.name),
                           Tensor{std::move(entry.dtype), std::move(entry.shape), {bytes.begin(), bytes.end()}});
  }
  return result;
}

using NamedTensor = std::pair<const std::string, Tensor>;

std::vector<const NamedTensor*> in_file_order(const TensorFile& file) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& named : file.tensors) order.push_back(&named);
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return element_bits(a->second.dtype) > element_bits(b->second.dtype);
  });
  return order;
}

/// Text, not one JSON value: the order of the tensors is ours, and inserting into an ordered object is linear.
std::string format_header(const TensorFile& file, std::span<const NamedTensor* const> order) {
  using nlohmann::json;
  std::vector<std::string> members;
  if (!file.metadata.empty()) members.push_back(fmt::format("\"{}\":{}", kMetadataKey, json(file.metadata).dump()));
  std::uint64_t offset = 0;
  for (const NamedTensor* named : order) {
    const auto& [name, tensor] = *named;
    const std::uint64_t needed = bytes_needed(name, tensor.dtype, tensor.shape);
    if (name == kMetadataKey) throw InputError("a tensor cannot be called \"__metadata__\"");
    if (tensor.bytes.size() != needed)
      throw InputError(fmt::format("tensor {} has {}; its shape and type need {}", in_quotes(name),
                                   counted(tensor.bytes.size(), "byte"), needed));
    members.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", json(name).dump(),
                                  tensor.dtype, fmt::join(tensor.shape, ","), offset, offset + needed));
    offset += needed;
  }
  std::string text = fmt::format("{{{}}}", fmt::join(members, ","));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes)
    throw LimitError(
        fmt::format("the header would have {}; readers of the format take at most {}: shorten the "
                    "names and the metadata",
                    counted(text.size(), "byte"), kMaxHeaderBytes));
  return text;
}

}  // namespace

std::uint64_t Tensor::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count)) throw InputError("a tensor's shape overflows 64 bits");
  return count;
}

std::uint64_t element_bytes(std::string_view dtype) {
  const std::uint64_t bits = element_bits(dtype);
  if (bits % 8 != 0) throw InputError(fmt::format("elements of type {} are no whole bytes", in_quotes(dtype)));
  return bits / 8;
}

TensorFile parse_safetensors(std::span<const std::byte> bytes, const std::string& where) {
  try {
    return parse_checked(bytes);
  } catch (const InputError& error) {
    throw InputError(where, error.what());
  }
}

TensorFile read_safetensors(const std::string& path) {
  const std::string file = read_file(path, kMaxBytes, [&](std::string_view beginning) {
    if (beginning.size() < kLengthBytes) return;
    try {
      stated_length(std::as_bytes(std::span(beginning)));
    } catch (const InputError& error) {
      throw InputError(path, error.what());
    }
  });
  return parse_safetensors(std::as_bytes(std::span(file)), path);
}

std::map<std::string, TensorPlace> read_tensor_places(const std::string& path) try {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  std::string beginning(std::min<std::uint64_t>(error ? 0 : size, kLengthBytes + 8), '\0');
  if (error || !file.read(beginning.data(), static_cast<std::streamsize>(beginning.size())))
    throw InputError("cannot be read");
  if (size < kLengthBytes)
    throw InputError(fmt::format("{}; a safetensors file starts with 8 bytes of header length", counted(size, "byte")));
  const std::uint64_t length = stated_length(std::as_bytes(std::span(beginning)));
  if (length > size - kLengthBytes)
    throw InputError(fmt::format("the header claims {}; the file has {} after the length: it is truncated",
                                 counted(length, "byte"), size - kLengthBytes));
  std::string header(length, '\0');
  file.seekg(kLengthBytes);
  if (!file.read(header.data(), static_cast<std::streamsize>(length))) throw InputError("cannot be read");
  HeaderReader read = read_header(header);
  require_tiling(read.entries, size - kLengthBytes - length);
  std::map<std::string, TensorPlace> places;
  for (Entry& entry : read.entries)
    places.emplace(std::move(entry.name),
                   TensorPlace{std::move(entry.dtype), std::move(entry.shape), kLengthBytes + length + entry.offsets[0],
                               entry.offsets[1] - entry.offsets[0]});
  return places;
} catch (const InputError& error) {
  throw InputError(path, error.what());
}

Tensor read_tensor(const std::string& path, const TensorPlace& place) {
  Tensor tensor{place.dtype, place.shape, std::vector<std::byte>(place.bytes)};
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place.begin));
  if (!file.read(reinterpret_cast<char*>(tensor.bytes.data()), static_cast<std::streamsize>(place.bytes)))
    throw InputError(path, "ends before its tensors do");
  return tensor;
}

std::string format_safetensors(const TensorFile& file) {
  const std::vector<const NamedTensor*> order = in_file_order(file);
  std::string header;
  try {
    header = format_header(file, order);
  } catch (const nlohmann::json::exception&) {
    throw InputError("a tensor's name or the metadata is not valid UTF-8");
  }
  std::string result(kLengthBytes, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(result.data(), &length, kLengthBytes);
  std::size_t total = result.size() + header.size();
  for (const NamedTensor* named : order) total += named->second.bytes.size();
  result.reserve(total);
  result += header;
  for (const NamedTensor* named : order)
    result.append(reinterpret_cast<const char*>(named->second.bytes.data()), named->second.bytes.size());
  return result;
}

void write_safetensors(const TensorFile& file, const std::string& path) { write_file(path, format_safetensors(file)); }

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::uint64_t extent : shape)
    text += (text.empty() ? "" : ", ") + (extent == kAnyExtent ? std::string("any") : std::to_string(extent));
  return "[" + text + "]";
}

namespace {

bool is_exact_in_float(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         static_cast<double>(static_cast<float>(value)) == value;
}

bool fits(const Shape& shape, const Shape& expected) {
  return std::equal(
      shape.begin(), shape.end(), expected.begin(), expected.end(),
      [](std::uint64_t extent, std::uint64_t wanted) { return wanted == kAnyExtent || extent == wanted; });
}

template <class Stored>
std::vector<double> numbers_in(const Tensor& tensor) {
  std::vector<double> numbers(tensor.bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Stored stored;
    std::memcpy(static_cast<void*>(&stored), tensor.bytes.data() + i * sizeof(Stored), sizeof(Stored));
    numbers[i] = static_cast<double>(stored);
  }
  return numbers;
}

}  // namespace

std::optional<std::vector<double>> floating_numbers(const Tensor& tensor) {
  if (tensor.dtype == "F64") return numbers_in<double>(tensor);
  if (tensor.dtype == "F32") return numbers_in<float>(tensor);
  if (tensor.dtype == "F16") return numbers_in<Eigen::half>(tensor);
  if (tensor.dtype == "BF16") return numbers_in<Eigen::bfloat16>(tensor);
  return std::nullopt;
}

Tensor make_real_tensor(const std::vector<double>& values, Shape shape) {
  if (!std::all_of(values.begin(), values.end(), is_exact_in_float)) return make_tensor(values, std::move(shape));
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return make_tensor(floats, std::move(shape));
}

const Shape& TensorReader::shape(const std::string& name) const {
  const auto found = file_.tensors.find(name);
  if (found == file_.tensors.end()) throw InputError(fmt::format("tensor \"{}\" is missing", name));
  return found->second.shape;
}

const Tensor& TensorReader::take(const std::string& name, const Shape& expected) {
  if (!fits(shape(name), expected))
    throw InputError(
        fmt::format("tensor \"{}\" has shape {}; expected {}", name, shape_text(shape(name)), shape_text(expected)));
  taken_.insert(name);
  return file_.tensors.at(name);
}

void TensorReader::require_type(const std::string& name, const Tensor& tensor, std::string_view dtype) {
  if (tensor.dtype != dtype)
    throw InputError(fmt::format("tensor \"{}\" has type {}; expected {}", name, tensor.dtype, dtype));
}

std::vector<double> TensorReader::reals(const std::string& name, const Shape& expected) {
  std::vector<double> result;
  if (has(name) && file_.tensors.at(name).dtype == "F32") {
    const std::vector<float> floats = values<float>(name, expected);
    result.assign(floats.begin(), floats.end());
  } else {
    result = values<double>(name, expected);
  }
  const auto bad = std::find_if(result.begin(), result.end(), [](double value) { return !std::isfinite(value); });
  if (bad != result.end())
    throw InputError(fmt::format("tensor \"{}\" holds {} at index {}", name, *bad, bad - result.begin()));
  return result;
}

std::vector<std::uint64_t> TensorReader::offsets(const std::string& name, std::uint64_t count, std::uint64_t total) {
  std::vector<std::uint64_t> result = values<std::uint64_t>(name, {count + 1});
  if (result.front() != 0 || result.back() != total || !std::is_sorted(result.begin(), result.end()))
    throw InputError(fmt::format("tensor \"{}\" does not rise from 0 to {}", name, total));
  return result;
}

void TensorReader::require_all_taken() const {
  for (const auto& named : file_.tensors)
    if (!taken_.contains(named.first))
      throw InputError(fmt::format("tensor \"{}\" is not part of the format", named.first));
}

namespace {

constexpr std::size_t kMaxArchiveBytes = 0xFFFFFFFE;

std::string_view numpy_type(const std::string& name, const std::string& dtype) {
  static const std::map<std::string_view, std::string_view> types{
      {"F64", "<f8"}, {"F32", "<f4"}, {"F16", "<f2"}, {"I64", "<i8"}, {"I32", "<i4"}, {"I16", "<i2"},
      {"I8", "|i1"},  {"U64", "<u8"}, {"U32", "<u4"}, {"U16", "<u2"}, {"U8", "|u1"},  {"BOOL", "|b1"}};
  const auto found = types.find(dtype);
  if (found == types.end())
    throw InputError(fmt::format("tensor \"{}\" holds {}, which NumPy does not have", name, dtype));
  return found->second;
}

/// An array: magic, version 1.0, the length of the description, the description padded to 64 bytes, the numbers.
std::string npy(const std::string& name, const Tensor& tensor) {
  std::string shape;
  for (const std::uint64_t extent : tensor.shape) shape += fmt::format("{}, ", extent);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", numpy_type(name, tensor.dtype), shape);
  constexpr std::size_t kPrefix = 10, kAlignment = 64;
  header.append(kAlignment - (kPrefix + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return bytes;
}

/// Stored entries, then the directory of them. All numbers are little-endian.
class ZipWriter {
 public:
  void add(const std::string& name, std::string_view content) {
    const std::size_t offset = bytes_.size();
    if (offset + content.size() > kMaxArchiveBytes)
      throw LimitError(
          fmt::format("a NumPy archive holds at most {} bytes; take the .safetensors format", kMaxArchiveBytes));
    boost::crc_32_type crc;
    crc.process_bytes(content.data(), content.size());
    const auto shared = [&](std::string& out) {
      number<2>(out, 20);          // version needed
      number<2>(out, kUtf8Names);  // flags
      number<2>(out, 0);           // stored
      number<4>(out, kFirstDay);   // no time: the same content gives the same bytes
      number<4>(out, crc.checksum());
      number<4>(out, content.size());
      number<4>(out, content.size());
      number<2>(out, name.size());
      number<2>(out, 0);  // extra field
    };
    number<4>(bytes_, 0x04034b50);
    shared(bytes_);
    bytes_ += name;
    bytes_ += content;
    number<4>(directory_, 0x02014b50);
    number<2>(directory_, 20);
    shared(directory_);
    number<2>(directory_, 0);  // comment
    number<2>(directory_, 0);  // disk
    number<2>(directory_, 0);  // internal attributes
    number<4>(directory_, 0);  // external attributes
    number<4>(directory_, offset);
    directory_ += name;
    ++entries_;
  }

  std::string finish() && {
    const std::size_t start = bytes_.size();
    bytes_ += directory_;
    number<4>(bytes_, 0x06054b50);
    number<4>(bytes_, 0);  // disks
    number<2>(bytes_, entries_);
    number<2>(bytes_, entries_);
    number<4>(bytes_, directory_.size());
    number<4>(bytes_, start);
    number<2>(bytes_, 0);  // comment
    return std::move(bytes_);
  }

 private:
  static constexpr std::uint64_t kUtf8Names = 0x0800, kFirstDay = 0x00210000;  // 1 January 1980

  template <int kBytes>
  static void number(std::string& out, std::uint64_t value) {
    for (int i = 0; i < kBytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  }

  std::string bytes_, directory_;
  std::uint64_t entries_ = 0;
};

}  // namespace

std::string format_npz(const TensorFile& file) {
  ZipWriter zip;
  for (const auto& [name, tensor] : file.tensors) zip.add(name + ".npy", npy(name, tensor));
  for (const auto& [key, text] : file.metadata) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    const std::string name = "metadata." + key;
    zip.add(name + ".npy", npy(name, {"U8", {text.size()}, {bytes, bytes + text.size()}}));
  }
  return std::move(zip).finish();
}

}  // namespace krohn
