import JSON
import MobileSync
import TestSupport

/// Two devices and an org during one history.
final class World {
  let history: History
  let org: HistoryOrg
  var devices: [Device] = []
  var log = EditLog()
  /// The number of times that each kind of fault fired.
  var tally = Tally()
  /// The number of records with one name that may exist at once, if it is not one.
  ///
  /// A deleted record may be recreated by both devices; a create is done once, whatever happened to
  /// its response.
  var allowance: [String: Int] = [:]
  var step = 0
  private var made = 0
  var setup: HistorySetup { history.setup }
  var watch: OrgWatch { org.watch }
  init(_ history: History) async throws {
    self.history = history
    org = try HistoryOrg(history.setup)
    for number in 0..<2 {
      devices.append(try await Device(number, history.setup, client: org.client(of: number)))
    }
  }

  /// Runs a history; throws a `Violation` if a guarantee is broken.
  static func run(_ history: History) async throws -> Tally {
    let world = try await World(history)
    for number in 0..<2 { try await world.sync(number, .down, nil) }
    for (index, step) in history.steps.enumerated() {
      world.step = index + 1
      do { try await world.perform(step) } catch let violation as Violation {
        throw Violation("step \(index + 1): \(violation)")
      }
    }
    try await world.comeToRest()
    return world.tally
  }

  // MARK: Steps

  private func perform(_ step: Step) async throws {
    switch step {
    case .create(let device): try await create(devices[device])
    case .edit(let device, let pick, let field):
      try await edit(devices[device], pick: pick, field: field)
    case .delete(let device, let pick): try await delete(devices[device], pick: pick)
    case .orgCreate(let moment): try org.create(at: moment)
    case .orgUpdate(let pick, let field, let moment):
      try withRecord(pick) { try org.update($0, field: field, at: moment) }
    case .orgDelete(let pick): try withRecord(pick) { try org.delete($0) }
    case .orgLeave(let pick): try withRecord(pick) { try org.leave($0) }
    case .clock(let seconds): try org.moveClock(seconds: seconds)
    case .sync(let device, let sync, let mishap): try await self.sync(device, sync, mishap)
    case .resolve(let device, let side): try await resolve(devices[device], side)
    case .kill(let device): try await kill(devices[device])
    }
    try watch.look()
    for device in devices { try await check(device, before: [:], rows: []) }
  }

  private func withRecord(_ pick: Int, _ body: (OrgRecord) throws -> Void) throws {
    let records = watch.matching
    if !records.isEmpty { try body(records[pick % records.count]) }
  }

  func token(_ device: Device) -> String {
    made += 1
    return "\(Device.name(device.number))-\(made)"
  }

  private func create(_ device: Device) async throws {
    let token = token(device)
    let entry = try await device.write(device.newElement(token))
    note(device, entry, .create, HistoryOrg.prefix + token)
  }

  func note(_ device: Device, _ entry: Int64, _ kind: EditLog.Kind, _ token: String) {
    log.add(EditLog.Edit(step: step, device: device.number, entry: entry, kind: kind, token: token))
  }

  private func edit(_ device: Device, pick: Int, field: Int) async throws {
    let elements = try await device.elements().filter { !$0.isDeleted }
    guard !elements.isEmpty else { return }
    let element = elements[pick % elements.count]
    let token = token(device)
    _ = try await device.write(Device.edited(element.object, setup.fields[field], token))
    note(device, element.entry, .change(field: field), token)
  }

  private func delete(_ device: Device, pick: Int) async throws {
    let elements = try await device.elements().filter { !$0.isDeleted }
    guard !elements.isEmpty else { return }
    let element = elements[pick % elements.count]
    var object = element.object
    object["__local__"] = true
    object["__locally_deleted__"] = true
    _ = try await device.write(object)
    note(device, element.entry, .delete, "")
  }

  private func kill(_ device: Device) async throws {
    let path = device.nextPath()
    try Device.copy(device.path, to: path)
    try await device.start(at: path)
  }

  // MARK: Conflicts

  /// The app resolves the conflicts of the last sync up, with the org's record or its own.
  @discardableResult func resolve(_ device: Device, _ side: Step.Side) async throws -> Int {
    let left = device.left
    device.left = []
    var settled = 0
    for element in try await device.elements() where left.contains(element.entry) && element.isDirty
    {
      settled += 1
      let current = watch.records[element.id]
      switch side {
      case .server: try await takeServer(device, element, current)
      case .device: try await insist(device, element, current)
      }
    }
    return settled
  }

  private func takeServer(_ device: Device, _ element: Device.Element, _ current: OrgRecord?)
    async throws
  {
    log.giveUp(device: device.number, entry: element.entry)
    guard let current, current.matches else { return try await device.remove(element.entry) }
    var object = element.object
    object["Name"] = .string(current.name)
    object["LastModifiedDate"] = .string(current.modified)
    for (field, value) in zip(setup.fields, current.values) { object[field] = .string(value) }
    for flag in ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"] {
      object[flag] = false
    }
    object["__last_error__"] = nil
    _ = try await device.write(object)
  }

  private func insist(_ device: Device, _ element: Device.Element, _ current: OrgRecord?)
    async throws
  {
    var object = element.object
    if let current {
      object["LastModifiedDate"] = .string(current.modified)
    } else if element.isDeleted {
      log.giveUp(device: device.number, entry: element.entry)
      return try await device.remove(element.entry)
    } else {
      // The other device may also keep its own.
      allowance[element.text("Name"), default: 1] += 1
      object["Id"] = .string("local_again_\(element.entry)_\(step)")
      object["LastModifiedDate"] = nil
      object["__locally_created__"] = true
    }
    _ = try await device.write(object)
  }

  // MARK: Syncs

  func sync(_ number: Int, _ sync: Step.Sync, _ mishap: Mishap?) async throws {
    let device = devices[number]
    try watch.look()
    let before = try await SyncCheck(self, device, sync)
    var strike: Strike?
    if let mishap { strike = try await Strike(mishap, self, device, sync) }
    strike?.arm()
    let result = await SyncResult.run(sync, device.manager)
    await strike?.disarm()
    let struck = try await finish(strike, device)
    try watch.look()
    var rows = EditLog.Row.rows(of: result.report)
    for report in struck.reports { rows += EditLog.Row.rows(of: report) }
    try await before.hold(result, rows: rows, wasStruck: struck.happened, kind: mishap?.kind)
  }

  /// Completes what a fault has left.
  private func finish(_ strike: Strike?, _ device: Device) async throws -> (
    happened: Bool, reports: [SyncReport]
  ) {
    guard let strike, strike.happened else { return (false, []) }
    tally.add(strike.mishap.kind, to: "mishaps")
    var reports: [SyncReport] = []
    switch strike.mishap.kind {
    case .kill: try await device.start(at: strike.copy)
    case .stop:
      let runs = try await device.manager.restart(restartStoppedSyncs: strike.mishap.salt % 2 == 0)
      for run in runs { reports.append(await run.report) }
    case .editMeanwhile:
      if let edit = strike.edit { log.add(edit) }
    default: break
    }
    return (true, reports)
  }

  func check(_ device: Device, before: [Int64: Device.Element], rows: [EditLog.Row]) async throws {
    let elements = try await device.elements()
    let byEntry = Dictionary(uniqueKeysWithValues: elements.map { ($0.entry, $0) })
    let lost = log.settle(
      device: device.number, setup: setup, elements: byEntry, watch: watch, before: before,
      rows: rows)
    let name = Device.name(device.number)
    if let edit = lost.first {
      throw Violation(
        "\(name)'s edit of step \(edit.step) (\(edit.kind) \(edit.token), element "
          + "\(edit.entry)) is neither in the store, nor in the org, nor in a report; the element "
          + "is \(byEntry[edit.entry].map { JSONValue.object($0.object).text } ?? "gone")")
    }
    var ids: Set<String> = []
    for element in elements where !ids.insert(element.id).inserted {
      throw Violation("\(name) has two elements of the record \(element.id)")
    }
    for (name, records) in Dictionary(grouping: watch.sorted, by: \.name)
    where records.count > allowance[name, default: 1] {
      throw Violation("the org has \(records.count) records named \(name)")
    }
  }
}
