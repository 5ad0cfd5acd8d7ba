import JSON

/// The members of a query's page in addition to its records.
struct QueryPageHead: Sendable, Hashable {
  let totalSize: Int
  let isDone: Bool
  let nextRecordsURL: String?

  /// Parses the start of the page, or all of it if its members are in an unusual order.
  init?(_ body: [UInt8]) {
    guard Session.firstByte(body) == UInt8(ascii: "{"), Session.lastByte(body) == UInt8(ascii: "}")
    else { return nil }
    let members = body.withUnsafeBytes { head -> (String, String, String?)? in
      guard case .found(let size) = JSONHead.stringMember("totalSize", in: head),
        case .found(let done) = JSONHead.stringMember("done", in: head)
      else { return nil }
      guard case .found(let next) = JSONHead.stringMember("nextRecordsUrl", in: head) else {
        return done == "true" ? (size, done, nil) : nil
      }
      return (size, done, next)
    }
    if let members, let size = Int(members.0) {
      totalSize = size
      isDone = members.1 == "true"
      nextRecordsURL = members.2
      return
    }
    guard let value = try? JSONValue(parsing: body), let size = value["totalSize"]?.int,
      let done = value["done"]?.bool, value["records"]?.array != nil
    else { return nil }
    totalSize = Int(size)
    isDone = done
    nextRecordsURL = value["nextRecordsUrl"]?.string
  }

  /// Whether a page that is not the last has no records; a page with records is longer than that.
  func isEmpty(_ body: [UInt8]) -> Bool {
    guard !isDone, body.count < 2000, let value = try? JSONValue(parsing: body) else {
      return false
    }
    return value["records"]?.array?.isEmpty == true
  }

  /// Whether an address is a path of this org: a token must not be sent elsewhere.
  static func isLocator(_ address: String) -> Bool {
    address.hasPrefix("/services/data/")
      && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "@") }
  }
}
