#include "core/exec/mpi_world.hpp"

#include <onedim/pack.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>

namespace onedim {
namespace {

namespace fs = std::filesystem;

// A folder without records of an earlier run.
Result<std::string> make_folder(const std::string& wanted) {
  std::error_code error;
  if (wanted.empty()) {
    std::string name = (fs::temp_directory_path(error) / "onedim-run-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) return name;
    return absl::UnavailableError(fmt::format("{}: {}", name, std::strerror(errno)));
  }
  fs::create_directories(wanted, error);
  if (error) return absl::UnavailableError(fmt::format("{}: {}", wanted, error.message()));
  for (const fs::directory_entry& entry : fs::directory_iterator(wanted, error)) {
    if (entry.path().filename().string().starts_with("rank-")) fs::remove(entry.path(), error);
  }
  const fs::path path = fs::absolute(wanted, error);
  if (error) return absl::UnavailableError(fmt::format("{}: {}", wanted, error.message()));
  return path.string();
}

std::vector<std::string> pieces_of(const std::string& all, std::span<const int64_t> sizes) {
  std::vector<std::string> pieces;
  size_t begin = 0;
  for (const int64_t size : sizes) {
    pieces.push_back(all.substr(begin, static_cast<size_t>(size)));
    begin += static_cast<size_t>(size);
  }
  return pieces;
}

}  // namespace

Result<std::unique_ptr<MpiWorld>> MpiWorld::start(const Mesh& mesh, const MpiOptions& options,
                                                  Watchdog::LastWords last_words) {
  Result<MpiModule> module = MpiModule::open(options.module);
  if (!module.ok()) return module.status();
  Watchdog::block_signals();  // MPI's own threads must not take them
  if (const int error = (*module)->start(options.largest_count))
    return module->status_of(error, "the start of MPI");
  std::unique_ptr<MpiWorld> world(new MpiWorld(*module));
  if (Status status = world->check_place(mesh); !status.ok()) {
    (*module)->finish();
    return status;
  }
  Result<std::string> folder = world->share_folder(options.folder);
  if (!folder.ok()) {
    (*module)->finish();
    return folder.status();
  }
  world->owns_folder_ = options.folder.empty() && (*module)->rank() == 0;
  Result<std::unique_ptr<ControlChannel>> channel =
      ControlChannel::open(mesh, (*module)->rank(), {*std::move(folder), options.deadline});
  if (!channel.ok()) return channel.status();
  world->channel_ = *std::move(channel);
  world->watchdog_ = std::make_unique<Watchdog>(*world->channel_, std::move(last_words));
  world->communicator_ =
      std::make_unique<MpiCommunicator>(*world->channel_, world->module_, world->teams_);
  if (options.fault && options.fault->rank == world->rank()) {
    world->faulty_ = std::make_unique<FaultyCommunicator>(*world->communicator_, *options.fault,
                                                          FaultScope::kOwnProcess);
  }
  return world;
}

MpiWorld::~MpiWorld() = default;

Status MpiWorld::check_place(const Mesh& mesh) const {
  const int ranks = module_->rank_count();
  if (ranks != mesh.rank_count()) {
    return invalid_argument(
        "--mesh: {} has {} ranks, MPI was started with {}; give mpirun -n {}, or another mesh",
        mesh.format(), mesh.rank_count(), ranks, mesh.rank_count());
  }
  int on_node = 0;
  if (const int error = module_->ranks_on_node(&on_node))
    return module_.status_of(error, "the search for ranks of this machine");
  if (on_node == ranks) return {};
  return unimplemented(
      "{} of the {} ranks are on this machine: ranks watch each other by files that they map, so "
      "all must be on one",
      on_node, ranks);
}

Result<std::string> MpiWorld::share_folder(const std::string& wanted) {
  // The folder, or what is wrong with it.
  std::array<char, 4096> text{};
  if (module_->rank() == 0) {
    const Result<std::string> made = make_folder(wanted);
    text[0] = made.ok() ? '+' : '-';
    set_text(text.data() + 1, text.size() - 1,
             made.ok() ? std::string_view(*made) : message_of(made.status()));
  }
  if (const int error = module_->broadcast(nullptr, text.data(), text.size(), 0))
    return module_.status_of(error, "the choice of a folder");
  if (text[0] == '+') return std::string(text.data() + 1);
  return absl::UnavailableError(fmt::format("the folder of the run's records: {}", &text[1]));
}

Status MpiWorld::load(RunDescription description, const std::set<MeshDimSet>& mesh_dims) {
  description.add("onedim", ONEDIM_ABI_RELEASE);
  description.add("MPI", module_.library());
  if (Status status = channel_->agree(description); !status.ok()) return status;
  std::set<MeshDimSet> needed;  // ascending: the same order on all ranks
  for (const MeshDimSet dims : mesh_dims)
    needed.insert(MpiCommunicator::cutting_dims(mesh(), dims));
  needed.erase(0);
  for (const MeshDimSet dims : needed) {
    const Team team = team_of(mesh(), dims, rank());
    if (teams_.contains(dims) || team.size() == mesh().rank_count()) {
      teams_.try_emplace(dims, nullptr);
      continue;
    }
    const std::string what = fmt::format("a communicator over {}", format_mesh_dims(dims, mesh()));
    channel_->set_activity(what);
    onedim_mpi_team* made = nullptr;
    const int error =
        module_->split(static_cast<int>(team.ranks[0]), static_cast<int>(team.place), &made);
    if (error != 0) return module_.status_of(error, what);
    teams_[dims] = made;
    channel_->set_activity("");
  }
  return {};
}

Status MpiWorld::gather_bytes(const void* mine, int64_t bytes, std::span<const int64_t> all_bytes,
                              void* all, std::string_view what) {
  std::vector<int64_t> offsets(all_bytes.size());
  std::exclusive_scan(all_bytes.begin(), all_bytes.end(), offsets.begin(), int64_t{0});
  const int64_t none = 0;
  const int64_t most = std::accumulate(all_bytes.begin(), all_bytes.end(), int64_t{0});
  const onedim_mpi_exchange exchange{mine,           all, &bytes, &none, all_bytes.data(),
                                     offsets.data(), most};
  return module_.status_of(module_->all_gather(nullptr, &exchange), what);
}

Result<std::vector<std::string>> MpiWorld::gather(const std::string& mine, std::string_view what) {
  channel_->set_activity(what);
  const auto ranks = static_cast<size_t>(mesh().rank_count());
  const auto size = static_cast<int64_t>(mine.size());
  std::vector<int64_t> sizes(ranks);
  const std::vector<int64_t> size_bytes(ranks, sizeof(int64_t));
  Status status = gather_bytes(&size, sizeof(size), size_bytes, sizes.data(), what);
  if (!status.ok()) return status;
  std::string all(static_cast<size_t>(std::accumulate(sizes.begin(), sizes.end(), int64_t{0})),
                  '\0');
  if (status = gather_bytes(mine.data(), size, sizes, all.data(), what); !status.ok())
    return status;
  channel_->set_activity("");
  return pieces_of(all, sizes);
}

Result<std::vector<std::string>> MpiWorld::deal(std::span<const std::string> texts,
                                                std::string_view what) {
  channel_->set_activity(what);
  const auto ranks = static_cast<size_t>(mesh().rank_count());
  std::vector<int64_t> sizes(ranks), all_sizes(ranks * ranks);
  std::string mine;
  for (size_t to = 0; to < ranks; ++to) {
    sizes[to] = static_cast<int64_t>(texts[to].size());
    mine += texts[to];
  }
  const std::vector<int64_t> row_bytes(ranks, static_cast<int64_t>(ranks * sizeof(int64_t)));
  Status status = gather_bytes(sizes.data(), row_bytes[0], row_bytes, all_sizes.data(), what);
  if (!status.ok()) return status;
  int64_t most = 0;  // that any rank gives or gets
  std::vector<int64_t> gets(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    int64_t given = 0, gotten = 0;
    for (size_t other = 0; other < ranks; ++other) {
      given += all_sizes[rank * ranks + other];
      gotten += all_sizes[other * ranks + rank];
    }
    most = std::max({most, given, gotten});
    gets[rank] = all_sizes[rank * ranks + static_cast<size_t>(this->rank())];
  }
  std::vector<int64_t> give_offsets(ranks), get_offsets(ranks);
  std::exclusive_scan(sizes.begin(), sizes.end(), give_offsets.begin(), int64_t{0});
  std::exclusive_scan(gets.begin(), gets.end(), get_offsets.begin(), int64_t{0});
  std::string all(static_cast<size_t>(get_offsets.back() + gets.back()), '\0');
  const onedim_mpi_exchange exchange{
      mine.data(), all.data(),         sizes.data(), give_offsets.data(),
      gets.data(), get_offsets.data(), most};
  if (const int error = module_->all_to_all(nullptr, &exchange))
    return module_.status_of(error, what);
  channel_->set_activity("");
  return pieces_of(all, gets);
}

Result<int> MpiWorld::finish(int code) {
  const Result<std::vector<std::string>> codes = gather(std::to_string(code), "the end of the run");
  if (!codes.ok()) return codes.status();
  channel_->set_activity("the end of MPI");
  for (const auto& [dims, team] : teams_) {
    if (team == nullptr) continue;
    if (const int error = module_->release(team))
      return module_.status_of(error, "the release of a communicator");
  }
  teams_.clear();
  if (const int error = module_->finish()) return module_.status_of(error, "the end of MPI");
  channel_->set_activity("");
  channel_->end();
  watchdog_.reset();
  if (owns_folder_) {
    std::error_code left_behind;
    fs::remove_all(folder(), left_behind);
  }
  for (const std::string& text : *codes) code = std::max(code, std::atoi(text.c_str()));
  return code;
}

}  // namespace onedim
