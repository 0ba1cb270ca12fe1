// One rank of a run on MPI that tries each collective, dtype and reduction on random pieces, some
// of them empty, of values with any bits: every byte of every buffer must be what `sim` makes of
// the same calls, which each rank works out for itself. To be started by mpirun:
// exec_mpi_ranks MESH LARGEST_COUNT MODULE. With faults, such as `all_gather=kill@1:1`, each in a
// call of its own, it tells what became of that; `differ@RANK` has that rank call something else.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "core/exec/mpi_world.hpp"

namespace onedim {
namespace {

using Random = std::mt19937_64;

constexpr int64_t kGap = 2;  // elements of a buffer that no piece names

struct Kind {
  Collective collective = Collective::kAllGather;
  std::string_view reduction;
  int64_t divisor = 1;
};

int64_t draw_count(Random& random) {
  const uint64_t bits = random();
  if (bits % 4 == 0) return 0;
  return static_cast<int64_t>(bits % 16 == 1 ? 700 + bits / 16 % 3000 : bits / 16 % 9);
}

Tensor draw_buffer(DType dtype, int64_t count, Random& random) {
  Tensor buffer = Tensor::zeros(dtype, {count});
  for (int64_t i = 0; i < count * size_of(dtype); ++i) {
    const auto bits = static_cast<uint8_t>(random() >> 11);
    buffer.data()[i] = std::byte(dtype == DType::kBool ? bits & 1 : bits);
  }
  return buffer;
}

// Pieces of these counts, apart from each other; how long the buffer is.
int64_t place(std::span<const int64_t> counts, std::vector<Piece>& pieces) {
  int64_t next = kGap;
  for (const int64_t count : counts) {
    pieces.push_back({next, count});
    next += count + kGap;
  }
  return next;
}

using Counts = std::vector<std::vector<int64_t>>;

// What member `from` gives to `to`.
Counts draw_counts(Collective collective, size_t size, Random& random) {
  Counts counts(size, std::vector<int64_t>(size));
  for (std::vector<int64_t>& row : counts) {
    for (int64_t& count : row) count = draw_count(random);
    if (collective == Collective::kAllGather) std::fill(row.begin(), row.end(), row[0]);
  }
  if (collective == Collective::kReduceScatter) std::fill(counts.begin(), counts.end(), counts[0]);
  if (collective == Collective::kAllReduce || collective == Collective::kBroadcast) {
    for (std::vector<int64_t>& row : counts) std::fill(row.begin(), row.end(), counts[0][0]);
  }
  return counts;
}

// The calls of a whole team.
std::vector<CollectiveCall> draw_calls(const Kind& kind, DType dtype, MeshDimSet mesh_dims,
                                       size_t size, Random& random) {
  const bool to_each =
      kind.collective == Collective::kAllToAll || kind.collective == Collective::kReduceScatter;
  const bool of_each =
      kind.collective == Collective::kAllToAll || kind.collective == Collective::kAllGather;
  const Counts counts = draw_counts(kind.collective, size, random);
  const auto root = static_cast<int64_t>(random() % size);
  std::vector<CollectiveCall> calls(size);
  for (size_t me = 0; me < size; ++me) {
    CollectiveCall& call = calls[me];
    call.kind = kind.collective;
    call.mesh_dims = mesh_dims;
    call.reduction = kind.reduction;
    call.divisor = kind.divisor;
    call.root = kind.collective == Collective::kBroadcast ? root : 0;
    std::vector<int64_t> gives = counts[me], gets;
    for (size_t other = 0; other < size; ++other) gets.push_back(counts[other][me]);
    if (!to_each) gives.resize(1);
    if (!of_each) gets = {counts[0][me]};
    const bool is_silent =
        kind.collective == Collective::kBroadcast && static_cast<int64_t>(me) != root;
    if (is_silent) gives.clear();
    call.send = draw_buffer(dtype, place(gives, call.sends), random);
    call.receive = draw_buffer(dtype, place(gets, call.receives), random);
  }
  return calls;
}

std::vector<Kind> kinds_of(DType dtype) {
  std::vector<Kind> kinds{{Collective::kAllGather, "", 1},
                          {Collective::kAllToAll, "", 1},
                          {Collective::kBroadcast, "", 1}};
  for (const Collective collective : {Collective::kReduceScatter, Collective::kAllReduce}) {
    for (const char* reduction : {"sum", "max", "min", "product"}) {
      if (is_legal_partial(reduction, dtype)) kinds.push_back({collective, reduction, 1});
    }
    if (is_legal_partial("avg", dtype)) kinds.push_back({collective, "sum", 3});
  }
  return kinds;
}

// A call of this rank, and what its buffer must hold after it.
struct Trial {
  CollectiveCall call;
  Tensor expected;
};

Result<Trial> make_trial(const Kind& kind, DType dtype, const Mesh& mesh, MeshDimSet mesh_dims,
                         int64_t rank, uint64_t seed) {
  const Team team = team_of(mesh, mesh_dims, rank);
  Random random(seed * 1000003 + static_cast<uint64_t>(team.ranks[0]));
  const auto calls = draw_calls(kind, dtype, mesh_dims, team.ranks.size(), random);
  std::vector<CollectiveCall> copies = calls;
  std::vector<const CollectiveCall*> members;
  for (CollectiveCall& copy : copies) {
    copy.receive = copy.receive.clone();
    members.push_back(&copy);
  }
  if (Status status = run_collective(mesh, team, members); !status.ok()) return status;
  const auto me = static_cast<size_t>(team.place);
  return Trial{calls[me], copies[me].receive};
}

// All kinds of a dtype, over all sets of mesh dims at once.
Status try_dtype(DType dtype, MpiWorld& world, int64_t& tried) {
  for (const Kind& kind : kinds_of(dtype)) {
    std::vector<Trial> trials;
    for (MeshDimSet dims = 1; dims < MeshDimSet{1} << world.mesh().ndim(); ++dims) {
      Result<Trial> trial =
          make_trial(kind, dtype, world.mesh(), dims, world.rank(), static_cast<uint64_t>(tried++));
      if (!trial.ok()) return trial.status();
      trials.push_back(*std::move(trial));
    }
    for (const Trial& trial : trials) {
      if (Status status = world.communicator().post(trial.call); !status.ok()) return status;
    }
    if (Status status = world.communicator().wait(); !status.ok()) return status;
    for (const Trial& trial : trials) {
      if (bit_equal(trial.call.receive, trial.expected)) continue;
      return absl::InternalError(fmt::format("{} of {} {}, divisor {}: not what sim gives",
                                             describe_call(trial.call, world.mesh()),
                                             name_of(dtype), kind.reduction, kind.divisor));
    }
  }
  return {};
}

Status run(MpiWorld& world, int64_t& tried) {
  std::set<MeshDimSet> all;
  for (MeshDimSet dims = 1; dims < MeshDimSet{1} << world.mesh().ndim(); ++dims) all.insert(dims);
  if (Status status = world.load({}, all); !status.ok()) return status;
  for (int i = 0; i < kDTypeCount; ++i) {
    Status status = try_dtype(static_cast<DType>(i), world, tried);
    if (!status.ok()) return status;
  }
  return {};
}

Result<Kind> kind_of(std::string_view name) {
  const std::optional<Collective> collective = find_collective(name);
  if (!collective) return invalid_argument("{} is no collective", name);
  const bool reduces =
      *collective == Collective::kAllReduce || *collective == Collective::kReduceScatter;
  return Kind{*collective, reduces ? "sum" : "", 1};
}

// One call over all ranks with a fault in it.
Status try_fault(std::string_view text, MpiWorld& world, uint64_t seed) {
  const size_t equals = std::min(text.find('='), text.size());
  const Result<Kind> kind = kind_of(text.substr(0, equals));
  if (!kind.ok()) return kind.status();
  const std::string_view fault_text = text.substr(std::min(equals + 1, text.size()));
  const Mesh& mesh = world.mesh();
  const MeshDimSet all = (MeshDimSet{1} << mesh.ndim()) - 1;
  const bool is_differ = fault_text.starts_with("differ@");
  const Result<Fault> fault = Fault::parse(is_differ ? "delay@0:1:0" : fault_text);
  if (!fault.ok()) return fault.status();
  const bool differs = is_differ && fault_text.substr(7) == std::to_string(world.rank());
  const DType dtype = differs ? DType::kF32 : DType::kI32;
  const Result<Trial> trial = make_trial(*kind, dtype, mesh, all, world.rank(), seed);
  if (!trial.ok()) return trial.status();
  FaultyCommunicator faulty(world.communicator(), *fault, FaultScope::kOwnProcess);
  Communicator& communicator =
      fault->rank == world.rank() ? static_cast<Communicator&>(faulty) : world.communicator();
  if (Status status = communicator.post(trial->call); !status.ok()) return status;
  if (Status status = communicator.wait(); !status.ok()) return status;
  const bool is_right = bit_equal(trial->call.receive, trial->expected);
  const Result<std::vector<std::string>> found =
      world.gather(is_right ? "right" : "wrong", "what became of a fault");
  if (!found.ok()) return found.status();
  if (world.rank() != 0) return {};
  std::printf("%s:", std::string(text).c_str());
  for (const std::string& word : *found) std::printf(" %s", word.c_str());
  std::printf("\n");
  return {};
}

Status try_faults(std::span<char* const> faults, MpiWorld& world) {
  const MeshDimSet all = (MeshDimSet{1} << world.mesh().ndim()) - 1;
  if (Status status = world.load({}, {all}); !status.ok()) return status;
  uint64_t seed = 0;
  for (const char* fault : faults) {
    if (Status status = try_fault(fault, world, ++seed); !status.ok()) return status;
  }
  return {};
}

int start(const char* mesh_text, const char* largest, const char* module,
          std::span<char* const> faults) {
  const Result<Mesh> mesh = Mesh::parse(mesh_text);
  MpiOptions options;
  options.module = module;
  options.largest_count = std::atoll(largest);
  options.deadline = std::chrono::seconds(faults.empty() ? 20 : 2);
  const auto tell = [](std::string_view why, const std::string&) {
    std::fprintf(stderr, "%s\n", std::string(why).c_str());
  };
  Result<std::unique_ptr<MpiWorld>> world = MpiWorld::start(*mesh, options, tell);
  int64_t tried = 0;
  Status status = world.status();
  if (status.ok()) status = faults.empty() ? run(**world, tried) : try_faults(faults, **world);
  if (status.ok()) status = (*world)->finish(0).status();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(message_of(status)).c_str());
    std::_Exit(1);
  }
  if ((*world)->rank() == 0 && faults.empty())
    std::printf("%lld calls are as on sim\n", static_cast<long long>(tried));
  return 0;
}

}  // namespace
}  // namespace onedim

int main(int argc, char** argv) {
  if (argc >= 4)
    return onedim::start(argv[1], argv[2], argv[3], {argv + 4, static_cast<size_t>(argc - 4)});
  std::fputs("exec_mpi_ranks MESH LARGEST_COUNT MODULE [COLLECTIVE=FAULT ...]\n", stderr);
  return 2;
}
