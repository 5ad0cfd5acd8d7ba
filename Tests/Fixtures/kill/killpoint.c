// Loaded before a program (LD_PRELOAD), kills it at a chosen moment inside a stage of a pipeline.
//
// What a process leaves behind changes only at system calls, so the calls that change files or
// speak to another process are counted, from the line that says `stageStarted` on standard output
// to the one that says `stageFinished`.
//
//   KILL_AT=N       the N-th such call is the one
//   KILL_OF=names   of those that make, rename, remove or sync files; sends: of those that send to
//                   another process; else of all
//   KILL_SIDE=…     before: it is not made; after: it is made; else KILL_NS nanoseconds after it
//   KILL_FROM=start counts from the first call of the program to its end
//   KILL_COUNT=FILE writes how many calls there were, how many of names and how many that send
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
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
#include <time.h>
#include <unistd.h>

enum kind { OTHER, NAME, SEND };
static atomic_long count, counts[3];
static atomic_int armed;
static long kill_at = -1;
static enum kind wanted;  // OTHER: all
static int side;  // 0: before, 1: after, 2: some time after
static long delay_ns;
static char count_file[1024];

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("KILL_AT"), *which = getenv("KILL_SIDE"), *ns = getenv("KILL_NS");
  const char *file = getenv("KILL_COUNT"), *of = getenv("KILL_OF");
  if (at) kill_at = atol(at);
  side = !which || !strcmp(which, "before") ? 0 : !strcmp(which, "after") ? 1 : 2;
  if (ns) delay_ns = atol(ns);
  if (getenv("KILL_FROM")) atomic_store(&armed, 1);
  wanted = !of ? OTHER : !strcmp(of, "names") ? NAME : !strcmp(of, "sends") ? SEND : OTHER;
  if (file) snprintf(count_file, sizeof count_file, "%s", file);
}

static void *real(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static void die_later(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec when = {.it_value = {delay_ns / 1000000000, delay_ns % 1000000000 + 1}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL)) die();
}

// Whether the call under way is the one.
static int enter(enum kind kind) {
  if (!atomic_load(&armed)) return 0;
  long place = atomic_fetch_add(&count, 1) + 1, own = atomic_fetch_add(&counts[kind], 1) + 1;
  if (wanted != OTHER && kind != wanted) return 0;
  if ((wanted == OTHER ? place : own) != kill_at) return 0;
  if (side == 0) die();
  return 1;
}

static void leave(int is_it) {
  if (!is_it) return;
  if (side == 1) die();
  die_later();
}

static void write_counts(void) {
  if (!count_file[0]) return;
  FILE *file = fopen(count_file, "w");
  if (!file) return;
  fprintf(file, "%ld %ld %ld\n", atomic_load(&count), atomic_load(&counts[NAME]),
          atomic_load(&counts[SEND]));
  fclose(file);
}

// The program ends without the calls that `exit` makes.
__attribute__((noreturn)) void _exit(int status) {
  if (atomic_exchange(&armed, 0)) write_counts();
  void (*next)(int) = (void (*)(int))real("_exit");
  next(status);
  __builtin_unreachable();
}

static void watch(const void *bytes, size_t length) {
  if (memmem(bytes, length, "\"stageStarted\"", 14)) {
    atomic_store(&count, 0);
    for (int kind = OTHER; kind <= SEND; kind++) atomic_store(&counts[kind], 0);
    atomic_store(&armed, 1);
  } else if (memmem(bytes, length, "\"stageFinished\"", 15)) {
    atomic_store(&armed, 0);
    write_counts();
  }
}

#define COUNTED(kind, result, name, parameters, arguments)         \
  result name parameters {                                         \
    static result(*next) parameters;                               \
    if (!next) next = (result(*) parameters)real(#name);           \
    int is_it = enter(kind);                                       \
    result answer = next arguments;                                \
    leave(is_it);                                                  \
    return answer;                                                 \
  }

ssize_t write(int fd, const void *bytes, size_t length) {
  static ssize_t (*next)(int, const void *, size_t);
  if (!next) next = (ssize_t(*)(int, const void *, size_t))real("write");
  if (fd == 1) {
    ssize_t written = next(fd, bytes, length);
    watch(bytes, length);
    return written;
  }
  int is_it = fd > 2 ? enter(OTHER) : 0;
  ssize_t written = next(fd, bytes, length);
  leave(is_it);
  return written;
}

COUNTED(OTHER, ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
COUNTED(OTHER, ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
COUNTED(OTHER, ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
COUNTED(NAME, int, fsync, (int fd), (fd))
COUNTED(NAME, int, fdatasync, (int fd), (fd))
COUNTED(OTHER, int, ftruncate, (int fd, off_t n), (fd, n))
COUNTED(OTHER, int, ftruncate64, (int fd, off64_t n), (fd, n))
COUNTED(NAME, int, rename, (const char *a, const char *b), (a, b))
COUNTED(NAME, int, renameat, (int d, const char *a, int e, const char *b), (d, a, e, b))
COUNTED(NAME, int, renameat2, (int d, const char *a, int e, const char *b, unsigned f), (d, a, e, b, f))
COUNTED(NAME, int, unlink, (const char *a), (a))
COUNTED(NAME, int, unlinkat, (int d, const char *a, int f), (d, a, f))
COUNTED(NAME, int, rmdir, (const char *a), (a))
COUNTED(NAME, int, mkdir, (const char *a, mode_t m), (a, m))
COUNTED(NAME, int, mkdirat, (int d, const char *a, mode_t m), (d, a, m))
COUNTED(NAME, int, link, (const char *a, const char *b), (a, b))
COUNTED(NAME, ssize_t, copy_file_range, (int a, off64_t *b, int c, off64_t *d, size_t n, unsigned f),
        (a, b, c, d, n, f))
COUNTED(OTHER, ssize_t, sendfile, (int a, int b, off_t *o, size_t n), (a, b, o, n))
COUNTED(OTHER, ssize_t, sendfile64, (int a, int b, off64_t *o, size_t n), (a, b, o, n))
COUNTED(SEND, ssize_t, send, (int fd, const void *b, size_t n, int f), (fd, b, n, f))
COUNTED(SEND, ssize_t, sendto,
        (int fd, const void *b, size_t n, int f, const struct sockaddr *a, socklen_t l),
        (fd, b, n, f, a, l))
COUNTED(SEND, ssize_t, sendmsg, (int fd, const struct msghdr *m, int f), (fd, m, f))
COUNTED(OTHER, ssize_t, recv, (int fd, void *b, size_t n, int f), (fd, b, n, f))
COUNTED(OTHER, int, futimens, (int fd, const struct timespec t[2]), (fd, t))

#define OPENING(name, declared, passed)                                                    \
  int name declared {                                                                      \
    static int(*next) declared;                                                            \
    if (!next) next = (int (*) declared)real(#name);                                       \
    int mode = 0;                                                                          \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                 \
      va_list rest;                                                                        \
      va_start(rest, flags);                                                               \
      mode = va_arg(rest, int);                                                            \
      va_end(rest);                                                                        \
    }                                                                                      \
    int is_it = flags & O_CREAT ? enter(NAME) : 0;                                         \
    int answer = next passed;                                                              \
    leave(is_it);                                                                          \
    return answer;                                                                         \
  }

OPENING(open, (const char *path, int flags, ...), (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENING(openat, (int d, const char *path, int flags, ...), (d, path, flags, mode))
OPENING(openat64, (int d, const char *path, int flags, ...), (d, path, flags, mode))
