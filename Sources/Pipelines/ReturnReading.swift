import Bundles
import JSON
import Reconciliation
import SmartStore
import System

/// What a return brings, over all its stores.
struct ReturnContents {
  var edits: [ReturnedEdit] = []
  var witnesses: [RowWitness] = []
  var totals: [SoupKey: Int] = [:]
}

/// Reads the edits of proved stores and gives each its base.
struct ReturnReading {
  let pipeline: Pipeline
  let data: DataDirectory

  func add(
    _ proved: ProvedStore, platform: Platform, witnesses: [RowKey],
    to contents: inout ReturnContents
  ) throws {
    let key = StoreKey(scope: proved.scope.rawValue, storeName: proved.storeName)
    guard
      let settings = pipeline.stores.first(where: {
        $0.scope.rawValue == proved.scope.rawValue && $0.storeName == proved.storeName
      })
    else { return }
    let store = try Store(untrusted: proved.path)
    defer { try? store.close() }
    let soups = settings.schema.soups.filter { !proved.missingSoups.contains($0.soupName) }
    var reading = try EditReader.read(
      store: store, key: key, soups: soups.map { self.soup($0.soupName, in: settings) },
      witnesses: Set(witnesses.filter { $0.store == key }), recordMiB: pipeline.inbox.recordMiB)
    try addBases(to: &reading.edits, proved)
    contents.edits += reading.edits
    contents.witnesses += reading.witnesses
    contents.totals.merge(reading.totals) { $1 }
  }

  /// A soup with the members that its sync up names.
  private func soup(_ name: String, in settings: StoreSettings) -> SoupReading {
    for sync in settings.reconciled where sync.soupName == name {
      guard case .syncUp(let target) = sync.target else { continue }
      return SoupReading(
        soup: name, idField: target.fields.idFieldName,
        modificationField: target.fields.modificationDateFieldName)
    }
    return SoupReading(soup: name)
  }

  private func addBases(to edits: inout [ReturnedEdit], _ proved: ProvedStore) throws {
    let path = data.base(proved.stamp.generation, of: proved.stamp.user)
    // Without its base a return is compared as the SDK compares, and the verdicts say so.
    guard Files.exists(path) else { return }
    let base = BaseReader(path: path)
    var wanted: [String: Set<String>] = [:]
    for edit in edits {
      if let id = edit.serverID { wanted[edit.row.soup, default: []].insert(id) }
    }
    for (soup, ids) in wanted {
      let name = "\(proved.storeName)/\(soup)"
      let records = try base.lookup(soup: name, ids: ids)
      for index in edits.indices where edits[index].row.soup == soup {
        guard let id = edits[index].serverID, let record = records[id] else { continue }
        edits[index].base = try Self.baseRecord(record)
      }
    }
  }

  private static func baseRecord(_ record: Base.Record) throws -> BaseRecord {
    BaseRecord(
      modificationDate: record.modified, lastModified: record.lastModified,
      fields: try JSONValue(parsing: record.fields).object ?? [:], isComplete: true)
  }
}
