// Loaded before a program (LD_PRELOAD), writes down the calls that make its work durable or not, in
// the order in which they are made, one a line, to the file in WATCH_LOG:
//
//   write PATH   sync PATH   move FROM<tab>TO   name PATH   remove PATH   request METHOD PATH
//
// "write" is any change of a file's content, "name" a new name in a directory.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int log_file = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("WATCH_LOG");
  if (!path) return;
  int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  log_file = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 500);
  syscall(SYS_close, opened);
}

static void tell(const char *verb, const char *first, const char *second) {
  if (log_file < 0) return;
  char line[3 * PATH_MAX];
  int length = snprintf(line, sizeof line, "%s %s%s%s\n", verb, first, second ? "\t" : "",
                        second ? second : "");
  syscall(SYS_write, log_file, line, length);
}

static void tell_of(const char *verb, int fd) {
  int before = errno;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length > 0 && path[0] == '/') {
    path[length] = 0;
    tell(verb, path, NULL);
  }
  errno = before;
}

#define NEXT(result, name, parameters)             \
  static result(*next) parameters;                 \
  if (!next) next = (result(*) parameters)dlsym(RTLD_NEXT, #name)

#define OF_FILE(verb, result, name, fd, parameters, arguments) \
  result name parameters {                                     \
    NEXT(result, name, parameters);                            \
    result answer = next arguments;                            \
    if (answer >= 0) tell_of(verb, fd);                        \
    return answer;                                             \
  }

OF_FILE("write", ssize_t, write, fd, (int fd, const void *b, size_t n), (fd, b, n))
OF_FILE("write", ssize_t, writev, fd, (int fd, const struct iovec *v, int n), (fd, v, n))
OF_FILE("write", ssize_t, pwrite, fd, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
OF_FILE("write", ssize_t, pwrite64, fd, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
OF_FILE("write", int, ftruncate, fd, (int fd, off_t n), (fd, n))
OF_FILE("write", int, ftruncate64, fd, (int fd, off64_t n), (fd, n))
OF_FILE("write", ssize_t, copy_file_range, to,
        (int from, off64_t *a, int to, off64_t *b, size_t n, unsigned f), (from, a, to, b, n, f))
OF_FILE("sync", int, fsync, fd, (int fd), (fd))
OF_FILE("sync", int, fdatasync, fd, (int fd), (fd))

#define OF_NAME(verb, name, path, parameters, arguments) \
  int name parameters {                                  \
    NEXT(int, name, parameters);                         \
    int answer = next arguments;                         \
    if (answer == 0) tell(verb, path, NULL);             \
    return answer;                                       \
  }

OF_NAME("name", mkdir, path, (const char *path, mode_t mode), (path, mode))
OF_NAME("remove", unlink, path, (const char *path), (path))
OF_NAME("remove", rmdir, path, (const char *path), (path))

int rename(const char *from, const char *to) {
  NEXT(int, rename, (const char *, const char *));
  int answer = next(from, to);
  if (answer == 0) tell("move", from, to);
  return answer;
}

int renameat2(int d, const char *from, int e, const char *to, unsigned flags) {
  NEXT(int, renameat2, (int, const char *, int, const char *, unsigned));
  int answer = next(d, from, e, to, flags);
  if (answer == 0) tell("move", from, to);
  return answer;
}

static int has(const void *bytes, size_t length, const char *text) {
  return memmem(bytes, length, text, strlen(text)) != NULL;
}

// A composite that only asks changes nothing: others may be at work on the ledger meanwhile.
static int only_asks(const void *bytes, size_t length) {
  return has(bytes, length, "\"method\":\"GET\"") && !has(bytes, length, "\"method\":\"P") &&
         !has(bytes, length, "\"method\":\"DELETE\"");
}

static void tell_request(const void *bytes, size_t length) {
  char line[1024] = {0};
  int spaces = 0;
  for (size_t i = 0; i < sizeof line - 1 && i < length; i++) {
    char letter = ((const char *)bytes)[i];
    if (letter < ' ' || letter > '~' || (letter == ' ' && ++spaces == 2)) break;
    line[i] = letter;
  }
  if (spaces == 2) tell("request", line, NULL);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
  NEXT(ssize_t, send, (int, const void *, size_t, int));
  if (!only_asks(bytes, length)) tell_request(bytes, length);
  return next(fd, bytes, length, flags);
}

#define OPENING(name, declared, passed, path)                              \
  int name declared {                                                      \
    NEXT(int, name, declared);                                             \
    int mode = 0;                                                          \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                 \
      va_list rest;                                                        \
      va_start(rest, flags);                                               \
      mode = va_arg(rest, int);                                            \
      va_end(rest);                                                        \
    }                                                                      \
    int is_new = (flags & O_CREAT) && access(path, F_OK) != 0;             \
    int answer = next passed;                                              \
    if (is_new && answer >= 0) tell("name", path, NULL);                   \
    return answer;                                                         \
  }

OPENING(open, (const char *path, int flags, ...), (path, flags, mode), path)
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode), path)
OPENING(openat, (int d, const char *path, int flags, ...), (d, path, flags, mode), path)
OPENING(openat64, (int d, const char *path, int flags, ...), (d, path, flags, mode), path)
