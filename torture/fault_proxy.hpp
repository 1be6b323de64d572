// A TCP proxy on the loopback device that stands between a client and a server, and does to their
// connections what networks do. Nothing it does is random: who uses it says which answer is lost. It
// knows Redis's protocol; bytes of others (ZooKeeper's, TLS) pass, but have no requests to strike.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace afar::torture {

enum class way : std::uint8_t { to_server, to_client };

// What becomes of an answer. All but `garble` end the connection, both sides of it.
enum class mishap : std::uint8_t {
  drop,      // nothing of it arrives
  truncate,  // the first half arrives
  garble     // arrives, and makes no sense
};

class fault_proxy {
 public:
  explicit fault_proxy(std::uint16_t server);                // on the loopback device
  fault_proxy(const std::string& host, std::uint16_t port);  // throws std::runtime_error
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;
  ~fault_proxy();

  std::uint16_t port() const noexcept { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "redis://" + address(); }

  // The answer to the nth request from now on that contains all of these texts. An answer NOSCRIPT does
  // not count: that request has done nothing, and comes again.
  void strike(mishap, std::vector<std::string> texts, int nth = 1);
  bool struck() const;  // the strike has happened

  // What servers send next, `times` times, does not arrive as it was sent: who asked cannot know whether it
  // was done. Of protocols other than Redis's nothing is garbled, as there nonsense may be long or make sense.
  void lose_answers(int times, mishap how = mishap::drop);
  int lost() const;  // so far

  void delay(std::chrono::milliseconds);  // every byte that comes from now on, both ways
  // Of every connection, each way, from now on; 0: as fast as it comes.
  void narrow(std::uint32_t bytes_per_second);

  // A black hole: what is sent that way over the connections of now is not lost, but does not arrive
  // before heal(), as on a network that is cut for a while. Connections made later are whole.
  void hold(way);
  // Likewise, the answers over one connection from that to the nth thing that a client says from now on.
  void hold_answers_from(int nth);
  void heal();
  bool waiting(way) const;  // something has been sent over a held connection

  void half_close(
      way);      // the connections of now: that way they end, once what came before has passed
  void reset();  // the connections of now, with RST, both sides

 private:
  using clock = std::chrono::steady_clock;
  struct chunk {
    clock::time_point due;
    std::string bytes;
  };
  struct direction {
    int from = -1;
    int to = -1;
    std::string unframed;  // the beginning of a request or an answer
    std::list<chunk> going;
    clock::time_point free_at{};  // a narrow way is taken until then
    bool held = false;
    bool raw = false;        // not Redis's protocol
    bool read_end = false;   // nothing more comes
    bool write_end = false;  // and that was passed on
    bool cut_after = false;  // the connection ends when `going` has gone
  };
  struct link {
    direction up;                  // to the server
    direction down;                // to the client
    std::list<std::string> asked;  // requests without an answer
    bool over = false;
  };

  void run();
  void accept_one();
  void read(link&, direction&);
  void take(link&, direction&, std::string frame);
  void answer(link&, std::string frame);
  bool spoil(link&, std::string& bytes, mishap);
  void write(link&, direction&);
  static void end(link&, bool with_reset);
  void wake() const;
  bool matches(const std::string& request) const;

  sockaddr_storage server_{};
  socklen_t server_size_ = 0;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_ = -1;  // eventfd

  mutable std::mutex m_;  // guards everything below
  std::list<link> links_;
  std::chrono::milliseconds delay_{0};
  std::uint32_t rate_ = 0;  // bytes per second; 0: any
  mishap what_ = mishap::drop;
  std::vector<std::string> texts_;
  int nth_ = 0;              // matching answers until the strike; 0: none is due
  int said_until_hold_ = 0;  // 0: no hold is due
  bool struck_ = false;
  int to_lose_ = 0;
  mishap losing_by_ = mishap::drop;
  int lost_ = 0;
  bool closing_ = false;

  std::thread thread_;
};

}  // namespace afar::torture
