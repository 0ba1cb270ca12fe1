/* A rule with one placement too many. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  onedim_op_t op = gallery_op("bad_rule.copy(Tensor self) -> Tensor");
  onedim_text_t rule = gallery_text("S(0) | S(0), S(0)");
  op.rule_table = &rule;
  return host->register_op(registrar, &op);
}

GALLERY_PACK("bad_rule", init)
