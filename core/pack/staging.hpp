#pragma once
// Staging: runs a pack's init against a host table whose register functions copy and check every
// descriptor (required pointers, counts, ids, UTF-8, schema and rule syntax). The first refusal
// fails the whole pack. `stage` also serves packs linked into the program, so tests need no file.

#include <onedim/pack.h>

#include "core/pack/host_table.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

// InvalidArgument: a bad descriptor; Internal: init failed without a message; others: what init
// said.
Result<StagedPack> stage(const onedim_pack_t& pack, std::string path);

}  // namespace onedim
