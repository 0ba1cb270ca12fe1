#pragma once
// Text: what parsers and error messages share. Parsers report the position of the offending
// character.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

std::string_view trim(std::string_view text);

// Position of the first of `stops` outside (), [], {} and quotes, or the length of `text`. Within
// double quotes a backslash takes the next character literally.
size_t find_top_level(std::string_view text, std::string_view stops,
                      std::string_view quotes = "\"");

// Splits at `separator` where find_top_level sees it; pieces are trimmed; an empty text gives no
// pieces.
std::vector<std::string_view> split_top_level(std::string_view text, char separator,
                                              std::string_view quotes = "\"");

// The candidate with the least edit distance to `name`, or "" if none is near enough to be a
// misspelling.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// `; did you mean "mm"?` or "".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

// `text` in quotes on one line, for messages: control characters become `?`, and of a long text
// only the part around `position` is shown.
std::string quoted_excerpt(std::string_view text, size_t position = 0);

// An error that quotes `text` and points at `position` in it: `... at column 5 of "f32[4,"`.
Status text_error(std::string_view text, size_t position, std::string_view what);

}  // namespace onedim
