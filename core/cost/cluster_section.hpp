#pragma once
// ClusterSection: one table of a cluster file, read key by key. It keeps the first fault as one
// line with file, line, key and what was expected, and knows which keys were asked for, so that
// `finish` can name an unknown one. Reading a key that is absent leaves the value as it was.

#include <toml++/toml.h>

#include <span>
#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

class ClusterSection {
 public:
  enum class Bound { kPositive, kNotNegative };

  ClusterSection(const toml::table& table, std::string file, std::string prefix);

  void require(std::string_view key);
  void read(std::string_view key, std::string& text);
  void read(std::string_view key, bool& flag);
  void read(std::string_view key, int64_t& number, int64_t least);
  void read(std::string_view key, double& number, Bound bound);
  // Exactly as many numbers.
  void read(std::string_view key, std::span<double> numbers, Bound bound);
  // Any number of rows of `columns` numbers that are at least 0.
  std::vector<std::vector<double>> rows(std::string_view key, size_t columns);
  // Any number of numbers.
  std::vector<double> list(std::string_view key, Bound bound);
  // A table within; an empty one if absent. It reports its own faults: call finish on it.
  ClusterSection section(std::string_view key);
  // `[[key]]`.
  std::vector<ClusterSection> sections(std::string_view key);
  bool has(std::string_view key) const { return table_->contains(key); }
  std::vector<std::string> keys() const;
  // A fault of `key` that reading did not see.
  void fault(std::string_view key, std::string_view expected);
  // The first fault, an unknown key included.
  Status finish();

 private:
  const toml::node* find(std::string_view key);
  Status unknown_key(const toml::key& key, std::span<const std::string> candidates) const;
  void fault_at(const toml::node& node, std::string_view key, std::string_view expected);
  double checked(const toml::node& node, std::string_view key, Bound bound);
  void keep(Status status);

  const toml::table* table_;
  std::string file_;
  std::string prefix_;  // with a dot behind, or empty
  std::vector<std::string> known_;
  Status status_;
};

}  // namespace onedim
