#pragma once
// RankStep: one rank's side of one step of a plan: the local work before its collective, the
// collective's calls, one for each tensor of the group, and the local work after. A kernel that by
// the plan does not pack sends memory as it lies, one that does not unpack receives into its
// target; where that cannot be, the step fails. The buffers are those that the plan priced, padding
// included. Whoever runs the calls in between decides where the ranks are: plan_run.hpp has them
// all at hand, a communicator spreads them.

#include <functional>

#include "core/layout/index_map.hpp"
#include "core/pack/partial_kind.hpp"
#include "core/redistribute/collective_call.hpp"

namespace onedim {

// The kind of that name, or nullptr; borrowed.
using KindLookup = std::function<const PartialKind*(std::string_view name)>;

struct RunSetting {
  Mesh mesh;
  std::vector<Dims> shapes;  // global, one per tensor of the group
  KindLookup kinds;          // for partial kinds of packs
  std::string subject = {};  // for messages, as `mm, input 0`
};

// What a tensor that a rank makes is for.
enum class BufferUse : uint8_t { kTarget, kPack, kUnpack };
std::string_view buffer_use_name(BufferUse use);  // `target`

// Where one rank's tensors get their memory; by itself it keeps no account.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual Tensor make(const TensorMeta& meta, BufferUse use);
  // Nothing will use the memory of this tensor any more.
  virtual void release(const Tensor& tensor);
};

class RankStep {
 public:
  // All are borrowed until `finish`.
  RankStep(const PlanStep& step, const RunSetting& setting, int64_t rank, Allocator& allocator);

  // `locals` has one tensor per tensor of the group, which lie in memory as the plan says.
  Status begin(std::span<const Tensor> locals);
  // To be carried out, in order, between `begin` and `finish`; none of a local step.
  std::span<const CollectiveCall> calls() const { return calls_; }
  // The locals under step.to, which share storage with those before where the step is a view.
  Result<std::vector<Tensor>> finish();

 private:
  // Pieces of a buffer that are still to be copied or merged into a target.
  struct Received {
    Tensor buffer;
    std::vector<Piece> pieces;
    std::vector<IndexMap> maps;  // per piece; of one to merge only its shape counts
    int outermost = 0;           // in which the pieces' elements come
  };

  Status check_local(size_t tensor, const Tensor& local) const;
  Status begin_tensor(size_t tensor, const Tensor& local);
  // Collectives, in rank_step_calls.cpp.
  Status gather(size_t tensor, const Tensor& local);
  Status exchange(size_t tensor, const Tensor& local);
  Status pack_exchange(size_t tensor, const Tensor& local, CollectiveCall& call);
  Status reduce_scatter(size_t tensor, const Tensor& local);
  Status pack_parts(const Tensor& local, const IndexMap& here, std::span<const IndexMap> parts,
                    int64_t padded, int outermost, CollectiveCall& call);
  Status all_reduce(size_t tensor, const Tensor& local);
  Status place_received(const Tensor& target, const IndexMap& there, int64_t padded,
                        Received& received) const;
  void receive(size_t tensor, Received received, Tensor target, CollectiveCall call);
  void merge_later(size_t tensor, const Tensor& local, int outermost, int64_t count,
                   CollectiveCall call);
  void set_reduction(CollectiveCall& call) const;
  CollectiveCall make_call(Collective kind) const;
  Tensor make_flat(DType dtype, int64_t count, BufferUse use);
  int wire_outermost() const;
  // Local steps.
  Status keep(size_t tensor, const Tensor& local);
  Status move_locally(size_t tensor, const Tensor& local);
  Status fill(std::span<const Tensor> locals);
  void scale(const Tensor& local);
  // After the collective.
  void unpack(size_t tensor, const Received& received);
  Status merge();

  IndexMap from_map(size_t tensor, int64_t rank) const;
  IndexMap to_map(size_t tensor, int64_t rank) const;
  Tensor make_target(size_t tensor, const TensorMeta& like);
  // A piece as the box that it is, its elements in memory order.
  static Tensor box_of(const Tensor& buffer, int64_t offset, Dims shape, int outermost);
  // The partial kind that the step's mesh dims have in `layout`.
  std::string_view kind_in(const Layout& layout) const;
  Result<const PartialKind*> own_kind(std::string_view name) const;
  Status wrong(std::string_view what) const;

  const PlanStep& step_;
  const RunSetting& setting_;
  int64_t rank_;
  Dims coordinate_;
  Allocator& allocator_;
  Team team_;
  std::vector<CollectiveCall> calls_;
  std::vector<Tensor> results_;
  std::vector<Received> received_;       // per tensor, where there is something left to do
  std::vector<Tensor> buffers_;          // released at the end
  const PartialKind* merges_ = nullptr;  // the states received
};

}  // namespace onedim
