#include <dlfcn.h>

#include <initializer_list>

#include "orchestrator/bundle/sha256.h"

namespace nl::orchestrator {
namespace {

// The functions of libcrypto.so.3 that are used, as openssl/evp.h declares them; EVP_MD_CTX and EVP_MD stay opaque.
struct Functions {
  const char* (*version)(int) = nullptr;
  void* (*context_new)() = nullptr;
  void (*context_free)(void*) = nullptr;
  const void* (*sha256)() = nullptr;
  int (*digest_init)(void*, const void*, void*) = nullptr;
  int (*digest_update)(void*, const void*, std::size_t) = nullptr;
  int (*digest_final)(void*, unsigned char*, unsigned*) = nullptr;
};

template <class Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool resolve_all(void* library, Functions& f) {
  return resolve(library, "OpenSSL_version", f.version) && resolve(library, "EVP_MD_CTX_new", f.context_new) &&
         resolve(library, "EVP_MD_CTX_free", f.context_free) && resolve(library, "EVP_sha256", f.sha256) &&
         resolve(library, "EVP_DigestInit_ex", f.digest_init) && resolve(library, "EVP_DigestUpdate", f.digest_update) &&
         resolve(library, "EVP_DigestFinal_ex", f.digest_final);
}

const Functions* functions() {
  static const Functions* const found = []() -> const Functions* {
    static Functions loaded;
    // Version 1.1 has the same functions, and is what older systems have.
    for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"})
      if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr && resolve_all(library, loaded)) return &loaded;
    return nullptr;
  }();
  return found;
}

void* begin() {
  void* context = functions()->context_new();
  if (context != nullptr && functions()->digest_init(context, functions()->sha256(), nullptr) == 1) return context;
  functions()->context_free(context);
  return nullptr;
}

bool update(void* context, const void* data, std::size_t size) { return functions()->digest_update(context, data, size) == 1; }

bool finish(void* context, unsigned char* digest) {
  unsigned size = 0;
  return functions()->digest_final(context, digest, &size) == 1 && size == kSha256Bytes;
}

void release(void* context) { functions()->context_free(context); }

}  // namespace

const Libcrypto* libcrypto() {
  if (functions() == nullptr) return nullptr;
  static const Libcrypto library = {functions()->version(0), begin, update, finish, release};  // 0: OPENSSL_VERSION
  return &library;
}

}  // namespace nl::orchestrator
