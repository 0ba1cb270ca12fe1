/* Prints, while it loads, what the host's own child says when it probes. Nothing else is wrong with
 * it. */
#include "gallery.h"

__attribute__((constructor)) static void construct(void) {
  printf("end 0 timeout I am lost\nbegin 1\nend 1 plugin-fault so is he\n");
  fprintf(stderr, "and on stderr\n");
  fflush(NULL);
}

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  printf("init\n");
  return gallery_register(host, registrar, "noisy.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("noisy", init)
