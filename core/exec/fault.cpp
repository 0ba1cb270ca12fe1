#include "core/exec/fault.hpp"

#include <unistd.h>

#include <charconv>
#include <csignal>
#include <thread>
#include <vector>

#include "core/base/text.hpp"

namespace onedim {
namespace {

Status wrong_text(std::string_view text) {
  return invalid_argument(
      "{} is no fault; expected delay@RANK:CALL:MILLISECONDS, stop@RANK:CALL, kill@RANK:CALL or "
      "corrupt@RANK:CALL",
      quoted_excerpt(text));
}

bool read_number(std::string_view text, int64_t least, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least;
}

}  // namespace

Result<Fault> Fault::parse(std::string_view text) {
  Fault fault;
  const size_t at = text.find('@');
  if (at == text.npos) return wrong_text(text);
  const std::string_view kind = text.substr(0, at);
  const std::vector<std::string_view> numbers = split_top_level(text.substr(at + 1), ':');
  if (kind == "delay")
    fault.kind = Kind::kDelay;
  else if (kind == "stop")
    fault.kind = Kind::kStop;
  else if (kind == "kill")
    fault.kind = Kind::kKill;
  else if (kind == "corrupt")
    fault.kind = Kind::kCorrupt;
  else
    return wrong_text(text);
  int64_t delay = 0;
  const bool has_delay = fault.kind == Kind::kDelay;
  if (numbers.size() != (has_delay ? 3u : 2u) || !read_number(numbers[0], 0, fault.rank) ||
      !read_number(numbers[1], 1, fault.call) || (has_delay && !read_number(numbers[2], 0, delay)))
    return wrong_text(text);
  fault.delay = std::chrono::milliseconds(delay);
  return fault;
}

Status FaultyCommunicator::post(const CollectiveCall& call) {
  if (is_silent_) return {};
  if (++posted_ != fault_.call) return inner_.post(call);
  const bool is_own = scope_ == FaultScope::kOwnProcess;
  switch (fault_.kind) {
    case Fault::Kind::kDelay:
      std::this_thread::sleep_for(fault_.delay);
      break;
    case Fault::Kind::kStop:
    case Fault::Kind::kKill:
      is_silent_ = !is_own;
      if (is_own) ::kill(::getpid(), fault_.kind == Fault::Kind::kStop ? SIGSTOP : SIGKILL);
      if (is_silent_) return {};
      break;
    case Fault::Kind::kCorrupt:
      corrupted_ = &call;
      break;
  }
  return inner_.post(call);
}

Status FaultyCommunicator::silence() const {
  return absl::CancelledError(
      fmt::format("{} {} at its call {}, as the fault has it", describe_rank(mesh(), rank()),
                  fault_.kind == Fault::Kind::kStop ? "stopped" : "was killed", fault_.call));
}

Status FaultyCommunicator::wait() {
  if (is_silent_) return silence();
  Status status = inner_.wait();
  if (corrupted_ == nullptr || !status.ok()) return status;
  // A bit of every element, as of some the plan may make no use.
  Tensor receive = corrupted_->receive;
  const int64_t size = size_of(receive.dtype());
  for (const Piece& piece : corrupted_->receives) {
    for (int64_t i = 0; i < piece.count; ++i)
      receive.data()[(piece.offset + i) * size] ^= std::byte{1};
  }
  corrupted_ = nullptr;
  return status;
}

}  // namespace onedim
