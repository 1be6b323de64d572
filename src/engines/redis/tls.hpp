// TLS by OpenSSL, over a socket that is ours. OpenSSL is loaded by the first rediss:// URL.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

struct ssl_st;
struct ssl_ctx_st;

namespace afar::engines::redis {

struct tls_files {
  std::string ca = {};    // empty: those that the system trusts
  std::string cert = {};  // the client's own; empty: none
  std::string key = {};   // empty: in the file of the certificate
};

// One encrypted connection. Any thread may send while another receives.
class tls_session {
 public:
  enum class progress : std::uint8_t { done, wants_to_read, wants_to_write, failed };

  explicit tls_session(ssl_st* owned) noexcept : ssl_(owned) {}
  ~tls_session();
  tls_session(const tls_session&) = delete;
  tls_session& operator=(const tls_session&) = delete;

  progress shake_hands() noexcept;
  // As send(2) and recv(2) on a socket that does not block.
  ssize_t send(const char*, std::size_t) noexcept;
  ssize_t receive(char*, std::size_t) noexcept;

  std::string why() const;  // the last failure, in words

 private:
  ssize_t result(int n) noexcept;
  void note_failure() noexcept;

  ssl_st* const ssl_;
  mutable std::mutex m_;  // OpenSSL's object is not made for two threads
  std::string why_;
};

// What all connections of a client have in common. At least TLS 1.2; the server's certificate is
// verified, and that it was issued for the host of the URL.
class tls_context {
 public:
  // Throws std::invalid_argument for a file that cannot be used, lock_error without OpenSSL.
  explicit tls_context(const tls_files&);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

  // Over a connected socket that outlives the session. `host`: a name or a numeric address.
  std::unique_ptr<tls_session> start(int fd, const std::string& host) const;

 private:
  ssl_ctx_st* const context_;
};

}  // namespace afar::engines::redis
