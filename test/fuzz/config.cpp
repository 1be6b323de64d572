// The configuration file of the command line: read, or refused by its line without quoting values.
#include "cli/config.hpp"

#include "cli/failure.hpp"
#include "require.hpp"

#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  try {
    const auto c =
        afar::cli::parse_config({reinterpret_cast<const char*>(bytes), size}, "config.toml");
    for (const auto& [name, place] : c.contexts)
      afar::fuzz::require(!name.empty(), "a context has a name");
  } catch (const afar::cli::failure& f) {
    afar::fuzz::require(std::string{f.what()}.find("config.toml") != std::string::npos,
                        "the file is named");
  }
  return 0;
}
