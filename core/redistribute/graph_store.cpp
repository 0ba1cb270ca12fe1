#include "core/redistribute/graph_store.hpp"

#include <algorithm>

#include "core/layout/layout_key.hpp"

namespace onedim {
namespace {

constexpr int kMostSharedStates = 1024;
constexpr int kMostSharedMeshDims = 4;
// Alphabets with strided shards come and go with the layouts at hand.
constexpr size_t kMostEntries = 256;
constexpr size_t kMostIdle = 16;  // of one alphabet
// A larger graph is not kept for the next search.
constexpr size_t kMostKeptSteps = size_t{1} << 21;

MemoKey key_of(const GraphRequest& request, const Mesh& mesh) {
  MemoKey key;
  key.push_back(static_cast<uint64_t>(request.tensor_ndim) << 16 | request.kinds.size() << 1 |
                static_cast<uint64_t>(request.allow_shard_to_partial));
  for (const std::string& kind : request.kinds) append_key(Placement::make_partial(kind), key);
  std::vector<std::pair<int, Placement>> strided;
  for (const Layout* layout : request.layouts) {
    for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
      const Placement& placement = layout->placements[mesh_dim];
      if (placement.kind == Placement::Kind::kStridedShard && mesh.size(mesh_dim) > 1)
        strided.emplace_back(mesh_dim, placement);
    }
  }
  std::sort(strided.begin(), strided.end());
  strided.erase(std::unique(strided.begin(), strided.end()), strided.end());
  for (const auto& [mesh_dim, placement] : strided) {
    key.push_back(static_cast<uint64_t>(mesh_dim));
    append_key(placement, key);
  }
  return key;
}

}  // namespace

GraphStore::GraphStore(Mesh mesh) : mesh_(std::move(mesh)), pool_(std::make_shared<Pool>()) {}

std::shared_ptr<StateGraph> GraphStore::lend(std::shared_ptr<Pool> pool, MemoKey key,
                                             std::unique_ptr<StateGraph> graph) {
  const auto give_back = [pool = std::move(pool), key = std::move(key)](StateGraph* returned) {
    std::unique_ptr<StateGraph> owned(returned);
    if (owned->step_count() > kMostKeptSteps) return;
    const std::lock_guard lock(pool->mutex);
    const auto found = pool->entries.find(key);
    if (found != pool->entries.end() && found->second.idle.size() < kMostIdle)
      found->second.idle.push_back(std::move(owned));
  };
  return {graph.release(), give_back};
}

// Null if a new graph must be made.
std::shared_ptr<StateGraph> GraphStore::lease_known(const MemoKey& key) {
  std::unique_ptr<StateGraph> idle;
  {
    const std::lock_guard lock(pool_->mutex);
    const auto found = pool_->entries.find(key);
    if (found == pool_->entries.end()) return nullptr;
    if (found->second.complete != nullptr) return found->second.complete;
    if (found->second.idle.empty()) return nullptr;
    idle = std::move(found->second.idle.back());
    found->second.idle.pop_back();
  }
  return lend(pool_, key, std::move(idle));
}

Result<std::shared_ptr<StateGraph>> GraphStore::lease(const GraphRequest& request) {
  MemoKey key;
  if (!request.only_given) {
    key = key_of(request, mesh_);
    if (std::shared_ptr<StateGraph> known = lease_known(key)) return known;
  }
  Result<Alphabet> alphabet = Alphabet::create(mesh_, request.tensor_ndim, request.kinds,
                                               request.layouts, request.only_given);
  if (!alphabet.ok()) return alphabet.status();
  auto graph = std::make_unique<StateGraph>(*alphabet, request.allow_shard_to_partial);
  if (request.only_given) return std::shared_ptr<StateGraph>(std::move(graph));
  const std::unique_lock lock(pool_->mutex);
  if (pool_->entries.size() >= kMostEntries) pool_->entries.clear();
  Entry& entry = pool_->entries[key];
  if (entry.complete != nullptr) return entry.complete;
  const bool may_share = !alphabet->has_strided() && alphabet->mesh_ndim() <= kMostSharedMeshDims;
  if (may_share && !entry.is_large) {
    if (graph->complete(kMostSharedStates)) return entry.complete = std::move(graph);
    entry.is_large = true;
    graph = std::make_unique<StateGraph>(*std::move(alphabet), request.allow_shard_to_partial);
  }
  return lend(pool_, std::move(key), std::move(graph));
}

Result<StateGraph*> GraphLeases::get(const GraphRequest& request) {
  MemoKey key = key_of(request, store_.mesh());
  if (!request.only_given) {
    for (const auto& [known, graph] : held_) {
      if (known == key) return graph.get();
    }
  }
  Result<std::shared_ptr<StateGraph>> graph = store_.lease(request);
  if (!graph.ok()) return graph.status();
  // Graphs of given layouts only are nobody else's: their key is not asked for again.
  if (request.only_given) key.clear();
  held_.emplace_back(std::move(key), *std::move(graph));
  return held_.back().second.get();
}

}  // namespace onedim
