/* Loads well, and crashes a little later, in a thread it left: the next pack must not get the
 * blame. */
#include <pthread.h>
#include <unistd.h>

#include "gallery.h"

static void* run(void* argument) {
  (void)argument;
  usleep(20000);
  abort();
}

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  pthread_t thread;
  if (getenv("GALLERY_ARMED") != NULL) pthread_create(&thread, NULL, run, NULL);
  return gallery_register(host, registrar, "crashes_later.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("crashes_later", init)
