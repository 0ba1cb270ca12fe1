#pragma once
// Fault: what goes wrong on one rank, on request, so that it can be tried what the others make of
// it. A rank is late, or stops, or is killed as it comes to a collective; or one hands out values
// that are not what it got. Text: `KIND@RANK:CALL`, a delay with its milliseconds behind:
// `delay@1:3:500`; calls count from 1.

#include <chrono>

#include "core/exec/communicator.hpp"

namespace onedim {

struct Fault {
  enum class Kind { kDelay, kStop, kKill, kCorrupt };
  Kind kind = Kind::kDelay;
  int64_t rank = 0;
  int64_t call = 1;
  std::chrono::milliseconds delay{0};

  static Result<Fault> parse(std::string_view text);
};

// Whose a rank's process is decides how it stops and is killed: its own by signals; in one that all
// ranks share it falls silent, and its next wait tells so.
enum class FaultScope { kOwnProcess, kSharedProcess };

class FaultyCommunicator : public Communicator {
 public:
  // `inner`, of the fault's rank, is borrowed.
  FaultyCommunicator(Communicator& inner, const Fault& fault, FaultScope scope)
      : inner_(inner), fault_(fault), scope_(scope) {}
  const Mesh& mesh() const override { return inner_.mesh(); }
  int64_t rank() const override { return inner_.rank(); }
  Status post(const CollectiveCall& call) override;
  Status wait() override;

 private:
  Status silence() const;

  Communicator& inner_;
  Fault fault_;
  FaultScope scope_;
  int64_t posted_ = 0;
  bool is_silent_ = false;
  const CollectiveCall* corrupted_ = nullptr;  // in flight
};

}  // namespace onedim
