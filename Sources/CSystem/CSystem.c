#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

void attache_begin_writeback(int descriptor) {
  sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int attache_rename_no_replace(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

long attache_find(
    const void *bytes, unsigned long size, const void *needle, unsigned long count) {
  const char *found = memmem(bytes, size, needle, count);
  return found ? found - (const char *)bytes : -1;
}

long attache_file_system_type(const char *path) {
  struct statfs s;
  return statfs(path, &s) == 0 ? (long)s.f_type : -1;
}

long long attache_free_bytes(const char *path) {
  struct statvfs s;
  return statvfs(path, &s) == 0 ? (long long)s.f_bavail * (long long)s.f_frsize : -1;
}

int attache_harden_process(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

static void leave_for_memory(int number) {
  static const char words[] =
      "attache: out of memory, or an internal error   [memory]\n"
      "  fix    raise the limit (ulimit -v), and run it again: it resumes where it stopped\n";
  (void)number;
  if (write(2, words, sizeof words - 1) < 0) _exit(1);
  _exit(1);
}

void attache_give_memory_back(void) {
  // Else glibc keeps what was allocated in large pieces once for small ones, and never gives it back.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  // To set the one also ends the growth of the other: at its 128 KiB a thread gives pages back and faults them in
  // again all the time, which doubled what a reconciliation takes of the processor.
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

void attache_tell_of_memory(void) {
  struct rlimit space, data;
  if (getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &data) != 0) return;
  if (space.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY) return;
  // A thread without an arena of its own asks for one at each allocation, and reserves 64 MiB of addresses
  // with it. Refused, it asks again the next time: half a million times in one run.
  mallopt(M_ARENA_MAX, 1);
  const struct sigaction action = {.sa_handler = leave_for_memory};
  const int traps[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV};
  for (int i = 0; i < 4; i++) sigaction(traps[i], &action, 0);
}

int attache_open(const char *path, int flags, unsigned int mode) {
  return open(path, flags, (mode_t)mode);
}

int attache_lock(int descriptor, int exclusive) {
  return flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 ? 0 : errno;
}

void attache_unlock(int descriptor) { flock(descriptor, LOCK_UN); }

int attache_clone(int from, int to) { return ioctl(to, FICLONE, from) == 0 ? 0 : errno; }

int attache_copy(int from, int to, int forgets) {
  if (attache_clone(from, to) == 0) return 0;
  const size_t step = forgets ? 8 << 20 : 1 << 30;
  off_t copied = 0;
  for (;;) {
    ssize_t n = copy_file_range(from, 0, to, 0, step, 0);
    if (n == 0) return 0;
    if (n < 0 && errno != EINTR) break;
    if (n < 0) continue;
    if (forgets) posix_fadvise(from, copied, n, POSIX_FADV_DONTNEED);
    copied += n;
  }
  // Not between these file systems: what was copied so far moved both offsets, go on from there.
  if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  enum { size = 1 << 16 };
  char buffer[size];
  for (;;) {
    ssize_t n = read(from, buffer, size);
    if (n == 0) return 0;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    for (ssize_t written = 0; written < n;) {
      ssize_t w = write(to, buffer + written, (size_t)(n - written));
      if (w < 0 && errno != EINTR) return errno;
      if (w > 0) written += w;
    }
  }
}

int attache_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int attache_set_nonblocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

long attache_write_quietly(int descriptor, const void *bytes, unsigned long count) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  const int was_pending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t written = write(descriptor, bytes, count);
  const int code = errno;
  if (written < 0 && code == EPIPE && !was_pending) {
    const struct timespec now = {0, 0};
    sigtimedwait(&pipe_signal, 0, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, 0);
  errno = code;
  return written;
}

int attache_open_process(int child) { return (int)syscall(SYS_pidfd_open, child, 0); }

int attache_wait_for_exit(int child, int milliseconds) {
  const int descriptor = attache_open_process(child);
  if (descriptor < 0) return errno;
  struct pollfd ended = {.fd = descriptor, .events = POLLIN};
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long end = now.tv_sec * 1000LL + now.tv_nsec / 1000000 + milliseconds;
  int ready;
  while ((ready = poll(&ended, 1, milliseconds)) < 0 && errno == EINTR) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long left = end - (now.tv_sec * 1000LL + now.tv_nsec / 1000000);
    milliseconds = left > 0 ? (int)left : 0;
  }
  close(descriptor);
  return ready == 0 ? ETIMEDOUT : 0;
}

int attache_try_join(unsigned long thread) { return pthread_tryjoin_np((pthread_t)thread, 0); }

int attache_join(unsigned long thread, long long milliseconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += milliseconds / 1000;
  until.tv_nsec += milliseconds % 1000 * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  return pthread_clockjoin_np((pthread_t)thread, 0, CLOCK_MONOTONIC, &until);
}

void attache_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

static int set_attributes(posix_spawnattr_t *attributes, int own_group) {
  sigset_t none, pipe_signal;
  sigemptyset(&none);
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigaddset(&pipe_signal, SIGXFSZ);
  int status = posix_spawnattr_setsigmask(attributes, &none);
  if (status == 0) status = posix_spawnattr_setsigdefault(attributes, &pipe_signal);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (own_group) {
    flags |= POSIX_SPAWN_SETPGROUP;
    if (status == 0) status = posix_spawnattr_setpgroup(attributes, 0);
  }
  if (status == 0) status = posix_spawnattr_setflags(attributes, flags);
  return status;
}

int attache_spawn(const char *path, char *const argv[], char *const envp[], int in, int out,
                  int error, int own_group, int *child) {
  posix_spawn_file_actions_t actions;
  int status = posix_spawn_file_actions_init(&actions);
  if (status != 0) return status;
  const int wanted[3] = {in, out, error};
  for (int i = 0; status == 0 && i < 3; i++)
    status = posix_spawn_file_actions_adddup2(&actions, wanted[i], i);
  if (status == 0) status = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t pid = 0;
  posix_spawnattr_t attributes;
  if (status == 0) {
    status = posix_spawnattr_init(&attributes);
    if (status == 0) {
      status = set_attributes(&attributes, own_group);
      if (status == 0) status = posix_spawn(&pid, path, &actions, &attributes, argv, envp);
      posix_spawnattr_destroy(&attributes);
    }
  }
  posix_spawn_file_actions_destroy(&actions);
  *child = (int)pid;
  return status;
}
