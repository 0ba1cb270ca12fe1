#pragma once
// Layout key: layouts and metas as words of a MemoKey. Equal words mean equal layouts; kinds of
// packs are numbered as they are met, so keys are of this process only.

#include "core/base/memo.hpp"
#include "core/layout/layout.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

void append_key(const Placement& placement, MemoKey& key);
void append_key(const Layout& layout, MemoKey& key);
void append_key(const TensorMeta& meta, MemoKey& key);
// Its length, then its bytes.
void append_key(std::string_view text, MemoKey& key);

}  // namespace onedim
