// Who may use a database as an engine, and which databases may be used: rights, TLS, schemas, clusters.
#include "sql_fixture.hpp"
#include "support/certificates.hpp"
#include "support/loopback.hpp"
#include "support/server_process.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

namespace afar::test {
namespace {

class sql_access : public sql_test {
 protected:
  // Of a user who may do nothing but what the documentation asks for.
  std::string url_of(const std::string& user) const {
    return server.scheme() + "://" + user + ":secret@127.0.0.1:" + std::to_string(server.port()) +
           (maria() ? "/afar" : "/postgres");
  }
  void make_user(const std::string& user) const {
    if (maria()) {
      admin->run("CREATE USER " + user + "@'127.0.0.1' IDENTIFIED BY 'secret'");
      admin->run("GRANT SELECT ON afar.* TO " + user + "@'127.0.0.1'");
    } else {
      admin->run("CREATE USER " + user + " PASSWORD 'secret'");
    }
  }
  void grant_rows(const std::string& user) const {
    if (maria())
      admin->run("GRANT SELECT, INSERT, UPDATE, DELETE ON afar.* TO " + user + "@'127.0.0.1'");
    else
      admin->run(
          "GRANT SELECT, INSERT, UPDATE, DELETE ON afar_names, afar_bells, afar_orders,"
          " afar_buyers, afar_schema TO " +
          user);
  }

  const sql_server server{GetParam()};
  const std::unique_ptr<session> admin = open_session(server);
};

TEST_P(sql_access, needs_the_rights_to_rows_and_no_more) {
  open_client(server.url());  // makes the tables
  make_user("little");
  grant_rows("little");
  client one = open_client(url_of("little"));
  client two = open_client(url_of("little"));
  hold held = mutex(one, name).acquire();
  std::thread waits{[&] { EXPECT_TRUE(mutex(two, name).try_acquire_for(long_time)); }};
  EXPECT_TRUE(has_waited(two));
  held.release();
  waits.join();
  EXPECT_EQ(counter(one, name + "/n").fetch_add(3), 0);
  stock s{one, name + "/s"};
  s.set(2);
  EXPECT_EQ(s.take(1, "order", "buyer"), take_result::taken);
  const shared_mutex shared{one, name + "/shared"};
  EXPECT_TRUE(inspect(two, name + "/s"));
  EXPECT_EQ(collect(one), 0U);
  for (const finding& f : examine(one)) EXPECT_NE(f.how, finding::grade::failure) << f.text;
}

TEST_P(sql_access, without_the_right_to_make_tables_says_what_to_run) {
  make_user("little");
  const failure f = failure_of([&] { open_client(url_of("little")); });
  EXPECT_EQ(f.code, errc::denied);
  EXPECT_NE(f.message.find("CREATE TABLE"), std::string::npos) << f.message;
  EXPECT_NE(f.message.find("afar_names"), std::string::npos) << f.message;
  EXPECT_EQ(f.message.find("secret"), std::string::npos) << f.message;
}

TEST_P(sql_access, with_a_wrong_password_is_denied) {
  if (!maria()) {  // the test's server trusts everybody
    admin->run("CREATE USER strict PASSWORD 'other'");
    std::ofstream{server.folder() + "/data/pg_hba.conf"}
        << "host all strict 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
    admin->run("SELECT pg_reload_conf()");
  } else {
    admin->run("CREATE USER strict@'127.0.0.1' IDENTIFIED BY 'other'");
  }
  const auto refused = [&] {
    const failure f = failure_of([&] { open_client(url_of("strict")); });
    EXPECT_EQ(f.message.find("secret"), std::string::npos) << f.message;
    return f.code;
  };
  EXPECT_TRUE(eventually([&] { return refused() == errc::denied; }));
}

TEST_P(sql_access, refuses_tables_of_a_newer_version) {
  open_client(server.url());
  admin->run("UPDATE afar_schema SET version = 2");
  const failure f = failure_of([&] { open_client(server.url()); });
  EXPECT_EQ(f.code, errc::unsupported);
  EXPECT_NE(f.message.find("newer afar"), std::string::npos) << f.message;
}

AFAR_FOR_EVERY_DATABASE(sql_access);

// ---- Galera -------------------------------------------------------------------------------------

class sql_galera : public ::testing::Test {
 protected:
  static constexpr const char* provider = "/usr/lib/galera/libgalera_smm.so";
  static std::vector<std::string> options() {
    return {"--wsrep-on=ON",
            std::string{"--wsrep-provider="} + provider,
            "--wsrep-cluster-address=gcomm://",
            "--wsrep-new-cluster",
            "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
            "--wsrep-node-address=127.0.0.1",
            "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:" +
                std::to_string(free_port()) +
                ";ist.recv_addr=127.0.0.1:" + std::to_string(free_port())};
  }

  const sql_server server{database::mariadb, options()};
  const std::string name = fresh_name();
};

TEST_F(sql_galera, is_refused_unless_it_is_accepted) {
  const failure f = failure_of([&] { open_client(server.url()); });
  EXPECT_EQ(f.code, errc::unsupported);
  EXPECT_NE(f.message.find("?galera=accept"), std::string::npos) << f.message;
  client one = open_client(server.url() + "?galera=accept");
  client two = open_client(server.url() + "?galera=accept");
  hold held = mutex(one, name).acquire();
  std::thread waits{[&] { EXPECT_TRUE(mutex(two, name).try_acquire_for(long_time)); }};
  EXPECT_TRUE(has_waited(two));
  held.release();
  waits.join();
}

// ---- TLS ----------------------------------------------------------------------------------------

class sql_tls : public sql_test {
 protected:
  // A copy for the server's own user, in its own folder, where a key may not be readable by others.
  std::vector<std::string> options(const std::string& who) const {
    const user as = server_user(maria() ? "mysql" : "postgres");
    const std::string folder = make_folder(as);
    folders.push_back(folder);
    for (const std::string& file : {certificate.cert(who), certificate.key(who)}) {
      const auto to = folder + "/" + std::filesystem::path{file}.filename().string();
      std::filesystem::copy_file(file, to);
      std::filesystem::permissions(to, std::filesystem::perms{0600});
      if (::getuid() == 0 && ::chown(to.c_str(), as.uid, as.gid) != 0)
        throw std::runtime_error{"cannot give a certificate away"};
    }
    const std::string cert = folder + "/" + who + ".crt";
    const std::string key = folder + "/" + who + ".key";
    if (maria()) return {"--ssl-cert=" + cert, "--ssl-key=" + key, "--require-secure-transport=ON"};
    return {"-c", "ssl=on", "-c", "ssl_cert_file=" + cert, "-c", "ssl_key_file=" + key};
  }
  void TearDown() override {
    for (const auto& folder : folders) std::filesystem::remove_all(folder);
  }
  static std::string over_tls(const sql_server& s, const std::string& ca) {
    return s.scheme() + "s://" + s.address() + "?ca=" + ca;
  }

  const certificates certificate;
  mutable std::vector<std::string> folders;
};

TEST_P(sql_tls, is_used_and_verified_when_the_url_says_so) {
  const sql_server server{GetParam(), options("server")};
  client c = open_client(over_tls(server, certificate.cert("authority")));
  EXPECT_TRUE(mutex(c, name).try_acquire());
  const std::string encrypted =
      maria() ? "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'afar'"
              : "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
                " WHERE ssl AND application_name = 'afar'";
  if (maria()) {  // which lets nobody in without
    const auto plain = [&] { open_client(server.url()); };
    EXPECT_TRUE(thrown_by(plain));
  } else {
    const auto look = open_session(server);
    EXPECT_NE(first_field(*look, encrypted), "0");
  }
  const auto strange = [&] { open_client(over_tls(server, certificate.cert("stranger"))); };
  EXPECT_TRUE(thrown_by(strange)) << "signed by somebody whom we do not trust";
}

// MariaDB's library would wait for the answer. (lanes, invariant 6)
TEST_P(sql_tls, sends_no_statement_ahead_where_that_blocks) {
  const sql_server server{GetParam(), options("server")};
  open_client(over_tls(server, certificate.cert("authority")));  // makes the tables
  auto to = target_of(server);
  to.tls = true;
  to.ca = certificate.cert("authority");
  const auto on = engines::sql::dial(to, boot_clock::now() + 5s);
  on->ask(engines::sql::statement::give, name, std::string_view{"nobody"});
  EXPECT_EQ(on->can_send(engines::sql::statement::give), !maria());
}

TEST_P(sql_tls, holds_up_no_caller_when_its_server_stops) {
  sql_server server{GetParam(), options("server")};
  client c = open_client(over_tls(server, certificate.cert("authority")));
  mutex m{c, name};
  m.acquire().release();  // now its statements are prepared
  server.suspend();
  EXPECT_LT(time_of([&] { EXPECT_FALSE(m.try_lock_for(300ms)); }), 300ms + slowness * 1s);
  server.resume();
  EXPECT_TRUE(m.try_lock_for(long_time)) << "it does not go on";
  m.unlock();
}

TEST_P(sql_tls, refuses_the_certificate_of_another_host) {
  const sql_server server{GetParam(), options("elsewhere")};
  const auto opened = [&] { open_client(over_tls(server, certificate.cert("authority"))); };
  EXPECT_TRUE(thrown_by(opened));
}

AFAR_FOR_EVERY_DATABASE(sql_tls);

}  // namespace
}  // namespace afar::test
