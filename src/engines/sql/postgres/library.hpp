// libpq's functions, found when the first postgresql: URL is opened.
#pragma once

#include "engines/client_library.hpp"

#include <libpq-fe.h>

namespace afar::engines::sql::postgres {

struct library {
  static const library& get();  // throws lock_error if it is not installed

  client_library file{"libpq.so.5", "libpq5"};
#define AFAR_FIND(name) decltype(::name)* const name = file.function<decltype(::name)>(#name)
  AFAR_FIND(PQconnectStartParams);
  AFAR_FIND(PQconnectPoll);
  AFAR_FIND(PQstatus);
  AFAR_FIND(PQsocket);
  AFAR_FIND(PQerrorMessage);
  AFAR_FIND(PQfinish);
  AFAR_FIND(PQexec);
  AFAR_FIND(PQprepare);
  AFAR_FIND(PQexecParams);
  AFAR_FIND(PQexecPrepared);
  AFAR_FIND(PQsendQueryPrepared);
  AFAR_FIND(PQisBusy);
  AFAR_FIND(PQgetResult);
  AFAR_FIND(PQresultStatus);
  AFAR_FIND(PQresultErrorField);
  AFAR_FIND(PQresultErrorMessage);
  AFAR_FIND(PQclear);
  AFAR_FIND(PQntuples);
  AFAR_FIND(PQnfields);
  AFAR_FIND(PQftype);
  AFAR_FIND(PQgetvalue);
  AFAR_FIND(PQgetlength);
  AFAR_FIND(PQgetisnull);
  AFAR_FIND(PQcmdTuples);
  AFAR_FIND(PQbackendPID);
  AFAR_FIND(PQparameterStatus);
  AFAR_FIND(PQconsumeInput);
  AFAR_FIND(PQnotifies);
  AFAR_FIND(PQfreemem);
  AFAR_FIND(PQsetNoticeReceiver);
#undef AFAR_FIND
};

}  // namespace afar::engines::sql::postgres
