#pragma once
// Registry: all ops and partial kinds of the packs that were committed, by name, read-only for its
// users. Commits are whole packs or nothing; when an op, kernel or kind clashes with an earlier
// pack's, the earlier stays and the later pack is refused. References across packs (kernels for
// foreign ops, partial kinds in rules) are resolved by `resolve` after all packs are staged.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/layout.hpp"
#include "core/pack/op.hpp"
#include "core/pack/partial_kind.hpp"

namespace onedim {

// What one pack's init registered, copied and checked, not yet visible.
struct StagedPack {
  std::string name;
  std::string version;
  std::string path;
  std::vector<std::unique_ptr<Op>> ops;
  std::vector<std::pair<std::string, Kernel>> kernels;  // (op, kernel)
  std::vector<std::unique_ptr<PartialKind>> partial_kinds;
};

class Registry {
 public:
  // AlreadyExists, naming both files, if anything clashes; then nothing of `pack` is kept.
  Status commit(StagedPack pack);
  // Links variants to plain ops, kernels to ops. What stays unresolved is returned, one line each,
  // `PACK: ...`, and takes no effect until a later call resolves it.
  std::vector<std::string> resolve();

  const Op* find(std::string_view name) const;
  const PartialKind* find_partial_kind(std::string_view name) const;
  std::vector<const Op*> ops() const;  // sorted by name
  std::vector<std::string> op_names() const;
  std::vector<const PartialKind*> partial_kinds() const;
  // Partials of packs in `layout` must be known, name a tensor of their group and, where their
  // state is hidden, stand over more than one rank: one alone has nothing to merge, and an R there
  // would need the kind's finish, which no step of a redistribution is.
  Status check_partials(const Layout& layout, const Mesh& mesh) const;
  // What moves under a partial of a pack is its state: `count` tensors must be that, all of them.
  Status check_state_count(const Layout& layout, size_t count) const;
  // The file of a committed pack, or null.
  const std::string* find_pack_path(std::string_view pack) const {
    const auto found = pack_paths_.find(pack);
    return found == pack_paths_.end() ? nullptr : &found->second;
  }

 private:
  template <typename T>
  using ByName = std::map<std::string, T, std::less<>>;

  Status check_clashes(const StagedPack& pack) const;
  Status clash(std::string_view what, std::string_view name, std::string_view owner,
               const StagedPack& pack) const;
  const Kernel* find_any_kernel(std::string_view op, int device) const;
  std::string link(Op& op);
  void report_unknown_kinds(const Op& op, std::vector<std::string>& lines) const;

  ByName<std::unique_ptr<Op>> ops_;
  ByName<std::unique_ptr<PartialKind>> partial_kinds_;
  std::vector<std::pair<std::string, Kernel>>
      pending_kernels_;  // (op, kernel): for ops that no pack offers yet
  ByName<std::string> pack_paths_;
};

}  // namespace onedim
