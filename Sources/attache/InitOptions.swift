import Arguments
import Pipelines
import SmartStore
import System

/// The settings of `attache init`, from options or questions.
struct InitOptions: Sendable {
  static var parameters: [Parameter<InitOptions>] {
    [
      .option(
        "from", "FILE",
        "the SDK's userstore.json, which defines the soups; give the sync file as SYNCS",
        completes: .files, \.from),
      .option("object", "NAMES", "objects to include, by API name", commas: true, \.objects),
      .option("user", "USERNAMES", "the users to prime", commas: true, \.users),
      .option(
        "users-query", "SOQL", "a SOQL query of Id and Username, instead of --user", \.usersQuery),
      .option("platform", "PLATFORMS", "the platforms", commas: true, \.platforms),
      .option("target-org", "ALIAS", "use the sf command's login with this alias", \.alias),
      .option(
        "org-url", "URL", "the org's URL, or its login host (default: $ATTACHE_ORG_URL)", \.url),
      .option(
        "client-id", "ID",
        "the connected app, for every login except sf and a token (default: $ATTACHE_CLIENT_ID)",
        \.clientID),
      .option(
        "key-file", "PATH", "log in by JWT with the private key in this file", completes: .files,
        \.keyFile),
      .option(
        "key-env", "NAME", "log in by JWT with the private key in this environment variable",
        \.keyVariable),
      .option(
        "client-secret-file", "PATH", "log in as the app, with the secret in this file",
        completes: .files, \.secretFile),
      .option(
        "client-secret-env", "NAME",
        "log in as the app, with the secret in this environment variable",
        \.secretVariable),
      .option(
        "refresh-token-file", "PATH", "log in with the refresh token in this file",
        completes: .files,
        \.refreshFile),
      .option(
        "refresh-token-env", "NAME", "log in with the refresh token in this environment variable",
        \.refreshVariable),
      .option(
        "token-file", "PATH", "log in with the access token in this file", completes: .files,
        \.tokenFile),
      .option(
        "token-env", "NAME", "log in with the access token in this environment variable",
        \.tokenVariable
      ),
      .option(
        "integration-user", "USERNAME", "the user who lists users and can see every record",
        \.integrationUser),
      .option("ca-file", "FILE", "certificate authorities to trust", completes: .files, \.caFile),
    ]
  }

  var from: String?
  var objects: [String] = []
  var users: [String] = []
  var usersQuery: String?
  var platforms: [Platform] = [.ios, .android]
  var alias: String?
  var url: String?
  var clientID: String?
  var keyFile: String?
  var keyVariable: String?
  var secretFile: String?
  var secretVariable: String?
  var refreshFile: String?
  var refreshVariable: String?
  var tokenFile: String?
  var tokenVariable: String?
  var integrationUser: String?
  var caFile: String?

  private static func source(
    _ file: String?, _ variable: String?, _ program: Program
  ) -> SecretSource? {
    file.map { .file(program.absolute($0)) } ?? variable.map(SecretSource.env)
  }

  /// The login methods that the options name.
  var ways: [LoginSettings.Method] {
    var ways: [LoginSettings.Method] = []
    if alias != nil { ways.append(.sf) }
    if keyFile ?? keyVariable != nil { ways.append(.jwt) }
    if refreshFile ?? refreshVariable != nil {
      ways.append(.refreshToken)
    } else if secretFile ?? secretVariable != nil {
      ways.append(.clientCredentials)
    }
    if tokenFile ?? tokenVariable != nil { ways.append(.accessToken) }
    return ways
  }

  /// Returns the login that the options describe.
  func login(_ program: Program) throws(UsageError) -> LoginSettings {
    guard ways.count == 1, let method = ways.first else {
      throw UsageError(
        ways.isEmpty ? "a login is needed" : "there is more than one login",
        hint:
          "give one of --target-org, --key-file, --client-secret-file, --refresh-token-file and --token-file"
      )
    }
    for (option, file) in [
      ("--key-file", keyFile), ("--client-secret-file", secretFile),
      ("--refresh-token-file", refreshFile), ("--token-file", tokenFile),
    ] {
      if let file, !Files.exists(program.absolute(file)) {
        throw UsageError("there is no file \(file)", hint: "correct \(option)")
      }
    }
    for (option, variable) in [
      ("--key-env", keyVariable), ("--client-secret-env", secretVariable),
      ("--refresh-token-env", refreshVariable), ("--token-env", tokenVariable),
    ] {
      if let variable, (program.variables[variable] ?? "").isEmpty {
        throw UsageError(
          "\(option) \(variable): the environment variable is not set",
          hint: "\(SecretSource.unset(variable).fix); nothing was written")
      }
    }
    var login = LoginSettings(method: method)
    login.alias = alias
    login.integrationUser = integrationUser
    switch method {
    case .jwt: login.key = Self.source(keyFile, keyVariable, program)
    case .clientCredentials: login.clientSecret = Self.source(secretFile, secretVariable, program)
    case .refreshToken:
      login.refreshToken = Self.source(refreshFile, refreshVariable, program)
      login.clientSecret = Self.source(secretFile, secretVariable, program)
    case .accessToken: login.accessToken = Self.source(tokenFile, tokenVariable, program)
    case .sf: break
    }
    guard [.jwt, .clientCredentials, .refreshToken].contains(method) else { return login }
    if let clientID {
      login.clientId = .plain(clientID)
    } else if program.variables["ATTACHE_CLIENT_ID"] != nil {
      login.clientId = .source(.env("ATTACHE_CLIENT_ID"))
    } else {
      throw UsageError("the connected app is needed", hint: "give --client-id ID")
    }
    return login
  }

  /// Returns the org's URL; for an alias, the sf command supplies it.
  func address(_ program: Program) throws(UsageError) -> TextSource {
    if let url { return .plain(url) }
    if alias != nil { return .plain("https://login.salesforce.com") }
    guard program.variables["ATTACHE_ORG_URL"] != nil else {
      throw UsageError(
        "the org's URL is needed", hint: "give --org-url URL, or --target-org ALIAS")
    }
    return .source(.env("ATTACHE_ORG_URL"))
  }

  /// Returns the selection of users: the named ones, or the single user of the login.
  func selection(_ login: LoginSettings) throws(UsageError) -> UserSelection.Source {
    if let usersQuery {
      try check(usersQuery, login)
      return .query(usersQuery)
    }
    if !users.isEmpty { return .list(users) }
    guard login.method == .jwt else { return .loginUser }
    throw UsageError(
      "a login by JWT needs a user name",
      hint: "give --user USERNAME, or --users-query SOQL")
  }

  /// Throws if `--users-query` cannot list users, before a file with that fault is written.
  private func check(_ query: String, _ login: LoginSettings) throws(UsageError) {
    let fault = UserSelection.fault(ofQuery: query)
    let isUnnamed = login.method == .jwt && login.integrationUser == nil
    let hints: [String?] = [
      isUnnamed ? "give --integration-user USERNAME, the user who lists users" : nil,
      fault == nil ? nil : "select Id and Username in --users-query",
    ]
    let needed = hints.compactMap(\.self)
    if needed.isEmpty { return }
    throw UsageError(
      fault?.message ?? "--users-query needs the integration user",
      hint: needed.joined(separator: "; "))
  }
}

extension Platform: ArgumentValue {}
