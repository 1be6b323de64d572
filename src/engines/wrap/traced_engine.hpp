// Prints every step, its answer and every wake of the engine inside. `traced+memory:x` prints to
// stderr; code may give another sink.
#pragma once

#include <afar/spi/engine.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace afar::engines::wrap {

// Opens what is wrapped, with the wrapper as its host.
using opener = std::function<std::unique_ptr<spi::engine>(spi::host&)>;

// Takes one line without its end; from any thread, several at once.
using trace_sink = std::function<void(std::string_view line)>;
trace_sink trace_to_stderr();

class traced_engine final : public spi::engine, private spi::host {
 public:
  traced_engine(spi::host& up, const opener& open, trace_sink = trace_to_stderr());
  ~traced_engine() override;

  const spi::traits& about() const noexcept override;

  void acquire(spi::claim&, spi::time_point by, spi::done<spi::acquire_reply>) override;
  void renew(std::span<spi::claim* const>, spi::time_point by, spi::renewed each) override;
  void release(const spi::claim&, spi::time_point by, spi::done<spi::release_reply>) override;
  void change(const spi::cell_change&, spi::time_point by, spi::done<spi::cell_reply>) override;
  void record(const spi::ledger_change&, spi::time_point by, spi::done<spi::ledger_reply>) override;
  void watch(std::string_view key, spi::done<spi::watch_reply>) override;
  void unwatch(std::string_view key) noexcept override;
  void survey(const spi::survey_query&, spi::time_point by, spi::done<spi::survey_reply>) override;
  void evict(const spi::resource&, const spi::owner_id&, std::uint64_t token, spi::time_point by,
             spi::done<spi::release_reply>) override;
  void ask_back(std::string_view key, spi::time_point by, spi::done<bool>) override;
  void examine(spi::time_point by, spi::done<std::vector<finding>>) override;
  void collect(spi::time_point by, spi::done<std::uint64_t>) override;
  bool drive(spi::waiter&, spi::time_point until) noexcept override;
  void nudge() noexcept override { inner_->nudge(); }
  void glance() noexcept override { inner_->glance(); }
  void close() noexcept override;

 private:
  void wake(std::string_view key) noexcept override;
  void wake_all() noexcept override;
  void granted(const spi::owner_id&, std::uint64_t token, std::uint64_t last,
               spi::milliseconds) noexcept override;
  void asked(const spi::owner_id&) noexcept override;
  void session_lost() noexcept override;
  void in_doubt() noexcept override { up_.in_doubt(); }

  std::uint64_t begin(std::string text);
  void end(std::uint64_t step, spi::time_point begun, const spi::status&, std::string text);
  void print(const std::string& text) noexcept;
  template <class Reply>
  spi::done<Reply> traced(std::string text, spi::done<Reply>);

  spi::host& up_;
  const trace_sink sink_;
  std::atomic<std::uint64_t> steps_{0};
  std::unique_ptr<spi::engine> inner_;  // last: destroyed first
};

}  // namespace afar::engines::wrap
