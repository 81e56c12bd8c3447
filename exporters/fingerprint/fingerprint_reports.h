#pragma once

#include <string>

#include "model/fingerprint.h"

namespace nl::exporters {

std::string fingerprint_text(const Fingerprint& fingerprint, std::size_t width = 0);  // for a terminal so wide; 0: for any
// Which features nothing was counted for, and the command that counts them, or why it was refused. Empty: there are none.
std::string missing_note(const Fingerprint& fingerprint);
std::string fingerprint_json(const Fingerprint& fingerprint);

std::string match_text(const Fingerprint& a, const Fingerprint& b, const FingerprintMatch& match, std::size_t width = 0);
std::string match_json(const Fingerprint& a, const Fingerprint& b, const FingerprintMatch& match);

}  // namespace nl::exporters
