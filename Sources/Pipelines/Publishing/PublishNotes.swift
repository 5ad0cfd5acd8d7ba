import Crypto
import JSON
import Ledger
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
  /// The generations of each user whose objects are to be removed.
  var going: [String: Set<Int>] = [:]

  private static func file(_ data: DataDirectory) -> String { data.path + "/" + fileName }

  /// Reads the notes about a location.
  init(_ location: String, in data: DataDirectory) {
    self.location = location
    // Notes that cannot be read are written again.
    guard let bytes = try? Files.read(Self.file(data)), let json = try? JSONValue(parsing: bytes),
      json["location"]?.string == location
    else { return }
    for (id, digest) in json["users"]?.object ?? [:] { users[id] = digest.string }
    for (id, numbers) in json["going"]?.object ?? [:] {
      going[id] = Set(numbers.array?.compactMap { $0.int.flatMap { Int(exactly: $0) } } ?? [])
    }
  }

  /// Notes the generations whose objects are removed after the next publication.
  static func add(
    _ items: [KeepPlan.Item], goingFrom location: String, in data: DataDirectory
  ) throws(SystemError) {
    var notes = PublishNotes(location, in: data)
    let old = notes
    for item in items where item.kind == .generation {
      guard let id = item.snapshot, id != SnapshotID.global, let number = Int(item.id) else {
        continue
      }
      notes.going[id, default: []].insert(number)
    }
    if notes == old { return }
    try notes.write(in: data)
  }

  /// The users of a pipeline with something new, or all.
  func due(of pipeline: Pipeline, in data: DataDirectory, isWhole: Bool) throws -> [PublishedUser] {
    try PublishedUser.list(in: data).filter {
      isWhole || users[$0.id] != Self.digest($0, of: pipeline)
    }
  }

  /// Notes that everything of a user was published.
  mutating func note(_ user: PublishedUser, of pipeline: Pipeline) {
    users[user.id] = Self.digest(user, of: pipeline)
  }

  private static func digest(_ user: PublishedUser, of pipeline: Pipeline) -> String {
    Digest.sha256Hex(user.latest(of: pipeline.name))
  }

  func write(in data: DataDirectory) throws(SystemError) {
    func object(_ members: [String: JSONValue]) -> JSONValue {
      var object: JSONObject = [:]
      for (name, value) in members.sorted(by: { $0.key < $1.key }) { object[name] = value }
      return .object(object)
    }
    let json: JSONValue = [
      "format": 1, "location": .string(location),
      "users": object(users.mapValues { .string($0) }),
      "going": object(going.mapValues { JSONValue.array($0.sorted().map { JSONValue($0) }) }),
    ]
    try DurableFile.write(
      json.fileBytes, to: Self.file(data))
  }
}
