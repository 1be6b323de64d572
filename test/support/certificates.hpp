// Certificates for TLS, made by openssl(1) in a folder of their own.
#pragma once

#include <string>
#include <vector>

namespace afar::test {

class certificates {
 public:
  // An authority; `server` for localhost and 127.0.0.1, `elsewhere` for another host, `expired`, and
  // `client`, all signed by it; and `stranger`, an authority that signed none of them.
  certificates();
  ~certificates();
  certificates(const certificates&) = delete;
  certificates& operator=(const certificates&) = delete;

  std::string cert(const std::string& who) const { return folder_ + "/" + who + ".crt"; }
  std::string key(const std::string& who) const { return folder_ + "/" + who + ".key"; }

  // For redis-server: TLS on its second port. `clients`: yes, no or optional.
  std::vector<std::string> server_options(const std::string& who = "server",
                                          const std::string& clients = "no") const;

 private:
  std::string folder_;
};

}  // namespace afar::test
