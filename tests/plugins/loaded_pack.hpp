#pragma once
// LoadedPack: a shipped pack in a registry of its own, its ops run and its rules read as text.

#include <string>
#include <string_view>
#include <vector>

#include "core/pack/registry.hpp"

namespace onedim {

class LoadedPack {
 public:
  // The shipped file `name`.so; the test fails if it does not load.
  explicit LoadedPack(std::string_view name);

  // First output of a call on these elements, one list a tensor, 1 where none is given: `f32[2]:
  // 1, 2.5`, or the error.
  std::string run(std::string_view op, std::string_view call,
                  const std::vector<std::vector<double>>& elements) const;
  // Strides of the first output where the inputs have these.
  Dims strides(std::string_view op, std::string_view call, const std::vector<Dims>& inputs) const;
  // True if `rule` is in the closed set for the call.
  bool has_rule(std::string_view op, std::string_view call, std::string_view rule) const;
  const Registry& registry() const { return registry_; }

 private:
  Registry registry_;
};

}  // namespace onedim
