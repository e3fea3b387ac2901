#include "tools/krohn/report/page.h"

#include <map>
#include <nlohmann/json.hpp>

#include "krohn/automata/formats/json.h"
#include "krohn/simulate/check/sha256.h"
#include "page_module.h"

namespace krohn {
namespace {

/// The bytes that hexadecimal digits stand for.
std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

/// JSON that no element of HTML ends or comments out.
std::string embedded(const nlohmann::ordered_json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

/// The frame with its marks replaced. What is put in is not searched.
std::string filled(std::string_view frame, const std::map<std::string_view, std::string>& parts) {
  std::string text;
  for (;;) {
    const std::size_t begin = frame.find("{{"), end = frame.find("}}", begin);
    text += frame.substr(0, begin);
    if (end == std::string_view::npos) return text;
    text += parts.at(frame.substr(begin + 2, end - begin - 2));
    frame.remove_prefix(end + 2);
  }
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kDigits[three >> (18U - 6U * j) & 63U] : '=';
  }
  return text;
}

std::string page_of(const nlohmann::ordered_json& data) {
  return filled(kPageFrame, {{"hash", base64(bytes_of(sha256(kPageScript)))},
                             {"style", kPageStyle},
                             {"data", embedded(data)},
                             {"script", kPageScript}});
}

}  // namespace krohn
