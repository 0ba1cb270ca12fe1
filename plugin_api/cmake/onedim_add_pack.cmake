# onedim_pack_flags(TARGET): how a pack is compiled. The entry of a C++ pack is marked visible by the wrapper; a C
# pack needs only the version script.
function(onedim_pack_flags target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-fvisibility=hidden;-fvisibility-inlines-hidden>"
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# onedim_add_pack(NAME SOURCE...): a pack as the loader wants it: a module `NAME.so` that exports one symbol,
# resolves everything when it is linked, lands in ONEDIM_PACK_OUTPUT if that is set, and is installed beside
# the other packs if ONEDIM_INSTALLED_PACKS is.
function(onedim_add_pack name)
  set(version_script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/onedim_pack.map)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE onedim::plugin_api)
  if(TARGET onedim_compiled AND "${ARGN}" MATCHES "\\.c(pp|u)(;|$)")
    target_link_libraries(${name} PRIVATE onedim_compiled)
  endif()
  onedim_pack_flags(${name})
  target_link_options(${name} PRIVATE -Wl,-z,now -Wl,--exclude-libs,ALL -Wl,--gc-sections
    -Wl,--version-script=${version_script})
  if(NOT ONEDIM_SANITIZE)  # sanitizer runtimes are resolved in the host
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" LINK_DEPENDS ${version_script})
  if(ONEDIM_PACK_OUTPUT)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${ONEDIM_PACK_OUTPUT})
  endif()
  if(ONEDIM_INSTALLED_PACKS)
    install(TARGETS ${name} LIBRARY DESTINATION ${ONEDIM_INSTALLED_PACKS})
  endif()
endfunction()
