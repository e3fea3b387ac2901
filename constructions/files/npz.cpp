#include "krohn/constructions/files/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/crc.hpp>
#include <map>
#include <string_view>

#include "krohn/groups/error.h"

namespace krohn {
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
