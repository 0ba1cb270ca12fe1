#include "core/pack/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace onedim {
namespace {

std::string last_error() { return std::generic_category().message(errno); }

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    error_ = last_error();
    return;
  }
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    error_ = last_error();
  } else if (!S_ISREG(status.st_mode)) {
    error_ = "not a regular file";
  } else {
    id_ = {status.st_dev, status.st_ino};
    const auto size = static_cast<size_t>(status.st_size);
    void* data = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) {
      error_ = last_error();
    } else {
      bytes_ = {static_cast<const std::byte*>(data), size};
    }
  }
  ::close(file);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace onedim
