#pragma once
// MappedFile: a regular file's bytes, read-only, and its identity (device and inode), by which the
// same file under two names is known. Devices, pipes and folders are refused; opening a pipe does
// not block.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace onedim {

struct FileId {
  uint64_t device = 0;
  uint64_t inode = 0;
  bool operator==(const FileId&) const = default;
};

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& error() const { return error_; }  // empty if the file was read
  FileId id() const { return id_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::string error_;
  FileId id_;
  std::span<const std::byte> bytes_;
};

}  // namespace onedim
