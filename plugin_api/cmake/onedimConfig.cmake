# find_package(onedim) gives the headers as onedim::plugin_api and the function onedim_add_pack(). Nothing is linked.
include(${CMAKE_CURRENT_LIST_DIR}/onedimTargets.cmake)
set(ONEDIM_INSTALLED_PACKS lib/onedim/packs)
include(${CMAKE_CURRENT_LIST_DIR}/onedim_add_pack.cmake)
