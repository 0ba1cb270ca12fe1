/* The entry symbol is found, but in a library that this one links. */
#include "gallery.h"

GALLERY_NOTE(ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, ONEDIM_ABI_MINOR)
