#pragma once
// MpiCommunicator: the back end `mpi`, a process a rank. The control channel brings the members of
// a call together, the MPI module moves bytes, and reductions are what `sim` makes of the same
// parts: a member gets all parts of a share of the value and reduces them in team order, so results
// are equal bit for bit, of every dtype and kind, and a reduce-scatter moves no more than its lower
// bound. An all-reduce is one and an all-gather, as by Rabenseifner (Optimization of Collective
// Reduction Operations, ICCS 2004), or a gather alone where the value is small.

#include <map>

#include "core/exec/communicator.hpp"
#include "core/exec/control_channel.hpp"
#include "core/exec/mpi_module.hpp"

namespace onedim {

class MpiCommunicator : public Communicator {
 public:
  // By the mesh dims that they run over, those of size 1 left out; null: of all ranks.
  using Teams = std::map<MeshDimSet, onedim_mpi_team*>;

  // All are borrowed.
  MpiCommunicator(ControlChannel& channel, const MpiModule& module, const Teams& teams)
      : channel_(channel), module_(module), teams_(teams) {}
  const Mesh& mesh() const override { return channel_.mesh(); }
  int64_t rank() const override { return channel_.rank(); }
  Status post(const CollectiveCall& call) override;
  Status wait() override;

  // `mesh_dims` without those of size 1.
  static MeshDimSet cutting_dims(const Mesh& mesh, MeshDimSet mesh_dims);

 private:
  struct KnownTeam {
    Team team;
    onedim_mpi_team* mpi = nullptr;
    bool is_loaded = false;  // else `mpi` is nothing
  };
  struct Posted {
    const CollectiveCall* call = nullptr;
    const KnownTeam* team = nullptr;
    uint64_t number = 0;
  };
  // Of a call that runs now.
  struct Running {
    const CollectiveCall& call;
    const Team& team;
    onedim_mpi_team* mpi = nullptr;
    int64_t reach = 0;
  };

  const KnownTeam& find_team(MeshDimSet mesh_dims);
  // `count` elements of memory that the next call of this may use again.
  Tensor scratch(DType dtype, int64_t count);
  Status complete(const Posted& posted);
  Status run(const Running& running);
  using ExchangeFn = int (*)(onedim_mpi_team* team, const onedim_mpi_exchange* exchange);

  // An all-gather or an all-to-all, as `transfer` makes it.
  Status exchange(const Running& running, ExchangeFn transfer);
  Status broadcast(const Running& running);
  Status reduce_scatter(const Running& running);
  Status all_reduce(const Running& running);
  Status all_reduce_small(const Running& running);
  // Gives each member its piece of the call's input, and reduces this member's.
  Result<Tensor> reduce_share(const Running& running, std::span<const Piece> gives);
  Status status_of(const Running& running, int error) const;

  ControlChannel& channel_;
  const MpiModule& module_;
  const Teams& teams_;
  std::map<MeshDimSet, KnownTeam> known_teams_;
  std::vector<Posted> in_flight_;
  Tensor scratch_;  // of u8
};

}  // namespace onedim
