// Answers of a Redis server, whole and in pieces: the same replies, or refused.
#include "engines/redis/resp.hpp"
#include "require.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace {

using afar::engines::redis::decoder;
using afar::engines::redis::reply;

bool same(const reply& a, const reply& b) {
  return a.what == b.what && a.number == b.number && a.text == b.text &&
         std::ranges::equal(a.items, b.items, same);
}

struct result {
  std::vector<reply> replies = {};
  bool broken = false;
};

result read(std::string_view bytes, std::size_t piece) {
  decoder d;
  result out;
  for (; !bytes.empty() && !d.broken(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (!d.feed(bytes.substr(0, piece))) break;
    for (reply r; d.next(r);) out.replies.push_back(std::move(r));
  }
  out.broken = d.broken();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  if (size == 0 || size > 4'096) return 0;
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};
  const result whole = read(text, size);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
    const result parts = read(text, piece);
    afar::fuzz::require(std::ranges::equal(whole.replies, parts.replies, same),
                        "same replies in pieces");
    afar::fuzz::require(whole.broken == parts.broken, "refused in pieces as well");
  }
  return 0;
}
