#pragma once
// Usage errors: turns what the command-line parser objects to into the one line that the user
// reads. The parser knows only what it could not place; the names that would have fitted are looked
// up here.

#include <CLI/App.hpp>

#include "core/base/status.hpp"

namespace onedim {

Status usage_error(const CLI::App& app, const CLI::ParseError& error);

// An option that is given with an empty value, where that means nothing.
Status check_values(const CLI::App& app);

}  // namespace onedim
