#pragma once
// Layout key: layouts as words of a MemoKey. Equal words mean equal layouts; kinds of
// packs are numbered as they are met, so keys are of this process only.

#include "core/base/memo.hpp"
#include "core/layout/layout.hpp"

namespace onedim {

void append_key(const Placement& placement, MemoKey& key);
void append_key(const Layout& layout, MemoKey& key);

}  // namespace onedim
