#ifndef ATTACHE_CARCHIVE_H
#define ATTACHE_CARCHIVE_H
#include <archive.h>
#include <archive_entry.h>

// Cast macros: Swift cannot import them.
static inline unsigned int attache_ae_ifreg(void) { return AE_IFREG; }
static inline unsigned int attache_ae_ifdir(void) { return AE_IFDIR; }

#endif
