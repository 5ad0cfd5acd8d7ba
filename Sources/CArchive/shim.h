#ifndef ATTACHE_CARCHIVE_H
#define ATTACHE_CARCHIVE_H
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <zlib.h>

// Cast macros: Swift cannot import them.
static inline unsigned int attache_ae_ifreg(void) { return AE_IFREG; }
static inline unsigned int attache_ae_ifdir(void) { return AE_IFDIR; }

// Of no bytes zlib takes a null address for its beginning.
static inline unsigned long attache_crc32(unsigned long crc, const void *bytes, unsigned long count) {
  return count == 0 ? crc : crc32_z(crc, (const unsigned char *)bytes, count);
}

// libarchive takes a name's bytes for text of the calling thread's locale, and a service has "C". Bundles have names
// in UTF-8: the thread has that while the library reads or writes a header.
static inline locale_t attache_utf8_locale(void) {
  locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  return made ? made : newlocale(LC_CTYPE_MASK, "en_US.UTF-8", (locale_t)0);
}

// Gives the thread a locale, and answers the one that it had; without one nothing changes.
static inline locale_t attache_use_locale(locale_t locale) { return uselocale(locale); }

#endif
