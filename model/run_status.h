#pragma once

#include "model/run.h"

namespace nl {

// As run.json, manifest.json and the command line write it.
inline const char* run_status_word(RunStatus status) {
  switch (status) {
    case RunStatus::kComplete: return "complete";
    case RunStatus::kPartial: return "partial";
    case RunStatus::kInterrupted: return "interrupted";
    case RunStatus::kFailed: return "failed";
  }
  return "failed";
}

}  // namespace nl
