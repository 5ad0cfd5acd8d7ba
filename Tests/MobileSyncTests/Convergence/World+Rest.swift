import JSON
import TestSupport

/// The end of a history: no more faults, all devices sync, and then all must agree.
extension World {
  /// The maximum number of syncs until nothing is left to send.
  private static let rounds = 6

  func comeToRest() async throws {
    step = history.steps.count + 1
    do {
      // By now, requests without a response have arrived or never will.
      try org.moveClock(seconds: setup.quietSeconds)
      try await sendEverything()
      for device in devices { try await compare(device) }
    } catch let violation as Violation { throw Violation("at rest: \(violation)") }
    if let edit = log.open.first {
      throw Violation(
        "at rest: \(Device.name(edit.device))'s edit of step \(edit.step) "
          + "(\(edit.kind) \(edit.token)) has no outcome")
    }
  }

  private func sendEverything() async throws {
    for round in 0..<Self.rounds {
      var left = 0
      for device in devices {
        try await sync(device.number, .up, nil)
        try await tellsOfAll(device)
        left += try await resolve(
          device, (Int(history.seed % 2) + round) % 2 == 0 ? .server : .device)
        try watch.look()
      }
      for device in devices { try await sync(device.number, .down, nil) }
      for device in devices { try await sync(device.number, .ghosts, nil) }
      if left == 0 { return try await nothingIsDirty() }
    }
    throw Violation("after \(Self.rounds) rounds there is still something to send")
  }

  /// Everything that a sync up leaves on the device must be in its report.
  private func tellsOfAll(_ device: Device) async throws {
    for element in try await device.elements()
    where element.isDirty && !device.left.contains(element.entry) {
      throw Violation(
        "\(Device.name(device.number))'s element \(element.entry) stays dirty and no "
          + "row of the report has it: \(JSONValue.object(element.object).text)")
    }
  }

  private func nothingIsDirty() async throws {
    for device in devices {
      for element in try await device.elements() where element.isDirty {
        throw Violation(
          "\(Device.name(device.number))'s element \(element.entry) is dirty at rest: "
            + JSONValue.object(element.object).text)
      }
    }
  }

  // MARK: Comparison

  /// A store must equal that of a new device, and another sync must write nothing.
  private func compare(_ device: Device) async throws {
    let name = Device.name(device.number)
    let result = await SyncResult.run(.down, device.manager)
    if let error = result.error { throw Violation("\(name)'s last sync: \(error)") }
    guard result.report.written == 0 else {
      throw Violation("\(name) wrote \(result.report.written) elements in a sync without changes")
    }
    let fresh = try await Device(device.number, setup, client: device.client)
    let primed = await SyncResult.run(.down, fresh.manager)
    if let error = primed.error { throw Violation("the fresh prime: \(error)") }
    let mine = try await Self.records(device)
    let theirs = try await Self.records(fresh)
    for id in Set(mine.keys).union(theirs.keys).union(watch.matching.map(\.id)).sorted()
    where mine[id] != theirs[id] || watch.records[id]?.matches != (theirs[id] != nil) {
      func text(_ object: JSONObject?) -> String {
        object.map { JSONValue.object($0).text } ?? "nothing"
      }
      throw Violation(
        "\(name) has the record \(id) as \(text(mine[id])), a new device "
          + "\(text(theirs[id])), the org \(watch.records[id].map { "\($0)" } ?? "nothing")")
    }
  }

  /// The records of a store without the members added by Mobile Sync; its flags are false.
  private static func records(_ device: Device) async throws -> [String: JSONObject] {
    var records: [String: JSONObject] = [:]
    for element in try await device.elements() {
      var object = JSONObject()
      for (name, value) in element.object {
        if !name.hasPrefix("_") { object[name] = value }
        if name.hasPrefix("__"), name != "__sync_id__", value != false {
          throw Violation("element \(element.entry) has \(name) \(value.text) at rest")
        }
      }
      records[element.id] = object
    }
    return records
  }
}
