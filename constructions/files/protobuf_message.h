// constructions/files/protobuf_message.h — writes the wire format of Protocol Buffers: enough for ONNX's messages.
// The format: protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krohn {

/// Fields in the order in which they are added. A message is a string of bytes, so messages nest by `add`.
class ProtobufMessage {
 public:
  ProtobufMessage& add(std::uint32_t field, std::string_view bytes) {
    varint(field << 3 | kLengthDelimited);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  ProtobufMessage& add(std::uint32_t field, const ProtobufMessage& message) { return add(field, message.bytes_); }
  ProtobufMessage& add(std::uint32_t field, const char* text) { return add(field, std::string_view(text)); }
  ProtobufMessage& add(std::uint32_t field, std::int64_t number) {
    varint(field << 3);
    varint(static_cast<std::uint64_t>(number));
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr std::uint32_t kLengthDelimited = 2;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace krohn
