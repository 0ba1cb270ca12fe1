#include "core/exec/flight_record.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/exec/process_state.hpp"

namespace onedim {
namespace {

constexpr std::string_view kMagic = "onedimFR";
constexpr uint32_t kVersion = 1;
constexpr int kMostRanks = 4096;

size_t call_bytes(int ranks) {
  return sizeof(FlightCall) + 2 * static_cast<size_t>(ranks) * sizeof(int64_t);
}
size_t record_bytes(int ranks) { return sizeof(FlightHeader) + kFlightCalls * call_bytes(ranks); }

Status system_fault(const std::string& file, std::string_view what) {
  return absl::UnavailableError(fmt::format("{}: {}: {}", file, what, std::strerror(errno)));
}

// A file descriptor that closes itself; a mapping needs none.
struct File {
  int handle;
  ~File() {
    if (handle >= 0) ::close(handle);
  }
};

}  // namespace

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void set_text(char* to, size_t size, std::string_view text) {
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

std::string FlightRecord::file_of(const std::string& folder, int rank) {
  return fmt::format("{}/rank-{}.flight", folder, rank);
}

Result<std::unique_ptr<FlightRecord>> FlightRecord::map(const std::string& file, bool is_new,
                                                        size_t size) {
  File opened{is_new ? ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                     : ::open(file.c_str(), O_RDWR | O_CLOEXEC)};
  // Records of another user, or on a disk that is read-only, can be told from, too.
  const bool is_readable = !is_new && (errno == EACCES || errno == EROFS);
  if (opened.handle < 0 && is_readable) opened.handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened.handle < 0) return system_fault(file, "it cannot be opened");
  // Space is taken now: a full disk must not become a signal later.
  if (is_new) {
    errno = ::posix_fallocate(opened.handle, 0, static_cast<off_t>(size));
    if (errno != 0) return system_fault(file, "it gets no space");
  }
  struct stat about {};
  if (::fstat(opened.handle, &about) != 0) return system_fault(file, "it cannot be looked at");
  size = static_cast<size_t>(about.st_size);
  if (size < sizeof(FlightHeader))
    return absl::FailedPreconditionError(fmt::format("{}: it is no flight record", file));
  const bool is_read_only = (::fcntl(opened.handle, F_GETFL) & O_ACCMODE) == O_RDONLY;
  void* const memory = ::mmap(nullptr, size, is_read_only ? PROT_READ : PROT_READ | PROT_WRITE,
                              MAP_SHARED, opened.handle, 0);
  if (memory == MAP_FAILED) return system_fault(file, "it cannot be mapped");
  return std::unique_ptr<FlightRecord>(new FlightRecord(static_cast<std::byte*>(memory), size));
}

Result<std::unique_ptr<FlightRecord>> FlightRecord::create(const std::string& file, int rank,
                                                           int ranks, const std::string& mesh) {
  // It gets its name when its header is whole: who sees the file may read it.
  const std::string draft = file + ".new";
  Result<std::unique_ptr<FlightRecord>> record = map(draft, true, record_bytes(ranks));
  if (!record.ok()) return record;
  FlightHeader& header = (*record)->header();
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  header.version = kVersion;
  header.call_bytes = static_cast<uint32_t>(call_bytes(ranks));
  header.rank = rank;
  header.ranks = ranks;
  header.process = ::getpid();
  header.process_start = process_start(header.process);
  ::gethostname(header.host, sizeof(header.host) - 1);
  set_text(header.mesh, mesh);
  if (::rename(draft.c_str(), file.c_str()) != 0) return system_fault(file, "it gets no name");
  return record;
}

Result<std::unique_ptr<FlightRecord>> FlightRecord::open(const std::string& file) {
  Result<std::unique_ptr<FlightRecord>> record = map(file, false, 0);
  if (!record.ok()) return record;
  FlightHeader& header = (*record)->header();
  const bool is_sound =
      std::string_view(header.magic, kMagic.size()) == kMagic && header.version == kVersion &&
      header.ranks >= 1 && header.ranks <= kMostRanks && header.rank >= 0 &&
      header.rank < header.ranks && header.call_bytes == call_bytes(header.ranks) &&
      (*record)->size_ == record_bytes(header.ranks);
  if (!is_sound) {
    return absl::FailedPreconditionError(
        fmt::format("{}: it is no flight record of this version, or not a whole one", file));
  }
  return record;
}

FlightRecord::~FlightRecord() { ::munmap(memory_, size_); }

FlightCall& FlightRecord::call(uint64_t number) {
  const uint64_t slot = (number - 1) % kFlightCalls;
  return *reinterpret_cast<FlightCall*>(memory_ + sizeof(FlightHeader) +
                                        slot * header().call_bytes);
}

const FlightCall* FlightRecord::find(uint32_t mesh_dims, uint32_t team_number) const {
  const uint64_t last = header().posted.load(std::memory_order_acquire);
  for (uint64_t back = 0; back < std::min(last, kFlightCalls); ++back) {
    const FlightCall& known = call(last - back);
    if (known.number.load(std::memory_order_acquire) == last - back &&
        known.mesh_dims == mesh_dims && known.team_number == team_number)
      return &known;
  }
  return nullptr;
}

}  // namespace onedim
