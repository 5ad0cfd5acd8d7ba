import System

/// Sorted runs of keys in an unnamed file.
final class SpilledRuns {
  private static let room = 256 << 10

  /// The path of the store, for error messages.
  let path: String
  private let file: FileDescriptorHandle
  private let buffer = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 16)
  private var used = 0
  private var end = 0
  private(set) var runs: [Range<Int>] = []
  private var begun = 0

  init(beside path: String) throws {
    self.path = path
    file = try PageFile.mapping(path) { () throws(SystemError) in
      try FileDescriptorHandle.unnamed(beside: path)
    }
  }

  deinit { buffer.deallocate() }

  /// Adds a record to the current run.
  @inline(__always)
  func add(_ record: UnsafeRawBufferPointer) throws {
    if used + record.count > Self.room {
      try flush()
      if record.count > Self.room { return try write(record) }
    }
    (buffer + used).copyMemory(from: record)
    used += record.count
  }

  /// Ends the run.
  func endRun() throws {
    try flush()
    runs.append(begun..<end)
    begun = end
  }

  private func flush() throws {
    try write(UnsafeRawBufferPointer(start: buffer, count: used))
    used = 0
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    let place = end
    try PageFile.mapping(path) { () throws(SystemError) in try file.write(bytes, at: place) }
    end += bytes.count
  }

  /// Reads from an offset of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at place: Int) throws {
    let count = try PageFile.mapping(path) { () throws(SystemError) in
      try file.read(into: buffer, at: place)
    }
    guard count == buffer.count else {
      throw StoreError.database(path: path, code: 10, message: "a run of keys is truncated")
    }
  }
}
