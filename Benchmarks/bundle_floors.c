// The floors of a bundle: the time that libarchive and libcrypto alone take to write it, to read it, and to seal its
// stores.
//
// write: each file is read once, in parts of 256 KiB, and becomes the only entry of an archive with the settings of a
// bundle, one archive after the other; Zstandard has two threads, as in a bundle. read: each archive is read completely,
// with a SHA-256 of each entry's content. seal: each file is read once, 64 pages at a time; each page of 4,096 bytes is
// encrypted with AES-256-CBC and its own IV, an HMAC-SHA-512 of its number, and gets an HMAC-SHA-512. SHA-256 is computed
// of the input and of the output, because a manifest has both. All output is synchronised at its end.
//
// usage: bundle_floors write zip|tar.gz|tar.zst (ARCHIVE FILE)…        cc -O3 bundle_floors.c -larchive -lcrypto
//        bundle_floors read ARCHIVE…
//        bundle_floors seal (TARGET FILE)…
#define _GNU_SOURCE
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 18, PAGE = 4096, USABLE = PAGE - 80, CODE = USABLE + 16, SALT = 16, ROUNDS = 4000 };
static unsigned char input[PIECE], output[PIECE];
static long long bytes;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "bundle_floors: %s: %s\n", what, why ? why : "it failed");
  exit(1);
}

static void need(int isDone, const char *what) {
  if (!isDone) fail(what, "libcrypto refused");
}

static int openFile(const char *path) {
  int file = open(path, O_RDONLY);
  if (file < 0) fail(path, "it cannot be opened");
  return file;
}

static size_t fill(int file, const char *path) {
  size_t count = 0;
  while (count < PIECE) {
    ssize_t got = read(file, input + count, PIECE - count);
    if (got < 0) fail(path, "it cannot be read");
    if (got == 0) break;
    count += got;
  }
  return count;
}

static void synchronise(const char *path) {
  int file = openFile(path);
  if (fsync(file) != 0) fail(path, "it cannot be synchronised");
  close(file);
}

// MARK: write

static void configure(struct archive *writer, const char *format) {
  int status;
  if (!strcmp(format, "zip")) status = archive_write_set_format_zip(writer);
  else status = archive_write_set_format_pax_restricted(writer);
  if (status == ARCHIVE_OK && !strcmp(format, "tar.gz")) {
    status = archive_write_add_filter_gzip(writer);
    if (status == ARCHIVE_OK) status = archive_write_set_filter_option(writer, "gzip", "timestamp", NULL);
  } else if (status == ARCHIVE_OK && !strcmp(format, "tar.zst")) {
    status = archive_write_add_filter_zstd(writer);
    if (status == ARCHIVE_OK) status = archive_write_set_filter_option(writer, "zstd", "compression-level", "3");
    if (status == ARCHIVE_OK) status = archive_write_set_filter_option(writer, "zstd", "threads", "2");
  }
  if (status == ARCHIVE_OK) status = archive_write_set_bytes_in_last_block(writer, 1);
  if (status != ARCHIVE_OK) fail(format, archive_error_string(writer));
}

static void writeArchive(const char *format, const char *path, const char *source) {
  struct archive *writer = archive_write_new();
  configure(writer, format);
  if (archive_write_open_filename(writer, path) != ARCHIVE_OK) fail(path, archive_error_string(writer));
  int file = openFile(source);
  struct stat status;
  if (fstat(file, &status) != 0) fail(source, "it has no size");
  struct archive_entry *entry = archive_entry_new();
  archive_entry_set_pathname(entry, "store.db");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, 0600);
  archive_entry_set_size(entry, status.st_size);
  if (archive_write_header(writer, entry) != ARCHIVE_OK) fail(path, archive_error_string(writer));
  for (size_t count; (count = fill(file, source)) > 0; bytes += count)
    if (archive_write_data(writer, input, count) != (ssize_t)count) fail(path, archive_error_string(writer));
  if (archive_write_close(writer) != ARCHIVE_OK) fail(path, archive_error_string(writer));
  archive_entry_free(entry);
  archive_write_free(writer);
  close(file);
  synchronise(path);
}

// MARK: read

static void readArchive(const char *path) {
  struct archive *reader = archive_read_new();
  archive_read_support_format_zip_seekable(reader);
  archive_read_support_format_tar(reader);
  archive_read_support_filter_gzip(reader);
  archive_read_support_filter_zstd(reader);
  if (archive_read_open_filename(reader, path, PIECE) != ARCHIVE_OK) fail(path, archive_error_string(reader));
  EVP_MD_CTX *digest = EVP_MD_CTX_new();
  struct archive_entry *entry;
  int status;
  while ((status = archive_read_next_header(reader, &entry)) == ARCHIVE_OK) {
    unsigned char sum[32];
    ssize_t count;
    need(EVP_DigestInit_ex(digest, EVP_sha256(), NULL), "SHA-256");
    while ((count = archive_read_data(reader, output, PIECE)) > 0) {
      need(EVP_DigestUpdate(digest, output, count), "SHA-256");
      bytes += count;
    }
    if (count < 0) fail(path, archive_error_string(reader));
    need(EVP_DigestFinal_ex(digest, sum, NULL), "SHA-256");
  }
  if (status != ARCHIVE_EOF) fail(path, archive_error_string(reader));
  EVP_MD_CTX_free(digest);
  archive_read_free(reader);
}

// MARK: seal

static EVP_MAC_CTX *makeCode(const unsigned char *key, size_t count) {
  EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *context = EVP_MAC_CTX_new(algorithm);
  char name[] = "SHA512";
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0), OSSL_PARAM_construct_end()};
  need(EVP_MAC_init(context, key, count, parameters), "HMAC-SHA-512");
  EVP_MAC_free(algorithm);
  return context;
}

static void code(EVP_MAC_CTX *context, const unsigned char *from, size_t count, unsigned number, unsigned char *to) {
  unsigned char tail[4] = {number, number >> 8, number >> 16, number >> 24};
  size_t length;
  need(EVP_MAC_init(context, NULL, 0, NULL), "HMAC-SHA-512");
  if (count) need(EVP_MAC_update(context, from, count), "HMAC-SHA-512");
  need(EVP_MAC_update(context, tail, sizeof tail), "HMAC-SHA-512");
  need(EVP_MAC_final(context, to, &length, 64), "HMAC-SHA-512");
}

static void sealFile(const char *path, const char *source) {
  unsigned char salt[SALT] = "0123456789abcdef", other[SALT], key[32], codeKey[32], vector[64];
  for (int i = 0; i < SALT; i++) other[i] = salt[i] ^ 0x3A;
  need(PKCS5_PBKDF2_HMAC("a passphrase", 12, salt, SALT, ROUNDS, EVP_sha512(), 32, key), "PBKDF2");
  need(PKCS5_PBKDF2_HMAC((char *)key, 32, other, SALT, 2, EVP_sha512(), 32, codeKey), "PBKDF2");
  EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
  need(EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key, NULL, 1), "AES-256-CBC");
  EVP_CIPHER_CTX_set_padding(cipher, 0);
  EVP_MAC_CTX *codes = makeCode(codeKey, 32), *vectors = makeCode(key, 32);
  EVP_MD_CTX *plain = EVP_MD_CTX_new(), *sealed = EVP_MD_CTX_new();
  need(EVP_DigestInit_ex(plain, EVP_sha256(), NULL), "SHA-256");
  need(EVP_DigestInit_ex(sealed, EVP_sha256(), NULL), "SHA-256");
  int file = openFile(source), target = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (target < 0) fail(path, "it cannot be made");
  unsigned number = 0;
  for (size_t count; (count = fill(file, source)) > 0; bytes += count) {
    if (count % PAGE) fail(source, "it is not whole pages");
    need(EVP_DigestUpdate(plain, input, count), "SHA-256");
    for (size_t at = 0; at < count; at += PAGE) {
      unsigned char *page = output + at;
      int start = ++number == 1 ? SALT : 0, length;
      code(vectors, NULL, 0, number, vector);
      need(EVP_CipherInit_ex(cipher, NULL, NULL, NULL, vector, 1), "AES-256-CBC");
      need(EVP_CipherUpdate(cipher, page + start, &length, input + at + start, USABLE - start), "AES-256-CBC");
      if (start) memcpy(page, salt, SALT);
      memcpy(page + USABLE, vector, 16);
      code(codes, page + start, CODE - start, number, page + CODE);
    }
    need(EVP_DigestUpdate(sealed, output, count), "SHA-256");
    if (write(target, output, count) != (ssize_t)count) fail(path, "it cannot be written");
  }
  need(EVP_DigestFinal_ex(plain, vector, NULL), "SHA-256");
  need(EVP_DigestFinal_ex(sealed, vector, NULL), "SHA-256");
  if (fsync(target) != 0) fail(path, "it cannot be synchronised");
  close(target);
  close(file);
  EVP_CIPHER_CTX_free(cipher);
  EVP_MAC_CTX_free(codes);
  EVP_MAC_CTX_free(vectors);
  EVP_MD_CTX_free(plain);
  EVP_MD_CTX_free(sealed);
}

// MARK: all

static long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Of this program only: getrusage includes the parent's peak.
static long peakKiB(void) {
  char line[256];
  long peak = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &peak);
  if (status) fclose(status);
  return peak;
}

int main(int count, char **words) {
  const char *task = count > 1 ? words[1] : "";
  long start = milliseconds();
  if (!strcmp(task, "write") && count > 2 && count % 2) {
    for (int i = 3; i < count; i += 2) writeArchive(words[2], words[i], words[i + 1]);
  } else if (!strcmp(task, "read")) {
    for (int i = 2; i < count; i++) readArchive(words[i]);
  } else if (!strcmp(task, "seal") && count % 2 == 0) {
    for (int i = 2; i < count; i += 2) sealFile(words[i], words[i + 1]);
  } else fail("usage", "write FORMAT (ARCHIVE FILE)…, read ARCHIVE…, seal (TARGET FILE)…");
  long end = milliseconds();
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("{\"arm\":\"%s, floor\",\"bytes\":%lld,\"wallMilliseconds\":%ld,\"userMilliseconds\":%ld,"
    "\"systemMilliseconds\":%ld,\"peakKiB\":%ld}\n", task, bytes, end - start,
    used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000,
    used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000, peakKiB());
  return 0;
}
