// The record of forced releases: who ordered it, when, why, of which hold. It is kept where the order
// was given, one JSON object per line in a file that is only appended to, and told to syslog; not in
// the engine, where it would end with the name that it is about.
//
// The file: $AFAR_AUDIT, else $XDG_STATE_HOME/afar/audit.jsonl, else ~/.local/state/afar/audit.jsonl.
#pragma once

#include "json.hpp"

#include <string>
#include <vector>

namespace afar::cli {

class audit_log {
 public:
  // Opens the file, or makes it (mode 0600) and its folders. Throws failure (78): what cannot be
  // written down is not done.
  audit_log();
  audit_log(const audit_log&) = delete;
  audit_log& operator=(const audit_log&) = delete;
  ~audit_log();

  // Adds time, user, host and pid, and appends the line in one write. Throws failure (69).
  void add(const std::vector<json::field>& what) const;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace afar::cli
