import Glibc

extension Files {
  /// The bytes of a regular file with the status of that very file: no link is followed, and nobody
  /// can put another file there between the look and the read.
  package static func readRegular(
    _ path: String, limit: Int
  ) throws(SystemError) -> (status: FileStatus, bytes: [UInt8]) {
    let file = try openRegular(path)
    var status = stat()
    if fstat(file.descriptor, &status) != 0 { throw .last("look at", path) }
    guard status.st_size <= limit else {
      throw SystemError(operation: "read", path: path, errno: EFBIG)
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      var failure: SystemError?
      var step = 0
      bytes[count...].withUnsafeMutableBytes { raw in
        do throws(SystemError) { step = try file.read(into: raw) } catch { failure = error }
      }
      if let failure { throw failure }
      if step == 0 { break }
      count += step
    }
    return (FileStatus(status), Array(bytes.prefix(count)))
  }
}
