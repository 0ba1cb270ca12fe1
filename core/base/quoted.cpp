#include "core/base/quoted.hpp"

#include <algorithm>
#include <charconv>

namespace onedim {
namespace {

void append_utf8(std::string& out, uint32_t code) {
  const auto continuation = [&](int shift) {
    out += static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    return continuation(0);
  }
  if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    continuation(12);
  }
  continuation(6);
  continuation(0);
}

// The four hex digits at `position`, or -1.
int64_t hex_unit(std::string_view text, size_t position) {
  const std::string_view digits = text.substr(std::min(position, text.size()), 4);
  uint32_t unit = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  const bool is_whole = digits.size() == 4 && code == std::errc() && end == digits.data() + 4;
  return is_whole ? int64_t{unit} : -1;
}

// Decodes `\uXXXX`, or two of them that form one character, at `position`; returns the length, 0 if
// ill-formed.
size_t decode_unicode(std::string_view text, size_t position, std::string& out) {
  const int64_t high = hex_unit(text, position + 2);
  if (high < 0 || (high >= 0xDC00 && high < 0xE000)) return 0;
  if (high < 0xD800 || high >= 0xE000) {
    append_utf8(out, static_cast<uint32_t>(high));
    return 6;
  }
  if (text.substr(position + 6, 2) != "\\u") return 0;
  const int64_t low = hex_unit(text, position + 8);
  if (low < 0xDC00 || low >= 0xE000) return 0;
  append_utf8(out, static_cast<uint32_t>(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)));
  return 12;
}

constexpr std::string_view kEscapes = "\"\\/bfnrt";
constexpr std::string_view kEscaped = "\"\\/\b\f\n\r\t";

// Decodes the escape at `position`; returns its length, 0 if ill-formed.
size_t decode_escape(std::string_view text, size_t position, std::string& out) {
  if (position + 1 >= text.size()) return 0;
  if (text[position + 1] == 'u')
    return position + 6 <= text.size() ? decode_unicode(text, position, out) : 0;
  const size_t index = kEscapes.find(text[position + 1]);
  if (index == std::string_view::npos) return 0;
  out += kEscaped[index];
  return 2;
}

}  // namespace

Result<std::string> scan_quoted(Scanner& scanner) {
  scanner.peek();
  const std::string_view text = scanner.text();
  const size_t begin = scanner.position();
  std::string out;
  for (size_t i = begin + 1; i < text.size();) {
    if (text[i] == '"') {
      scanner.move_to(i + 1);
      return out;
    }
    if (text[i] != '\\') {
      out += text[i++];
      continue;
    }
    const size_t length = decode_escape(text, i, out);
    if (length == 0) return scanner.error_at(i, "unknown escape in a string");
    i += length;
  }
  return scanner.error_at(begin, "the string is not closed, expected '\"'");
}

std::string format_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const size_t index = c == '/' ? std::string_view::npos : kEscaped.find(c);
    if (index != std::string_view::npos) {
      out += '\\';
      out += kEscapes[index];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace onedim
