#include "engines/records/wrong_use.hpp"

#include <string>

namespace afar::engines::records {
namespace {

std::string a(spi::kind k) {
  const std::string word{spi::word(k)};
  return (word.front() == 'e' ? "an " : "a ") + word;
}

}  // namespace

spi::status wrong_use(usage is, usage wanted) {
  std::string text = "is " + a(is.kind);
  if (has_limit(is.kind)) text += " with limit " + std::to_string(is.limit);
  text += ", not ";
  text +=
      is.kind == wanted.kind ? "one with limit " + std::to_string(wanted.limit) : a(wanted.kind);
  return {errc::wrong_use, std::move(text)};
}

}  // namespace afar::engines::records
