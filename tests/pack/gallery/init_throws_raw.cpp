// Its init throws past the ABI, which a cast hides from the compiler.
#include <stdexcept>

#include "gallery.h"

static int32_t init(const onedim_host_t*, onedim_registrar_t*) {
  throw std::runtime_error("past the wrapper");
}

extern "C" {
GALLERY_NOTE(ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, ONEDIM_ABI_MINOR)
__attribute__((visibility("default"))) extern const onedim_pack_t onedim_pack_v1;
const onedim_pack_t onedim_pack_v1 = {sizeof(onedim_pack_t),
                                      ONEDIM_ABI_MAJOR,
                                      ONEDIM_ABI_MINOR,
                                      ONEDIM_ABI_MINOR,
                                      {"init_throws_raw", 15},
                                      {"1.0", 3},
                                      reinterpret_cast<decltype(onedim_pack_t::init)>(init),
                                      nullptr};
}
