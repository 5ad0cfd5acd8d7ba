import Bundles
import Crypto
import JSON
import Ledger
import SmartStore
import Snapshots
import System

/// Publishes the newest bundles for file servers: the links `users/<id>/latest/<platform>.<ext>`,
/// and `bundles.json`, which lists them all; if the pipeline signs, also their signatures.
struct BundleIndex {
  /// The name of the list in the pipeline's directory.
  static let fileName = "bundles.json"
  /// The name of the directory of links within a snapshot's directory.
  static let latest = "latest"

  let data: DataDirectory
  let pipeline: Pipeline
  /// The environment, for the signing key.
  let variables: [String: String]
  /// The signing key; if nil, it is read when the list changes.
  var signer: ManifestSigner?

  private var file: String { data.path + "/" + Self.fileName }

  /// Points the links to the bundles of the generations in `current`, and writes the list.
  ///
  /// Each link and the list are replaced by a single rename, so a reader sees the old or the new
  /// version. Bundles never change, so a bundle that is already listed is not read again.
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
        let deltas = try DeltaName.list(in: place, to: bundle)
        for (link, name) in deltas.map({ ($0.link, $0.text) }) + [(link, name)] {
          links.insert(link)
          if Files.exists(SignatureFile.path(of: place + "/" + name)), pipeline.pack.sign != nil {
            let signature = SignatureFile.path(of: link)
            links.insert(signature)
            try point(
              signature, to: SignatureFile.path(of: "../\(generation)/\(name)"),
              in: directory.path)
          }
          try point(link, to: "../\(generation)/\(name)", in: directory.path)
        }
        let path = "users/\(id)/\(generation)/\(name)"
        let latest = "users/\(id)/\(Self.latest)/\(link)"
        let bytes = try Files.size(of: place + "/" + name)
        // If the bundle is newer than the list, it is a different bundle of the same name, written
        // after the ledger was lost.
        if let entry = known[path], entry["bytes"]?.int == bytes, entry["latest"]?.string == latest,
          entry["deltas"]?.array?.count ?? 0 == deltas.count,
          try Files.modificationTime(of: place + "/" + name) < written
        {
          entries.append(entry)
        } else {
          entries.append(
            try entry(of: path, link: latest, bundle, bytes: bytes, deltas: deltas))
        }
      }
      try removeLinks(but: links, in: directory.path)
    }
    let list: JSONValue = [
      "format": 1, "pipeline": .string(pipeline.name), "bundles": .array(entries),
    ]
    try publish(list.fileBytes)
  }

  /// Writes the list and its signature, unless both are there.
  private func publish(_ bytes: [UInt8]) throws {
    let isListed = try Files.exists(file) && Files.read(file) == bytes
    if let sign = pipeline.pack.sign {
      let isSigned =
        signer?.hasSigned(bytes, of: file)
        ?? SignatureFile.isCurrent(bytes, of: file, by: nil, namespace: sign.namespace)
      if !isSigned { try (signer ?? ManifestSigner(pipeline, variables))?.sign(bytes, of: file) }
    } else {
      try Files.remove(SignatureFile.path(of: file))
    }
    if !isListed { try DurableFile.write(bytes, to: file) }
  }

  private func listed() -> [JSONValue] {
    // An unreadable list is written again from scratch.
    guard let bytes = try? Files.read(file), let list = try? JSONValue(parsing: bytes) else {
      return []
    }
    return list["bundles"]?.array ?? []
  }

  private func entry(
    of path: String, link latest: String, _ bundle: BundleName, bytes: Int64,
    deltas: [DeltaName]
  ) throws -> JSONValue {
    let manifest = try BundleReader.inspect(data.path + "/" + path)
    var entry: JSONObject = [
      "user": .string(manifest.user), "platform": .string(bundle.platform.rawValue),
      "generation": JSONValue(manifest.generation), "path": .string(path),
      "latest": .string(latest), "bytes": JSONValue(bytes),
      "sha256": .string(try Digest.sha256Hex(file: data.path + "/" + path)),
      "created": .string(Dates.utc(manifest.created)),
    ]
    entry["usernameDigest"] = manifest.usernameDigest.map(JSONValue.string)
    entry["expires"] = manifest.expires.map { .string(Dates.utc($0)) }
    if !deltas.isEmpty {
      entry["deltas"] = .array(
        try deltas.map { delta -> JSONValue in
          let file = (Files.parent(of: path) ?? "") + "/" + delta.text
          return [
            "from": JSONValue(delta.from), "path": .string(file),
            "latest": .string((Files.parent(of: latest) ?? "") + "/" + delta.link),
            "bytes": JSONValue(try Files.size(of: data.path + "/" + file)),
            "sha256": .string(try Digest.sha256Hex(file: data.path + "/" + file)),
          ]
        })
    }
    return .object(entry)
  }

  private func point(_ link: String, to target: String, in snapshot: String) throws(SystemError) {
    let directory = snapshot + "/" + Self.latest
    try Files.makeDirectory(directory)
    let path = directory + "/" + link
    if Files.isSymbolicLink(path), try Files.target(ofLink: path) == target { return }
    // A rename cannot replace a directory.
    if Files.isDirectory(path), !Files.isSymbolicLink(path) { try Files.remove(path) }
    try DurableFile.link(path, to: target)
  }

  /// Removes the links of platforms and formats that the pipeline no longer has, and the regular
  /// files that a copy of the data directory left in place of links.
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

  /// Whether a name is that of a link of any pipeline.
  private static func isLinkName(_ name: String) -> Bool {
    let signed = name.hasSuffix(SignatureFile.ending) ? SignatureFile.ending.count : 0
    return DeltaName.isLink(name.dropLast(signed)) || isBundleLink(name)
  }

  private static func isBundleLink(_ name: String) -> Bool {
    Platform.allCases.contains { platform in
      BundleFormat.allCases.contains { format in
        let link = "\(platform.rawValue).\(format.rawValue)"
        return name == link || name == SignatureFile.path(of: link)
      }
    }
  }
}
