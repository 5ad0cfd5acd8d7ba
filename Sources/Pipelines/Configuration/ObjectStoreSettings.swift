import JSON
import ObjectStore
import System

/// An object store: a bucket of an S3 service, or a directory.
package enum ObjectStoreSettings: Sendable, Hashable {
  case s3(S3Settings)
  case directory(String)

  static let keys = ["s3", "directory"]
  static let example = #"{"s3": {"region": "…", "bucket": "…"}} or {"directory": "PATH"}"#

  init?(_ node: JSONNode, in directory: String, _ reader: ConfigurationReader) {
    guard let object = reader.object(node, known: Self.keys, what: "a store") else { return nil }
    guard Self.keys.count(where: { object[$0] != nil }) == 1 else {
      reader.report(node, "a store is a bucket or a directory", "write \(Self.example)")
      return nil
    }
    if object["directory"] != nil {
      guard let path = object.text("directory") else { return nil }
      self = .directory(Self.plain(ConfigurationReader.join(directory, path)))
    } else {
      guard
        let section = object.object("s3", known: S3Settings.keys, what: "a bucket"),
        let settings = S3Settings(section, in: directory)
      else { return nil }
      self = .s3(settings)
    }
  }

  /// The path without `..`, unless a link in it leads elsewhere.
  private static func plain(_ path: String) -> String {
    let plain = Files.withoutParents(path)
    return Files.resolvedIfThere(plain) == Files.resolvedIfThere(path) ? plain : path
  }

  var json: JSONValue {
    switch self {
    case .s3(let settings): ["s3": settings.json]
    case .directory(let path): ["directory": .string(path)]
    }
  }

  /// The store in messages and notes, without any secret.
  var location: String {
    switch self {
    case .s3(let settings): settings.location.description
    case .directory(let path): path
    }
  }

  /// Whether some objects of this store are below a directory of another one.
  func overlaps(_ other: ObjectStoreSettings, below directory: String) -> Bool {
    switch (self, other) {
    case (.s3(let mine), .s3(let theirs)):
      let (mine, theirs) = (mine.location, theirs.location)
      let path = theirs.prefix.isEmpty ? directory : theirs.prefix + "/" + directory
      return mine.isSameBucket(as: theirs)
        && (mine.prefix.isEmpty || Files.areNested(mine.prefix, path))
    case (.directory(let mine), .directory(let theirs)):
      return Files.areNested(
        Files.resolvedAsFar(mine), Files.resolvedAsFar(theirs + "/" + directory))
    case (.s3, .directory), (.directory, .s3): return false
    }
  }

  /// Opens the store; may read secrets, so do not call it on the cooperative pool.
  ///
  /// - Parameters:
  ///   - deadlineSeconds: The time after which a failed request is not repeated; nil for the usual
  ///     one.
  ///   - mayBeNew: Whether a missing directory is created.
  func open(
    _ variables: [String: String], caFile: String?, deadlineSeconds: Int? = nil,
    mayBeNew: Bool = false
  ) throws -> any ObjectStore {
    switch self {
    case .s3(let settings):
      var limits = S3Store.Limits()
      limits.deadlineSeconds = deadlineSeconds ?? limits.deadlineSeconds
      return try S3Store(
        settings.location, settings.credentials(variables), caFile: caFile, limits: limits)
    case .directory(let path): return DirectoryStore(path, mayBeNew: mayBeNew)
    }
  }
}
