import System

/// A file for records that has no name, so it never outlives the run.
final class PoolFile: Sendable {
  private struct State {
    var end = 0
    var isFull = false
  }

  private let file: FileDescriptorHandle
  private let state = Locked(State())

  /// Creates the file in a directory.
  init(in directory: String) throws(SystemError) {
    file = try FileDescriptorHandle.unnamed(beside: directory + "/pool")
  }

  /// Whether the disk refused a write.
  var isFull: Bool { state.withLock { $0.isFull } }

  /// Appends bytes and returns their offset; nil if the disk does not take them.
  func append(_ bytes: [UInt8]) -> Int? {
    let offset = state.withLock { state -> Int? in
      guard !state.isFull else { return nil }
      defer { state.end += bytes.count }
      return state.end
    }
    guard let offset else { return nil }
    do {
      try bytes.withUnsafeBytes { try file.write($0, at: offset) }
      return offset
    } catch {
      state.withLock { $0.isFull = true }
      return nil
    }
  }

  /// Appends bytes of the file to `bytes`; returns false if they cannot be read.
  func read(_ count: Int, at offset: Int, into bytes: inout [UInt8]) -> Bool {
    let found = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        filled = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch {
        filled = 0
      }
    }
    bytes += found
    return found.count == count
  }
}
