import JSON

/// What a page of a query says beside its records.
struct QueryPageHead: Sendable, Hashable {
  let totalSize: Int
  let isDone: Bool
  let nextRecordsURL: String?

  /// Reads it from the head of the page, or from all of it if its members stand in another order.
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

  /// Says whether a page that is not the last holds no record; one of records is longer than that.
  func isEmpty(_ body: [UInt8]) -> Bool {
    guard !isDone, body.count < 2000, let value = try? JSONValue(parsing: body) else {
      return false
    }
    return value["records"]?.array?.isEmpty == true
  }

  /// Whether it is a path of this org: a token must not travel elsewhere.
  static func isLocator(_ address: String) -> Bool {
    address.hasPrefix("/services/data/")
      && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "@") }
  }
}
