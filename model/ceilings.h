#pragma once

#include <map>
#include <optional>
#include <string>

namespace nl {

// What one card reached in `nl-stage ceilings`.
struct DeviceCeilings {
  std::string name, uuid;                                  // of the card
  std::string measured_at;                                 // RFC 3339, UTC
  std::map<std::string, double> gemm_flops_per_s;          // by type: "bf16", "fp8" …
  std::optional<double> copy_bytes_per_s;                  // read and written, on the card
  std::optional<double> h2d_bytes_per_s, d2h_bytes_per_s;  // from and to pinned memory
  std::optional<double> attention_flops_per_s;             // fused, of a long prompt, bf16
};

}  // namespace nl
