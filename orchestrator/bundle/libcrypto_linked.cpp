#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "orchestrator/bundle/sha256.h"

namespace nl::orchestrator {
namespace {

void* begin() {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  if (context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1) return context;
  EVP_MD_CTX_free(context);
  return nullptr;
}

bool update(void* context, const void* data, std::size_t size) {
  return EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context), data, size) == 1;
}

bool finish(void* context, unsigned char* digest) {
  unsigned size = 0;
  return EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context), digest, &size) == 1 && size == kSha256Bytes;
}

void release(void* context) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context)); }

}  // namespace

const Libcrypto* libcrypto() {
  static const Libcrypto library = {OpenSSL_version(OPENSSL_VERSION), begin, update, finish, release};
  return &library;
}

}  // namespace nl::orchestrator
