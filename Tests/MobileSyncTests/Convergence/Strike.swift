import Dispatch
import JSON
import LocalOrg
import SQLite
import System

/// A fault of a history: injected before a sync, and its effect afterwards.
final class Strike {
  let mishap: Mishap
  let sync: Step.Sync
  private let device: Device
  private let world: World
  private let requests: FaultMatch
  private let happening = Locked(false)
  private let edited = Locked<EditLog.Edit?>(nil)
  /// The actions still running on the server's threads.
  private let pending = DispatchGroup()
  let copy: String
  /// The element edited during the sync, and the new value.
  private var target: (entry: Int64, field: Int, token: String)?
  /// The record that another user changes, or that a retrieve does not find.
  private var record: OrgRecord?
  init(_ mishap: Mishap, _ world: World, _ device: Device, _ sync: Step.Sync) async throws {
    self.mishap = mishap
    self.world = world
    self.device = device
    self.sync = sync
    requests = FaultMatch(user: Device.username(device.number))
    copy = mishap.kind == .kill ? device.nextPath() : ""
    let elements = try await device.elements()
    let likely = sync == .up ? elements.filter(\.isDirty) : elements
    let element = likely.isEmpty ? nil : likely[mishap.salt % likely.count]
    if mishap.kind == .editMeanwhile, let element, !element.isDeleted {
      target = (element.entry, mishap.salt % 2, world.token(device))
    }
    let records = world.watch.matching
    record = element.flatMap { world.watch.records[$0.id] }
    if record == nil, !records.isEmpty { record = records[mishap.salt % records.count] }
  }

  var happened: Bool {
    switch mishap.kind {
    case .stop, .kill, .changedBetween: happening.withLock { $0 }
    case .editMeanwhile: edit != nil
    default: struck.withLock { $0 }
    }
  }

  var edit: EditLog.Edit? { edited.withLock { $0 } }
  private let struck = Locked(false)

  /// Records whether the org's faults fired, and removes them.
  ///
  /// A page requested in advance may still be in transit when a sync ends.
  func disarm() async {
    await withCheckedContinuation { continuation in
      pending.notify(queue: .global()) { continuation.resume() }
    }
    let faults = world.org.server.faults
    struck.withLock { $0 = faults.fired > (mishap.kind == .expireLocator ? 1 : 0) }
    faults.removeAll()
  }

  // MARK: Injection

  func arm() {
    let faults = world.org.server.faults
    var match = requests
    // In a sync up, most faults should affect the responses to writes.
    if sync == .up, mishap.salt % 3 > 0 { match.isWrite = true }
    let nth = mishap.nth
    switch mishap.kind {
    case .dropBefore: faults.add(match, nth: nth, times: times, .drop(afterCommit: false))
    case .dropAfter: faults.add(match, nth: nth, times: times, .drop(afterCommit: true))
    case .truncate: faults.add(match, nth: nth, times: times, .truncate(bytes: mishap.salt % 120))
    case .unavailable:
      faults.add(
        match, nth: nth, times: times,
        .status(503, code: "SERVER_UNAVAILABLE", afterCommit: mishap.salt % 5 == 0))
    case .expireSession: faults.add(requests, nth: nth, .expireSession)
    case .expireLocator:
      shortenPages()
      faults.add(of(.queryMore), nth: nth, .expireCursors)
    case .shortPage: shortenPages()
    case .nullEntry:
      if let record { faults.add(of(.retrieve), nth: nth, times: 2, .nullEntry(id: record.id)) }
    case .ruleError:
      if let rule = world.org.ruleID {
        faults.add(of(.priming), .ruleError(ruleID: rule, object: world.setup.object))
      }
    case .changedBetween: armChange(faults)
    case .stop: faults.add(requests, nth: nth, meanwhile(stopping()))
    case .kill: armKill(faults, match)
    case .editMeanwhile: faults.add(match, nth: nth, meanwhile(editing()))
    }
  }

  /// Once, so that a retried read succeeds, or for all retries.
  private var times: Int { mishap.salt % 2 == 0 ? 1 : 40 }

  private func of(_ kind: LocalOrg.RequestKind) -> FaultMatch {
    var match = requests
    match.kind = kind
    return match
  }

  private func shortenPages() {
    world.org.server.faults.add(of(.query), times: 3, .shortPage(records: 1 + mishap.salt % 4))
  }

  private func armChange(_ faults: Faults) {
    var match = requests
    switch sync {
    case .up: match.isWrite = true
    case .down, .ghosts:
      match = of(world.setup.isBriefcase ? .retrieve : .queryMore)
      shortenPages()
    }
    faults.add(match, nth: mishap.nth, meanwhile(changing()))
  }

  private func armKill(_ faults: Faults, _ match: FaultMatch) {
    let (path, copy, happening) = (device.path, self.copy, self.happening)
    faults.add(
      match, nth: mishap.nth,
      meanwhile { _ in
        // No commit can happen between two reads of the copy.
        let connection = try Connection(path)
        defer { connection.close() }
        try connection.transaction { try Files.copy(path, to: copy) }
        happening.withLock { $0 = true }
      })
    // The org may still process the request; the program has stopped and sends nothing else.
    faults.add(match, nth: mishap.nth, .drop(afterCommit: mishap.salt % 2 == 0))
    faults.add(match, nth: mishap.nth + 1, times: 10_000, .drop(afterCommit: false))
  }

  // MARK: Actions while the device waits

  private func meanwhile(
    _ body: @escaping @Sendable (LocalOrg.Org) throws -> Void
  ) -> Faults.Action {
    .mutate { [pending] org in
      pending.enter()
      defer { pending.leave() }
      try body(org)
    }
  }

  private func changing() -> @Sendable (LocalOrg.Org) throws -> Void {
    let (happening, watch, record) = (self.happening, world.watch, self.record)
    let (object, field, admin) = (world.setup.object, world.setup.fields[0], world.org.admin)
    let value = "meanwhile-\(world.token(device))"
    return { org in
      guard let record else { return }
      // Values from before the action count as seen.
      try watch.look()
      let outcome = org.update(object, id: record.id, [field: .string(value)], as: admin)
      try watch.look()
      if outcome.errors.isEmpty { happening.withLock { $0 = true } }
    }
  }

  private func stopping() -> @Sendable (LocalOrg.Org) throws -> Void {
    let (manager, happening) = (device.manager, self.happening)
    return { _ in
      happening.withLock { $0 = true }
      Self.wait { await manager.stop() }
    }
  }

  private func editing() -> @Sendable (LocalOrg.Org) throws -> Void {
    let (manager, edited, setup) = (device.manager, self.edited, world.setup)
    let (target, step, number) = (self.target, world.step, device.number)
    return { _ in
      guard let target else { return }
      Self.wait {
        let isEdited = try? await manager.withStore { store in
          let text = try store.retrieve([target.entry], from: Device.soup).first
          guard let object = try text.map({ try JSONValue(parsing: $0) })?.object,
            object["__locally_deleted__"]?.bool != true
          else { return false }
          let edited = Device.edited(object, setup.fields[target.field], target.token)
          try store.upsert([.object(edited)], into: Device.soup)
          return true
        }
        guard isEdited == true else { return }
        edited.withLock {
          $0 = EditLog.Edit(
            step: step, device: number, entry: target.entry, kind: .change(field: target.field),
            token: target.token)
        }
      }
    }
  }

  /// Waits on the server's thread for an action elsewhere.
  private static func wait(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await body()
      done.signal()
    }
    done.wait()
  }
}
