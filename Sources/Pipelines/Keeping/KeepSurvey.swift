import Bundles
import JSON
import Ledger
import Returns
import SmartStore
import Snapshots
import System

/// Collects the facts for `KeepRule` from a pipeline's directory and its ledger.
///
/// The result is reliable only while the caller holds the pipeline's lock.
struct KeepSurvey {
  let data: DataDirectory
  let ledger: LedgerDatabase
  /// The validity of bundles that do not state it.
  let pack: PackSettings
  /// The minimum age of a processed return to be considered.
  let returnedMilliseconds: Int64

  func facts(now: Int64) throws -> KeepFacts {
    var facts = KeepFacts(now: now)
    let needed = try ledger.neededFiles()
    facts.openEdits = needed.openEdits
    let names = try ledger.snapshotRows().usernames
    var globals: [Int: Int64] = [:]
    for id in try snapshots() {
      var snapshot = KeepFacts.Snapshot(id: id, name: names[id] ?? id, generations: [])
      snapshot.current = try SnapshotDirectory(path: data.snapshot(id)).current()?.generation
      for number in try generations(of: id) {
        var one = try generation(number, of: id, now: now, globals: &globals)
        one.openEdits = needed.ofGeneration[id]?[number] ?? []
        one.isLastReturned = needed.lastReturned[id]?.contains(number) == true
        snapshot.generations.append(one)
      }
      facts.snapshots.append(snapshot)
    }
    Self.note(globals, in: &facts)
    facts.returned = try returned(needed.ofReturn, before: now - returnedMilliseconds)
    facts.quarantined = try quarantined()
    facts.reports = try reports(needed.ofRun)
    facts.lastReport = try ledger.latestRun(of: facts.reports.map(\.run))
    return facts
  }

  /// The global stores of a generation count as valid as long as a bundle that contains them is.
  private static func note(_ globals: [Int: Int64], in facts: inout KeepFacts) {
    guard let place = facts.snapshots.firstIndex(where: { $0.id == SnapshotID.global }) else {
      return
    }
    for index in facts.snapshots[place].generations.indices {
      facts.snapshots[place].generations[index].goodUntil =
        globals[facts.snapshots[place].generations[index].number]
    }
  }

  // MARK: generations

  /// Returns the snapshots that have any files.
  private func snapshots() throws -> [String] {
    var ids = try data.snapshots()
    if Files.isDirectory(data.issued) {
      for id in try Files.list(data.issued) where !id.hasPrefix(".") && !ids.contains(id) {
        ids.append(id)
      }
    }
    return ids
  }

  /// Returns the generations that have any files, except one that an interrupted prime had started.
  private func generations(of id: String) throws -> [Int] {
    let published = try data.generations(of: id)
    let issued = try data.issuedGenerations(of: id).filter { $0 <= published.last ?? .max }
    return Set(published + issued).sorted()
  }

  private func generation(
    _ number: Int, of id: String, now: Int64, globals: inout [Int: Int64]
  ) throws -> KeepFacts.Generation {
    var one = KeepFacts.Generation(number: number)
    let directory = data.generation(number, of: id)
    let issued = data.issued(number, of: id)
    if Files.exists(issued) { one.issuedBytes = try Files.size(of: issued) }
    // The generation was removed by hand, and it is unknown since when no device could get it, so
    // its issued records stay.
    guard Files.isDirectory(directory) else { return one }
    let rest = try Files.list(directory).filter {
      $0 != GenerationRecord.fileName && $0 != PrunedGeneration.fileName
    }
    if !rest.isEmpty { one.storeBytes = DiskUse.bytes(of: directory) }
    do {
      let note = try note(of: number, in: id, now: now)
      if try PrunedGeneration(directory: directory) != nil { one.retired = note.pruned }
      (one.goodUntil, one.carried) = (note.goodUntil, note.carried)
      for (global, until) in note.globals {
        globals[global] = max(globals[global] ?? 0, until)
      }
    } catch let error as SnapshotError where error.isDamage {
      one.damage = "it cannot be read: \(error)"
    }
    return one
  }

  /// Returns the lasting facts about a generation, from its note or from its files.
  func note(of number: Int, in id: String, now: Int64) throws -> PrunedGeneration {
    let directory = data.generation(number, of: id)
    if let noted = try PrunedGeneration(directory: directory) { return noted }
    let record = try SnapshotDirectory(path: data.snapshot(id)).record(of: number)
    var note = PrunedGeneration(
      pruned: now, goodUntil: nil, globals: [:], carried: Set(record.carried.map(\.edit)))
    for platform in record.platforms {
      for bundle in try BundleName.list(in: directory, platform) {
        // An unreadable bundle counts as valid for as long as one made now.
        let manifest = try? BundleReader.inspect(directory + "/" + bundle.text)
        let until = manifest?.expires ?? pack.expiry(from: now)
        note.goodUntil = max(note.goodUntil ?? 0, until)
        for store in manifest?.stores ?? [] where store.scope == .global {
          note.globals[store.generation] = max(note.globals[store.generation] ?? 0, until)
        }
      }
    }
    return note
  }

  // MARK: returns and reports

  /// Returns the processed returns that arrived before a time, or that the ledger does not know.
  private func returned(
    _ open: [String: Set<Int64>], before time: Int64
  ) throws -> [KeepFacts.File] {
    return try Self.names(in: data.done).compactMap { sha256 in
      let arrived = try ledger.returned(sha256: sha256)?.arrived
      if let arrived, arrived > time { return nil }
      let directory = data.done + "/" + sha256
      return KeepFacts.File(
        sha256: sha256, name: TakenReturn(directory: directory)?.name ?? sha256,
        bytes: DiskUse.bytes(of: directory), arrived: arrived,
        openEdits: open[sha256] ?? [])
    }
  }

  private func quarantined() throws -> [KeepFacts.File] {
    try Quarantine.list(data.quarantine).map { item in
      KeepFacts.File(
        sha256: item.sha256, name: item.detail["name"]?.string ?? item.sha256,
        bytes: DiskUse.bytes(of: data.quarantine + "/" + item.sha256),
        arrived: try ledger.returned(sha256: item.sha256)?.arrived)
    }
  }

  private func reports(_ open: [String: Set<Int64>]) throws -> [KeepFacts.Report] {
    try Self.names(in: data.reports).compactMap { run in
      guard let row = try ledger.run(id: run), row.ended != nil else { return nil }
      return KeepFacts.Report(
        run: run, time: row.now, bytes: DiskUse.bytes(of: data.report(run)),
        openEdits: open[run] ?? [])
    }
  }

  private static func names(in directory: String) throws(SystemError) -> [String] {
    guard Files.isDirectory(directory) else { return [] }
    return try Files.list(directory).filter { !$0.hasPrefix(".") }
  }
}

extension GenerationRecord {
  /// The platforms that it has stores for.
  var platforms: Set<Platform> { Set(stores.map(\.platform)) }
}
