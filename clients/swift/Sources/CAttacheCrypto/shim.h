#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/x509.h>
