#pragma once
// Run description: what all ranks of a run must have alike before the first byte moves: versions,
// packs and their kinds, mesh, shapes, plans. It is a list of named values, most telling first, so
// that ranks that differ can be told in what.

#include <span>
#include <string>
#include <vector>

#include "core/layout/mesh.hpp"

namespace onedim {

class RunDescription {
 public:
  // Both become one line.
  void add(std::string_view name, std::string_view value);

  uint64_t fingerprint() const;  // the same on every machine
  std::string format() const;    // a line a value, `name<tab>value`
  static RunDescription parse(std::string_view text);

 private:
  friend Status check_same_run(const Mesh&, std::span<const RunDescription>);
  struct Line {
    std::string name, value;
    bool operator==(const Line&) const = default;
  };
  std::vector<Line> lines_;
};

// One a rank. The error is the same on all: the first value that differs, and which ranks have
// which.
Status check_same_run(const Mesh& mesh, std::span<const RunDescription> ranks);

}  // namespace onedim
