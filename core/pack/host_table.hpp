#pragma once
// HostTable: what the host offers to packs. One const table serves the whole process; each function
// checks its arguments, copies them and lets no exception out.

#include <onedim/pack.h>

namespace onedim {

const onedim_host_t& host_table();

}  // namespace onedim
