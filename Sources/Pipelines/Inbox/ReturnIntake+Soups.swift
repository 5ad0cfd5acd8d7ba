import Returns
import SmartStore
import Snapshots

/// Messages about soups that differ between a return and the pipeline.
extension ReturnIntake {
  /// Returns messages about the soups of a returned store that the app has altered.
  ///
  /// They are compared with what was issued to the device, because the pipeline may have other
  /// soups and indexes by now. If the generation is no longer kept, the message names both possible
  /// causes.
  func alteredSoups(_ store: ValidatedStore, _ issued: GenerationRecord?) -> [String] {
    if store.missingSoups.isEmpty, store.reindexedSoups.isEmpty { return [] }
    let entry = issued?.entries(of: store.stamp.platform).first {
      $0.scope == store.scope && $0.storeName == store.storeName
    }
    var lines: [String] = []
    for soup in store.missingSoups {
      if let entry {
        if entry.counts[soup] != nil { lines.append("the app removed the soup \"\(soup)\"") }
      } else {
        lines.append(
          "the soup \"\(soup)\" is missing: the app removed it, or the pipeline added it later")
      }
    }
    let indexes = entry.flatMap { issuedIndexes(store.reindexedSoups, of: $0, store.stamp) }
    for soup in store.reindexedSoups {
      if let indexes {
        if indexes[soup] != store.indexes[soup] {
          lines.append("the app changed the soup \"\(soup)\": its indexes are not those issued")
        }
      } else {
        lines.append(
          "the indexes of the soup \"\(soup)\" are not the pipeline's: the app changed them, or the "
            + "pipeline did later")
      }
    }
    return lines
  }

  /// Returns the indexes that the soups were issued with, from the generation's own file; nil if
  /// the file is pruned or unreadable, which does not affect the return's edits.
  private func issuedIndexes(
    _ soups: [String], of entry: StoreEntry, _ stamp: Provenance
  ) -> [String: [IndexSpec]]? {
    if soups.isEmpty { return [:] }
    let directory = SnapshotDirectory(path: data.snapshot(stamp.user))
      .directory(of: stamp.generation, stamp.platform)
    guard let file = try? Store(opening: "\(directory)/\(entry.path)", readOnly: true) else {
      return nil
    }
    defer { try? file.close() }
    return try? soups.reduce(into: [:]) { found, soup throws in
      // A soup that was not issued has no issued indexes.
      if try file.soupNames().contains(soup) { found[soup] = try file.indexSpecs(of: soup) }
    }
  }
}
