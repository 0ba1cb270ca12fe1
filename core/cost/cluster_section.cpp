#include "core/cost/cluster_section.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

namespace onedim {
namespace {

const toml::table& empty_table() {
  static const toml::table table;
  return table;
}

// The value as a reader of the file knows it.
std::string shown(const toml::node& node) {
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto number = node.value_exact<int64_t>()) return fmt::format("{}", *number);
  if (const auto text = node.value_exact<std::string>()) return quoted_excerpt(*text);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  return node.is_array() ? "a list" : node.is_table() ? "a table" : "another type";
}

}  // namespace

ClusterSection::ClusterSection(const toml::table& table, std::string file, std::string prefix)
    : table_(&table), file_(std::move(file)), prefix_(std::move(prefix)) {}

void ClusterSection::keep(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void ClusterSection::fault_at(const toml::node& node, std::string_view key,
                              std::string_view expected) {
  keep(invalid_argument("{}:{}: {}{} is {}; expected {}", file_, node.source().begin.line, prefix_,
                        key, shown(node), expected));
}

void ClusterSection::fault(std::string_view key, std::string_view expected) {
  const toml::node* node = table_->get(key);
  fault_at(node == nullptr ? *table_ : *node, key, expected);
}

const toml::node* ClusterSection::find(std::string_view key) {
  known_.emplace_back(key);
  return table_->get(key);
}

Status ClusterSection::unknown_key(const toml::key& key,
                                   std::span<const std::string> candidates) const {
  std::string hint = did_you_mean(key.str(), candidates);
  if (hint.empty()) hint = fmt::format("; expected one of {}", fmt::join(candidates, " "));
  return invalid_argument("{}:{}: unknown key {}{}{}", file_, key.source().begin.line, prefix_,
                          key.str(), hint);
}

void ClusterSection::require(std::string_view key) {
  if (table_->contains(key)) return;
  const std::vector<std::string> wanted = {std::string(key)};
  for (const auto& [other, node] : *table_) {
    if (!did_you_mean(other.str(), wanted).empty()) return keep(unknown_key(other, wanted));
  }
  keep(invalid_argument("{}:{}: {}{} is missing", file_,
                        std::max<uint32_t>(1, table_->source().begin.line), prefix_, key));
}

void ClusterSection::read(std::string_view key, std::string& text) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->value_exact<std::string>();
  if (!value) return fault_at(*node, key, "a text in quotes");
  text = *value;
}

void ClusterSection::read(std::string_view key, bool& flag) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->value_exact<bool>();
  if (!value) return fault_at(*node, key, "true or false");
  flag = *value;
}

void ClusterSection::read(std::string_view key, int64_t& number, int64_t least) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->value_exact<int64_t>();
  if (!value || *value < least) {
    return fault_at(*node, key, fmt::format("a whole number from {} on", least));
  }
  number = *value;
}

double ClusterSection::checked(const toml::node& node, std::string_view key, Bound bound) {
  const bool positive = bound == Bound::kPositive;
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value) || *value < 0 || (positive && *value == 0)) {
    fault_at(node, key, positive ? "a number above 0" : "a number from 0 on");
    return 0;
  }
  return *value;
}

void ClusterSection::read(std::string_view key, double& number, Bound bound) {
  const toml::node* node = find(key);
  if (node != nullptr) number = checked(*node, key, bound);
}

void ClusterSection::read(std::string_view key, std::span<double> numbers, Bound bound) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->size() != numbers.size()) {
    return fault_at(*node, key, fmt::format("a list of {} numbers", numbers.size()));
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = checked(*array->get(i), fmt::format("{}[{}]", key, i), bound);
  }
}

std::vector<double> ClusterSection::list(std::string_view key, Bound bound) {
  const toml::node* node = find(key);
  std::vector<double> numbers;
  if (node == nullptr) return numbers;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    fault_at(*node, key, "a list of numbers");
    return numbers;
  }
  for (const toml::node& item : *array) {
    numbers.push_back(checked(item, fmt::format("{}[{}]", key, numbers.size()), bound));
  }
  return numbers;
}

std::vector<std::vector<double>> ClusterSection::rows(std::string_view key, size_t columns) {
  const toml::node* node = find(key);
  std::vector<std::vector<double>> rows;
  if (node == nullptr) return rows;
  const toml::array* list = node->as_array();
  if (list == nullptr) {
    fault_at(*node, key, fmt::format("a list of rows of {} numbers", columns));
    return rows;
  }
  for (const toml::node& item : *list) {
    const std::string name = fmt::format("{}[{}]", key, rows.size());
    const toml::array* cells = item.as_array();
    if (cells == nullptr || cells->size() != columns) {
      fault_at(item, name, fmt::format("a row of {} numbers", columns));
      return rows;
    }
    std::vector<double> row;
    for (const toml::node& cell : *cells) row.push_back(checked(cell, name, Bound::kNotNegative));
    rows.push_back(std::move(row));
  }
  return rows;
}

ClusterSection ClusterSection::section(std::string_view key) {
  const toml::node* node = find(key);
  const toml::table* table = node == nullptr ? &empty_table() : node->as_table();
  if (table == nullptr) {
    fault_at(*node, key, "a table");
    table = &empty_table();
  }
  return {*table, file_, fmt::format("{}{}.", prefix_, key)};
}

std::vector<ClusterSection> ClusterSection::sections(std::string_view key) {
  const toml::node* node = find(key);
  std::vector<ClusterSection> sections;
  if (node == nullptr) return sections;
  const toml::array* list = node->as_array();
  if (list == nullptr) fault_at(*node, key, "a list of tables");
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const toml::table* table = list->get(i)->as_table();
    const std::string name = fmt::format("{}[{}]", key, i);
    if (table == nullptr) {
      fault_at(*list->get(i), name, "a table");
      continue;
    }
    sections.push_back({*table, file_, fmt::format("{}{}.", prefix_, name)});
  }
  return sections;
}

std::vector<std::string> ClusterSection::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, node] : *table_) keys.emplace_back(key.str());
  return keys;
}

Status ClusterSection::finish() {
  for (const auto& [key, node] : *table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    keep(unknown_key(key, known_));
  }
  return status_;
}

}  // namespace onedim
