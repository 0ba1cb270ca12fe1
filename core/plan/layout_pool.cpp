#include "core/plan/layout_pool.hpp"

#include "core/layout/layout_key.hpp"

namespace onedim {

LayoutId LayoutPool::intern(const Layout& layout) {
  MemoKey key;
  append_key(layout, key);
  const auto [found, is_new] = ids_.try_emplace(std::move(key), size());
  if (is_new) layouts_.push_back(layout);
  return found->second;
}

}  // namespace onedim
