#pragma once
// The families of this pack, and what they share.

#include <onedim/pack.hpp>

namespace shape {

using namespace onedim::api;

// Moving elements commutes with every reduction over ranks.
inline Families passes_all(std::string_view argument) { return {{kIdentity, {argument}}}; }

inline Shape strides_of(const TensorView& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}

// An output that shares the first input's storage.
inline Output shared_view(const TensorView& self, Shape sizes, Shape strides, int64_t offset = 0) {
  return {self.dtype(), std::move(sizes), std::move(strides), 0, offset};
}

// The kernel of a view: what infer says of it is all there is to do.
inline void no_work(const Call&, const onedim_execution_t&) {}

// A rule, and the same with whatever partials the slots in `unread` may be: inputs of which no
// element reaches the output. One that is sharded stays so.
void add_with_unread(const Call& call, RuleSink& rules, const Placement& output,
                     std::vector<Placement> inputs, std::span<const int> unread,
                     const RuleOptions& options = {});

// Every output dim that the first input has too: `from[d]` is the input's dim of output dim d, -1
// for none.
void kept_dims_rules(const Call& call, RuleSink& rules, const std::vector<int>& from);
// 0, 1, .. below `count`.
std::vector<int> first_dims(int count);

void declare_passing(Registrar& r);            // alias, clone, copy: every index stays
void declare_reinterpretations(Registrar& r);  // _conj, view_as_real, view.dtype
void declare_reshapes(Registrar& r);           // view, reshape: the row-major index stays
void declare_dims(Registrar& r);               // permute, squeeze: dims move, come, go
void declare_expansions(Registrar& r);         // expand: dims repeated
void declare_slices(Registrar& r);             // slice, narrow, select: part of a dim
void declare_scatters(Registrar& r);           // their backward ops and scatters
void declare_joins(Registrar& r);              // cat, stack: tensors one behind the other
void declare_splits(Registrar& r);             // split, unbind, chunk: one dim in parts
void declare_tiles(Registrar& r);              // repeat, flip, roll
void declare_padding(Registrar& r);            // constant_pad_nd
void declare_diagonals(Registrar& r);          // diagonal, diag_embed, diagonal_scatter
void declare_triangles(Registrar& r);          // tril, triu

}  // namespace shape
