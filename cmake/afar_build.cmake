# Compiler settings: ccache, warnings, hardening, sanitizers.
include(CheckCXXCompilerFlag)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  find_program(AFAR_CCACHE ccache)
  if(AFAR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # A clone in another folder finds what this one has compiled, whoever calls the compiler and in whatever language.
    set(CMAKE_CXX_COMPILER_LAUNCHER env LC_ALL=C.UTF-8 CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${AFAR_CCACHE})
  endif()
  # Position independent executables; the policy makes CMake pass -pie to the linker too.
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

if(AFAR_SANITIZE)
  string(REPLACE ";" "," sanitizers "${AFAR_SANITIZE}")
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
endif()

check_cxx_compiler_flag(-fcf-protection AFAR_HAS_CF_PROTECTION)   # x86 only
check_cxx_compiler_flag(-fstack-clash-protection AFAR_HAS_STACK_CLASH_PROTECTION)

# Flags for everything we write: warnings always, hardening when optimised. Sanitizers bring
# their own checks and do not go together with _FORTIFY_SOURCE.
function(afar_own_code target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-restrict)   # false alarms in GCC 12, PR105651
    if(AFAR_SANITIZE)
      # Same, with -fsanitize; the second on coroutines.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
    endif()
  endif()
  if(AFAR_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(AFAR_SANITIZE)
    return()
  endif()
  set(harden -fstack-protector-strong)
  if(AFAR_HAS_STACK_CLASH_PROTECTION)
    list(APPEND harden -fstack-clash-protection)
  endif()
  if(AFAR_HAS_CF_PROTECTION)
    list(APPEND harden -fcf-protection)
  endif()
  list(APPEND harden -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release,RelWithDebInfo>:${harden}>")
  target_link_options(${target} PRIVATE
    LINKER:-z,relro,-z,now,-z,noexecstack,-z,separate-code)
endfunction()

# Asio 1.22 looks for the coroutines of the TS on clang and does not see the standard's.
# It sees aligned_alloc only if a header of the library came before it: all files must agree on that.
set(AFAR_ASIO_DEFINES ASIO_STANDALONE ASIO_HAS_STD_ALIGNED_ALLOC=1
  "$<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_CO_AWAIT;ASIO_HAS_STD_COROUTINE>")
