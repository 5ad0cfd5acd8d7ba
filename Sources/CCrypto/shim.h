#ifndef ATTACHE_CCRYPTO_H
#define ATTACHE_CCRYPTO_H
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// A function-like macro over BIO_ctrl: Swift cannot import it.
static inline long attache_bio_get_mem_data(BIO *b, char **data) { return BIO_get_mem_data(b, data); }

#endif
