import JSON
import MobileSync
import System
import TestSupport

/// What stood in a store and in the org before a sync, to judge what the sync did.
struct SyncCheck {
  private let world: World
  private let device: Device
  private let sync: Step.Sync
  private let elements: [Int64: Device.Element]
  private let records: [String: OrgRecord]
  /// Whether the sync asks for changes alone.
  private let isIncremental: Bool

  init(_ world: World, _ device: Device, _ sync: Step.Sync) async throws {
    self.world = world
    self.device = device
    self.sync = sync
    elements = try await Self.byEntry(device)
    records = world.watch.records
    isIncremental = (try await device.manager.syncStatus(named: "down")?.maxTimeStamp ?? -1) > 0
  }

  private static func byEntry(_ device: Device) async throws -> [Int64: Device.Element] {
    Dictionary(uniqueKeysWithValues: try await device.elements().map { ($0.entry, $0) })
  }

  /// Holds what the sync did against what it may do.
  func hold(_ result: SyncResult, rows: [EditLog.Row], wasStruck: Bool, kind: Mishap.Kind?)
    async throws
  {
    try judge(result.error, wasStruck: wasStruck)
    let after = try await Self.byEntry(device)
    if sync == .up {
      keepLeft(rows)
      allow(result, rows, wasStruck: wasStruck)
    }
    try await world.check(device, before: elements, rows: rows)
    let isQuiet = !wasStruck || (kind != .changedBetween && kind != .editMeanwhile)
    switch sync {
    case .down:
      if isQuiet { try writtenAnew(after) }
      if isQuiet, isIncremental, !world.setup.goesBack { try takenBack(after) }
      try removed(after, of: { _ in false })
      if isQuiet, result.error == nil { try whole(after, result.report) }
      let isWhole = result.report.warnings.isEmpty && result.report.unreadable.isEmpty
      if isQuiet, isWhole, result.error == nil { remember(after) }
    case .ghosts:
      try removed(after) { element in
        !element.isDirty && world.watch.records[element.id]?.matches != true
      }
    case .up: break
    }
  }

  /// A sync may fail only where something went wrong, and never because of its store.
  private func judge(_ error: SyncError?, wasStruck: Bool) throws {
    guard let error else { return }
    let isOurs = [.store, .definition, .notYet, .unknownSync, .running].contains(error.code)
    if isOurs || !wasStruck {
      throw Violation("the sync \(sync.rawValue) failed: \(error)")
    }
  }

  // MARK: sync up

  private func keepLeft(_ rows: [EditLog.Row]) {
    device.left = Set(rows.filter { $0.kind == .stays }.compactMap(\.entry))
  }

  /// Says which names may stand in the org more than once.
  private func allow(_ result: SyncResult, _ rows: [EditLog.Row], wasStruck: Bool) {
    var entries = Set(rows.filter { $0.kind == .recreated }.compactMap(\.entry))
    // What a lost answer made is looked for by the org's dates; they say nothing where the clock went
    // back between.
    if world.setup.goesBack, wasStruck, result.error != nil {
      for element in elements.values where element.isDirty {
        if element.isCreated ? world.setup.externalID == nil : world.setup.upMode == .overwrite {
          entries.insert(element.entry)
        }
      }
    }
    for entry in entries {
      if let name = elements[entry]?.text("Name") { world.allowance[name, default: 1] += 1 }
    }
  }

  // MARK: sync down

  /// An element that is the org's record already is not written.
  private func writtenAnew(_ after: [Int64: Device.Element]) throws {
    for (entry, object) in device.arrived {
      guard let before = elements[entry], before.object == object, agrees(before),
        let now = after[entry], now.object != object
      else { continue }
      throw Violation(
        "\(name) wrote element \(entry) again, which was the org's record already: "
          + JSONValue.object(now.object).text)
    }
  }

  /// An edit of a record that nobody else changed is not taken back because it is read again.
  private func takenBack(_ after: [Int64: Device.Element]) throws {
    for element in elements.values where element.isDirty && element.hasServerID {
      guard let record = records[element.id], record.modified == element.text("LastModifiedDate"),
        let now = after[element.entry], !now.isDirty
      else { continue }
      throw Violation(
        "\(name)'s edit of element \(element.entry) was overwritten by a record that "
          + "nobody had changed")
    }
  }

  /// Elements leave a store for a reason only.
  private func removed(
    _ after: [Int64: Device.Element], of mayGo: (Device.Element) -> Bool
  ) throws {
    for (entry, element) in elements where after[entry] == nil && !mayGo(element) {
      throw Violation(
        "\(name) removed element \(entry) (record \(element.id)) in a sync "
          + sync.rawValue)
    }
  }

  /// After a sync down that is DONE every record of the org is there, unless it was changed here.
  private func whole(_ after: [Int64: Device.Element], _ report: SyncReport) throws {
    let byID = Dictionary(after.values.map { ($0.id, $0) }) { first, _ in first }
    let unread = Set(report.unreadable.values.joined())
    for record in world.watch.matching where !unread.contains(record.id) {
      guard let element = byID[record.id] else {
        if !report.warnings.isEmpty { continue }
        throw Violation("\(name) lacks the record \(record.id) after a sync down")
      }
      if element.isDirty || agrees(element, with: record) || !report.warnings.isEmpty { continue }
      throw Violation(
        "\(name) has old values of the record \(record.id) after a sync down: "
          + "\(JSONValue.object(element.object).text); the org has \(record)")
    }
  }

  /// Keeps what a whole sync down left clean: all of it is the org's to the byte.
  private func remember(_ after: [Int64: Device.Element]) {
    device.arrived = after.compactMapValues { element in
      element.isDirty || element.object["__sync_id__"] == nil ? nil : element.object
    }
  }

  private var name: String { Device.name(device.number) }

  private func agrees(_ element: Device.Element) -> Bool {
    records[element.id].map { agrees(element, with: $0) } ?? false
  }

  private func agrees(_ element: Device.Element, with record: OrgRecord) -> Bool {
    element.text("Name") == record.name && element.text("LastModifiedDate") == record.modified
      && zip(world.setup.fields, record.values).allSatisfy { element.text($0) == $1 }
  }
}
