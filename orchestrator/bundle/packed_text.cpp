#include "orchestrator/bundle/packed_text.h"

#include <zlib.h>

#include "model/error.h"

namespace nl::orchestrator {

std::string unpacked(const PackedText& text) {
  std::string out(text.size, '\0');
  uLongf size = out.size();
  const int result = uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.packed.data()),
                                static_cast<uLong>(text.packed.size()));
  if (result != Z_OK || size != text.size)
    throw Error(ErrorKind::kInternal, "a file that is built into the program cannot be unpacked", std::string(text.file));
  return out;
}

}  // namespace nl::orchestrator
