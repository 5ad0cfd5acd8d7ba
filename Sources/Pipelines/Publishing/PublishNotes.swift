import JSON
import System

/// The file `published.json`: what was published where, so that a run asks the store only about
/// users with something new.
///
/// It may be lost: everything is then compared with the store again.
struct PublishNotes: Sendable, Hashable {
  /// The name of the file in the pipeline's directory.
  static let fileName = "published.json"

  /// The store, or the command.
  var location: String
  /// The SHA-256 of each user's `latest.json`.
  var users: [String: String] = [:]
  /// The directories of generations whose objects are to be removed.
  var going: Set<String> = []

  private static func file(_ data: DataDirectory) -> String { data.path + "/" + fileName }

  /// Reads the notes about a location.
  init(_ location: String, in data: DataDirectory) {
    self.location = location
    // Notes that cannot be read are written again.
    guard let bytes = try? Files.read(Self.file(data)), let json = try? JSONValue(parsing: bytes),
      json["location"]?.string == location
    else { return }
    for (id, digest) in json["users"]?.object ?? [:] { users[id] = digest.string }
    going = Set(json["going"]?.array?.compactMap(\.string) ?? [])
  }

  /// Notes the generations whose objects are removed after the next publication.
  static func add(
    _ items: [KeepPlan.Item], goingFrom location: String, in data: DataDirectory
  ) throws(SystemError) {
    let going = items.filter { $0.kind == .generation }.compactMap { item in
      item.snapshot.map { PublishedUser.directory(of: $0) + "/" + item.id + "/" }
    }
    if going.isEmpty { return }
    var notes = PublishNotes(location, in: data)
    notes.going.formUnion(going)
    try notes.write(in: data)
  }

  func write(in data: DataDirectory) throws(SystemError) {
    var digests: JSONObject = [:]
    for (id, digest) in users.sorted(by: { $0.key < $1.key }) { digests[id] = .string(digest) }
    let json: JSONValue = [
      "format": 1, "location": .string(location), "users": .object(digests),
      "going": JSONValue(going.sorted()),
    ]
    try DurableFile.write(
      json.bytes(pretty: true, sortedKeys: false) + [0x0A], to: Self.file(data))
  }
}
