#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

int attache_rename_no_replace(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
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

int attache_open(const char *path, int flags, unsigned int mode) {
  return open(path, flags, (mode_t)mode);
}

int attache_lock(int descriptor, int exclusive) {
  return flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 ? 0 : errno;
}

int attache_spawn(const char *path, char *const argv[], char *const envp[], int in, int out,
                  int error, int *child) {
  posix_spawn_file_actions_t actions;
  int status = posix_spawn_file_actions_init(&actions);
  if (status != 0) return status;
  const int wanted[3] = {in, out, error};
  for (int i = 0; status == 0 && i < 3; i++)
    status = posix_spawn_file_actions_adddup2(&actions, wanted[i], i);
  if (status == 0) status = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t pid = 0;
  if (status == 0) status = posix_spawn(&pid, path, &actions, 0, argv, envp);
  posix_spawn_file_actions_destroy(&actions);
  *child = (int)pid;
  return status;
}
