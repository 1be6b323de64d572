#include "engines/redis/request.hpp"

namespace afar::engines::redis {

void request::write_to(std::string& out, bool whole_script, std::string_view connected) const {
  if (code) {
    command head{out, count + 2};
    if (whole_script)
      head.add("EVAL").add(code->text);
    else
      out += code->call;
  }
  out += words;
  if (moment_at == 0) return;
  char* const moment = out.data() + out.size() - words.size() + moment_at;
  if (connected > std::string_view{moment, connected.size()})
    connected.copy(moment, connected.size());
}

arguments::arguments(request& to, const script& code, std::size_t keys, std::size_t others)
    : out_(to.words) {
  to.code = &code;
  to.count = 1 + keys + others;
  out_.reserve(512);
  add(static_cast<std::int64_t>(keys));
}

arguments& arguments::add(std::string_view word) {
  command::word(out_, word);
  return *this;
}
arguments& arguments::add(std::int64_t n) {
  command::word(out_, n);
  return *this;
}

}  // namespace afar::engines::redis
