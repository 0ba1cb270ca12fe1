#pragma once
// MoveBound: what it costs at least to bring one value of so many bytes from its layout to any
// other, and what is still to be paid at least from any state between. The problem is made easier
// until its states are 3^n for n mesh dims: a mesh dim is as the source has it (kept), or it cuts
// in another way (cut), or ranks hold the same or a partial that a step has made (whole). Slices,
// fills and relabelled partials are free, kernels never copy, a reduction may take mesh dims that
// are whole along, an exchange those that are cut; bytes are the tensor's mean over the ranks. Each
// single step (step_kind.hpp) but shard_to_partial is a walk there that costs no more, provided
// that prices do not fall with bytes and that an all_to_all moves something. Kept cuts of one
// tensor dim still go from the last to the first.

#include "core/redistribute/dim_set.hpp"
#include "core/redistribute/step_price.hpp"

namespace onedim {

class MoveBound {
 public:
  enum class Part : uint8_t { kWhole, kCut, kKept };

  // `bytes` are those of all tensors that move, whole. Not thread-safe; keeps its memory for the
  // next search. All is borrowed until then. Strided shards are no plain cuts: neither `from` nor
  // what is asked may have one.
  void start(const CostModel& model, int64_t bytes, const Layout& from);

  // Mesh dims of more than one rank, numbered as in codes.
  int ndim() const { return static_cast<int>(mesh_dims_.size()); }
  int mesh_dim(int i) const { return mesh_dims_[i]; }
  uint32_t may_keep() const { return shards_ | partials_; }
  uint32_t shards() const { return shards_; }  // of the source
  // What `placement` asks of the i-th such mesh dim; kept where it may be.
  Part part_of(int i, const Placement& placement) const;

  // Tables have one entry for each pair of sets of mesh dims, those that are kept and those that
  // are cut, which are never of both.
  size_t table_size() const { return size_t{1} << (2 * ndim()); }
  size_t index(uint32_t kept, uint32_t cut) const { return size_t{kept} << ndim() | cut; }
  // Calls `body(kept, cut)` for all states.
  template <typename Body>
  void for_each_state(Body&& body) const {
    for_each_subset_or_none(may_keep(), [&](uint32_t kept) {
      for_each_subset_or_none(all_ & ~kept, [&](uint32_t cut) { body(kept, cut); });
    });
  }
  // From the source to any layout that has these parts, be what is kept as it was or not; in ps.
  int64_t least_ps(uint32_t kept, uint32_t cut) const { return costs_[index(kept, cut)]; }
  // What is to be paid from each state until a layout is reached and its own `ends` is paid; `rest`
  // becomes that table.
  void find_rest(std::span<const int64_t> ends, std::vector<int64_t>& rest);
  // The same from a state that has a cut which no layout asked for has: `rest` is what find_rest
  // gave; `recut` becomes the least with a gather or an exchange of some cut on the way.
  void find_recut(std::span<const int64_t> rest, std::vector<int64_t>& recut);

 private:
  struct Entry {
    int64_t ps = 0;
    uint32_t kept = 0;
    uint32_t cut = 0;
  };
  static constexpr int64_t kUnknown = -1;

  void read_source(const Layout& from);
  uint32_t sharded(uint32_t kept, uint32_t cut) const { return (kept & shards_) | cut; }
  bool is_last(uint32_t dims, uint32_t kept) const;
  void reach(int64_t ps, uint32_t kept, uint32_t cut);
  // Entries come with rising cost; each is passed on to `body`.
  template <typename Body>
  void settle(Body&& body);
  void step_on(const Entry& entry);
  void step_back(const Entry& entry);
  void exchange_back(const Entry& entry);
  void gather_back(const Entry& entry);
  void allow_change_of_kept();
  int64_t price(Collective collective, uint32_t sharded, uint32_t dims);
  int64_t work_out(Collective collective, uint32_t sharded, uint32_t dims) const;
  // The least over `dims` with some of `others`.
  int64_t least_price(Collective collective, uint32_t sharded, uint32_t dims, uint32_t others);

  const CostModel* model_ = nullptr;
  const Layout* from_ = nullptr;
  int64_t bytes_ = 0;
  absl::InlinedVector<int, 8> mesh_dims_;
  uint32_t all_ = 0, shards_ = 0, partials_ = 0;  // of the source
  bool has_own_kinds_ = false;
  std::array<uint32_t, 8> after_{};  // those that cut the same tensor dim later in the source
  DimSetTable dim_sets_;
  std::vector<int64_t> prices_;          // by collective, sharded, dims
  std::vector<int64_t> costs_;           // from the source
  std::vector<int64_t>* now_ = nullptr;  // the table that is being filled
  std::vector<Entry> queue_;
};

}  // namespace onedim
