#include "engines/redis/tls.hpp"

#include "engines/client_library.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <asio/ip/address.hpp>

#include <cerrno>
#include <cstdint>
#include <new>
#include <stdexcept>

namespace afar::engines::redis {
namespace {

#define AFAR_TEXT_(x) #x
#define AFAR_TEXT(x) AFAR_TEXT_(x)
#define AFAR_OPENSSL(name) decltype(::name)* const name = library.function<decltype(::name)>(#name)

// What is used of OpenSSL. The functions of libcrypto are found through libssl, which needs it.
struct openssl {
  const client_library library{"libssl.so." AFAR_TEXT(OPENSSL_SHLIB_VERSION),
                               "libssl" AFAR_TEXT(OPENSSL_SHLIB_VERSION)};
  AFAR_OPENSSL(TLS_client_method);
  AFAR_OPENSSL(SSL_CTX_new);
  AFAR_OPENSSL(SSL_CTX_free);
  AFAR_OPENSSL(SSL_CTX_ctrl);
  AFAR_OPENSSL(SSL_CTX_set_verify);
  AFAR_OPENSSL(SSL_CTX_load_verify_file);
  AFAR_OPENSSL(SSL_CTX_set_default_verify_paths);
  AFAR_OPENSSL(SSL_CTX_use_certificate_chain_file);
  AFAR_OPENSSL(SSL_CTX_use_PrivateKey_file);
  AFAR_OPENSSL(SSL_new);
  AFAR_OPENSSL(SSL_free);
  AFAR_OPENSSL(SSL_ctrl);
  AFAR_OPENSSL(SSL_set_bio);
  AFAR_OPENSSL(SSL_set1_host);
  AFAR_OPENSSL(SSL_get0_param);
  AFAR_OPENSSL(SSL_get_error);
  AFAR_OPENSSL(SSL_get_verify_result);
  AFAR_OPENSSL(SSL_connect);
  AFAR_OPENSSL(SSL_read);
  AFAR_OPENSSL(SSL_write);
  AFAR_OPENSSL(X509_VERIFY_PARAM_set1_ip_asc);
  AFAR_OPENSSL(X509_verify_cert_error_string);
  AFAR_OPENSSL(ERR_clear_error);
  AFAR_OPENSSL(ERR_peek_last_error);
  AFAR_OPENSSL(ERR_reason_error_string);
  AFAR_OPENSSL(BIO_meth_new);
  AFAR_OPENSSL(BIO_meth_set_write);
  AFAR_OPENSSL(BIO_meth_set_read);
  AFAR_OPENSSL(BIO_meth_set_ctrl);
  AFAR_OPENSSL(BIO_new);
  AFAR_OPENSSL(BIO_set_data);
  AFAR_OPENSSL(BIO_get_data);
  AFAR_OPENSSL(BIO_set_init);
  AFAR_OPENSSL(BIO_set_flags);
  AFAR_OPENSSL(BIO_clear_flags);
};

const openssl& ssl() {
  static const openssl loaded;
  return loaded;
}

std::string last_reason() {
  const char* reason = ssl().ERR_reason_error_string(ssl().ERR_peek_last_error());
  return reason ? reason : "unknown reason";
}

// ---- OpenSSL's way to our socket: its own would raise SIGPIPE in the user's process ---------------

int fd_of(BIO* b) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(ssl().BIO_get_data(b)));
}

int remember(BIO* b, ssize_t n, int retry) {
  ssl().BIO_clear_flags(b, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    ssl().BIO_set_flags(b, retry | BIO_FLAGS_SHOULD_RETRY);
  return static_cast<int>(n);
}

int to_socket(BIO* b, const char* bytes, int size) {
  return remember(
      b, ::send(fd_of(b), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT),
      BIO_FLAGS_WRITE);
}

int from_socket(BIO* b, char* bytes, int size) {
  return remember(b, ::recv(fd_of(b), bytes, static_cast<std::size_t>(size), MSG_DONTWAIT),
                  BIO_FLAGS_READ);
}

long control(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* our_socket() {
  static const BIO_METHOD* const made = [] {
    BIO_METHOD* m = ssl().BIO_meth_new(BIO_TYPE_SOURCE_SINK, "afar");
    if (!m) throw std::bad_alloc{};
    ssl().BIO_meth_set_write(m, to_socket);
    ssl().BIO_meth_set_read(m, from_socket);
    ssl().BIO_meth_set_ctrl(m, control);
    return m;
  }();
  return made;
}

[[noreturn]] void refuse_file(const std::string& option, const std::string& path) {
  throw std::invalid_argument{option + "=" + path + ": " + last_reason()};
}

bool is_numeric(const std::string& host) {
  std::error_code no;
  asio::ip::make_address(host, no);
  return !no;
}

}  // namespace

// ---- context ------------------------------------------------------------------------------------

tls_context::tls_context(const tls_files& files)
    : context_(ssl().SSL_CTX_new(ssl().TLS_client_method())) {
  if (!context_) throw std::bad_alloc{};
  ssl().SSL_CTX_ctrl(context_, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  // A write that is repeated comes from a buffer that may have moved.
  ssl().SSL_CTX_ctrl(context_, SSL_CTRL_MODE,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER, nullptr);
  ssl().SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  try {
    ssl().ERR_clear_error();
    if (files.ca.empty())
      ssl().SSL_CTX_set_default_verify_paths(context_);
    else if (ssl().SSL_CTX_load_verify_file(context_, files.ca.c_str()) != 1)
      refuse_file("ca", files.ca);
    if (files.cert.empty()) return;
    if (ssl().SSL_CTX_use_certificate_chain_file(context_, files.cert.c_str()) != 1)
      refuse_file("cert", files.cert);
    const std::string& key = files.key.empty() ? files.cert : files.key;
    if (ssl().SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM) != 1)
      refuse_file("key", key);
  } catch (...) {
    ssl().SSL_CTX_free(context_);
    throw;
  }
}

tls_context::~tls_context() { ssl().SSL_CTX_free(context_); }

std::unique_ptr<tls_session> tls_context::start(int fd, const std::string& host) const {
  SSL* s = ssl().SSL_new(context_);
  if (!s) throw std::bad_alloc{};
  auto session = std::make_unique<tls_session>(s);
  BIO* to = ssl().BIO_new(our_socket());
  if (!to) throw std::bad_alloc{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number in the place that OpenSSL has for us
  ssl().BIO_set_data(to, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  ssl().BIO_set_init(to, 1);
  ssl().SSL_set_bio(s, to, to);
  if (is_numeric(host)) {
    ssl().X509_VERIFY_PARAM_set1_ip_asc(ssl().SSL_get0_param(s), host.c_str());
  } else {
    ssl().SSL_set1_host(s, host.c_str());
    ssl().SSL_ctrl(s, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                   const_cast<char*>(host.c_str()));
  }
  return session;
}

// ---- session ------------------------------------------------------------------------------------

tls_session::~tls_session() { ssl().SSL_free(ssl_); }

tls_session::progress tls_session::shake_hands() noexcept {
  const std::lock_guard lock{m_};
  ssl().ERR_clear_error();
  const int n = ssl().SSL_connect(ssl_);
  if (n == 1) return progress::done;
  switch (ssl().SSL_get_error(ssl_, n)) {
    case SSL_ERROR_WANT_READ:
      return progress::wants_to_read;
    case SSL_ERROR_WANT_WRITE:
      return progress::wants_to_write;
    default:
      note_failure();
      return progress::failed;
  }
}

// A record has at most 16 KiB and is read as a whole, so a caller who asks for as much leaves nothing
// behind that poll(2) would not show.
ssize_t tls_session::receive(char* bytes, std::size_t size) noexcept {
  const std::lock_guard lock{m_};
  ssl().ERR_clear_error();
  return result(ssl().SSL_read(ssl_, bytes, static_cast<int>(size)));
}

ssize_t tls_session::send(const char* bytes, std::size_t size) noexcept {
  constexpr std::size_t most = std::size_t{1} << 30;
  const std::lock_guard lock{m_};
  ssl().ERR_clear_error();
  return result(ssl().SSL_write(ssl_, bytes, static_cast<int>(size < most ? size : most)));
}

ssize_t tls_session::result(int n) noexcept {
  if (n > 0) return n;
  switch (ssl().SSL_get_error(ssl_, n)) {
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      errno = EAGAIN;
      return -1;
    default:
      note_failure();
      errno = why_.empty() ? ECONNRESET : EPROTO;
      return -1;
  }
}

void tls_session::note_failure() noexcept {
  const long verdict = ssl().SSL_get_verify_result(ssl_);
  if (verdict != X509_V_OK)
    why_ = std::string{"the server's certificate: "} + ssl().X509_verify_cert_error_string(verdict);
  else if (ssl().ERR_peek_last_error() != 0)
    why_ = last_reason();
}

std::string tls_session::why() const {
  const std::lock_guard lock{m_};
  return why_;
}

}  // namespace afar::engines::redis
