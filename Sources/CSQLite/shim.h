#ifndef ATTACHE_CSQLITE_H
#define ATTACHE_CSQLITE_H

// The session extension's declarations are hidden without these two; Debian compiles both in.
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>
#include <stdlib.h>

// Variadic: Swift cannot import it. For the on/off options.
static inline int attache_sqlite3_db_config(sqlite3 *db, int option, int on) {
  return sqlite3_db_config(db, option, on, (int *)0);
}

// Variadic: turns SQLite's memory statistics (a mutex per allocation) off before initialisation.
static inline int attache_sqlite3_config_memstatus(int on) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on);
}

// A cast macro: Swift cannot import it.
static inline sqlite3_destructor_type attache_sqlite3_transient(void) { return SQLITE_TRANSIENT; }

// The C library stays out of the Swift side: a directory without symbolic links, and its release.
static inline char *attache_real_path(const char *path) { return realpath(path, (char *)0); }
static inline void attache_free(char *text) { free(text); }

#endif
