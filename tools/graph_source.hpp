#pragma once
// GraphSource: where a command's graph comes from, with one meaning and one help text: a file in
// the format onedim.graph/1, or the name of a model that is built, forward and backward, in the
// sizes and dtypes that flags give.

#include <CLI/App.hpp>
#include <string>

#include "core/graph/graph.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

struct GraphSource {
  std::string name;  // of the model or the file
  std::string batch;
  std::string sequence;
  std::string layers;
  std::string stored;
  std::string computed;
  std::string shrink;
  bool is_forward = false;

  void add_to(CLI::App& command);
  // A known model; a file of that name is read by a path with a slash.
  bool is_model() const;
  // Whether `open` asks the packs.
  bool needs_packs() const { return !shrink.empty() || is_model(); }
  // `registry` may be null where no packs are needed.
  Result<Graph> open(const Registry* registry) const;

 private:
  Result<Graph> open_whole(const Registry* registry) const;
  // What was typed of the flags that are for models.
  std::vector<std::string_view> model_flags() const;
};

}  // namespace onedim
