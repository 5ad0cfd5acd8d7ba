// Loaded before a program (LD_PRELOAD), holds every thread up for a moment at its end, and writes
// down, one a line, to the file in THREAD_LOG:
//
//   create   ending   ended   join   leave
//
// "leave" is the end of the process.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int log_file = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("THREAD_LOG");
  if (!path) return;
  int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  log_file = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 500);
  syscall(SYS_close, opened);
}

static void tell(const char *line) {
  if (log_file >= 0) syscall(SYS_write, log_file, line, strlen(line));
}

struct start {
  void *(*body)(void *);
  void *context;
};

static void *run(void *given) {
  struct start start = *(struct start *)given;
  free(given);
  void *result = start.body(start.context);
  tell("ending\n");
  struct timespec pause = {.tv_sec = 0, .tv_nsec = 150000000};
  nanosleep(&pause, NULL);
  tell("ended\n");
  return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *context) {
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!next) next = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  tell("create\n");
  struct start *start = malloc(sizeof *start);
  *start = (struct start){body, context};
  return next(thread, attributes, run, start);
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until) {
  static int (*next)(pthread_t, void **, clockid_t, const struct timespec *);
  if (!next) next = (int (*)(pthread_t, void **, clockid_t, const struct timespec *))dlsym(RTLD_NEXT, "pthread_clockjoin_np");
  tell("join\n");
  return next(thread, result, clock, until);
}

void _exit(int status) {
  tell("leave\n");
  syscall(SYS_exit_group, status);
  for (;;) {}
}
