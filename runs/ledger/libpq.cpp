#include "runs/ledger/libpq.h"

#include <dlfcn.h>

#include "model/error.h"

namespace nl::runs::database {
namespace {

template <class Function>
bool resolve_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool resolve_functions(void* library, Libpq& f) {
  return resolve_function(library, "PQconnectdbParams", f.connect) && resolve_function(library, "PQfinish", f.finish) &&
         resolve_function(library, "PQstatus", f.status) && resolve_function(library, "PQerrorMessage", f.error_message) &&
         resolve_function(library, "PQexecParams", f.exec_params) && resolve_function(library, "PQresultStatus", f.result_status) &&
         resolve_function(library, "PQresultErrorField", f.error_field) && resolve_function(library, "PQntuples", f.rows) &&
         resolve_function(library, "PQgetvalue", f.value) && resolve_function(library, "PQgetlength", f.length) &&
         resolve_function(library, "PQgetisnull", f.is_null) && resolve_function(library, "PQclear", f.clear) &&
         resolve_function(library, "PQsetNoticeProcessor", f.set_notice_processor);
}

}  // namespace

const Libpq& libpq() {
  static const Libpq* const found = []() -> const Libpq* {
    static Libpq loaded;
    void* library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && resolve_functions(library, loaded) ? &loaded : nullptr;
  }();
  if (found == nullptr)
    throw Error(ErrorKind::kTool, "libpq.so.5 is needed for a ledger in PostgreSQL, and it was not found", "libpq.so.5",
                "sudo apt-get install libpq5");
  return *found;
}

}  // namespace nl::runs::database
