// A server's client library, loaded when its engine is first opened: a program that does not use the
// engine neither pays for the library nor needs it installed (`afar run` has to start fast).
#pragma once

#include <string>

namespace afar::engines {

class client_library {
 public:
  // Throws lock_error(errc::unsupported) that names `package` if there is no such file. It stays
  // loaded until the process ends.
  client_library(std::string file, std::string package);

  // `Function` as the library's header declares it: function<decltype(::SSL_new)>("SSL_new").
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(find(name));
  }

 private:
  void* find(const char* name) const;

  std::string file_;
  std::string package_;
  void* handle_;
};

}  // namespace afar::engines
