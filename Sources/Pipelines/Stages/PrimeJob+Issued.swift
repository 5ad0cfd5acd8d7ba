import JSON
import MobileSync
import SmartStore
import Snapshots
import System

/// Stores what a generation issued, to compare it with later returns.
extension PrimeJob {
  /// Writes the records of the stores that were just built in the directory `temporary`.
  ///
  /// If few records differ from the previous generation's, its file is copied and updated. Every
  /// sixteenth file is written from scratch, so that damage is not inherited forever.
  func writeIssued(
    _ outcome: PrimeOutcome, number: Int, _ temporary: String, after previous: GenerationRecord?
  ) throws {
    guard let platform = pipeline.platforms.first else { return }
    let made = stores.map { temporary + "/" + fileName(of: $0, platform) }
    let repeats = stores.contains(where: \.mayRepeatRecords)
    let isRenewed = try previous.map {
      try !repeats && renewIssued(made, number: number, after: $0, platform)
    }
    if isRenewed != true {
      let writer = try IssuedRecordWriter(
        path: data.issued(number, of: user.id), repeats: repeats)
      for (settings, path) in zip(stores, made) {
        let store = try Store(opening: path, readOnly: true)
        for choice in try choices(of: settings, store) { try writer.append(choice, of: store) }
        try store.close()
      }
      try writer.finish()
    }
    try writeStamps(outcome, made, temporary)
  }

  /// The number of generations that build on each other's file.
  private static let lineage = 16

  /// Updates a copy of the previous generation's issued records; false if they must be written from
  /// scratch.
  private func renewIssued(
    _ made: [String], number: Int, after previous: GenerationRecord, _ platform: Platform
  ) throws -> Bool {
    let file = data.issued(previous.generation, of: user.id)
    guard !number.isMultiple(of: Self.lineage), Files.exists(file) else { return false }
    let old = directory.directory(of: previous.generation)
    do throws(SnapshotError) {
      let writer = try IssuedRecordWriter(path: data.issued(number, of: user.id), renewing: file)
      let isWhole = try SnapshotError.mapping {
        try zip(stores, made).allSatisfy { settings, path in
          let before = CarryingStore.source(of: fileName(of: settings, platform), in: old)
          return try renew(settings, path, before, with: writer)
        }
      }
      if isWhole { try writer.finish() }
      return isWhole
    } catch {
      // A damaged file is useless; a disk error would affect both ways.
      guard error.isDamage else { throw error }
      return false
    }
  }

  private func renew(
    _ settings: StoreSettings, _ path: String, _ before: String, with writer: IssuedRecordWriter
  ) throws -> Bool {
    guard Files.exists(before) else { return false }
    let store = try Store(opening: path, readOnly: true)
    let old = try Store(opening: before, readOnly: true)
    let choices = try choices(of: settings, store)
    let isSame = try choices == self.choices(of: settings, old)
    try old.close()
    let isWhole =
      try isSame && choices.allSatisfy { try writer.renew($0, of: store, since: order.created) }
    try store.close()
    return isWhole
  }

  /// What is kept of each soup of a store: the fields that the syncs name, including the
  /// modification date, and the fields of its first element.
  private func choices(
    of settings: StoreSettings, _ store: Store
  ) throws -> [IssuedRecordWriter.SoupFields] {
    try settings.schema.soups.map(\.soupName).map { soup in
      let first = try store.query(QuerySpec(soupName: soup, .all, pageSize: 1)).first
      let fields = FieldNames.known(
        of: soup, in: settings, held: try first.flatMap { try JSONValue(parsing: $0).object })
      let dates = FieldNames.dates(of: soup, in: settings).filter { !fields.contains($0) }
      return IssuedRecordWriter.SoupFields(
        soup: soup, key: PrimeInput.key(settings.storeName, soup), fields: fields + dates)
    }
  }

  /// Stores the modification stamps of the records in the soups.
  ///
  /// A record without a stamp is fetched again.
  private func writeStamps(_ outcome: PrimeOutcome, _ made: [String], _ temporary: String) throws {
    var stamps: [String: [String: Int64]] = [:]
    for (settings, path) in zip(stores, made) {
      let keys = settings.schema.soups.map { soup in
        (soup: soup.soupName, key: PrimeInput.key(settings.storeName, soup.soupName))
      }
      guard keys.contains(where: { outcome.stamps[$0.key] != nil }) else { continue }
      let store = try Store(opening: path, readOnly: true)
      for (soup, key) in keys {
        guard let listed = outcome.stamps[key] else { continue }
        var held: [String: Int64] = [:]
        try store.forEachValue(of: "Id", in: soup) { _, bytes in
          let id = String(decoding: bytes, as: UTF8.self)
          held[id] = listed[id]
        }
        stamps[key] = held
      }
      try store.close()
    }
    try SystemModstamps.write(stamps, in: temporary)
  }
}
