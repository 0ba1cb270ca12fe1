/* The library that missing_library.c does not find. */
#include <stdint.h>

int32_t gallery_absent_device(void);
int32_t gallery_absent_device(void) { return 0; }
