#include "tools/pack_template.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/base/output_file.hpp"
#include "tools/session.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

// Targets that CMake makes itself, and the package that a pack looks for.
constexpr std::array<std::string_view, 9> kKeptNames = {
    "all", "clean", "edit_cache", "help", "install", "onedim", "package", "rebuild_cache", "test"};

// Of two places, the one that came with the installed program wins.
Result<fs::path> first_existing(std::string_view what, const std::array<fs::path, 2>& places) {
  std::error_code error;
  for (const fs::path& place : places) {
    if (fs::is_directory(place, error)) return place;
  }
  return absl::FailedPreconditionError(
      fmt::format("{} is neither in {} nor in {}; install onedim again", what, places[0].string(),
                  places[1].string()));
}

fs::path install_prefix() { return fs::path(own_executable()).parent_path().parent_path(); }

Result<fs::path> template_folder() {
  return first_existing("the pack template", {install_prefix() / ONEDIM_INSTALLED_DATA / "template",
                                              ONEDIM_SOURCE_TEMPLATE});
}

Result<fs::path> package_folder() {
  const fs::path relative = "lib/cmake/onedim";
  return first_existing("onedim's CMake package",
                        {install_prefix() / relative, fs::path(ONEDIM_BUILD_FOLDER) / relative});
}

std::vector<fs::path> template_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The template is named as its source file.
std::string template_name(const std::vector<fs::path>& files) {
  const auto source = std::find_if(files.begin(), files.end(),
                                   [](const fs::path& file) { return file.extension() == ".cpp"; });
  return source == files.end() ? "" : source->stem().string();
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string replace_word(std::string_view text, std::string_view word,
                         std::string_view replacement) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    const size_t end = at + word.size();
    const bool is_part =
        (at > 0 && is_word_char(text[at - 1])) || (end < text.size() && is_word_char(text[end]));
    if (is_part) continue;
    result += text.substr(begin, at - begin);
    result += replacement;
    begin = end;
  }
  return result += text.substr(begin);
}

std::string with_hint(std::string text, const fs::path& package) {
  constexpr std::string_view kCall = "find_package(onedim REQUIRED";
  const size_t at = text.find(kCall);
  if (at != std::string::npos)
    text.insert(at + kCall.size(), fmt::format(" HINTS \"{}\"", package.string()));
  return text;
}

Result<NewPack> fill_folder(const std::string& name, const fs::path& folder) {
  const Result<fs::path> source = template_folder();
  if (!source.ok()) return source.status();
  const Result<fs::path> package = package_folder();
  if (!package.ok()) return package.status();
  const std::vector<fs::path> files = template_files(*source);
  const std::string old_name = template_name(files);
  if (old_name.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("the pack template in {} has no source", source->string()));
  }
  NewPack pack{folder, {}};
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const std::string target = replace_word(file.filename().string(), old_name, name);
    const Status status = write_text_file((folder / target).string(),
                                          with_hint(replace_word(text, old_name, name), *package));
    if (!status.ok()) return status;
    pack.files.push_back(target);
  }
  std::sort(pack.files.begin(), pack.files.end());
  return pack;
}

}  // namespace

Status check_pack_name(std::string_view name) {
  const bool is_well_formed = !name.empty() &&
                              std::islower(static_cast<unsigned char>(name.front())) != 0 &&
                              std::all_of(name.begin(), name.end(), [](char c) {
                                return std::islower(static_cast<unsigned char>(c)) != 0 ||
                                       std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
                              });
  if (!is_well_formed) {
    return invalid_argument(
        "\"{}\" is no pack name; expected a-z, then a-z, 0-9 or _, such as my_ops", name);
  }
  if (std::find(kKeptNames.begin(), kKeptNames.end(), name) != kKeptNames.end()) {
    return invalid_argument("\"{}\" cannot name a pack, because the build uses it; choose another",
                            name);
  }
  return absl::OkStatus();
}

Result<NewPack> write_new_pack(const std::string& name, const fs::path& parent) {
  const Status status = check_pack_name(name);
  if (!status.ok()) return status;
  std::error_code error;
  if (!fs::is_directory(parent, error)) {
    return invalid_argument("there is no folder \"{}\" to write the pack in", parent.string());
  }
  const fs::path folder = (parent / name).lexically_normal();
  if (fs::exists(fs::symlink_status(folder, error))) {
    return invalid_argument("\"{}\" exists; choose another name, or another folder with --in",
                            folder.string());
  }
  if (!fs::create_directory(folder, error)) {
    return absl::UnavailableError(
        fmt::format("cannot make \"{}\": {}", folder.string(), error.message()));
  }
  Result<NewPack> pack = fill_folder(name, folder);
  if (!pack.ok()) fs::remove_all(folder, error);
  return pack;
}

}  // namespace onedim
