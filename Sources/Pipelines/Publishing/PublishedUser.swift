import Bundles
import Crypto
import JSON
import System

/// The files of one user that are published, by the list of bundles.
struct PublishedUser: Sendable {
  /// One file.
  struct File: Sendable, Hashable {
    /// The path below the pipeline's directory, which is also the end of its key.
    var path: String
    var sha256: String
    /// Whether a file with this key may be replaced: a signature, which a new key renews.
    var isRenewable: Bool
  }

  /// The 18-character ID of the user.
  let id: String
  /// The newest generation of the bundles.
  private(set) var generation = 0
  /// Bundles, deltas and signatures.
  private(set) var files: [File] = []
  private var bundles: [JSONValue] = []
  /// The SHA-256 of the user's name in lower case.
  private var nameDigest: String?

  /// The name of the object that names a user's newest bundles.
  static let latest = "latest.json"

  /// The path of the user's `latest.json`.
  var latestPath: String { Self.latestPath(of: id) }
  static func latestPath(of id: String) -> String { directory(of: id) + "/" + latest }
  static func directory(of id: String) -> String { "users/" + id }

  /// The content of `latest.json`; paths are relative to it.
  func latest(of pipeline: String) -> [UInt8] {
    let json: JSONValue = [
      "format": 1, "pipeline": .string(pipeline), "user": .string(id),
      "generation": JSONValue(generation), "bundles": .array(bundles),
    ]
    return json.fileBytes
  }

  /// Whether a word is the user's ID or name.
  func isNamed(_ word: String) -> Bool {
    word == id || nameDigest == Digest.sha256Hex(Array(word.lowercased().utf8))
  }

  /// Reads the list of bundles; none if there is no list yet.
  static func list(in data: DataDirectory) throws -> [PublishedUser] {
    let file = data.path + "/" + BundleIndex.fileName
    guard Files.exists(file) else { return [] }
    var users: [String: PublishedUser] = [:]
    for entry in try JSONValue(parsing: Files.read(file))["bundles"]?.array ?? [] {
      guard let path = entry["path"]?.string else { continue }
      let parts = path.split(separator: "/").map(String.init)
      guard parts.count == 4 else { continue }
      var user = users[parts[1]] ?? PublishedUser(id: parts[1])
      try user.add(entry, data)
      users[user.id] = user
    }
    return users.values.sorted { $0.id < $1.id }
  }

  private init(id: String) { self.id = id }

  private mutating func add(_ entry: JSONValue, _ data: DataDirectory) throws {
    generation = max(generation, entry["generation"]?.int.flatMap { Int(exactly: $0) } ?? 0)
    nameDigest = entry["usernameDigest"]?.string
    var bundle = try described(entry, data)
    for name in ["platform", "generation", "created", "expires"] { bundle[name] = entry[name] }
    let deltas = entry["deltas"]?.array ?? []
    if !deltas.isEmpty {
      bundle["deltas"] = .array(
        try deltas.map { delta in
          var object = try described(delta, data)
          object["from"] = delta["from"]
          return .object(object)
        })
    }
    bundles.append(.object(bundle))
  }

  /// Adds a file and its signature, and returns what `latest.json` says of them.
  private mutating func described(_ entry: JSONValue, _ data: DataDirectory) throws -> JSONObject {
    let path = entry["path"]?.string ?? ""
    let sha256 = entry["sha256"]?.string ?? ""
    files.append(File(path: path, sha256: sha256, isRenewable: false))
    func relative(_ path: String) -> JSONValue {
      .string(String(path.dropFirst(Self.directory(of: id).utf8.count + 1)))
    }
    var object: JSONObject = ["path": relative(path)]
    object["bytes"] = entry["bytes"]
    object["sha256"] = .string(sha256)
    let signature = SignatureFile.path(of: path)
    if Files.exists(data.path + "/" + signature) {
      let digest = try Digest.sha256Hex(file: data.path + "/" + signature)
      files.append(File(path: signature, sha256: digest, isRenewable: true))
      object["signature"] = ["path": relative(signature), "sha256": .string(digest)]
    }
    return object
  }
}
