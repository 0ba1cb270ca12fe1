#pragma once
// Settings: what onedim.toml says. One record per key holds its name, meaning and default; reading,
// the check for unknown keys and the printed documentation come from the records. Relative paths
// are relative to the file. Settings stand below flags and above defaults.

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

struct Settings {
  std::filesystem::path file;  // empty: there is none, all is default
  std::vector<std::filesystem::path> pack_paths;
  bool probe = true;
  std::chrono::milliseconds probe_deadline{5000};
  std::vector<std::string> disabled_packs;
};

struct SettingRecord {
  std::string_view name;  // `packs.probe`
  std::string_view description;
  std::string_view default_text;  // as written in the file
};
std::span<const SettingRecord> setting_records();

// `file` names where `text` comes from. Errors say file and line.
Result<Settings> parse_settings(std::string_view text, const std::filesystem::path& file);

// Reads `explicit_file` if not empty, else the first that exists of onedim.toml in the current
// folder and $XDG_CONFIG_HOME/onedim/onedim.toml (~/.config by default); defaults if there is none.
// A privileged program takes neither the folder nor the variables from its caller, and so only an
// explicit file. NotFound where that does not exist, Unavailable where it cannot be read.
Result<Settings> load_settings(const std::filesystem::path& explicit_file);

}  // namespace onedim
