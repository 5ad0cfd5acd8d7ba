import HTTP
import JSON
import ObjectStore
import System

/// An object store: a bucket of an S3 service, or a directory.
package enum ObjectStoreSettings: Sendable, Hashable {
  case s3(S3Settings)
  /// The path of the directory.
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
      self = .directory(ConfigurationReader.join(directory, path))
    } else {
      guard
        let section = object.object("s3", known: S3Settings.keys, what: "a bucket"),
        let settings = S3Settings(section, in: directory)
      else { return nil }
      self = .s3(settings)
    }
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

  /// Opens the store; may read secrets, so do not call it on the cooperative pool.
  ///
  /// - Parameter deadlineSeconds: The time after which a failed request is not repeated; nil for
  ///   the usual one.
  func open(
    _ variables: [String: String], caFile: String?, deadlineSeconds: Int? = nil
  ) throws -> any ObjectStore {
    switch self {
    case .s3(let settings):
      var limits = S3Store.Limits()
      limits.deadlineSeconds = deadlineSeconds ?? limits.deadlineSeconds
      return try S3Store(
        settings.location, settings.credentials(variables), caFile: caFile, limits: limits)
    case .directory(let path): return DirectoryStore(path)
    }
  }
}

/// A bucket of an S3 service, and the key for it.
package struct S3Settings: Sendable, Hashable {
  package var location: S3Location
  /// The ID of the access key; nil for that of the environment.
  package var accessKeyId: TextSource?
  /// The secret of the access key; nil for that of the environment.
  package var secretAccessKey: SecretSource?
  /// The token of temporary credentials; nil for none.
  package var sessionToken: SecretSource?

  static let keys = [
    "endpoint", "region", "bucket", "prefix", "pathStyle", "dialect", "accessKeyId",
    "secretAccessKey", "sessionToken",
  ]

  init?(_ object: ConfigurationObject, in directory: String) {
    let reader = object.reader
    let endpoint = object.text("endpoint")
    if let endpoint, let node = object["endpoint"], !reader.hasCredentials(endpoint, node) {
      if !TransferRules.isSafe(endpoint) || !TransferRules.hasValidPort(endpoint) {
        reader.report(
          node, "\(JSONText.quoted(endpoint)) is not an https URL", "write \"https://…\"")
      } else if endpoint.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
        .contains(where: { !$0.isEmpty })
      {
        reader.report(
          node, "\(JSONText.quoted(endpoint)) has a path",
          "write the address of the service, and the bucket as \"bucket\"")
      }
    }
    let region = object.requiredText("region", "\"us-east-1\"")
    let bucket = object.requiredText("bucket", "\"NAME\"")
    if let bucket, let node = object["bucket"], bucket.contains(where: { "/ :".contains($0) }) {
      reader.report(
        node, "\(JSONText.quoted(bucket)) is not the name of a bucket",
        "write the name alone, and a path in it as \"prefix\"")
    }
    let prefix = object.text("prefix") ?? ""
    if let node = object["prefix"], prefix.hasPrefix("/") || prefix.hasSuffix("/") {
      reader.report(
        node, "a prefix has no slash at its ends",
        "write \(JSONText.quoted(prefix.split(separator: "/").joined(separator: "/")))")
    }
    let pathStyle = object["pathStyle"].map { _ in object.bool("pathStyle", default: true) }
    let dialect = object.word("dialect", "a dialect", default: S3Location.Dialect.s3)
    accessKeyId = object["accessKeyId"].flatMap { reader.text($0, in: directory) }
    secretAccessKey = object["secretAccessKey"].flatMap { reader.secret($0, in: directory) }
    sessionToken = object["sessionToken"].flatMap { reader.secret($0, in: directory) }
    if (object["accessKeyId"] == nil) != (object["secretAccessKey"] == nil),
      let node = object["accessKeyId"] ?? object["secretAccessKey"]
    {
      reader.report(
        node, "\"accessKeyId\" and \"secretAccessKey\" belong together",
        "write both, or neither to use \(Self.keyVariables.joined(separator: " and "))")
    }
    guard let region, let bucket else { return nil }
    location = S3Location(
      endpoint: endpoint, region: region, bucket: bucket, pathStyle: pathStyle)
    location.prefix = prefix
    location.dialect = dialect
  }

  /// The usual variables of the environment for an access key.
  static let keyVariables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
  private static let tokenVariable = "AWS_SESSION_TOKEN"

  /// Reads the access key.
  func credentials(_ variables: [String: String]) throws(SecretError) -> S3Credentials {
    guard let accessKeyId, let secretAccessKey else {
      let token = variables[Self.tokenVariable]
      return S3Credentials(
        accessKeyID: try TextSource.source(.env(Self.keyVariables[0])).resolve(variables),
        secret: try SecretSource.env(Self.keyVariables[1]).resolve(variables),
        sessionToken: token.flatMap { $0.isEmpty ? nil : Secret($0) })
    }
    return S3Credentials(
      accessKeyID: try accessKeyId.resolve(variables),
      secret: try secretAccessKey.resolve(variables),
      sessionToken: try sessionToken?.resolve(variables))
  }

  var json: JSONValue {
    JSONObject.of([
      ("endpoint", .string(location.endpoint)), ("region", .string(location.region)),
      ("bucket", .string(location.bucket)), ("prefix", .string(location.prefix)),
      ("pathStyle", .bool(location.pathStyle)), ("dialect", .string(location.dialect.rawValue)),
      ("accessKeyId", accessKeyId?.json), ("secretAccessKey", secretAccessKey?.json),
      ("sessionToken", sessionToken?.json),
    ])
  }
}
