#pragma once
// Bench: a selector over the shipped packs on `mesh`, with the tests' own prices.

#include "core/select/selector.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {

struct Bench {
  explicit Bench(const char* text)
      : mesh(*Mesh::parse(text)),
        planner(test_model(text)),
        selector(shipped_registry(), planner) {}
  Mesh mesh;
  Planner planner;
  Selector selector;
};

}  // namespace onedim
