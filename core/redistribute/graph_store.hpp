#pragma once
// GraphStore: the state graphs of one mesh, made when first asked for and kept, so that no search
// lists the steps between states a second time. Small graphs are expanded whole once and shared by
// all threads; larger ones grow as searches meet their states and serve one search at a time, so a
// lease gives one out until its last pointer is gone. Graphs know no tensor sizes. Thread-safe.

#include <memory>
#include <mutex>
#include <utility>

#include "core/base/memo.hpp"
#include "core/redistribute/state_graph.hpp"

namespace onedim {

struct GraphRequest {
  int tensor_ndim = 0;
  std::vector<std::string> kinds;  // partial kinds, sorted
  // Their strided shards stand where they stand here.
  std::span<const Layout* const> layouts;
  bool allow_shard_to_partial = false;
  bool only_given = false;  // see Alphabet: such graphs are of these layouts alone and not kept
};

class GraphStore {
 public:
  explicit GraphStore(Mesh mesh);

  const Mesh& mesh() const { return mesh_; }
  // Complete, or the caller's alone while it holds the pointer, which may outlive the store.
  Result<std::shared_ptr<StateGraph>> lease(const GraphRequest& request);

 private:
  struct Entry {
    std::shared_ptr<StateGraph> complete;
    std::vector<std::unique_ptr<StateGraph>> idle;
    bool is_large = false;  // may not be completed
  };
  struct Pool {
    std::mutex mutex;
    absl::flat_hash_map<MemoKey, Entry> entries;
  };

  std::shared_ptr<StateGraph> lease_known(const MemoKey& key);
  static std::shared_ptr<StateGraph> lend(std::shared_ptr<Pool> pool, MemoKey key,
                                          std::unique_ptr<StateGraph> graph);

  Mesh mesh_;
  std::shared_ptr<Pool> pool_;
};

// The graphs that the searches of one thread share while it works on one thing. Borrows the store.
class GraphLeases {
 public:
  explicit GraphLeases(GraphStore& store) : store_(store) {}
  // Lives as long as this.
  Result<StateGraph*> get(const GraphRequest& request);

 private:
  GraphStore& store_;
  std::vector<std::pair<MemoKey, std::shared_ptr<StateGraph>>> held_;
};

}  // namespace onedim
