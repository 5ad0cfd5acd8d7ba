import Archive

/// The size limits of files in an inbox.
package struct InboxLimits: Sendable, Hashable {
  /// The maximum size of a file.
  package var fileMiB = 4096
  /// The maximum number of entries in an archive.
  package var entries = ArchiveReader.Limits().entries
  /// The maximum compression ratio.
  package var ratio = Int(ArchiveReader.Limits().ratio)
  /// The maximum size of a record.
  package var recordMiB = 8

  /// Creates the default limits.
  package init() {}

  /// The maximum size of a file in bytes.
  package var fileBytes: Int64 { Int64(fileMiB) << 20 }

  /// The limits of an archive.
  package var archive: ArchiveReader.Limits {
    ArchiveReader.Limits(
      entries: entries, totalBytes: TakenReturn.Kind.bundle.mostBytes(fileBytes),
      entryBytes: fileBytes, ratio: Int64(ratio))
  }
}

extension TakenReturn.Kind {
  /// Returns the maximum size of a return in bytes, given that of a store.
  ///
  /// A bundle contains a user's store and the global one.
  package func mostBytes(_ fileBytes: Int64) -> Int64 {
    self == .store ? fileBytes : fileBytes * 2
  }
}
