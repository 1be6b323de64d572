# install(): component runtime is what a program needs to run, dev is what it needs to build.
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/afar)

install(TARGETS afar afar_asio EXPORT afar
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY include/afar DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT afar NAMESPACE afar:: FILE afarTargets.cmake DESTINATION ${config_dir}
  COMPONENT dev)

configure_package_config_file(cmake/afarConfig.cmake.in afarConfig.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(afarConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/afarConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/afarConfigVersion.cmake
  cmake/FindLMDB.cmake
  DESTINATION ${config_dir} COMPONENT dev)

set(AFAR_PC_PRIVATE "")
if(AFAR_WITH_EMBEDDED)
  string(APPEND AFAR_PC_PRIVATE "lmdb")
endif()
# A static libafar.a has to bring what it was linked with.
if(BUILD_SHARED_LIBS)
  set(AFAR_PC_REQUIRES "Requires.private: ${AFAR_PC_PRIVATE}")
else()
  set(AFAR_PC_REQUIRES "Requires: ${AFAR_PC_PRIVATE}")
endif()
configure_file(cmake/afar.pc.in afar.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/afar.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
