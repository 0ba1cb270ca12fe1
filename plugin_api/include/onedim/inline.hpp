#pragma once
// ONEDIM_INLINE marks the wrapper's functions. They are inline, as the wrapper is headers alone;
// but a build of many packs compiles them once: the packs' sources define ONEDIM_COMPILED, the
// compiler then emits none of these functions there (gnu_inline), and all are in the library that
// plugin_api/compiled.cpp becomes. loops.hpp does the same for the templates. It halves the time
// that a source of a pack takes to compile and changes nothing else.

#ifdef ONEDIM_COMPILED
#define ONEDIM_INLINE inline __attribute__((gnu_inline))
#else
#define ONEDIM_INLINE inline
#endif
