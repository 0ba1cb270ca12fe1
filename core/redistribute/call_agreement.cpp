#include "core/redistribute/call_agreement.hpp"

namespace onedim {
namespace {

class Agreement {
 public:
  Agreement(const Mesh& mesh, const Team& team, std::span<const CallShape> members)
      : mesh_(mesh), team_(team), members_(members) {}

  Status check() const {
    for (int64_t place = 1; place < team_.size(); ++place) {
      if (Status status = check_same(place); !status.ok()) return status;
    }
    for (int64_t from = 0; from < team_.size(); ++from) {
      for (int64_t to = 0; to < team_.size(); ++to) {
        if (Status status = check_counts(from, to); !status.ok()) return status;
      }
    }
    return {};
  }

 private:
  std::string name(int64_t place) const { return describe_rank(mesh_, team_.ranks[place]); }
  std::string words(const CallShape& shape) const {
    return shape.call == nullptr ? std::string(shape.text) : describe_call(*shape.call, mesh_);
  }

  template <typename A, typename B>
  Status differs(int64_t place, std::string_view what, const A& first, const B& here) const {
    return absl::FailedPreconditionError(
        fmt::format("{}: the ranks do not agree on the {}: {} has {}, {} has {}",
                    words(members_[0]), what, name(0), first, name(place), here));
  }

  Status check_same(int64_t place) const {
    const CallShape &a = members_[0], &b = members_[place];
    if (a.kind != b.kind || a.mesh_dims != b.mesh_dims) {
      return absl::FailedPreconditionError(
          fmt::format("the ranks do not agree: {} calls {}, {} calls {}", name(0), words(a),
                      name(place), words(b)));
    }
    if (a.dtype != b.dtype) return differs(place, "dtype", name_of(a.dtype), name_of(b.dtype));
    if (a.reduction != b.reduction) return differs(place, "reduction", a.reduction, b.reduction);
    if (a.divisor != b.divisor) return differs(place, "divisor", a.divisor, b.divisor);
    if (a.root != b.root) return differs(place, "root", a.root, b.root);
    return {};
  }

  Status check_counts(int64_t from, int64_t to) const {
    const CallShape &giver = members_[from], &getter = members_[to];
    const bool is_root = giver.kind != Collective::kBroadcast || from == giver.root;
    if (!is_root) return {};
    const int64_t gives = giver.sends[gives_to_each(giver.kind) ? to : 0].count;
    const int64_t gets = getter.receives[gets_of_each(getter.kind) ? from : 0].count;
    if (gives == gets) return {};
    return absl::FailedPreconditionError(
        fmt::format("{}: buffers differ in size: {} gives {} elements of {} to {}, which expects "
                    "{}",
                    words(giver), name(from), gives, name_of(giver.dtype), name(to), gets));
  }

  const Mesh& mesh_;
  const Team& team_;
  std::span<const CallShape> members_;
};

}  // namespace

bool gives_to_each(Collective kind) {
  return kind == Collective::kAllToAll || kind == Collective::kReduceScatter;
}
bool gets_of_each(Collective kind) {
  return kind == Collective::kAllToAll || kind == Collective::kAllGather;
}
bool reduces(Collective kind) {
  return kind == Collective::kReduceScatter || kind == Collective::kAllReduce;
}

CallShape shape_of(const CollectiveCall& call) {
  CallShape shape;
  shape.kind = call.kind;
  shape.mesh_dims = call.mesh_dims;
  shape.dtype = call.send.dtype();
  shape.reduction = call.reduction;
  shape.divisor = call.divisor;
  shape.root = call.root;
  shape.sends = call.sends;
  shape.receives = call.receives;
  shape.call = &call;
  return shape;
}

Status check_agreement(const Mesh& mesh, const Team& team, std::span<const CallShape> members) {
  return Agreement(mesh, team, members).check();
}

}  // namespace onedim
