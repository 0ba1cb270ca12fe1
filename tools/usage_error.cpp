#include "tools/usage_error.hpp"

#include <algorithm>
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
  const std::string where =
      command != nullptr ? fmt::format(" of \"{}\"", command->get_name()) : "";
  // One letter is near to every other.
  const std::string hint = name.size() > 2 ? did_you_mean(name, names) : "";
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
  return invalid_argument("unknown command \"{}\"{}", text,
                          hint.empty() ? "; see onedim --help" : hint);
}

Status with_help(const CLI::App& app, std::string_view line) {
  const CLI::App* command = chosen_command(app);
  if (command == nullptr) return invalid_argument("{}; see onedim --help", line);
  return invalid_argument("{}; see onedim {} --help", line, command->get_name());
}

// `--mesh: 1 required MESH missing`, `--mesh: At Most 1 required but received 2`.
Status wrong_count(const CLI::App& app, std::string_view what) {
  const std::string_view option = what.substr(0, what.find(':'));
  const bool is_repeated = what.find("At Most") != std::string_view::npos;
  return with_help(
      app, fmt::format("{} {}", option, is_repeated ? "is given more than once" : "needs a value"));
}

// The parser's own words, in our shape: one line that begins with a small letter.
Status as_written(const CLI::App& app, std::string_view what) {
  std::string line(what.substr(0, what.find('\n')));
  if (line.size() > 1 && std::islower(static_cast<unsigned char>(line[1])) != 0) {
    line[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(line[0])));
  }
  return with_help(app, line);
}

bool is_flag(const CLI::App& app, const std::string& name) {
  for (const CLI::App* at : {&app, chosen_command(app)}) {
    const CLI::Option* option = at == nullptr ? nullptr : at->get_option_no_throw(name);
    if (option != nullptr) return option->get_items_expected_max() == 0;
  }
  return false;
}

// `Could not convert: --deadline = x`.
Status wrong_number(const CLI::App& app, std::string_view what) {
  constexpr std::string_view kBefore = ": ", kBetween = " = ";
  const size_t option = what.find(kBefore), value = what.find(kBetween);
  if (option == what.npos || value == what.npos || value < option) return as_written(app, what);
  const std::string name(what.substr(option + kBefore.size(), value - option - kBefore.size()));
  const std::string given = quoted_excerpt(what.substr(value + kBetween.size()));
  return with_help(app, is_flag(app, name) ? fmt::format("{} takes no value, not {}", name, given)
                                           : fmt::format("{}: {} is no number", name, given));
}

// Ops without tensors have inputs that are nothing.
bool may_be_empty(const CLI::Option& option) {
  return option.get_positional() || option.get_name() == "--inputs";
}

}  // namespace

Status check_values(const CLI::App& app) {
  for (const CLI::App* at : {&app, chosen_command(app)}) {
    if (at == nullptr) continue;
    for (const CLI::Option* option : at->get_options()) {
      const std::vector<std::string>& values = option->results();
      if (option->count() == 0 || may_be_empty(*option)) continue;
      if (std::find(values.begin(), values.end(), "") != values.end())
        return with_help(app, fmt::format("{} needs a value", option->get_name()));
    }
  }
  return absl::OkStatus();
}

Status usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const bool is_required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (is_required || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app.remaining(true);
    if (!extras.empty()) return unexpected(app, extras.front());
  }
  if (is_required && chosen_command(app) == nullptr) {
    return invalid_argument("no command given; see onedim --help");
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    std::string line = error.what();
    return with_help(app, line.replace(line.find(" excludes "), 10, " cannot go with "));
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    return wrong_number(app, error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return wrong_count(app, error.what());
  return as_written(app, error.what());
}

}  // namespace onedim
