#ifndef ATTACHE_CARCHIVE_H
#define ATTACHE_CARCHIVE_H
#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

// Cast macros: Swift cannot import them.
static inline unsigned int attache_ae_ifreg(void) { return AE_IFREG; }
static inline unsigned int attache_ae_ifdir(void) { return AE_IFDIR; }

// Of no bytes zlib takes a null address for its beginning.
static inline unsigned long attache_crc32(unsigned long crc, const void *bytes, unsigned long count) {
  return count == 0 ? crc : crc32_z(crc, (const unsigned char *)bytes, count);
}

#endif
