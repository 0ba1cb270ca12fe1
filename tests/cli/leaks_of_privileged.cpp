// LeakSanitizer traces its process, which the kernel forbids to one with more rights than its
// caller; such a one reads no ASAN_OPTIONS either. All others look for leaks as ever.

#include <sanitizer/lsan_interface.h>
#include <sys/auxv.h>

extern "C" int __lsan_is_turned_off() { return ::getauxval(AT_SECURE) != 0; }
