/* A note without an entry. */
#include "gallery.h"

GALLERY_NOTE(ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, ONEDIM_ABI_MINOR)
