#include "core/redistribute/collective_call.hpp"

#include <absl/container/inlined_vector.h>

#include <cstring>

#include "core/layout/placement.hpp"
#include "core/layout/reduce.hpp"
#include "core/redistribute/call_agreement.hpp"
#include "core/redistribute/step_kind.hpp"

namespace onedim {
namespace {

// The piece that the member at `from` gives to the one at `to`, and the one that this gets.
const Piece& given(const CollectiveCall& call, int64_t to) {
  return call.sends[gives_to_each(call.kind) ? static_cast<size_t>(to) : 0];
}
const Piece& gotten(const CollectiveCall& call, int64_t from) {
  return call.receives[gets_of_each(call.kind) ? static_cast<size_t>(from) : 0];
}

// Whatever is given to the member at `to`. A large team has many pieces, and nothing here may cost
// more than copying a few bytes of each.
void copy_pieces(std::span<const CollectiveCall* const> members, size_t to) {
  const CollectiveCall& getter = *members[to];
  const int64_t size = size_of(getter.receive.dtype());
  Tensor target = getter.receive;
  for (size_t from = 0; from < members.size(); ++from) {
    const CollectiveCall& giver = *members[from];
    if (giver.sends.empty()) continue;  // of a broadcast, all but the root
    const Piece& piece = given(giver, static_cast<int64_t>(to));
    const Piece& place = gotten(getter, static_cast<int64_t>(from));
    std::memcpy(target.data() + place.offset * size, giver.send.data() + piece.offset * size,
                static_cast<size_t>(piece.count * size));
  }
}

// What the members give to the one at `to`, reduced in team order.
Tensor reduced(std::span<const CollectiveCall* const> members, int64_t to) {
  std::vector<Tensor> parts;
  for (const CollectiveCall* member : members)
    parts.push_back(piece_of(member->send, given(*member, to)));
  return reduce_parts(*members[0], parts);
}

void write_piece(const Tensor& value, const CollectiveCall& getter) {
  const Piece& to = getter.receives[0];
  Tensor target = piece_of(getter.receive, to);
  copy_elements(value, target);
}

void reduce(const Team& team, std::span<const CollectiveCall* const> members) {
  if (members[0]->kind == Collective::kAllReduce) {
    if (members[0]->sends[0].count == 0) return;
    const Tensor value = reduced(members, 0);
    for (const CollectiveCall* member : members) write_piece(value, *member);
    return;
  }
  for (int64_t to = 0; to < team.size(); ++to) {
    if (members[to]->receives[0].count > 0) write_piece(reduced(members, to), *members[to]);
  }
}

Status check_pieces(std::string_view side, std::span<const Piece> pieces, size_t expected,
                    const Tensor& buffer) {
  if (pieces.size() != expected)
    return invalid_argument("it has {} pieces to {}, expected {}", pieces.size(), side, expected);
  const int64_t length = buffer.element_count();
  for (const Piece& piece : pieces) {
    const bool is_inside = piece.offset >= 0 && piece.count >= 0 && piece.offset <= length &&
                           piece.count <= length - piece.offset;
    if (!is_inside) {
      return invalid_argument("the piece to {} of {} elements at {} lies outside of a buffer of {}",
                              side, piece.count, piece.offset, length);
    }
  }
  return {};
}

bool overlaps(const Tensor& a, const Tensor& b) {
  const int64_t size = size_of(a.dtype());
  return a.data() < b.data() + b.element_count() * size &&
         b.data() < a.data() + a.element_count() * size;
}

Status check_alone(const CollectiveCall& call, const Team& team) {
  if (call.send.ndim() != 1 || call.receive.ndim() != 1 || !call.send.meta().is_contiguous() ||
      !call.receive.meta().is_contiguous())
    return invalid_argument("its buffers must be flat: of one dim, without gaps");
  if (call.send.dtype() != call.receive.dtype()) {
    return invalid_argument("it gives {} and gets {}", name_of(call.send.dtype()),
                            name_of(call.receive.dtype()));
  }
  if (overlaps(call.send, call.receive)) return invalid_argument("its two buffers overlap");
  if (call.root < 0 || call.root >= team.size())
    return invalid_argument("its root is at place {} of a team of {}", call.root, team.size());
  if (reduces(call.kind) != !call.reduction.empty())
    return invalid_argument("its reduction is \"{}\"", call.reduction);
  const bool is_legal =
      !reduces(call.kind) ||
      (is_builtin_partial(call.reduction) && is_legal_partial(call.reduction, call.send.dtype()));
  if (!is_legal) {
    return invalid_argument("it reduces {} by {}, which is not built in for this dtype",
                            name_of(call.send.dtype()), call.reduction);
  }
  const auto each = static_cast<size_t>(team.size());
  const bool gives = call.kind != Collective::kBroadcast || team.place == call.root;
  const size_t sends = !gives ? 0 : gives_to_each(call.kind) ? each : 1;
  if (Status status = check_pieces("give", call.sends, sends, call.send); !status.ok())
    return status;
  return check_pieces("get", call.receives, gets_of_each(call.kind) ? each : 1, call.receive);
}

}  // namespace

Tensor reduce_parts(const CollectiveCall& call, std::span<const Tensor> parts) {
  return is_linear_partial(call.reduction) ? average_elements(parts, call.divisor)
                                           : reduce_elements(parts, call.reduction);
}

Tensor piece_of(const Tensor& buffer, const Piece& piece) {
  return buffer.view(TensorMeta::contiguous(buffer.dtype(), {piece.count}), piece.offset);
}

CollectiveCall make_permutation(MeshDimSet mesh_dims, const Tensor& send, int64_t target,
                                const Tensor& receive, int64_t source, int64_t team_size) {
  CollectiveCall call;
  call.kind = Collective::kAllToAll;
  call.mesh_dims = mesh_dims;
  call.send = send;
  call.receive = receive;
  call.sends.resize(static_cast<size_t>(team_size));
  call.receives.resize(static_cast<size_t>(team_size));
  if (target >= 0) call.sends[static_cast<size_t>(target)].count = send.element_count();
  if (source >= 0) call.receives[static_cast<size_t>(source)].count = receive.element_count();
  return call;
}

std::string describe_call(const CollectiveCall& call, const Mesh& mesh) {
  std::string text =
      fmt::format("{}{}{} over {}", call.subject, call.subject.empty() ? "" : ": ",
                  collective_name(call.kind), format_mesh_dims(call.mesh_dims, mesh));
  if (call.step == nullptr) return text;
  return text + fmt::format(", {} -> {}", format_layout(call.step->from, mesh),
                            format_layout(call.step->to, mesh));
}

std::string describe_rank(const Mesh& mesh, int64_t rank) {
  return fmt::format("rank {} at {}", rank, format_dims(mesh.coordinate_of(rank)));
}

Status check_call(const CollectiveCall& call, const Mesh& mesh, const Team& team) {
  const Status status = check_alone(call, team);
  if (status.ok()) return status;
  return annotate(status, fmt::format("{}, {}", describe_call(call, mesh),
                                      describe_rank(mesh, team.ranks[team.place])));
}

Status run_collective(const Mesh& mesh, const Team& team,
                      std::span<const CollectiveCall* const> members) {
  absl::InlinedVector<CallShape, 8> shapes;
  for (Team at = {team.ranks, 0}; at.place < team.size(); ++at.place) {
    const CollectiveCall& call = *members[static_cast<size_t>(at.place)];
    if (Status status = check_call(call, mesh, at); !status.ok()) return status;
    shapes.push_back(shape_of(call));
  }
  if (Status status = check_agreement(mesh, team, shapes); !status.ok()) return status;
  if (reduces(members[0]->kind)) {
    reduce(team, members);
    return {};
  }
  for (size_t to = 0; to < members.size(); ++to) copy_pieces(members, to);
  return {};
}

}  // namespace onedim
