import Arguments
import Pipelines
import Salesforce
import System

/// The login options of a command without a pipeline.
///
/// A secret is never an argument, because every user of the machine can read arguments.
struct LoginOptions: Sendable {
  static var parameters: [Parameter<LoginOptions>] {
    [
      .option(
        "target-org", "ALIAS", "use the sf command's login with this alias", \.alias),
      .option(
        "org-url", "URL", "the org's URL, or its login host (default: $ATTACHE_ORG_URL)", \.url),
      .option(
        "token-file", "PATH", "log in with the access token in this file", completes: .files,
        \.tokenFile),
      .option(
        "token-env", "NAME", "log in with the access token in this environment variable",
        \.tokenVariable),
      .option(
        "key-file", "PATH", "log in by JWT with the private key in this file", completes: .files,
        \.keyFile),
      .option(
        "key-env", "NAME", "log in by JWT with the private key in this environment variable",
        \.keyVariable),
      .option(
        "client-id", "ID", "the connected app of a JWT login (default: $ATTACHE_CLIENT_ID)",
        \.clientID),
      .option("username", "USERNAME", "the user to act as; required for a JWT login", \.username),
      .option(
        "ca-file", "FILE", "certificate authorities to trust", completes: .files, \.caFile),
      .option(
        "api-version", "VERSION", "the API version (default: the org's newest)", \.apiVersion),
    ]
  }

  var alias: String?
  var url: String?
  var tokenFile: String?
  var tokenVariable: String?
  var keyFile: String?
  var keyVariable: String?
  var clientID: String?
  var username: String?
  var caFile: String?
  var apiVersion: String?

  private var token: SecretSource? {
    tokenFile.map(SecretSource.file) ?? tokenVariable.map(SecretSource.env)
  }
  private var key: SecretSource? {
    keyFile.map(SecretSource.file) ?? keyVariable.map(SecretSource.env)
  }

  func validate() throws(UsageError) {
    let ways = [alias, tokenFile, tokenVariable, keyFile, keyVariable].filter { $0 != nil }
    guard ways.count == 1 else {
      throw UsageError(
        ways.isEmpty ? "a login is needed" : "there is more than one login",
        hint: "give one of --target-org, --token-file, --token-env, --key-file and --key-env")
    }
    guard key == nil || username != nil else {
      throw UsageError(
        "a JWT login needs a user name", hint: "give --username USERNAME")
    }
  }

  /// Creates the client of the org, without sending a request.
  func org(_ program: Program) throws -> Org {
    let caFile = caFile.map(program.absolute)
    if let alias {
      // The sf command supplies the URL.
      return try Org(
        url: url ?? "", credentials: .sf(alias: alias), apiVersion: apiVersion, caFile: caFile,
        concurrency: Org.defaultConcurrency, keepsObjects: true)
    }
    guard let url = url ?? program.variables["ATTACHE_ORG_URL"], !url.isEmpty else {
      throw UsageError("the org's URL is needed", hint: "give --org-url URL")
    }
    return try Org(
      url: url, credentials: try credentials(program), apiVersion: apiVersion, caFile: caFile,
      concurrency: Org.defaultConcurrency, keepsObjects: true)
  }

  private func credentials(_ program: Program) throws -> Credentials {
    if let token {
      return Credentials(.accessToken(try absolute(token, program).resolve(program.variables)))
    }
    guard let clientID = clientID ?? program.variables["ATTACHE_CLIENT_ID"], !clientID.isEmpty
    else {
      throw UsageError("a JWT login needs the connected app", hint: "give --client-id ID")
    }
    let secret = try absolute(key ?? .env(""), program).resolve(program.variables)
    return Credentials(.jwt(clientID: clientID, key: secret, audience: nil))
  }

  private func absolute(_ source: SecretSource, _ program: Program) -> SecretSource {
    guard case .file(let path) = source else { return source }
    return .file(program.absolute(path))
  }
}
