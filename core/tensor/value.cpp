#include "core/tensor/value.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "core/base/quoted.hpp"

namespace onedim {
namespace {

constexpr int kMaxDepth = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// What may stand in a bare word behind its first letter.
bool is_word_char(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '>' || c == '+' || c == ':' ||
         c == '/';
}

bool ends_token(char c) {
  return c == ',' || c == '[' || c == ']' || c == '"' || c == ' ' || c == '\t' || c == '\n';
}

// A signed decimal number, `inf` or `nan`.
std::optional<double> parse_float(std::string_view text) {
  const bool is_signed = !text.empty() && (text[0] == '-' || text[0] == '+');
  const std::string_view body = text.substr(is_signed ? 1 : 0);
  const double sign = is_signed && text[0] == '-' ? -1.0 : 1.0;
  if (body == "inf") return sign * std::numeric_limits<double>::infinity();
  if (body == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (body.empty() || !(is_digit(body[0]) || body[0] == '.')) return std::nullopt;
  double value = 0;
  const auto [end, code] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (end != body.data() + body.size() || code == std::errc::invalid_argument) return std::nullopt;
  // from_chars does not say on which side a number is out of range; strtod does.
  if (code == std::errc::result_out_of_range)
    value = std::strtod(std::string(body).c_str(), nullptr);
  return sign * value;
}

// `1+2j`, `-2.5j`, `inf-nanj`.
std::optional<std::complex<double>> parse_complex(std::string_view text) {
  if (text.size() < 2 || text.back() != 'j') return std::nullopt;
  text.remove_suffix(1);
  for (size_t i = text.size() - 1; i > 0; --i) {
    const bool is_sign = text[i] == '+' || text[i] == '-';
    if (!is_sign || text[i - 1] == 'e' || text[i - 1] == 'E') continue;
    const std::optional<double> real = parse_float(text.substr(0, i)),
                                imaginary = parse_float(text.substr(i));
    if (!real || !imaginary) return std::nullopt;
    return std::complex<double>(*real, *imaginary);
  }
  const std::optional<double> imaginary = parse_float(text);
  if (!imaginary) return std::nullopt;
  return std::complex<double>(0, *imaginary);
}

bool is_integer_text(std::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  for (char c : text) {
    if (!is_digit(c)) return false;
  }
  return !text.empty();
}

// A number whose token starts at `position` of the scanner's text.
Result<Value> parse_number(const Scanner& scanner, size_t position, std::string_view token) {
  if (is_integer_text(token)) {
    int64_t value = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), value).ec == std::errc())
      return Value{value};
    return scanner.error_at(
        position, "the integer does not fit in 64 bits, write it with a point for a float");
  }
  if (const auto value = parse_float(token)) {
    const bool is_written_finite = token.find('n') == std::string_view::npos;
    if (is_written_finite && std::isinf(*value)) {
      return scanner.error_at(
          position, "the number does not fit in a float, expected at most 1.8e308 or inf");
    }
    return Value{*value};
  }
  if (const auto value = parse_complex(token)) return Value{*value};
  return scanner.error_at(position, fmt::format("\"{}\" is not a number", token));
}

bool is_word(std::string_view token) {
  if (token.empty() || !is_letter(token[0])) return false;
  for (char c : token) {
    if (!is_word_char(c)) return false;
  }
  return true;
}

Result<Value> parse_token(const Scanner& scanner, size_t position, std::string_view token) {
  if (token.empty()) return scanner.error_at(position, "expected a value");
  if (token[0] == '+') return scanner.error_at(position, "a number has no leading \"+\"");
  if (token == "null") return Value{};
  if (token == "true") return Value{true};
  if (token == "false") return Value{false};
  const bool starts_number = is_digit(token[0]) || token[0] == '-' || token[0] == '.';
  if (starts_number) return parse_number(scanner, position, token);
  if (const auto number = parse_float(token)) return Value{*number};
  if (const auto number = parse_complex(token)) return Value{*number};
  if (const auto dtype = parse_dtype(token); dtype.ok()) return Value{*dtype};
  if (is_word(token)) return Value{std::string(token)};
  return scanner.error_at(position,
                          "expected a number, a word, a list or a string in double quotes");
}

Result<Value> scan_value(Scanner& scanner, int depth);

// The elements behind `[`.
Result<Value> scan_list(Scanner& scanner, int depth) {
  if (depth >= kMaxDepth)
    return scanner.error(fmt::format("lists are nested more than {} deep", kMaxDepth));
  ValueList items;
  while (!scanner.accept("]")) {
    if (!items.empty() && !scanner.accept(","))
      return scanner.error("expected \",\" or \"]\" in a list");
    Result<Value> item = scan_value(scanner, depth + 1);
    if (!item.ok()) return item;
    items.push_back(*std::move(item));
  }
  return Value{std::move(items)};
}

Result<Value> scan_value(Scanner& scanner, int depth) {
  if (scanner.accept("[")) return scan_list(scanner, depth);
  if (scanner.peek() == '"') {
    Result<std::string> text = scan_quoted(scanner);
    if (!text.ok()) return text.status();
    return Value{*std::move(text)};
  }
  const size_t begin = scanner.position();
  size_t end = begin;
  while (end < scanner.text().size() && !ends_token(scanner.text()[end])) ++end;
  scanner.move_to(end);
  return parse_token(scanner, begin, scanner.text().substr(begin, end - begin));
}

std::string format_real(double value) {
  if (std::isnan(value)) return "nan";  // the sign of a NaN says nothing
  return fmt::format("{}", value);
}

std::string format_float(double value) {
  std::string text = format_real(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string format_complex(std::complex<double> value) {
  const std::string imaginary = format_real(value.imag());
  return fmt::format("{}{}{}j", format_real(value.real()), imaginary[0] == '-' ? "" : "+",
                     imaginary);
}

std::string format_string(const std::string& text) {
  if (is_word(text)) {
    const Result<Value> bare = parse_value(text);
    if (bare.ok() && bare->get_if<std::string>() != nullptr) return text;
  }
  return format_quoted(text);
}

std::string format_list(const ValueList& items) {
  std::string text = "[";
  for (const Value& item : items) {
    if (text.size() > 1) text += ',';
    text += format_value(item);
  }
  return text + ']';
}

}  // namespace

Result<Value> parse_value(std::string_view text) {
  Scanner scanner(text);
  Result<Value> value = scan_value(scanner, 0);
  if (value.ok() && !scanner.at_end()) {
    return scanner.error(
        "unexpected text behind the value, put text in double quotes and lists in []");
  }
  return value;
}

std::string format_value(const Value& value) {
  if (const auto* flag = value.get_if<bool>()) return *flag ? "true" : "false";
  if (const auto* integer = value.get_if<int64_t>()) return fmt::format("{}", *integer);
  if (const auto* real = value.get_if<double>()) return format_float(*real);
  if (const auto* number = value.get_if<std::complex<double>>()) return format_complex(*number);
  if (const auto* text = value.get_if<std::string>()) return format_string(*text);
  if (const auto* dtype = value.get_if<DType>()) return std::string(name_of(*dtype));
  if (const auto* items = value.get_if<ValueList>()) return format_list(*items);
  return "null";
}

}  // namespace onedim
