#include "core/layout/mesh.hpp"

#include <algorithm>

#include "core/base/scanner.hpp"

namespace onedim {
namespace {

constexpr size_t kMaxDims = 8;
constexpr int64_t kMaxRanks = int64_t{1} << 20;

bool is_name(std::string_view name) {
  Scanner scanner(name);
  return !name.empty() && scanner.word().size() == name.size();
}

}  // namespace

Result<Mesh> Mesh::create(std::vector<std::string> names, Dims sizes) {
  if (names.size() != sizes.size()) {
    return invalid_argument("a mesh has {} names and {} sizes, expected one name a size",
                            names.size(), sizes.size());
  }
  if (names.empty() || names.size() > kMaxDims) {
    return invalid_argument("a mesh has {} dims, expected 1 to {}", names.size(), kMaxDims);
  }
  int64_t ranks = 1;
  for (size_t dim = 0; dim < names.size(); ++dim) {
    if (!is_name(names[dim])) {
      return invalid_argument("mesh dim name \"{}\" is not a word of letters, digits and _",
                              names[dim]);
    }
    if (std::find(names.begin(), names.begin() + dim, names[dim]) != names.begin() + dim) {
      return invalid_argument("mesh dim name \"{}\" occurs twice, expected distinct names",
                              names[dim]);
    }
    if (sizes[dim] < 1) {
      return invalid_argument("mesh dim \"{}\" has size {}, expected 1 or more", names[dim],
                              sizes[dim]);
    }
    if (sizes[dim] > kMaxRanks / ranks) {
      return invalid_argument("a mesh of sizes {} has more than 2^20 ranks", format_dims(sizes));
    }
    ranks *= sizes[dim];
  }
  Mesh mesh;
  mesh.names_ = std::move(names);
  mesh.sizes_ = std::move(sizes);
  return mesh;
}

Result<Mesh> Mesh::parse(std::string_view text) {
  Scanner scanner(text);
  std::vector<std::string> names;
  Dims sizes;
  do {
    const std::string_view name = scanner.word();
    if (name.empty()) return scanner.error("expected the name of a mesh dim, such as dp=8,tp=4");
    if (const Status status = scanner.expect("="); !status.ok()) return status;
    const Result<int64_t> size = scanner.integer();
    if (!size.ok()) return size.status();
    names.emplace_back(name);
    sizes.push_back(*size);
  } while (scanner.accept(","));
  if (!scanner.at_end()) return scanner.error("expected \",\" or the end of the mesh");
  Result<Mesh> mesh = create(std::move(names), std::move(sizes));
  if (!mesh.ok()) return annotate(mesh.status(), fmt::format("mesh {}", quoted_excerpt(text)));
  return mesh;
}

Mesh Mesh::line(int64_t size) {
  Mesh mesh;
  mesh.names_ = {"x"};
  mesh.sizes_ = {size};
  return mesh;
}

std::optional<int> Mesh::find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<int>(found - names_.begin());
}

Dims Mesh::coordinate_of(int64_t rank) const {
  Dims coordinate(sizes_.size());
  for (size_t dim = sizes_.size(); dim-- > 0;) {
    coordinate[dim] = rank % sizes_[dim];
    rank /= sizes_[dim];
  }
  return coordinate;
}

int64_t Mesh::rank_of(const Dims& coordinate) const {
  int64_t rank = 0;
  for (size_t dim = 0; dim < sizes_.size(); ++dim) rank = rank * sizes_[dim] + coordinate[dim];
  return rank;
}

std::string Mesh::format() const {
  std::string text;
  for (int dim = 0; dim < ndim(); ++dim) {
    text += fmt::format("{}{}={}", dim ? "," : "", names_[dim], sizes_[dim]);
  }
  return text;
}

}  // namespace onedim
