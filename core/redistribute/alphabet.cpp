#include "core/redistribute/alphabet.hpp"

#include <algorithm>

#include "core/redistribute/step_kind.hpp"

namespace onedim {
namespace {

constexpr size_t kMostSymbols = 32;

void insert_kinds(const Layout& layout, std::vector<std::string>& kinds) {
  for (const Placement& placement : layout.placements) {
    if (!placement.is_partial()) continue;
    if (std::find(kinds.begin(), kinds.end(), placement.partial) == kinds.end())
      kinds.push_back(placement.partial);
  }
}

}  // namespace

std::vector<std::string> partial_kinds(const Layout& a, const Layout& b) {
  std::vector<std::string> kinds;
  insert_kinds(a, kinds);
  insert_kinds(b, kinds);
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

Result<Alphabet> Alphabet::create(const Mesh& mesh, int tensor_ndim, std::vector<std::string> kinds,
                                  std::span<const Layout* const> layouts, bool only_given) {
  Alphabet alphabet;
  alphabet.full_mesh_ndim_ = mesh.ndim();
  alphabet.tensor_ndim_ = tensor_ndim;
  alphabet.kind_count_ = static_cast<int>(kinds.size());
  for (std::string& kind : kinds)
    alphabet.symbols_.push_back(Placement::make_partial(std::move(kind)));
  alphabet.symbols_.push_back(Placement::replicate());
  for (int dim = 0; dim < tensor_ndim; ++dim) alphabet.symbols_.push_back(Placement::shard(dim));
  std::vector<Placement> strided;
  for (const Layout* layout : layouts) {
    for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
      const Placement& placement = layout->placements[mesh_dim];
      if (placement.kind == Placement::Kind::kStridedShard && mesh.size(mesh_dim) > 1)
        strided.push_back(placement);
    }
  }
  std::sort(strided.begin(), strided.end());
  strided.erase(std::unique(strided.begin(), strided.end()), strided.end());
  const size_t plain_count = alphabet.symbols_.size();
  alphabet.symbols_.insert(alphabet.symbols_.end(), strided.begin(), strided.end());
  if (alphabet.symbols_.size() > kMostSymbols) {
    return unimplemented(
        "a search over {} placements (a tensor of {} dims, {} partial kinds, {} strided shards), "
        "at "
        "most {} are supported",
        alphabet.symbols_.size(), tensor_ndim, kinds.size(), strided.size(), kMostSymbols);
  }
  for (int s = 0; s < alphabet.kind_count_; ++s) {
    if (is_linear_partial(alphabet.symbols_[s].partial)) alphabet.linear_ |= uint32_t{1} << s;
  }
  for (size_t s = 0; s < alphabet.symbols_.size(); ++s) {
    const bool is_strided = s >= plain_count;
    alphabet.dims_[s] = static_cast<int8_t>(alphabet.symbols_[s].dim);
    alphabet.split_factors_[s] = is_strided ? alphabet.symbols_[s].split_factor : 1;
  }
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    if (mesh.size(mesh_dim) == 1) continue;
    const uint32_t plain = static_cast<uint32_t>((uint64_t{1} << plain_count) - 1);
    uint32_t allowed = only_given ? uint32_t{1} << alphabet.replicate() : plain;
    for (const Layout* layout : layouts) {
      const int symbol = alphabet.find_symbol(layout->placements[mesh_dim]);
      if (symbol >= 0) allowed |= uint32_t{1} << symbol;
    }
    alphabet.allowed_[alphabet.mesh_dims_.size()] = allowed;
    alphabet.mesh_dims_.push_back(mesh_dim);
    alphabet.sizes_.push_back(mesh.size(mesh_dim));
  }
  return alphabet;
}

int Alphabet::find_symbol(const Placement& placement) const {
  if (placement.kind == Placement::Kind::kShard)
    return placement.dim < tensor_ndim_ ? replicate() + 1 + placement.dim : -1;
  if (placement.is_replicate()) return replicate();
  // A group's partials are told apart by their kind alone.
  for (int s = 0; s < symbol_count(); ++s) {
    if (is_partial(s) ? placement.is_partial(symbols_[s].partial) : symbols_[s] == placement)
      return s;
  }
  return -1;
}

std::optional<StateCode> Alphabet::encode(const Layout& layout) const {
  std::array<int8_t, 8> index;  // of each mesh dim in codes
  index.fill(-1);
  for (int i = 0; i < mesh_ndim(); ++i) index[mesh_dims_[i]] = static_cast<int8_t>(i);
  std::array<uint8_t, 32> cut_count{};
  StateCode code = 0;
  for (int place = 0; place < full_mesh_ndim_; ++place) {
    const int mesh_dim = layout.order.empty() ? place : static_cast<int>(layout.order[place]);
    const int8_t i = index[mesh_dim];
    if (i < 0) continue;
    const int s = find_symbol(layout.placements[mesh_dim]);
    if (s < 0 || !allows(i, s)) return std::nullopt;
    code |= entry(i, s, is_shard(s) ? cut_count[dims_[s]]++ : 0);
  }
  return code;
}

Layout Alphabet::decode(StateCode code) const {
  Layout layout = Layout::replicated(full_mesh_ndim_);
  std::array<std::array<int8_t, 8>, 32> cutters;  // per tensor dim and place, the mesh dim
  std::array<uint8_t, 32> cut_count{};
  for (int i = 0; i < mesh_ndim(); ++i) {
    const int s = symbol_of(code, i);
    layout.placements[mesh_dims_[i]] = symbols_[s];
    if (!is_shard(s)) continue;
    cutters[dims_[s]][place_of(code, i)] = static_cast<int8_t>(mesh_dims_[i]);
    ++cut_count[dims_[s]];
  }
  for (int dim = 0; dim < tensor_ndim_; ++dim) {
    if (cut_count[dim] < 2) continue;
    layout.set_shard_order(dim, Dims(cutters[dim].begin(), cutters[dim].begin() + cut_count[dim]));
  }
  return layout;
}

uint32_t Alphabet::common_cuts(StateCode a, StateCode b) const {
  std::array<int8_t, 32> common;  // per tensor dim, how many cuts
  common.fill(8);
  for (int i = 0; i < mesh_ndim(); ++i) {
    const int symbol = symbol_of(a, i);
    if (!is_shard(symbol) || byte_of(a, i) == byte_of(b, i)) continue;
    int8_t& count = common[dims_[symbol]];
    count = std::min(count, static_cast<int8_t>(place_of(a, i)));
  }
  uint32_t mesh_dims = 0;
  for (int i = 0; i < mesh_ndim(); ++i) {
    const int symbol = symbol_of(a, i);
    if (is_shard(symbol) && place_of(a, i) < common[dims_[symbol]]) mesh_dims |= uint32_t{1} << i;
  }
  return mesh_dims;
}

TensorCuts Alphabet::cuts(StateCode code) const {
  TensorCuts cuts(tensor_ndim_);
  for (int i = 0; i < mesh_ndim(); ++i) {
    const int s = symbol_of(code, i);
    if (!is_shard(s)) continue;
    DimCuts& of_dim = cuts[dims_[s]];
    const size_t place = static_cast<size_t>(place_of(code, i));
    if (of_dim.size() <= place) of_dim.resize(place + 1);
    of_dim[place] = {i, {sizes_[i], split_factors_[s]}};
  }
  return cuts;
}

}  // namespace onedim
