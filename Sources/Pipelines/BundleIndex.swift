import Bundles
import Crypto
import JSON
import Ledger
import SmartStore
import Snapshots
import System

/// The newest bundles for whoever serves them: `users/<id>/latest/<platform>.<ext>`, a link each, and
/// `bundles.json` with all of them.
struct BundleIndex {
  /// The file's name in the pipeline's directory.
  static let fileName = "bundles.json"
  /// The directory of the links, in that of a snapshot.
  static let latest = "latest"

  let data: DataDirectory
  let pipeline: Pipeline

  private var file: String { data.path + "/" + Self.fileName }

  /// Points the links to the bundles of the generations that `current` names, and lists them.
  ///
  /// Each link and the list are replaced by one rename: a reader sees the old or the new. A bundle never
  /// changes: one that was listed before is not read again.
  func write() throws {
    let known = Dictionary(
      (listed()).map { ($0["path"]?.string ?? "", $0) }, uniquingKeysWith: { $1 })
    let written = Files.exists(file) ? try Files.modificationTime(of: file) : 0
    var entries: [JSONValue] = []
    for id in try data.snapshots() where id != SnapshotID.global {
      let directory = SnapshotDirectory(path: data.snapshot(id))
      guard let generation = try directory.current()?.generation else { continue }
      var links: Set<String> = []
      for platform in pipeline.platforms {
        let place = directory.directory(of: generation)
        guard Files.isDirectory(place),
          let bundle = try BundleName.list(in: place, platform).last
        else { continue }
        let name = bundle.text
        let link = platform.rawValue + "." + bundle.ending
        links.insert(link)
        try point(link, to: "../\(generation)/\(name)", in: directory.path)
        let path = "users/\(id)/\(generation)/\(name)"
        let latest = "users/\(id)/\(Self.latest)/\(link)"
        let bytes = try Files.size(of: place + "/" + name)
        // One that is newer than the list is another one, of the same name after the ledger was lost.
        if let entry = known[path], entry["bytes"]?.int == bytes, entry["latest"]?.string == latest,
          try Files.modificationTime(of: place + "/" + name) < written
        {
          entries.append(entry)
        } else {
          entries.append(try entry(of: path, link: latest, platform: platform, bytes: bytes))
        }
      }
      try removeLinks(but: links, in: directory.path)
    }
    let list: JSONValue = [
      "format": 1, "pipeline": .string(pipeline.name), "bundles": .array(entries),
    ]
    let bytes = list.bytes(pretty: true, sortedKeys: false) + [0x0A]
    if Files.exists(file), try Files.read(file) == bytes { return }
    try DurableFile.write(bytes, to: file)
  }

  private func listed() -> [JSONValue] {
    // One that cannot be read is made anew.
    guard let bytes = try? Files.read(file), let list = try? JSONValue(parsing: bytes) else {
      return []
    }
    return list["bundles"]?.array ?? []
  }

  private func entry(
    of path: String, link latest: String, platform: Platform, bytes: Int64
  ) throws -> JSONValue {
    let manifest = try BundleReader.inspect(data.path + "/" + path)
    var entry: JSONObject = [
      "user": .string(manifest.user), "platform": .string(platform.rawValue),
      "generation": JSONValue(manifest.generation), "path": .string(path),
      "latest": .string(latest), "bytes": JSONValue(bytes),
      "sha256": .string(try Digest.sha256Hex(file: data.path + "/" + path)),
      "created": .string(Dates.utc(manifest.created)),
    ]
    entry["usernameDigest"] = manifest.usernameDigest.map(JSONValue.string)
    entry["expires"] = manifest.expires.map { .string(Dates.utc($0)) }
    return .object(entry)
  }

  private func point(_ link: String, to target: String, in snapshot: String) throws(SystemError) {
    let directory = snapshot + "/" + Self.latest
    try Files.makeDirectory(directory)
    let path = directory + "/" + link
    if Files.isSymbolicLink(path), try Files.target(ofLink: path) == target { return }
    // A directory cannot be replaced by a rename.
    if Files.isDirectory(path), !Files.isSymbolicLink(path) { try Files.remove(path) }
    try DurableFile.link(path, to: target)
  }

  /// Removes the links of platforms and formats that the pipeline has no more, and what a copy of the data directory
  /// has in the place of one.
  private func removeLinks(but links: Set<String>, in snapshot: String) throws(SystemError) {
    let directory = snapshot + "/" + Self.latest
    guard Files.isDirectory(directory) else { return }
    for name in try Files.list(directory)
    where !links.contains(name)
      && (Files.isSymbolicLink(directory + "/" + name) || Self.isLinkName(name))
    {
      try Files.remove(directory + "/" + name)
    }
  }

  /// Whether a name is one that a link of some pipeline has.
  private static func isLinkName(_ name: String) -> Bool {
    Platform.allCases.contains { platform in
      BundleFormat.allCases.contains { name == "\(platform.rawValue).\($0.rawValue)" }
    }
  }
}
