/* Built for a later major: another entry symbol, which this host does not know. */
#include "gallery.h"

GALLERY_NOTE(2, 3, 0)
const int onedim_pack_v2 = 2;
