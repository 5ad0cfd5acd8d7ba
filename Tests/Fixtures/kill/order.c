// Loaded before a program (LD_PRELOAD), writes down in which order it synchronizes and renames files.
//
//   ORDER_LOG=FILE  gets one line per call that succeeded: `sync<TAB>path`, `rename<TAB>from<TAB>to`
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static int log_file = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("ORDER_LOG");
  if (path) log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void *real(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

static void synced(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  dprintf(log_file, "sync\t%s\n", path);
}

#define SYNC(name)                                  \
  int name(int fd) {                                \
    static int (*next)(int);                        \
    if (!next) next = (int (*)(int))real(#name);    \
    int answer = next(fd);                          \
    if (!answer) synced(fd);                        \
    return answer;                                  \
  }

SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
  static int (*next)(const char *, const char *);
  if (!next) next = (int (*)(const char *, const char *))real("rename");
  int answer = next(from, to);
  if (!answer) dprintf(log_file, "rename\t%s\t%s\n", from, to);
  return answer;
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  static int (*next)(int, const char *, int, const char *, unsigned);
  if (!next) next = (int (*)(int, const char *, int, const char *, unsigned))real("renameat2");
  int answer = next(a, from, b, to, flags);
  if (!answer) dprintf(log_file, "rename\t%s\t%s\n", from, to);
  return answer;
}
