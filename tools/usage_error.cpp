#include "tools/usage_error.hpp"

#include <cctype>

#include "core/base/text.hpp"

namespace onedim {
namespace {

const CLI::App* chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

void append_option_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
}

Status unknown_option(const CLI::App& app, std::string_view text) {
  const std::string_view name = text.substr(0, text.find('='));
  std::vector<std::string> names;
  const CLI::App* command = chosen_command(app);
  if (command != nullptr) append_option_names(*command, names);
  append_option_names(app, names);
  const std::string where = command != nullptr ? fmt::format(" of \"{}\"", command->get_name()) : "";
  const std::string hint = did_you_mean(name, names);
  const std::string help =
      command != nullptr ? fmt::format("onedim {} --help", command->get_name()) : "onedim --help";
  return invalid_argument("unknown option \"{}\"{}{}", name, where,
                          hint.empty() ? fmt::format("; see {}", help) : hint);
}

Status unexpected(const CLI::App& app, std::string_view text) {
  if (text.size() > 1 && text.front() == '-') return unknown_option(app, text);
  const CLI::App* command = chosen_command(app);
  if (command != nullptr) {
    return invalid_argument("unexpected argument \"{}\" for \"{}\"; see onedim {} --help", text,
                            command->get_name(), command->get_name());
  }
  const std::vector<std::string> names = command_names(app);
  const std::string hint = did_you_mean(text, names);
  return invalid_argument("unknown command \"{}\"{}", text, hint.empty() ? "; see onedim --help" : hint);
}

// The parser's own words, in our shape: one line, lower case, no full stop.
Status as_written(const CLI::App& app, std::string_view what) {
  std::string line(what.substr(0, what.find('\n')));
  if (!line.empty() && line.size() > 1 && std::islower(static_cast<unsigned char>(line[1]))) {
    line[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(line[0])));
  }
  const CLI::App* command = chosen_command(app);
  if (command == nullptr) return invalid_argument("{}; see onedim --help", line);
  return invalid_argument("{}; see onedim {} --help", line, command->get_name());
}

}  // namespace

Status usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::string kind = error.get_name();
  if (kind == "ExtrasError" || kind == "RequiredError") {
    const std::vector<std::string> extras = app.remaining(true);
    if (!extras.empty()) return unexpected(app, extras.front());
    if (chosen_command(app) == nullptr) {
      return invalid_argument("no command given; see onedim --help");
    }
  }
  return as_written(app, error.what());
}

}  // namespace onedim
