import CSystem
import Dispatch
import Glibc

/// The resource limits and the resource use of the process.
package enum ProcessLimits {
  /// Disables core dumps and access by other processes of the user.
  package static func harden() { _ = attache_harden_process() }

  /// Makes a failed allocation under a memory limit an error with status 1 instead of a crash.
  ///
  /// Without such a limit nothing changes, and a failed allocation crashes.
  package static func tellOfMemory() { attache_tell_of_memory() }

  /// Lets large pages and buffers return to the system when they are freed.
  package static func giveMemoryBack() { attache_give_memory_back() }

  /// Checks whether the process may start the threads it needs; nil if it may.
  ///
  /// The concurrency runtime waits forever if it cannot start a thread, so this is checked before
  /// it starts.
  package static func threadTrouble() -> SystemError? {
    let gate = DispatchSemaphore(value: 0)
    var threads: [OwnThread] = []
    var trouble: SystemError?
    for _ in 0..<neededThreads where trouble == nil {
      do throws(SystemError) {
        threads.append(try OwnThread(name: "probe") { gate.wait() })
      } catch {
        trouble = error
      }
    }
    for thread in threads {
      thread.willEnd()
      gate.signal()
    }
    OwnThread.joinLeaving(withinMilliseconds: 10_000)
    return trouble
  }

  /// The threads of the pool, the network, the signals, and a few stores.
  private static let neededThreads = 8 + sysconf(Int32(_SC_NPROCESSORS_ONLN))

  /// Makes new files private by default.
  package static func umask077() { _ = umask(0o077) }

  /// The peak resident memory of the process.
  package static func highWaterKiB() -> Int { statusKiB("VmHWM:") }

  /// The processor time used by all threads of the process, in milliseconds.
  package static func processorMilliseconds() -> (user: Int, system: Int) {
    var usage = rusage()
    guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return (0, 0) }
    func milliseconds(_ time: timeval) -> Int { Int(time.tv_sec) * 1000 + Int(time.tv_usec) / 1000 }
    return (milliseconds(usage.ru_utime), milliseconds(usage.ru_stime))
  }

  private static func statusKiB(_ name: String) -> Int {
    let bytes = (try? Files.read("/proc/self/status")) ?? []
    for line in bytes.split(separator: 0x0A) where line.starts(with: name.utf8) {
      let digits = line.filter { (0x30...0x39).contains($0) }
      return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }
    return 0
  }

  /// The bytes available to an unprivileged writer at `path`; nil if unknown.
  package static func freeBytes(at path: String) -> Int64? {
    let free = attache_free_bytes(path)
    return free < 0 ? nil : Int64(free)
  }

  /// Whether `path` is on a network file system, where locks and renames have weaker guarantees.
  ///
  /// 9p does not count: containers and virtual machines access their host's disk through it.
  package static func isNetworkFileSystem(_ path: String) -> Bool {
    networkFileSystems.contains(UInt32(truncatingIfNeeded: attache_file_system_type(path)))
  }

  /// The magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, FUSE, AFS twice, Coda, Ceph, Lustre,
  /// GPFS, GFS2, OCFS2, BeeGFS.
  private static let networkFileSystems: Set<UInt32> = [
    0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x5346_414F, 0x6B41_4653, 0x7375_7245,
    0x00C3_6400, 0x0BD0_0BD0, 0x4750_4653, 0x0116_1970, 0x7461_636F, 0x1983_0326,
  ]
}
