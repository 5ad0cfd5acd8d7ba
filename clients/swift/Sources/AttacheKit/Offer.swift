import Foundation

/// A verified bundle or delta.
public struct Offer {
  /// The manifest of the bundle, or of the one that the delta leads to.
  public let manifest: Manifest
  /// Whether it is a delta.
  public let isDelta: Bool
  let archive: ZipReader
  /// `manifest.json`: of the bundle, or of the one that the delta leads to.
  let document: Data
  let parts: [Part]

  /// A store, or its delta.
  struct Part {
    /// The path of the store.
    let path: String
    let entry: ZipReader.Entry
    let sha256: String
    /// The stamp ID of the store that a delta is for.
    let from: String?
  }

  /// The offer, as a decision sees it.
  public var offered: Offered {
    Offered(
      generation: manifest.generation, created: manifest.created, expires: manifest.expires,
      includes: manifest.includes,
      from: isDelta
        ? Dictionary(parts.map { ($0.path, $0.from ?? "") }, uniquingKeysWith: { $1 }) : nil)
  }

  /// Verifies a file: signature, user, and the digest of every entry.
  ///
  /// With `trust` nil, no signature is needed: only for a pipeline that does not sign, over a channel
  /// that is authenticated. A sealed archive is opened with the passphrase.
  public init(
    _ file: URL, signature: URL?, trust: Trust?, owner: Owner, passphrase: String? = nil
  ) throws {
    let outer = try ZipReader(file)
    guard let first = outer.entries.first,
      first.name == "manifest.json" || first.name == "delta.json"
    else { throw Refusal(.archive, "the file is neither a bundle nor a delta") }
    isDelta = first.name == "delta.json"
    let text = try outer.read(first, limit: 8 << 20)
    if let trust {
      guard let signature, let bytes = try? Data(contentsOf: signature) else {
        throw Refusal(.signature, "the signature is missing")
      }
      try trust.verify(text, signature: bytes)
    }
    let files: [(path: String, name: String, bytes: Int, sha256: String, from: String?)]
    let seal: Manifest.Seal?
    do {
      if isDelta {
        let delta = try JSON.decoder().decode(DeltaDescription.self, from: text)
        guard delta.format == 1 else {
          throw Refusal(.format, "format \(delta.format) needs a newer app")
        }
        manifest = delta.to
        let whole = try JSONSerialization.jsonObject(with: text) as? [String: Any]
        document = try JSONSerialization.data(
          withJSONObject: whole?["to"] ?? [:], options: [.sortedKeys, .withoutEscapingSlashes])
        seal = delta.seal
        files = delta.stores.map { ($0.path, $0.file, $0.bytes, $0.sha256, $0.from.stampId) }
      } else {
        manifest = try JSON.decoder().decode(Manifest.self, from: text)
        document = text
        seal = manifest.seal
        files = manifest.stores.map { ($0.path, $0.path, $0.bytes, $0.sha256, nil) }
      }
    } catch is DecodingError {
      throw Refusal(.format, "\(first.name) lacks a member")
    }
    try owner.check(manifest)
    let isSafe =
      Set(files.map(\.path)).count == files.count
      && files.allSatisfy { file in
        !file.path.contains("\\") && !file.path.hasPrefix(".attache/")
          && file.path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
            !["", ".", ".."].contains($0)
          }
      }
    let others = Refusal(.contents, "the archive has other files than \(first.name) names")
    var entries = Array(outer.entries.dropFirst())
    if let seal, seal.isOfArchive {
      guard entries.count == 1, entries[0].name == SealedArchive.entryName else { throw others }
      archive = try Self.opened(entries[0], of: outer, seal, passphrase, beside: file)
      entries = archive.entries
    } else {
      guard manifest.seal?.isOfArchive != true else { throw others }
      archive = outer
    }
    guard isSafe, !files.isEmpty, files.map(\.path) == manifest.stores.map(\.path),
      files.map(\.name) == entries.map(\.name)
    else { throw others }
    parts = zip(files, entries).map { file, entry in
      Part(path: file.path, entry: entry, sha256: file.sha256, from: file.from)
    }
    for (part, file) in zip(parts, files) {
      guard part.entry.bytes == file.bytes else {
        throw Refusal(.contents, "\(part.entry.name) has another size")
      }
      try read(part) { _ in }
    }
  }

  /// Opens a sealed archive whose size and digest are as described.
  ///
  /// The opened archive has no name on the disk.
  private static func opened(
    _ entry: ZipReader.Entry, of outer: ZipReader, _ seal: Manifest.Seal, _ passphrase: String?,
    beside file: URL
  ) throws -> ZipReader {
    // The digest first: a damaged archive must not look like a wrong passphrase.
    var hasher = Digest.Hasher(isLong: false)
    try outer.read(entry) { hasher.update($0) }
    guard entry.bytes == seal.bytes, Digest.hex(hasher.finish()) == seal.sha256 else {
      throw Refusal(.contents, "\(entry.name) has another size or digest")
    }
    let plain = URL(fileURLWithPath: file.path + ".opened")
    try Data().write(to: plain)
    let handle = try FileHandle(forUpdating: plain)
    try FileManager.default.removeItem(at: plain)
    var sealed = try SealedArchive(passphrase: passphrase) { try handle.write(contentsOf: $0) }
    try outer.read(entry) { try sealed.update($0) }
    try sealed.finish()
    return try ZipReader(handle)
  }

  /// Passes on the content of a part; its digest is checked at the end.
  func read(_ part: Part, _ body: (Data) throws -> Void) throws {
    var hasher = Digest.Hasher(isLong: false)
    try archive.read(part.entry) {
      hasher.update($0)
      try body($0)
    }
    guard Digest.hex(hasher.finish()) == part.sha256 else {
      throw Refusal(.contents, "\(part.entry.name) has another digest")
    }
  }

  func extract(_ part: Part, to url: URL) throws {
    try Data().write(to: url)
    let file = try FileHandle(forWritingTo: url)
    defer { try? file.close() }
    try read(part) { try file.write(contentsOf: $0) }
    try file.synchronize()
  }
}
