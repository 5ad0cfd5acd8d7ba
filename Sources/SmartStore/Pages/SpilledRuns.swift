import System

/// Sorted runs of keys in a file without a name, which are merged while they are read.
final class SpilledRuns {
  private static let room = 64 << 10
  private static let readRoom = 16 << 10
  /// Before each key: its length, and the row's id.
  private static let head = 12

  /// The store's, for errors.
  private let path: String
  private let file: FileDescriptorHandle
  private var buffer: [UInt8] = []
  private var end = 0
  private var runs: [Range<Int>] = []
  private var begun = 0

  init(beside path: String) throws {
    self.path = path
    file = try PageFile.mapping(path) { () throws(SystemError) in
      try FileDescriptorHandle.unnamed(beside: path)
    }
  }

  /// Adds a key to the run that is written.
  func add(_ key: UnsafeRawBufferPointer, _ id: Int64) throws {
    withUnsafeBytes(of: UInt32(key.count)) { buffer.append(contentsOf: $0) }
    withUnsafeBytes(of: id) { buffer.append(contentsOf: $0) }
    buffer.append(contentsOf: key)
    if buffer.count >= Self.room { try flush() }
  }

  /// Ends the run.
  func endRun() throws {
    try flush()
    runs.append(begun..<end)
    begun = end
  }

  private func flush() throws {
    let place = end
    try buffer.withUnsafeBytes { bytes in
      try PageFile.mapping(path) { () throws(SystemError) in
        try file.write(bytes, at: place)
      }
    }
    end += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  /// Hands over the keys of all runs in their order; of equal ones that of the earlier run first.
  func merge(_ body: (UnsafeRawBufferPointer, Int64) throws -> Void) throws {
    var readers: [Reader] = []
    for run in runs {
      let reader = Reader(run)
      if try reader.advance(file) { readers.append(reader) }
    }
    // A heap of readers by the keys they stand at.
    var heap = Array(readers.indices)
    func isLess(_ left: Int, _ right: Int) -> Bool {
      let order = KeyRuns.compare(readers[left].key, readers[right].key)
      return order != 0 ? order < 0 : left < right
    }
    func sink(_ start: Int) {
      var place = start
      while true {
        var least = place
        for child in [2 * place + 1, 2 * place + 2]
        where child < heap.count && isLess(heap[child], heap[least]) { least = child }
        if least == place { return }
        heap.swapAt(place, least)
        place = least
      }
    }
    for place in heap.indices.reversed() { sink(place) }
    while let first = heap.first {
      let reader = readers[first]
      try body(reader.key, reader.id)
      if try !reader.advance(file) {
        heap[0] = heap[heap.count - 1]
        heap.removeLast()
      }
      if heap.count > 1 { sink(0) }
    }
  }

  /// Where a run is read.
  private final class Reader {
    private var rest: Range<Int>
    private var buffer: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var place = 0
    private(set) var id: Int64 = 0
    private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ run: Range<Int>) {
      rest = run
      buffer = .allocate(byteCount: min(SpilledRuns.readRoom, max(run.count, 1)), alignment: 8)
    }

    deinit { buffer.deallocate() }

    /// Goes to the next key; false at the end.
    func advance(_ file: borrowing FileDescriptorHandle) throws -> Bool {
      guard place < filled || !rest.isEmpty else { return false }
      try need(SpilledRuns.head, file)
      let count = Int(buffer.loadUnaligned(fromByteOffset: place, as: UInt32.self))
      id = buffer.loadUnaligned(fromByteOffset: place + 4, as: Int64.self)
      try need(SpilledRuns.head + count, file)
      let start = place + SpilledRuns.head
      key = UnsafeRawBufferPointer(rebasing: buffer[start..<(start + count)])
      place = start + count
      return true
    }

    /// Sees to it that so many bytes stand behind the place.
    private func need(_ count: Int, _ file: borrowing FileDescriptorHandle) throws {
      guard filled - place < count else { return }
      let kept = filled - place
      if count > buffer.count {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: count * 2, alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[place..<filled]))
        buffer.deallocate()
        buffer = larger
      } else {
        // The two may overlap.
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[place..<filled]))
      }
      let wanted = min(buffer.count - kept, rest.count)
      let (path, start) = (file.path, rest.lowerBound)
      let into = UnsafeMutableRawBufferPointer(rebasing: buffer[kept..<(kept + wanted)])
      let read = try PageFile.mapping(path) { () throws(SystemError) in
        try file.read(into: into, at: start)
      }
      rest = (start + read)..<rest.upperBound
      filled = kept + read
      place = 0
      if filled < count {
        throw StoreError.database(path: path, code: 10, message: "a run of keys is cut off")
      }
    }
  }
}
