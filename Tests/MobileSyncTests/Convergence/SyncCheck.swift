import JSON
import MobileSync
import TestSupport

/// The state of a store and of the org before a sync, to check the sync's effects.
struct SyncCheck {
  private let world: World
  private let device: Device
  private let sync: Step.Sync
  private let elements: [Int64: Device.Element]
  private let records: [String: OrgRecord]
  /// Whether the sync requests only changes.
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

  /// A sync may fail only because of a fault, and never because of its store.
  private func judge(_ error: SyncError?, wasStruck: Bool) throws {
    guard let error else { return }
    let isOurs = [.store, .definition, .notYet, .unknownSync, .running].contains(error.code)
    if isOurs || !wasStruck { throw Violation("the sync \(sync.rawValue) failed: \(error)") }
  }

  // MARK: Sync up

  private func keepLeft(_ rows: [EditLog.Row]) {
    device.left = Set(rows.filter { $0.kind == .stays }.compactMap(\.entry))
  }

  /// Records which names may exist in the org more than once.
  private func allow(_ result: SyncResult, _ rows: [EditLog.Row], wasStruck: Bool) {
    var entries = Set(rows.filter { $0.kind == .recreated }.compactMap(\.entry))
    // The result of a lost response is looked up by the org's dates, which are unreliable if the
    // clock went back.
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

  // MARK: Sync down

  /// An element that already equals the org's record is not written.
  private func writtenAnew(_ after: [Int64: Device.Element]) throws {
    for (entry, object) in device.arrived {
      guard let before = elements[entry], before.object == object, agrees(before),
        let now = after[entry], now.object != object
      else { continue }
      throw Violation(
        "\(name) rewrote element \(entry), which already equaled the org's record: "
          + JSONValue.object(now.object).text)
    }
  }

  /// An edit of a record that no one else changed is not reverted when the record is read again.
  private func takenBack(_ after: [Int64: Device.Element]) throws {
    for element in elements.values where element.isDirty && element.hasServerID {
      guard let record = records[element.id], record.modified == element.text("LastModifiedDate"),
        let now = after[element.entry], !now.isDirty
      else { continue }
      throw Violation(
        "\(name)'s edit of element \(element.entry) was overwritten by a record that "
          + "no one else had changed")
    }
  }

  private func removed(
    _ after: [Int64: Device.Element], of mayGo: (Device.Element) -> Bool
  ) throws {
    for (entry, element) in elements where after[entry] == nil && !mayGo(element) {
      throw Violation(
        "\(name) removed element \(entry) (record \(element.id)) in a sync " + sync.rawValue)
    }
  }

  /// After a sync down that is DONE, all records of the org are in the store unless changed
  /// locally.
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

  /// Stores the clean elements after a complete sync down; they equal the org's records byte for
  /// byte.
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
