#ifndef ATTACHE_CSQLITE_H
#define ATTACHE_CSQLITE_H

// The session extension's declarations are hidden without these two; Debian compiles both in.
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <pthread.h>
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

// Variadic: what SQLite takes memory from, told and changed before initialisation.
static inline int attache_sqlite3_config_getmalloc(sqlite3_mem_methods *methods) {
  return sqlite3_config(SQLITE_CONFIG_GETMALLOC, methods);
}
static inline int attache_sqlite3_config_malloc(const sqlite3_mem_methods *methods) {
  return sqlite3_config(SQLITE_CONFIG_MALLOC, methods);
}

// A cast macro: Swift cannot import it.
static inline sqlite3_destructor_type attache_sqlite3_transient(void) { return SQLITE_TRANSIENT; }

// The C library stays out of the Swift side: a directory without symbolic links, and its release.
static inline char *attache_real_path(const char *path) { return realpath(path, (char *)0); }
static inline void attache_free(char *text) { free(text); }

// Neither are threads: a place of each thread for a pointer, emptied by `end` as the thread ends.
static inline int attache_make_thread_place(unsigned *place, void (*end)(void *)) {
  pthread_key_t key;
  int code = pthread_key_create(&key, end);
  *place = key;
  return code;
}
static inline void *attache_thread_value(unsigned place) { return pthread_getspecific(place); }
static inline int attache_set_thread_value(unsigned place, void *value) {
  return pthread_setspecific(place, value);
}

#endif
