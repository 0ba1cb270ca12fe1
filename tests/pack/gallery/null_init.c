/* An entry without init. */
#include "gallery.h"

GALLERY_PACK("null_init", NULL)
