import Arguments
import Crypto
import JSON
import LocalOrg
import Synchronization
import System

/// `attache org serve`: serves the embedded org, for rehearsals and other clients.
struct OrgServeCommand: Command {
  static let name = "org serve"
  static let summary = "serve the embedded org over HTTP"
  static let discussion = """
    The org is one directory and answers as Salesforce does: logins, query, priming records, rows, \
    collections, composite and bulk jobs. It listens on the loopback address, prints its URL, and stops on SIGINT or \
    SIGTERM. --app registers a connected app with its certificate; the app signs its logins with the certificate's key.
    """
  static let examples = [
    Note(
      "attache org serve --data .org --app field-app=app-cert.pem",
      "an org on a free port; its URL is the first line of the output")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .option("data", "DIR", "data directory of the org", completes: .directories, \.data),
      .option("address", "ADDRESS", "the address to listen on", \.address),
      .option("port", "PORT", "the port; 0 selects a free one", \.port),
      .option("app", "ID=CERT.pem", "a connected app and its certificate", \.apps),
      .option(
        "client", "ID=USERNAME", "an app that logs in with the secret in $ATTACHE_CLIENT_SECRET",
        \.clients),
      .option(
        "clock", "START",
        "start at this time (2026-01-31T00:00:00.000Z), advance one second per write, and number "
          + "IDs in sequence", \.clock),
      .option("tls", "DIR", "also serve TLS, with a certificate created in DIR", \.tls),
      .option(
        "tls-name", "NAME", "another host name for the certificate", \.tlsNames),
      .option(
        "session", "MINUTES", "how long a session without requests lasts", \.session),
      .flag(
        "passwords", "let every user log in with the password in $ATTACHE_USER_PASSWORD",
        \.passwords),
      .flag(
        "admin", "let other processes inject faults; the secret is in DATA/admin-secret", \.admin),
      .flag("json", "print the addresses as JSON", \.json),
    ]
  }

  var data = Options.orgDirectory
  var address = OrgServer.Options().address
  var port = Port(0)
  var apps: [String] = []
  var clients: [String] = []
  var clock: ClockStart?
  var tls: String?
  var tlsNames: [String] = []
  var session = OrgServer.Options().sessionSeconds / 60
  var passwords = false
  var admin = false
  var json = false

  func validate() throws(UsageError) {
    if session < 1 || session > 1440 {
      throw UsageError("--session must be a number of minutes from 1 to 1440")
    }
    for (option, pairs, form) in [
      ("--app", apps, "ID=CERT.pem"), ("--client", clients, "ID=USERNAME"),
    ] {
      for pair in pairs where pair.split(separator: "=", maxSplits: 1).count != 2 {
        throw UsageError("\(option) cannot be \"\(pair)\"", hint: "write \(form)")
      }
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let org = try Org(
      directory: context.directory(data), options: .init(clockStart: clock?.milliseconds))
    let server = try OrgServer(org: org, options: try options(context))
    let stopped = Stop()
    Signals.onTermination { stopped.signal($0) }
    if json {
      var answer: JSONObject = [
        "url": .string(server.url), "organizationId": .string(org.organizationID),
      ]
      if let secure = server.secureURL { answer["secureUrl"] = .string(secure) }
      context.print(.object(answer))
    } else {
      context.print(server.url)
      if let secure = server.secureURL { context.print(secure) }
    }
    ServiceManager.tell("READY=1", context.variables)
    _ = await stopped.wait()
    ServiceManager.tell("STOPPING=1", context.variables)
    server.stop()
    return .done
  }

  private func options(_ context: Program) throws -> OrgServer.Options {
    var options = OrgServer.Options()
    options.address = address
    options.port = port.number
    options.compresses = true
    options.sessionSeconds = session * 60
    if passwords {
      guard let password = context.variables["ATTACHE_USER_PASSWORD"], !password.isEmpty else {
        throw UsageError(
          "--passwords needs a password", hint: "set ATTACHE_USER_PASSWORD",
          command: "attache org serve")
      }
      options.password = password
    }
    for pair in apps {
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      options.apps[parts[0]] = try Files.read(context.existing(parts[1]), limit: 1 << 20)
    }
    for pair in clients {
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      guard let secret = context.variables["ATTACHE_CLIENT_SECRET"], !secret.isEmpty else {
        throw UsageError(
          "--client needs a secret", hint: "set ATTACHE_CLIENT_SECRET", command: "attache org serve"
        )
      }
      options.clients[parts[0]] = OrgServer.Client(secret: secret, username: parts[1])
    }
    if admin {
      let secret = Hex.encode(RandomBytes.make(16))
      try DurableFile.write(
        Array(secret.utf8), to: context.absolute(data) + "/admin-secret")
      options.adminSecret = secret
    }
    if let tls {
      let authority = try CertificateAuthority.make(
        directory: context.directory(tls), dnsNames: ["localhost"] + tlsNames)
      options.identity = try authority.identity()
    }
    return options
  }
}

/// Waits for a signal.
final class Stop: Sendable {
  private struct State {
    var signal: Int32?
    var waiter: CheckedContinuation<Int32, Never>?
  }

  private let state = Mutex(State())

  func signal(_ number: Int32) {
    let waiter = state.withLock { state in
      if state.signal == nil { state.signal = number }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: number)
  }

  func wait() async -> Int32 {
    await withCheckedContinuation { continuation in
      let number = state.withLock { state in
        if state.signal == nil { state.waiter = continuation }
        return state.signal
      }
      if let number { continuation.resume(returning: number) }
    }
  }
}
