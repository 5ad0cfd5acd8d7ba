import Ledger
import MobileSync
import Reconciliation
import Reports
import Salesforce
import Snapshots
import System

/// The history of one record or edit, from the ledger and the issued records.
package enum Explanation {
  /// Returns the history of a record or edit, named by a record ID, a device's local ID or an edit
  /// number.
  ///
  /// Only the pipeline's directory is read; the org is not contacted. Throws a `PipelineError` if
  /// the name is unknown.
  package static func story(
    of name: String, _ pipeline: Pipeline, root: String
  ) throws -> RecordStory {
    let data = DataDirectory(root: root, name: pipeline.name)
    try LedgerCheck.checkRights(data)
    guard Files.exists(data.state) else { throw unknown(name, data) }
    let ledger = try data.openLedger()
    defer { ledger.close() }
    var story = try RecordStory(of: name, in: ledger, changes: FieldComparison.changes)
    let names = Dictionary(
      try ledger.snapshotRows().map { ($0.id, $0.username) }, uniquingKeysWith: { $1 })
    if let id = story.recordID { story.add(try issued(id, pipeline, data, names)) }
    story.add(try carried(Set(story.events.compactMap(\.edit)), data, names))
    guard !story.events.isEmpty else { throw unknown(name, data) }
    return story
  }

  private static func unknown(_ name: String, _ data: DataDirectory) -> PipelineError {
    PipelineError(
      .unknownName, "explain.unknown", "nothing is known about \"\(name)\"", location: data.path,
      fix:
        "name a record's Id, a device's local id, or an edit's number as listed by status and in "
        + "the report")
  }

  // MARK: generations

  private struct Holding {
    var generations: ClosedRange<Int>
    var time: Int64?
    var modified: String?
  }

  /// One event for each consecutive series of generations that held the record unchanged in a soup
  /// of a snapshot.
  private static func issued(
    _ id: String, _ pipeline: Pipeline, _ data: DataDirectory, _ usernames: [String: String?]
  ) throws -> [RecordEvent] {
    guard Files.isDirectory(data.issued) else { return [] }
    var events: [RecordEvent] = []
    for snapshot in try Files.list(data.issued) where !snapshot.hasPrefix(".") {
      for (soup, holdings) in try holdings(of: id, snapshot, data).sorted(by: { $0.key < $1.key }) {
        events += holdings.map { held in
          RecordEvent(
            time: held.time, username: usernames[snapshot] ?? nil,
            kind: .issued(
              generations: held.generations, soup: soup, modified: held.modified,
              syncs: syncs(into: soup, pipeline, isGlobal: snapshot == SnapshotID.global)))
        }
      }
    }
    return events
  }

  private static func holdings(
    of id: String, _ snapshot: String, _ data: DataDirectory
  ) throws -> [String: [Holding]] {
    var result: [String: [Holding]] = [:]
    for number in try data.issuedGenerations(of: snapshot) {
      let path = data.issued(number, of: snapshot)
      let records: [IssuedRecord]
      do throws(SnapshotError) {
        records = try IssuedRecordReader(path: path).records(id: id)
      } catch {
        // Skip unreadable generations and use the others.
        continue
      }
      for record in records {
        if let last = result[record.soup]?.last, last.modified == record.modified,
          last.generations.upperBound == number - 1
        {
          let count = result[record.soup]?.count ?? 1
          result[record.soup]?[count - 1].generations = last.generations.lowerBound...number
        } else {
          let time = try time(of: number, snapshot, data)
          result[record.soup, default: []].append(
            Holding(generations: number...number, time: time, modified: record.modified))
        }
      }
    }
    return result
  }

  /// One event for each kept generation that redelivered one of the edits in a soup.
  private static func carried(
    _ edits: Set<Int64>, _ data: DataDirectory, _ usernames: [String: String?]
  ) throws -> [RecordEvent] {
    if edits.isEmpty { return [] }
    var events: [RecordEvent] = []
    for snapshot in try data.snapshots() {
      let directory = SnapshotDirectory(path: data.snapshot(snapshot))
      for number in try directory.generations() {
        // Skip unreadable generations and use the others.
        guard let record = try? directory.record(of: number) else { continue }
        let rows = Dictionary(grouping: record.carried.filter { edits.contains($0.edit) }) {
          [String($0.edit), $0.soup]
        }
        events += rows.values.compactMap { rows in
          rows.first.map { row in
            RecordEvent(
              time: record.created, username: usernames[snapshot] ?? nil, edit: row.edit,
              kind: .carried(
                generation: number, platforms: rows.map(\.platform.rawValue).sorted(),
                soup: PrimeInput.key(row.storeName, row.soup), words: row.words))
          }
        }
      }
    }
    return events.sorted { ($0.time ?? 0, $0.edit ?? 0) < ($1.time ?? 0, $1.edit ?? 0) }
  }

  /// The time at which a generation was made, by the org's clock; by this machine's clock if the
  /// generation's record is gone.
  private static func time(of number: Int, _ snapshot: String, _ data: DataDirectory) throws
    -> Int64
  {
    let directory = SnapshotDirectory(path: data.snapshot(snapshot))
    if let kept = try? directory.record(of: number) { return kept.created }
    return try Files.modificationTime(of: data.issued(number, of: snapshot)) / 1_000_000
  }

  /// The sync downs that fill a soup, each with its kind of target.
  private static func syncs(
    into key: String, _ pipeline: Pipeline, isGlobal: Bool
  ) -> [String] {
    pipeline.stores.filter { ($0.scope == .global) == isGlobal }.flatMap { store in
      store.primed.filter { sync in
        sync.soups.contains { PrimeInput.key(store.storeName, $0.soupName) == key }
      }.map { sync in
        let kind = sync.target.json["type"]?.string
        return kind.map { "\(sync.syncName) (\($0))" } ?? sync.syncName
      }
    }
  }
}
