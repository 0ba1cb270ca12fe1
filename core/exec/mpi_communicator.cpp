#include "core/exec/mpi_communicator.hpp"

#include <algorithm>

namespace onedim {
namespace {

// Of all parts together: below, one message a member is cheaper than two.
constexpr int64_t kSmallReduction = 16 << 10;

// Counts and offsets of pieces in bytes, as the module takes them.
struct ByteCounts {
  std::vector<int64_t> counts, offsets;

  ByteCounts(std::span<const Piece> pieces, DType dtype) {
    for (const Piece& piece : pieces) {
      counts.push_back(piece.count * size_of(dtype));
      offsets.push_back(piece.offset * size_of(dtype));
    }
  }
};

onedim_mpi_exchange make_exchange(const ByteCounts& gives, const ByteCounts& gets, int64_t most) {
  return {nullptr,
          nullptr,
          gives.counts.data(),
          gives.offsets.data(),
          gets.counts.data(),
          gets.offsets.data(),
          most};
}

// `count` elements in as many shares as there are members; the last may be short, or empty.
std::vector<Piece> even_shares(int64_t count, int64_t members) {
  const int64_t length = (count + members - 1) / members;
  std::vector<Piece> shares;
  for (int64_t member = 0; member < members; ++member) {
    const int64_t begin = std::min(member * length, count);
    shares.push_back({begin, std::min(begin + length, count) - begin});
  }
  return shares;
}

void write(const Tensor& value, const Tensor& buffer, const Piece& piece) {
  Tensor target = piece_of(buffer, piece);
  copy_elements(value, target);
}

}  // namespace

MeshDimSet MpiCommunicator::cutting_dims(const Mesh& mesh, MeshDimSet mesh_dims) {
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (mesh.size(d) == 1) mesh_dims &= ~(MeshDimSet{1} << d);
  }
  return mesh_dims;
}

Status MpiCommunicator::post(const CollectiveCall& call) {
  const bool is_known = call.mesh_dims != 0 && (call.mesh_dims >> mesh().ndim()) == 0;
  if (!is_known) {
    return invalid_argument("{}: a collective needs mesh dims of {}", describe_rank(mesh(), rank()),
                            mesh().format());
  }
  const KnownTeam& known = find_team(call.mesh_dims);
  if (Status status = check_call(call, mesh(), known.team); !status.ok()) return status;
  if (known.team.size() == 1) {
    const CollectiveCall* const alone = &call;
    return run_collective(mesh(), known.team, {&alone, 1});
  }
  if (!known.is_loaded) {
    return absl::InternalError(
        fmt::format("{}: no communicator was made for its mesh dims before the run",
                    describe_call(call, mesh())));
  }
  if (in_flight_.size() == ControlChannel::kMostInFlight) {
    if (Status status = complete(in_flight_.front()); !status.ok()) return status;
    in_flight_.erase(in_flight_.begin());
  }
  const Result<uint64_t> number = channel_.post(call);
  if (!number.ok()) return number.status();
  in_flight_.push_back({&call, &known, *number});
  return {};
}

Status MpiCommunicator::wait() {
  for (const Posted& posted : in_flight_) {
    if (Status status = complete(posted); !status.ok()) return status;
  }
  in_flight_.clear();
  return {};
}

const MpiCommunicator::KnownTeam& MpiCommunicator::find_team(MeshDimSet mesh_dims) {
  const auto [at, is_new] = known_teams_.try_emplace(mesh_dims);
  if (!is_new && at->second.is_loaded) return at->second;
  const auto made = teams_.find(cutting_dims(mesh(), mesh_dims));
  at->second = {team_of(mesh(), mesh_dims, rank()), nullptr, made != teams_.end()};
  if (at->second.is_loaded) at->second.mpi = made->second;
  return at->second;
}

Tensor MpiCommunicator::scratch(DType dtype, int64_t count) {
  const int64_t bytes = count * size_of(dtype);
  if (scratch_.element_count() < bytes)
    scratch_ = Tensor::uninitialized(TensorMeta::contiguous(DType::kU8, {bytes}));
  return scratch_.view(TensorMeta::contiguous(dtype, {count}), 0);
}

Status MpiCommunicator::complete(const Posted& posted) {
  const Team& team = posted.team->team;
  const Result<CallMeeting> meeting = channel_.meet(posted.number, *posted.call, team);
  if (!meeting.ok()) return meeting.status();
  Status status = run({*posted.call, team, posted.team->mpi, meeting->reach});
  if (status.ok()) channel_.done(posted.number);
  return status;
}

Status MpiCommunicator::status_of(const Running& running, int error) const {
  if (error == 0) return {};
  return module_.status_of(error, fmt::format("{}, {}", describe_call(running.call, mesh()),
                                              describe_rank(mesh(), rank())));
}

Status MpiCommunicator::run(const Running& running) {
  switch (running.call.kind) {
    case Collective::kAllGather:
      return exchange(running, module_->all_gather);
    case Collective::kAllToAll:
      return exchange(running, module_->all_to_all);
    case Collective::kBroadcast:
      return broadcast(running);
    case Collective::kReduceScatter:
      return reduce_scatter(running);
    case Collective::kAllReduce:
      break;
  }
  return all_reduce(running);
}

Status MpiCommunicator::exchange(const Running& running, ExchangeFn transfer) {
  const CollectiveCall& call = running.call;
  const ByteCounts gives(call.sends, call.send.dtype()), gets(call.receives, call.send.dtype());
  onedim_mpi_exchange exchange = make_exchange(gives, gets, running.reach);
  Tensor receive = call.receive;
  exchange.send = call.send.data();
  exchange.receive = receive.data();
  return status_of(running, transfer(running.mpi, &exchange));
}

Status MpiCommunicator::broadcast(const Running& running) {
  const CollectiveCall& call = running.call;
  Tensor target = piece_of(call.receive, call.receives[0]);
  const bool is_root = running.team.place == call.root;
  Tensor moved = is_root ? piece_of(call.send, call.sends[0]) : target;  // MPI only reads a root's
  const int error = module_->broadcast(running.mpi, moved.data(), moved.meta().bytes(),
                                       static_cast<int>(call.root));
  if (is_root) copy_elements(moved, target);
  return status_of(running, error);
}

Result<Tensor> MpiCommunicator::reduce_share(const Running& running, std::span<const Piece> gives) {
  const CollectiveCall& call = running.call;
  const DType dtype = call.send.dtype();
  const auto place = static_cast<size_t>(running.team.place);
  const Piece mine = gives[place];
  std::vector<Piece> to_others(gives.begin(), gives.end()), from_others(gives.size());
  to_others[place].count = 0;
  int64_t largest = 0;
  for (size_t member = 0; member < gives.size(); ++member) {
    const bool is_own = member == place;
    from_others[member] = {static_cast<int64_t>(member) * mine.count, is_own ? 0 : mine.count};
    largest = std::max(largest, gives[member].count);
  }
  Tensor parts_of_others = scratch(dtype, running.team.size() * mine.count);
  const ByteCounts sent(to_others, dtype), gotten(from_others, dtype);
  const int64_t most =
      std::max(running.reach, running.team.size() * largest * int64_t{size_of(dtype)});
  onedim_mpi_exchange exchange = make_exchange(sent, gotten, most);
  exchange.send = call.send.data();
  exchange.receive = parts_of_others.data();
  const int error = module_->all_to_all(running.mpi, &exchange);
  if (Status status = status_of(running, error); !status.ok()) return status;
  std::vector<Tensor> parts;
  for (size_t member = 0; member < gives.size(); ++member) {
    const Piece part{from_others[member].offset, mine.count};
    parts.push_back(member == place ? piece_of(call.send, mine) : piece_of(parts_of_others, part));
  }
  return reduce_parts(call, parts);
}

Status MpiCommunicator::reduce_scatter(const Running& running) {
  Result<Tensor> share = reduce_share(running, running.call.sends);
  if (!share.ok()) return share.status();
  write(*share, running.call.receive, running.call.receives[0]);
  return {};
}

Status MpiCommunicator::all_reduce(const Running& running) {
  const CollectiveCall& call = running.call;
  const DType dtype = call.send.dtype();
  const Piece from = call.sends[0], to = call.receives[0];
  if (running.team.size() * from.count * size_of(dtype) <= kSmallReduction)
    return all_reduce_small(running);
  std::vector<Piece> gives = even_shares(from.count, running.team.size());
  std::vector<Piece> gets = gives;
  for (Piece& piece : gives) piece.offset += from.offset;
  for (Piece& piece : gets) piece.offset += to.offset;
  Result<Tensor> share = reduce_share(running, gives);
  if (!share.ok()) return share.status();
  write(*share, call.receive, gets[static_cast<size_t>(running.team.place)]);
  const ByteCounts gotten(gets, dtype);
  onedim_mpi_exchange exchange = make_exchange(gotten, gotten, running.reach);
  Tensor receive = call.receive;
  exchange.receive = receive.data();
  return status_of(running, module_->all_gather(running.mpi, &exchange));
}

Status MpiCommunicator::all_reduce_small(const Running& running) {
  const CollectiveCall& call = running.call;
  const DType dtype = call.send.dtype();
  const int64_t count = call.sends[0].count;
  std::vector<Piece> gets;
  for (int64_t member = 0; member < running.team.size(); ++member)
    gets.push_back({member * count, count});
  Tensor all = scratch(dtype, running.team.size() * count);
  const ByteCounts gives(call.sends, dtype), gotten(gets, dtype);
  const int64_t most = std::max(running.reach, running.team.size() * count * size_of(dtype));
  onedim_mpi_exchange exchange = make_exchange(gives, gotten, most);
  exchange.send = call.send.data();
  exchange.receive = all.data();
  const int error = module_->all_gather(running.mpi, &exchange);
  if (Status status = status_of(running, error); !status.ok()) return status;
  std::vector<Tensor> parts;
  for (const Piece& piece : gets) parts.push_back(piece_of(all, piece));
  write(reduce_parts(call, parts), call.receive, call.receives[0]);
  return {};
}

}  // namespace onedim
