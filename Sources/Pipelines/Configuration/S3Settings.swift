import HTTP
import JSON
import ObjectStore
import System

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
