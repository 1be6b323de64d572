#include "support/certificates.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace afar::test {
namespace {

constexpr const char* new_key = " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes ";

void run(const std::string& folder, const std::string& words) {
  const std::string line = "cd '" + folder + "' && openssl " + words + " >>log 2>&1";
  if (std::system(line.c_str()) != 0)  // NOLINT(concurrency-mt-unsafe)
    throw std::runtime_error{"openssl fails (is the package installed?): " + words};
}

void make_authority(const std::string& folder, const std::string& who) {
  run(folder, "req -x509" + std::string{new_key} + "-days 2 -subj /CN=" + who + " -keyout " + who +
                  ".key -out " + who + ".crt");
}

void make_signed(const std::string& folder, const std::string& who, const std::string& names,
                 int days) {
  std::ofstream{folder + "/" + who + ".ext"} << "subjectAltName=" << names << "\n";
  run(folder, "req" + std::string{new_key} + "-subj /CN=" + who + " -keyout " + who + ".key -out " +
                  who + ".csr");
  run(folder, "x509 -req -in " + who + ".csr -CA authority.crt -CAkey authority.key" +
                  " -CAcreateserial -days " + std::to_string(days) + " -extfile " + who +
                  ".ext -out " + who + ".crt");
}

}  // namespace

certificates::certificates() {
  folder_ = (std::filesystem::temp_directory_path() / "afar-certs-XXXXXX").string();
  if (!::mkdtemp(folder_.data())) throw std::runtime_error{"cannot make a folder"};
  make_authority(folder_, "authority");
  make_authority(folder_, "stranger");
  make_signed(folder_, "server", "DNS:localhost,IP:127.0.0.1", 2);
  make_signed(folder_, "elsewhere", "DNS:elsewhere.example", 2);
  make_signed(folder_, "expired", "DNS:localhost,IP:127.0.0.1", -1);
  make_signed(folder_, "client", "DNS:client", 2);
}

certificates::~certificates() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> certificates::server_options(const std::string& who,
                                                      const std::string& clients) const {
  return {"--tls-port",         "{port}",  "--tls-ca-cert-file", cert("authority"),
          "--tls-cert-file",    cert(who), "--tls-key-file",     key(who),
          "--tls-auth-clients", clients};
}

}  // namespace afar::test
