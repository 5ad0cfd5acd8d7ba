import Rehearsal
import Testing

extension World {
  @discardableResult
  func runFieldDay(_ name: String = "ada", handBack: Bool = true) async throws -> Device {
    try await run()
    return try fieldDay(name, handBack: handBack)
  }

  /// A phone with one edit that conflicts with another user's change and one that does not.
  func fieldDay(_ name: String = "ada", handBack: Bool = true) throws -> Device {
    let device = try device(name)
    let accounts = try ids("accounts", on: device)
    try device.edit("accounts", id: accounts[0], ["Phone": "+1 555 0151"], now: org.now())
    try device.edit("accounts", id: accounts[1], ["Phone": "+1 555 0153"], now: org.now())
    let changed = org.update(
      "Account", id: accounts[0], ["Phone": "+1 555 0152"], as: try user("admin"))
    #expect(changed.errors == [])
    if handBack { try self.handBack(device, as: "\(name).sqlite") }
    return device
  }
}
