#include "core/pack/settings.hpp"

#include <sys/auxv.h>
#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/base/one_line.hpp"
#include "core/base/text.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

constexpr std::array<SettingRecord, 4> kRecords = {{
    {"packs.paths", "files or folders where packs are looked for, before ONEDIM_PACK_PATH", "[]"},
    {"packs.probe", "open each pack in a child process first, so that a crash is a verdict",
     "true"},
    {"packs.probe_timeout_ms", "how long a pack may take to load in the child, 1 to 3600000",
     "5000"},
    {"packs.disabled", "names of packs that are found but not opened", "[]"},
}};

// Where a value stands and what it should be.
struct Place {
  const fs::path& file;
  std::string key;
  const toml::node& node;

  Status expected(std::string_view what) const {
    return invalid_argument("{}:{}: {} is not {}", file.string(), node.source().begin.line, key,
                            what);
  }
};

Result<std::vector<std::string>> read_texts(const Place& place) {
  constexpr std::string_view kExpected = "a list of texts, such as [\"a\", \"b\"]";
  const toml::array* list = place.node.as_array();
  if (list == nullptr) return place.expected(kExpected);
  std::vector<std::string> texts;
  for (const toml::node& item : *list) {
    const auto text = item.value_exact<std::string>();
    if (!text || text->empty()) return place.expected(kExpected);
    texts.push_back(*text);
  }
  return texts;
}

Status read_paths(const Place& place, Settings& settings) {
  Result<std::vector<std::string>> texts = read_texts(place);
  if (!texts.ok()) return texts.status();
  for (const std::string& text : *texts) {
    settings.pack_paths.push_back((place.file.parent_path() / text).lexically_normal());
  }
  return {};
}

Status read_probe(const Place& place, Settings& settings) {
  const auto value = place.node.value_exact<bool>();
  if (!value) return place.expected("true or false");
  settings.probe = *value;
  return {};
}

Status read_probe_timeout(const Place& place, Settings& settings) {
  const auto value = place.node.value_exact<int64_t>();
  if (!value || *value < 1 || *value > 3'600'000) {
    return place.expected("a number of milliseconds from 1 to 3600000");
  }
  settings.probe_deadline = std::chrono::milliseconds(*value);
  return {};
}

Status read_disabled(const Place& place, Settings& settings) {
  Result<std::vector<std::string>> texts = read_texts(place);
  if (!texts.ok()) return texts.status();
  settings.disabled_packs = *std::move(texts);
  return {};
}

// In the order of kRecords.
using ReadSetting = Status (*)(const Place&, Settings&);
constexpr std::array<ReadSetting, kRecords.size()> kReaders = {read_paths, read_probe,
                                                               read_probe_timeout, read_disabled};

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const SettingRecord& record : kRecords) names.emplace_back(record.name);
  return names;
}

Status read_value(const Place& place, Settings& settings) {
  for (size_t i = 0; i < kRecords.size(); ++i) {
    if (kRecords[i].name == place.key) return kReaders[i](place, settings);
  }
  return invalid_argument("{}:{}: unknown setting {}{}", place.file.string(),
                          place.node.source().begin.line, place.key,
                          did_you_mean(place.key, known_names()));
}

bool is_section(std::string_view name) {
  return std::any_of(kRecords.begin(), kRecords.end(), [&](const SettingRecord& record) {
    return record.name.size() > name.size() && record.name.starts_with(name) &&
           record.name[name.size()] == '.';
  });
}

Status read_table(const toml::table& table, const fs::path& file, const std::string& prefix,
                  Settings& settings) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + one_line(key.str());
    const toml::table* section = node.as_table();
    const Status status = section != nullptr && is_section(name)
                              ? read_table(*section, file, name + ".", settings)
                              : read_value({file, name, node}, settings);
    if (!status.ok()) return status;
  }
  return {};
}

fs::path default_file() {
  std::vector<fs::path> candidates;
  if (::getauxval(AT_SECURE) == 0) candidates.emplace_back("onedim.toml");
  const char* config = ::secure_getenv("XDG_CONFIG_HOME");
  const char* home = ::secure_getenv("HOME");
  if (config != nullptr && *config != '\0') {
    candidates.push_back(fs::path(config) / "onedim" / "onedim.toml");
  } else if (home != nullptr && *home != '\0') {
    candidates.push_back(fs::path(home) / ".config" / "onedim" / "onedim.toml");
  }
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate;
  }
  return {};
}

}  // namespace

std::span<const SettingRecord> setting_records() { return kRecords; }

Result<Settings> parse_settings(std::string_view text, const fs::path& file) {
  Settings settings;
  settings.file = file;
  try {
    const toml::table table = toml::parse(text);
    const Status status = read_table(table, file, "", settings);
    if (!status.ok()) return status;
  } catch (const toml::parse_error& error) {
    return invalid_argument("{}:{}: not TOML: {}", file.string(), error.source().begin.line,
                            one_line(error.description()));
  }
  return settings;
}

Result<Settings> load_settings(const fs::path& explicit_file) {
  const fs::path file = explicit_file.empty() ? default_file() : explicit_file;
  if (file.empty()) return Settings{};
  std::error_code error;
  if (!fs::exists(file, error) && error.value() == 0)
    return absl::NotFoundError(fmt::format("there is no settings file {}", file.string()));
  std::ifstream stream(file);
  if (!stream || fs::is_directory(file, error)) {
    return absl::UnavailableError(
        fmt::format("settings file {} cannot be read{}", file.string(),
                    fs::is_directory(file, error) ? ": it is a folder" : ""));
  }
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  return parse_settings(text, fs::absolute(file));
}

}  // namespace onedim
