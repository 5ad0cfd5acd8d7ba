/// A part of a file, to be read when it is sent.
package struct FilePart: Sendable, Hashable {
  package var path: String
  /// The first byte of the part.
  package var offset: Int
  package var count: Int

  package init(path: String, offset: Int, count: Int) {
    (self.path, self.offset, self.count) = (path, offset, count)
  }
}
