import JSON
import SmartStore
import System

/// Reads the members of a JSON object in one of attache's files, with errors that name them.
package struct MemberReader {
  package let json: JSONValue
  private let path: String
  private let file: String
  private let place: String

  /// Creates a reader.
  ///
  /// `file` is the name of the file, `path` its location, and `place` the prefix of the member
  /// names, such as `seal.`.
  package init(json: JSONValue, path: String, file: String, place: String = "") {
    (self.json, self.path, self.file, self.place) = (json, path, file, place)
  }

  /// The error for a member that is missing or has another type.
  package func wrong(_ name: String) -> SnapshotError {
    .damaged(
      path: path, file: file,
      reason: "lacks \(place)\(name), or its value has another type")
  }

  /// A non-empty string.
  package func text(_ name: String) throws(SnapshotError) -> String {
    guard let text = json[name]?.string, !text.isEmpty else { throw wrong(name) }
    return text
  }

  /// A string, which may be empty.
  package func string(_ name: String) throws(SnapshotError) -> String {
    guard let text = json[name]?.string else { throw wrong(name) }
    return text
  }

  /// A non-empty string; nil if there is no such member.
  package func optionalText(_ name: String) throws(SnapshotError) -> String? {
    json[name] == nil ? nil : try text(name)
  }

  /// A whole number.
  package func integer(_ name: String) throws(SnapshotError) -> Int {
    guard let value = json[name]?.int, let integer = Int(exactly: value) else { throw wrong(name) }
    return integer
  }

  /// A whole number of 64 bits.
  package func long(_ name: String) throws(SnapshotError) -> Int64 {
    guard let value = json[name]?.int else { throw wrong(name) }
    return value
  }

  /// A Boolean.
  package func flag(_ name: String) throws(SnapshotError) -> Bool {
    guard let value = json[name]?.bool else { throw wrong(name) }
    return value
  }

  /// An array of strings.
  package func texts(_ name: String) throws(SnapshotError) -> [String] {
    guard let items = json[name]?.array else { throw wrong(name) }
    let texts = items.compactMap(\.string)
    guard texts.count == items.count else { throw wrong(name) }
    return texts
  }

  /// A time in milliseconds since 1970, from ISO 8601.
  package func date(_ name: String) throws(SnapshotError) -> Int64 {
    guard let value = Dates.milliseconds(iso8601: try text(name)) else { throw wrong(name) }
    return value
  }

  /// The member `platform`.
  package func platform() throws(SnapshotError) -> Platform {
    guard let platform = Platform(rawValue: try text("platform")) else { throw wrong("platform") }
    return platform
  }

  /// The member `scope`.
  package func scope() throws(SnapshotError) -> StoreScope {
    guard let scope = StoreScope(rawValue: try text("scope")) else { throw wrong("scope") }
    return scope
  }

  /// A member that is an object.
  package func member(_ name: String) throws(SnapshotError) -> MemberReader {
    guard let json = json[name], json.object != nil else { throw wrong(name) }
    return MemberReader(json: json, path: path, file: file, place: "\(place)\(name).")
  }

  /// The elements of an array.
  package func items(_ name: String) throws(SnapshotError) -> [MemberReader] {
    guard let items = json[name]?.array else { throw wrong(name) }
    return items.enumerated().map {
      MemberReader(
        json: $0.element, path: path, file: file, place: "\(name)[\($0.offset)].")
    }
  }
}
