import JSON
import System

/// Gets the login that the `sf` command stores under an alias.
///
/// Its files are not read directly.
package struct SalesforceCLI: Sendable {
  let alias: String
  /// The directories in which the command is searched; nil for the PATH.
  var searchPath: String?

  package init(alias: String, searchPath: String? = nil) {
    self.alias = alias
    self.searchPath = searchPath
  }

  package func grant() async throws(OrgError) -> Grant {
    // A child process blocks, so it gets its own thread.
    try await StoreThread(name: "sf").run { () throws(OrgError) -> Grant in
      try blockingGrant()
    }
  }

  private func blockingGrant() throws(OrgError) -> Grant {
    let display = try run(["org", "display"])
    guard let instanceURL = display["instanceUrl"]?.string else {
      throw failure("`sf org display` returned no instanceUrl")
    }
    if let shown = display["accessToken"]?.string, !shown.contains("[REDACTED]") {
      return Grant(token: shown, instanceURL: instanceURL)
    }
    let answer = try run(["org", "auth", "show-access-token", "--no-prompt"])
    guard let token = answer["accessToken"]?.string, !token.contains("[REDACTED]") else {
      throw failure("`sf org auth show-access-token` returned no token; is the command up to date?")
    }
    return Grant(token: token, instanceURL: instanceURL)
  }

  /// The `result` of a command.
  private func run(_ arguments: [String]) throws(OrgError) -> JSONValue {
    let variables = ProcessEnvironment.variables()
    let directories = (searchPath ?? variables["PATH"] ?? "").split(separator: ":").map(String.init)
    guard let program = directories.map({ $0 + "/sf" }).first(where: { Files.exists($0) }) else {
      throw OrgError(
        .configuration,
        message: "there is no `sf` command on the PATH: install it, or use another login",
        request: "sf --target-org \(alias)")
    }
    var environment = ["NO_COLOR": "1"]
    for name in ["PATH", "HOME", "XDG_CONFIG_HOME", "SF_USE_GENERIC_UNIX_KEYCHAIN"] {
      environment[name] = variables[name]
    }
    let result: ChildProcess.Result
    do {
      result = try ChildProcess.run(
        program, arguments + ["--target-org", alias, "--json"], environment: environment,
        deadlineSeconds: 120)
    } catch {
      throw failure("`sf` could not be run: \(error)")
    }
    guard let answer = try? JSONValue(parsing: result.output), let value = answer["result"] else {
      // Its output may contain a token, so only the command's name and status are reported.
      let words = (try? JSONValue(parsing: result.output))?["message"]?.string
      let name = arguments.joined(separator: " ")
      throw failure(words ?? "`sf \(name)` exited with status \(result.status)")
    }
    return value
  }

  private func failure(_ message: String) -> OrgError {
    OrgError(.authentication, message: message, request: "sf --target-org \(alias)")
  }
}
