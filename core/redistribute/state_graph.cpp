#include "core/redistribute/state_graph.hpp"

#include <algorithm>
#include <numeric>

#include "core/redistribute/step_maker.hpp"

namespace onedim {
namespace {

constexpr size_t kMostKeptSteps = size_t{1} << 22;  // 16 bytes each

}  // namespace

StateGraph::StateGraph(Alphabet alphabet, bool allow_shard_to_partial)
    : alphabet_(std::move(alphabet)), allow_shard_to_partial_(allow_shard_to_partial) {}

int StateGraph::find(StateCode code) const {
  const auto found = index_.find(code);
  return found == index_.end() ? -1 : found->second;
}

int StateGraph::intern(StateCode code) {
  if (is_complete_) return find(code);
  const auto [entry, is_new] = index_.try_emplace(code, size());
  if (is_new) {
    codes_.push_back(code);
    ranges_.emplace_back();
  }
  return entry->second;
}

void StateGraph::forget_passing() {
  if (passing_ < 0) return;
  steps_.resize(ranges_[passing_].begin);
  ranges_[passing_].count = -1;
  passing_ = -1;
}

void StateGraph::list_steps(int state, StepFilter* filter) {
  const auto begin = static_cast<uint32_t>(steps_.size());
  StepMaker(*this, state, filter).run();
  ranges_[state] = {begin, static_cast<int32_t>(steps_.size() - begin)};
}

void StateGraph::expand(int state) {
  if (ranges_[state].count >= 0 && state != passing_) return;
  forget_passing();
  if (!keeps_all_ && steps_.size() >= kMostKeptSteps) passing_ = state;
  list_steps(state, nullptr);
}

void StateGraph::expand(int state, StepFilter& filter) {
  if (ranges_[state].count >= 0 && state != passing_) return;
  forget_passing();
  passing_ = state;
  list_steps(state, &filter);
}

uint64_t StateGraph::work_out_share(StateCode from, StateCode to) const {
  const TensorCuts before = alphabet_.cuts(from), after = alphabet_.cuts(to);
  // The shortest lengths that every cut divides.
  Dims shape(before.size(), 1);
  int64_t whole = 1;
  for (size_t dim = 0; dim < before.size(); ++dim) {
    for (const MeshCut& cut : before[dim]) shape[dim] *= cut.cut.parts;
    whole *= shape[dim];
    for (const MeshCut& cut : after[dim]) shape[dim] *= cut.cut.parts;
  }
  const GroupMember member{shape, 1};
  const int64_t missing = most_missing_bytes({&member, 1}, before, after, int64_t{1} << 20);
  const int64_t divisor = std::gcd(missing, whole);
  return static_cast<uint64_t>(missing / divisor) << 32 | static_cast<uint64_t>(whole / divisor);
}

MissingShare StateGraph::missing_share(int from, const StateStep& step) const {
  uint64_t word = 0;
  if (step.share == StateStep::kPassingShare) {
    word = work_out_share(code(from), code(step.to));
  } else {
    std::atomic<uint64_t>& known = shares_[static_cast<size_t>(step.share)];
    word = known.load(std::memory_order_relaxed);
    if (word == 0) {
      word = work_out_share(code(from), code(step.to));
      known.store(word, std::memory_order_relaxed);
    }
  }
  return {static_cast<int64_t>(word >> 32), static_cast<int64_t>(word & 0xffffffff)};
}

bool StateGraph::complete(int most_states) {
  StateCode replicated = 0;
  for (int i = 0; i < alphabet_.mesh_ndim(); ++i)
    replicated |= Alphabet::entry(i, alphabet_.replicate(), 0);
  intern(replicated);
  keeps_all_ = true;
  for (int state = 0; state < size(); ++state) {
    if (size() > most_states) return false;
    expand(state);
  }
  std::vector<int32_t> order(codes_.size()), number(codes_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return codes_[a] < codes_[b]; });
  std::vector<StateCode> codes;
  std::vector<Range> ranges;
  for (int32_t old : order) {
    number[old] = static_cast<int32_t>(codes.size());
    codes.push_back(codes_[old]);
    ranges.push_back(ranges_[old]);
  }
  for (StateStep& step : steps_) step.to = number[step.to];
  for (auto& [code, state] : index_) state = number[state];
  codes_ = std::move(codes);
  ranges_ = std::move(ranges);
  is_complete_ = true;
  return true;
}

}  // namespace onedim
