/* Compiled as C and as C++, in every mode that a pack may choose. */
#include <onedim/pack.h>

ONEDIM_EXTERN_C const onedim_pack_t onedim_pack_v1;

int has_shutdown(const onedim_pack_t* pack);
int has_shutdown(const onedim_pack_t* pack) {
  return ONEDIM_HAS_FIELD(onedim_pack_t, pack, shutdown) && pack->shutdown != 0;
}
