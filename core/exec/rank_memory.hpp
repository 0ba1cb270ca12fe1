#pragma once
// RankMemory: what one rank holds, as a log: every tensor that is made for a run, and its end, in
// order, with what it is for and which part of the run asked. Views hold nothing; tensors without
// elements take no entry.

#include <absl/container/flat_hash_map.h>

#include "core/exec/run_clock.hpp"
#include "core/redistribute/rank_step.hpp"

namespace onedim {

struct MemoryEvent {
  int64_t bytes = 0;  // less than 0: released
  int64_t live_bytes = 0;
  double at_us = 0;   // since the clock's start
  std::string cause;  // `input 0, all_gather S(0) -> R: target`
};

class RankMemory : public Allocator {
 public:
  // Borrows the clock.
  explicit RankMemory(const RunClock& clock) : clock_(clock) {}
  // The log of a rank elsewhere.
  RankMemory(const RunClock& clock, std::vector<MemoryEvent> events)
      : clock_(clock), events_(std::move(events)) {}
  Tensor make(const TensorMeta& meta, BufferUse use) override;
  void release(const Tensor& tensor) override;
  // A tensor that was made elsewhere: given, or by a kernel's caller.
  void note(const Tensor& tensor, std::string_view use);
  // From here on: who asks.
  void set_cause(std::string cause) { cause_ = std::move(cause); }

  int64_t live_bytes() const { return live_bytes_; }
  int64_t peak_bytes() const { return peak_bytes_; }
  const std::vector<MemoryEvent>& events() const { return events_; }

 private:
  const RunClock& clock_;
  std::string cause_;
  absl::flat_hash_map<const std::byte*, int64_t> sizes_;  // of live tensors, by their begin
  int64_t live_bytes_ = 0;
  int64_t peak_bytes_ = 0;
  std::vector<MemoryEvent> events_;
};

}  // namespace onedim
