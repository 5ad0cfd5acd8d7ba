import Archive

/// How large what arrives in an inbox may be.
package struct InboxLimits: Sendable, Hashable {
  /// The largest file.
  package var fileMiB = 4096
  /// The most entries of an archive.
  package var entries = ArchiveReader.Limits().entries
  /// The most that compression may have saved.
  package var ratio = Int(ArchiveReader.Limits().ratio)
  /// The largest record.
  package var recordMiB = 8

  /// The defaults.
  package init() {}

  /// Bytes of the largest file.
  package var fileBytes: Int64 { Int64(fileMiB) << 20 }

  /// What an archive may hold.
  package var archive: ArchiveReader.Limits {
    ArchiveReader.Limits(
      entries: entries, totalBytes: TakenReturn.Kind.bundle.mostBytes(fileBytes),
      entryBytes: fileBytes, ratio: Int64(ratio))
  }
}

extension TakenReturn.Kind {
  /// The most bytes that come in as one of it, where a store may have `fileBytes`: a bundle has a
  /// user's store and the global one.
  package func mostBytes(_ fileBytes: Int64) -> Int64 {
    self == .store ? fileBytes : fileBytes * 2
  }
}
