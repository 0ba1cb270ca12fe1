#pragma once
// What the loader's tests share: the gallery's files, a fresh folder to lay packs into, and a log
// to which the gallery's packs write their calls.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/pack/pack_loader.hpp"

namespace onedim {

std::filesystem::path gallery_pack(const std::string& name);

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A folder of its own that goes when the test ends.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "onedim_test_XXXXXX").string();
    path_ = std::filesystem::canonical(::mkdtemp(pattern.data()));
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Copies a pack of the gallery into the folder.
  std::filesystem::path add(const std::string& name) const {
    std::filesystem::copy_file(gallery_pack(name), path_ / (name + ".so"));
    return path_ / (name + ".so");
  }

 private:
  std::filesystem::path path_;
};

// Makes the gallery's packs write their calls to a file, for one test.
class CallLog {
 public:
  CallLog() { ::setenv("GALLERY_LOG", (folder_.path() / "log").c_str(), 1); }
  ~CallLog() { ::unsetenv("GALLERY_LOG"); }
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;
  std::string text() const { return read_text(folder_.path() / "log"); }

 private:
  ScratchFolder folder_;
};

// Options to load `paths` with the test's own probe program and a short deadline.
LoadOptions probing(std::vector<std::filesystem::path> paths);

inline const PackReport* find_report(const std::vector<PackReport>& reports,
                                     const std::string& file) {
  for (const PackReport& report : reports) {
    if (std::filesystem::path(report.path).filename() == file) return &report;
  }
  return nullptr;
}

inline std::string status_of(const std::vector<PackReport>& reports, const std::string& file) {
  const PackReport* report = find_report(reports, file);
  return report == nullptr ? "no report" : std::string(verdict_text(report->verdict.word));
}

}  // namespace onedim
