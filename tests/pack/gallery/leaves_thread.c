/* Leaves a thread running: closing its library would pull the code from under it. */
#include <pthread.h>
#include <unistd.h>

#include "gallery.h"

static void* run(void* argument) {
  (void)argument;
  while (1) usleep(1000);
  return NULL;
}

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) != 0) return ONEDIM_STATUS_INTERNAL;
  pthread_detach(thread);
  return gallery_register(host, registrar, "leaves_thread.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("leaves_thread", init)
