#include "core/base/scanner.hpp"

#include <charconv>

namespace onedim {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

}  // namespace

char Scanner::peek() {
  while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool Scanner::accept(std::string_view token) {
  peek();
  if (text_.substr(position_, token.size()) != token) return false;
  position_ += token.size();
  return true;
}

Status Scanner::expect(std::string_view token) {
  if (accept(token)) return {};
  return error(fmt::format("expected \"{}\"", token));
}

std::string_view Scanner::word() {
  if (is_digit(peek())) return {};
  const size_t begin = position_;
  while (position_ < text_.size() && is_word_char(text_[position_])) ++position_;
  return text_.substr(begin, position_ - begin);
}

Result<int64_t> Scanner::integer() {
  peek();
  const char* begin = text_.data() + position_;
  int64_t value = 0;
  const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (code == std::errc::invalid_argument) return error("expected an integer");
  if (code != std::errc()) return error("the integer does not fit in 64 bits");
  position_ += static_cast<size_t>(end - begin);
  return value;
}

}  // namespace onedim
