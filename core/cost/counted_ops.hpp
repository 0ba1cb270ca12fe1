#pragma once
// CountedOps: the ops whose arithmetic AutoParallel counts, from the table
// op_tables/autoparallel.toml that lies beside the clusters. All other ops cost it their bytes
// alone. Immutable once made.

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "core/base/status.hpp"

namespace onedim {

class CountedOps {
 public:
  // The table that came with onedim. A missing or damaged one is the environment's fault.
  static Result<CountedOps> load();
  // `file` is named in errors, with the line.
  static Result<CountedOps> parse(std::string_view text, const std::filesystem::path& file);

  bool has(std::string_view op) const { return names_.find(op) != names_.end(); }
  size_t size() const { return names_.size(); }

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace onedim
