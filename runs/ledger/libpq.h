#pragma once

#include <libpq-fe.h>

#include "runs/orchestrator_names.h"

namespace nl::runs::database {

// The functions of libpq that are used. The library is opened where a ledger is in PostgreSQL; nl-stage does without it elsewhere.
struct Libpq {
  decltype(&PQconnectdbParams) connect = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQerrorMessage) error_message = nullptr;
  decltype(&PQexecParams) exec_params = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQresultErrorField) error_field = nullptr;
  decltype(&PQntuples) rows = nullptr;
  decltype(&PQgetvalue) value = nullptr;
  decltype(&PQgetlength) length = nullptr;
  decltype(&PQgetisnull) is_null = nullptr;
  decltype(&PQclear) clear = nullptr;
  decltype(&PQsetNoticeProcessor) set_notice_processor = nullptr;
};

// Throws Error(kTool) where this machine has no libpq.so.5.
const Libpq& libpq();

}  // namespace nl::runs::database
