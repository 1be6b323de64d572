# How tests are declared. Every test carries one label, by which script/test runs its stages:
# unit simulator topology conformance process interop compile package examples cli fuzz torture torture_run lint.

# afar_add_tests(<target> LABEL <label> [SOURCES <file>...] [LIBRARIES <lib>...])
# A GoogleTest binary; every test case is a ctest <label>.<suite>.<case> of its own, so that a crash
# costs one case.
# A file with a main() of its own is fine: gtest_main is an archive and then stays out.
function(afar_add_tests target)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${target} ${arg_SOURCES})
  afar_own_code(${target})
  # The library is optimised, its tests need not be: that saves a third of their compile time.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  # Most of the rest goes into headers: files that are compiled together read them once.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${AFAR_TESTS_TOGETHER} UNITY_BUILD_BATCH_SIZE 6)
  target_link_libraries(${target} PRIVATE
    afar_test_support afar_internal ${arg_LIBRARIES} GTest::gmock GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${target} TEST_PREFIX ${arg_LABEL}. DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${arg_LABEL} TIMEOUT 120)
endfunction()

# afar_add_example(<name> [ASIO] [NO_TEST] [SOURCES <file>...] [ARGS <arg>...])
# An example as a user would build it: <name>.cpp against the public library. Run by the tests.
function(afar_add_example name)
  cmake_parse_arguments(arg "ASIO;NO_TEST" "" "SOURCES;ARGS" ${ARGN})
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${name}.cpp)
  endif()
  add_executable(${name} ${arg_SOURCES})
  afar_own_code(${name})
  target_link_libraries(${name} PRIVATE afar::afar)
  if(arg_ASIO)
    target_link_libraries(${name} PRIVATE afar::asio)
  endif()
  if(NOT arg_NO_TEST)
    add_test(NAME examples.${name} COMMAND ${name} ${arg_ARGS})
    set_tests_properties(examples.${name} PROPERTIES LABELS examples TIMEOUT 120)
  endif()
endfunction()

set(syntax_only ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror
  -I${PROJECT_SOURCE_DIR}/include -DASIO_STANDALONE)

# afar_compiles(<test name> <file>): the file must compile without a warning.
function(afar_compiles name file)
  add_test(NAME compile.${name} COMMAND ${syntax_only} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set_tests_properties(compile.${name} PROPERTIES LABELS compile TIMEOUT 120)
endfunction()

# afar_does_not_compile(<test name> <file> <regex>): the compiler must refuse and say <regex>.
function(afar_does_not_compile name file message)
  add_test(NAME compile.${name} COMMAND ${syntax_only} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set_tests_properties(compile.${name} PROPERTIES LABELS compile TIMEOUT 120
    PASS_REGULAR_EXPRESSION "error: [^\n]*${message}")
endfunction()
