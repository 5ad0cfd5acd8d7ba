#ifndef ATTACHE_CSYSTEM_H
#define ATTACHE_CSYSTEM_H

// What Glibc's Swift module hides (GNU extensions) or cannot import (variadics, macros).

/// renameat2 with RENAME_NOREPLACE, relative to the working directory: 0, or an errno value.
int attache_rename_no_replace(const char *from, const char *to);

/// Where `count` bytes of `needle` stand first in `size` bytes; -1 where they do not.
long attache_find(const void *bytes, unsigned long size, const void *needle, unsigned long count);

/// The file system's magic number of statfs(2) at `path`; -1 where it cannot be asked.
long attache_file_system_type(const char *path);

/// Bytes free for an unprivileged writer on the file system of `path`; -1 where it cannot be asked.
long long attache_free_bytes(const char *path);

/// Asks the kernel to begin writing an open file's changed pages to the disk, and does not wait for them.
void attache_begin_writeback(int descriptor);

/// No core dumps and no ptrace by other processes of the user: 0, or an errno value.
int attache_harden_process(void);

/// Where the process's memory is limited, ends it with status 1 and a word about that when it is
/// trapped: an allocation that fails in Swift is a trap, and cannot be caught. All threads then share
/// one arena of allocations: call it before there is a second thread.
void attache_tell_of_memory(void);

/// Lets what is allocated in pieces of 4 MiB and more return to the system when it is freed: long pages that
/// came once would stay in the process.
void attache_give_memory_back(void);

/// open(2) with a mode, which is variadic.
int attache_open(const char *path, int flags, unsigned int mode);

/// flock(2), exclusive or shared, without waiting: 0, or an errno value.
int attache_lock(int descriptor, int exclusive);

/// Gives the lock of an open file back, whoever else has a copy of its descriptor.
void attache_unlock(int descriptor);

/// Lets an empty open file share all blocks of another: 0, or an errno value where the file system cannot.
int attache_clone(int from, int to);

/// Copies all of one open file to another: by sharing blocks, in the kernel, or by hand.
/// 0, or an errno value. With `forgets`, what was copied leaves memory step by step, so that the copy takes its place.
int attache_copy(int from, int to, int forgets);

/// pipe2(2) with O_CLOEXEC: 0, or -1 and errno.
int attache_pipe(int ends[2]);

/// Sets O_NONBLOCK: fcntl(2) is variadic.
int attache_set_nonblocking(int descriptor);

/// write(2) that answers EPIPE without the signal, whatever the process does with SIGPIPE.
long attache_write_quietly(int descriptor, const void *bytes, unsigned long count);

/// Opens a descriptor that is readable when a child has ended; -1 where the kernel cannot do it.
int attache_open_process(int child);

/// Waits for a child's end without reaping it, no longer than so many milliseconds: 0, ETIMEDOUT,
/// or another errno value where the kernel cannot do it.
int attache_wait_for_exit(int child, int milliseconds);

/// Joins a thread that has ended: 0, EBUSY while it goes on, or another errno value.
int attache_try_join(unsigned long thread);

/// Waits for a thread's end, no longer than so many milliseconds: 0, ETIMEDOUT, or another errno
/// value.
int attache_join(unsigned long thread, long long milliseconds);

/// Names the calling thread; the kernel keeps 15 bytes.
void attache_name_thread(const char *name);

/// posix_spawn with closed descriptors above 2 and the three given ones as 0, 1 and 2,
/// no signal blocked and SIGPIPE as usual; with `own_group` as the first process of a group of its own.
/// Answers 0 and the child's id, or an errno value.
int attache_spawn(const char *path, char *const argv[], char *const envp[], int in, int out,
                  int error, int own_group, int *child);

#endif
