/* A table claims more rows than any memory holds. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  onedim_op_t op = gallery_op("absurd_count.copy(Tensor self) -> Tensor");
  op.rule_table_count = UINT64_MAX / 2;
  return host->register_op(registrar, &op);
}

GALLERY_PACK("absurd_count", init)
