// Its init throws, through the wrapper, which turns that into a status with the text.
#include <onedim/pack.hpp>
#include <stdexcept>

ONEDIM_PACK("init_throws", "1.0", [](auto&) { throw std::runtime_error("no luck today"); });
