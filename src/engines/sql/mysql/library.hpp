// libmariadb's functions, found when the first mysql: URL is opened.
#pragma once

#include "engines/client_library.hpp"

#include <mysql.h>

namespace afar::engines::sql::mysql {

struct library {
  static const library& get();  // throws lock_error if it is not installed

  client_library file{"libmariadb.so.3", "libmariadb3"};
#define AFAR_FIND(name) decltype(::name)* const name = file.function<decltype(::name)>(#name)
  AFAR_FIND(mysql_server_init);
  AFAR_FIND(mysql_init);
  AFAR_FIND(mysql_optionsv);
  AFAR_FIND(mysql_real_connect);
  AFAR_FIND(mysql_close);
  AFAR_FIND(mysql_errno);
  AFAR_FIND(mysql_error);
  AFAR_FIND(mysql_get_socket);
  AFAR_FIND(mysql_get_ssl_cipher);
  AFAR_FIND(mysql_thread_id);
  AFAR_FIND(mysql_get_server_info);
  AFAR_FIND(mysql_real_query);
  AFAR_FIND(mysql_send_query);
  AFAR_FIND(mysql_read_query_result);
  AFAR_FIND(mysql_store_result);
  AFAR_FIND(mysql_free_result);
  AFAR_FIND(mysql_num_fields);
  AFAR_FIND(mysql_fetch_row);
  AFAR_FIND(mysql_fetch_lengths);
  AFAR_FIND(mysql_affected_rows);
  AFAR_FIND(mysql_stmt_init);
  AFAR_FIND(mysql_stmt_prepare);
  AFAR_FIND(mysql_stmt_bind_param);
  AFAR_FIND(mysql_stmt_bind_result);
  AFAR_FIND(mysql_stmt_execute);
  AFAR_FIND(mysql_stmt_execute_start);
  AFAR_FIND(mysql_stmt_execute_cont);
  AFAR_FIND(mysql_stmt_store_result);
  AFAR_FIND(mysql_stmt_field_count);
  AFAR_FIND(mysql_stmt_fetch);
  AFAR_FIND(mysql_stmt_fetch_column);
  AFAR_FIND(mysql_stmt_free_result);
  AFAR_FIND(mysql_stmt_result_metadata);
  AFAR_FIND(mysql_fetch_fields);
  AFAR_FIND(mysql_stmt_affected_rows);
  AFAR_FIND(mysql_stmt_insert_id);
  AFAR_FIND(mysql_stmt_errno);
  AFAR_FIND(mysql_stmt_error);
  AFAR_FIND(mysql_stmt_close);
#undef AFAR_FIND
};

}  // namespace afar::engines::sql::mysql
