#pragma once
// Flight record: what one rank of a run does, as a file that the rank has mapped to memory: a
// header and a ring of its latest collectives. A write needs no system call and outlives the
// process, however it ends, so the file tells afterwards where a rank was; while they run, ranks of
// one node read each other's. One rank writes, any number read; texts may be torn while they are
// written, counters never are.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "core/base/status.hpp"

namespace onedim {

inline constexpr uint64_t kFlightCalls = 256;  // that a ring holds
inline constexpr int kMeshDimSets = 256;       // a mesh has at most 8 dims

enum class RankPhase : uint32_t { kStarting, kRunning, kEnded, kFailed };
enum class CallState : uint32_t { kPosted, kStarted, kDone };

// One collective of the rank. Behind each stand 2 * ranks counts: what it gives and what it gets,
// piece by piece, in elements.
struct FlightCall {
  std::atomic<uint64_t> number;  // of the rank's calls, from 1; 0: none yet, or being written
  uint32_t team_number;          // of its calls over these mesh dims, from 0
  uint32_t mesh_dims;
  uint32_t kind, dtype;
  int64_t divisor, root;
  int64_t reach;                      // bytes of its larger buffer
  int32_t send_count, receive_count;  // pieces
  char reduction[16];
  std::atomic<CallState> state;
  int64_t posted_ns, started_ns, done_ns;  // of the machine's steady clock
  char text[256];                          // describe_call
};

struct FlightHeader {
  char magic[8];
  uint32_t version, call_bytes;
  int32_t rank, ranks;
  int32_t process;
  uint32_t padding;
  uint64_t process_start;  // tells the process from a later one of its number
  char host[64];
  char mesh[512];
  std::atomic<RankPhase> phase;
  std::atomic<uint32_t> reporter;      // of rank 0's record: 1 + who tells the user what went wrong
  std::atomic<uint64_t> agreed;        // rounds of agreement that the rank has told its side of
  std::atomic<uint64_t> agreed_value;  // hash of what it said last
  std::atomic<uint64_t> posted, done;  // calls
  std::atomic<int64_t> waits_since_ns;  // 0: it does not wait for others
  char activity[256];                   // what it waits in where that is no call
  char failure[1024];                   // where `phase` is kFailed
  int64_t failed_ns;
  std::atomic<uint32_t> team_posted[kMeshDimSets];   // calls over these mesh dims
  std::atomic<uint32_t> team_checked[kMeshDimSets];  // of them, held against the other members'
};

class FlightRecord {
 public:
  // A new file; `ranks` are all of the run.
  static Result<std::unique_ptr<FlightRecord>> create(const std::string& file, int rank, int ranks,
                                                      const std::string& mesh);
  // A whole file of another rank, or one from before; its header's numbers are sound.
  static Result<std::unique_ptr<FlightRecord>> open(const std::string& file);
  // The file of a rank in a run's folder.
  static std::string file_of(const std::string& folder, int rank);
  ~FlightRecord();

  FlightHeader& header() { return *reinterpret_cast<FlightHeader*>(memory_); }
  const FlightHeader& header() const { return *reinterpret_cast<const FlightHeader*>(memory_); }
  // Where the call of that number, from 1, stands, or stood.
  FlightCall& call(uint64_t number);
  const FlightCall& call(uint64_t number) const {
    return const_cast<FlightRecord*>(this)->call(number);
  }
  // Its counts: first of the pieces given, then of those gotten.
  int64_t* counts_of(FlightCall& call) { return reinterpret_cast<int64_t*>(&call + 1); }
  // The call over `mesh_dims` of that number among them, if the ring still holds it.
  const FlightCall* find(uint32_t mesh_dims, uint32_t team_number) const;

 private:
  FlightRecord(std::byte* memory, size_t size) : memory_(memory), size_(size) {}
  static Result<std::unique_ptr<FlightRecord>> map(const std::string& file, bool is_new,
                                                   size_t size);

  std::byte* memory_;
  size_t size_;
};

// Copies `text` to an array of chars, cut where it must be, and ended.
void set_text(char* to, size_t size, std::string_view text);
template <size_t kSize>
void set_text(char (&to)[kSize], std::string_view text) {
  set_text(to, kSize, text);
}

// Such a text; of a file that was damaged it may have no end.
template <size_t kSize>
std::string_view text_of(const char (&text)[kSize]) {
  return {text, ::strnlen(text, kSize)};
}

// Of the machine's steady clock, which all its processes share.
int64_t steady_ns();

}  // namespace onedim
