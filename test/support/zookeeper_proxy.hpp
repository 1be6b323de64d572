// A TCP proxy on the loopback device between a client and a ZooKeeper server, which does to their
// connections what networks do. Nothing it does is random: a test says which request or answer is lost.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace afar::test {

// The wire's numbers of requests.
enum class zk_op : std::int32_t {
  create = 15,  // create2: all that afar uses
  remove = 2,
  exists = 3,
  get = 4,
  set = 5,
  children = 12,
  sync = 9,
  multi = 14
};

class zookeeper_proxy {
 public:
  enum class loses : std::uint8_t { request, answer };  // and the connection with it

  explicit zookeeper_proxy(std::uint16_t server);
  zookeeper_proxy(const zookeeper_proxy&) = delete;
  zookeeper_proxy& operator=(const zookeeper_proxy&) = delete;
  ~zookeeper_proxy();

  std::string url() const { return "zookeeper://127.0.0.1:" + std::to_string(port_); }

  // The nth request of this kind from now on whose bytes contain `text`.
  void strike(loses, zk_op, std::string text, int nth = 1);
  bool struck() const;

  void cut();    // the connections of now; new ones are refused until mend()
  void stall();  // what comes now waits here: for mend(), or for cut(), with which it is lost
  void mend();
  // From the nth connection that comes now nothing is heard until another one comes.
  void doze(int nth);
  bool holds(const std::string& text) const;  // stalled: a request with it waits here
  // Ends the session of the last client that connected, as the server would when it expires.
  void end_session();

 private:
  struct side {
    int fd = -1;
    std::string read;  // an incomplete frame
  };
  struct link {
    side client;
    side server;
    bool greeted[2] = {false, false};
    std::optional<std::int32_t> doomed;  // the request whose answer is lost
    bool dozes = false;
    bool over = false;
  };

  void run();
  void accept_one();
  void pump(link&, bool to_server);
  bool pass(link&, bool to_server, const std::string& frame);
  void wake() const;

  const std::uint16_t server_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_ = -1;

  mutable std::mutex m_;  // guards everything below
  std::list<link> links_;
  loses what_ = loses::answer;
  zk_op op_ = zk_op::create;
  std::string text_;
  int nth_ = 0;
  bool struck_ = false;
  bool cut_ = false;
  bool stalled_ = false;
  int dozing_ = 0;  // so many connections until one dozes
  bool closing_ = false;
  std::string session_;  // id and password, as the server gave them

  std::thread thread_;
};

}  // namespace afar::test
