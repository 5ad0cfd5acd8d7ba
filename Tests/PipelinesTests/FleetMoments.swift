import Dispatch
import JSON
import LocalOrg
import System

/// Moments of a run at which its org changes, and what each user sees after each of them.
final class FleetMoments: Sendable {
  /// A request of a user at which the org changes.
  struct Moment: Sendable {
    /// What waits for a number of later requests, at most.
    enum Held: Sendable {
      case nothing
      /// The change, and the request, which is processed after it.
      case request(Int)
      /// The response to the request; the change happens at the next request.
      case response(Int)
    }

    let user: String
    let nth: Int
    let held: Held
  }

  /// The values that a user sees, by the record's ID and the field's name.
  typealias Sight = [String: JSONObject]

  private struct State {
    var requests = 0
    /// The number of each user's requests.
    var counts: [String: Int] = [:]
    /// The number of the sight before each user's first request.
    var first: [String: Int] = [:]
    /// The changes that have not been made.
    var changes: ArraySlice<[FleetChange]>
    /// The number of moments that came.
    var passed = 0
    /// Whether the next request is preceded by a change.
    var isDue = false
    var holds: [(until: Int, opened: DispatchSemaphore)] = []
    /// What each user sees, from the start on.
    var sights: [[String: Sight]] = []
  }

  private let scene: FleetScene
  private let fields: [String]
  private let moments: [Moment]
  private let state: Locked<State>
  /// Changes are made one after the other.
  private let turn = Locked(())

  /// Makes the next of the changes at each of the moments, in whatever order they come.
  init(_ scene: FleetScene, _ fields: [String], _ moments: [Moment], _ changes: [[FleetChange]]) {
    (self.scene, self.fields, self.moments) = (scene, fields, moments)
    state = Locked(State(changes: changes[...]))
    look()
    let faults = scene.world.server.faults
    faults.add(.any, times: .max, .observe { [weak self] in self?.arrive($0.user) })
    for moment in moments {
      guard case .response(let count) = moment.held else { continue }
      faults.add(
        FaultMatch(user: moment.user), nth: moment.nth,
        .pause(afterBytes: 0) { [weak self] in self?.wait(count) })
    }
  }

  /// Ends the changes; returns the number of moments that came.
  func end() -> Int {
    scene.world.server.faults.removeAll()
    return state.withLock { $0.passed }
  }

  /// What a user saw from the first request on.
  func sights(of user: String) -> [Sight] {
    state.withLock { state in
      state.sights[(state.first[user] ?? 0)...].map { $0[user] ?? [:] }
    }
  }

  /// A request has arrived, which is processed afterwards.
  private func arrive(_ user: String?) {
    let (moment, isDue) = state.withLock { state -> (Moment?, Bool) in
      state.requests += 1
      for hold in state.holds where hold.until <= state.requests { hold.opened.signal() }
      defer { state.isDue = false }
      guard let user else { return (nil, state.isDue) }
      let count = state.counts[user, default: 0] + 1
      state.counts[user] = count
      return (moments.first { $0.user == user && $0.nth == count }, state.isDue)
    }
    if isDue { change() }
    switch moment?.held {
    case nil: break
    case .nothing: change()
    case .request(let count):
      wait(count)
      change()
    case .response: state.withLock { $0.isDue = true }
    }
    guard let user else { return }
    // The user has not been answered before.
    state.withLock { $0.first[user] = $0.first[user] ?? $0.sights.count - 1 }
  }

  /// Waits for later requests; there are none if all other users wait for this one.
  private func wait(_ count: Int) {
    let opened = DispatchSemaphore(value: 0)
    state.withLock { $0.holds.append(($0.requests + count, opened)) }
    _ = opened.wait(timeout: .now() + .milliseconds(200))
  }

  private func change() {
    turn.withLock { _ in
      guard let changes = state.withLock({ $0.changes.popFirst() }) else { return }
      // Other users may be answered between the changes of a moment.
      for change in changes {
        change.make(in: scene.world.org)
        look()
      }
      state.withLock { $0.passed += 1 }
    }
  }

  /// Records what each user sees.
  private func look() {
    let org = scene.world.org
    let query = "SELECT Id, \(fields.joined(separator: ", ")) FROM Contact"
    var sights: [String: Sight] = [:]
    for name in scene.users {
      // A user who cannot read one of the fields gets nothing.
      guard let user = org.user(named: name), let page = try? org.query(query, as: user),
        let records = try? JSONValue(parsing: page.records).array
      else { continue }
      for record in records {
        guard let id = record["Id"]?.string, let values = record.object else { continue }
        sights[name, default: [:]][id] = values
      }
    }
    state.withLock { $0.sights.append(sights) }
  }
}
