// Engine URLs: refused with an error that names no password, or read; durations and numbers likewise.
#include "core/url.hpp"
#include "require.hpp"

#include <afar/error.hpp>

#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};
  const auto refused_well = [](auto read) {
    try {
      read();
    } catch (const afar::lock_error& e) {
      afar::fuzz::require(e.code() == afar::errc::bad_url, "refused as a bad URL");
    }
  };
  refused_well([&] {
    const auto url = afar::detail::parse_url(text);
    afar::fuzz::require(!url.scheme.empty(), "a URL has a scheme");
    afar::fuzz::require(url.password.empty() || url.printable.find("***") != std::string::npos,
                        "the password is not printed");
  });
  refused_well([&] { (void)afar::detail::parse_duration("lease", text); });
  refused_well([&] { (void)afar::detail::parse_number("count", text); });
  return 0;
}
