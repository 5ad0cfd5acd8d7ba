import JSON
import System

/// Where a secret comes from; a pipeline file never holds one.
package enum SecretSource: Sendable, Hashable {
  /// An environment variable.
  case env(String)
  /// A file that is ours alone.
  case file(String)
  /// A credential that systemd hands to the service.
  case credential(String)
  /// A program and its arguments; the first line of its output.
  case command([String])

  /// The longest secret: a table of users with a refresh token each, with room to spare.
  private static let limitBytes = 16 << 20
  /// How long a program may take: a password manager may ask somebody something, and nobody
  /// answers cron.
  package static let commandSeconds = 30
  /// A program that says more is no password manager, and may not end.
  private static let commandLimitBytes = 64 << 10

  /// What is said of an environment variable that is not there.
  static func unset(_ name: String) -> (message: String, fix: String) {
    ("the environment variable \(name) is not set", "export \(name)=…")
  }

  /// Fetches the secret.
  ///
  /// It may run a program, so not on the cooperative pool.
  ///
  /// - Parameters:
  ///   - variables: The environment.
  ///   - commandSeconds: How long a program may take.
  ///   - isCancelled: Whether nobody waits for it any more.
  package func resolve(
    _ variables: [String: String], commandSeconds: Int = SecretSource.commandSeconds,
    isCancelled: (() -> Bool)? = nil
  ) throws(SecretError) -> Secret {
    let secret: Secret
    switch self {
    case .env(let name):
      guard let value = variables[name] else {
        throw SecretError(self, Self.unset(name).message, Self.unset(name).fix)
      }
      secret = Secret(value)
    case .file(let path): secret = try read(path)
    case .credential(let name):
      guard let directory = variables["CREDENTIALS_DIRECTORY"] else {
        throw SecretError(
          self, "there is no $CREDENTIALS_DIRECTORY",
          "add LoadCredential=\(name):… to the systemd unit")
      }
      secret = try read(directory + "/" + name, ofService: true)
    case .command(let words): secret = try run(words, variables, commandSeconds, isCancelled)
    }
    guard !secret.isEmpty else { throw SecretError(self, "the secret is empty", "put it there") }
    return secret
  }

  /// Reads a file that nobody else may read; what is checked is what is read.
  private func read(_ path: String, ofService: Bool = false) throws(SecretError) -> Secret {
    if Files.isSymbolicLink(path) {
      throw SecretError(self, "\(path) is a link", "name the file itself")
    }
    let content: (status: FileStatus, bytes: [UInt8])
    do throws(SystemError) {
      content = try Files.readRegular(path, limit: Self.limitBytes)
    } catch {
      throw SecretError(self, "\(error)", "put the secret there, readable by you alone")
    }
    // systemd owns its credentials; their directory is closed to everybody but the service.
    if ofService { return Secret(content.bytes) }
    guard content.status.owner == ProcessEnvironment.userID() else {
      throw SecretError(
        self, "\(path) belongs to another user", "give it to the user who runs attache")
    }
    if let fault = Self.fault(ofMode: content.status, path) {
      throw SecretError(self, fault.message, fault.fix)
    }
    return Secret(content.bytes)
  }

  /// Why a secret may not be in a file of such a mode, with what to do; nil where nobody else may read it.
  static func fault(ofMode status: FileStatus, _ path: String) -> (message: String, fix: String)? {
    guard status.mode & 0o077 != 0 else { return nil }
    return ("others may read \(path)", "chmod 600 \(path)")
  }

  private func run(
    _ words: [String], _ variables: [String: String], _ seconds: Int,
    _ isCancelled: (() -> Bool)?
  ) throws(SecretError) -> Secret {
    guard let program = words.first else {
      throw SecretError(self, "the command is empty", "name a program")
    }
    let result: ChildProcess.Result
    do throws(SystemError) {
      result = try ChildProcess.run(
        program, Array(words.dropFirst()), environment: variables,
        deadlineSeconds: seconds, outputLimit: Self.commandLimitBytes, isCancelled: isCancelled)
    } catch {
      if error.isTimeout {
        throw SecretError(
          self, "\(program) did not end within \(seconds) seconds and was ended",
          "run it by hand: it may wait for somebody's answer")
      }
      if error.isTooLarge {
        throw SecretError(
          self, "\(program) said more than \(Self.commandLimitBytes >> 10) KiB and was ended",
          "let it print the secret alone")
      }
      throw SecretError(self, "\(error)", "name a program that can be run")
    }
    guard result.status == 0 else {
      throw SecretError(
        self, "\(program) failed with exit status \(result.status)",
        "run it by hand to see why")
    }
    let line = result.output.prefix { $0 != 0x0A && $0 != 0x0D }
    return Secret(Array(line))
  }
}

/// Why a secret could not be fetched; it never shows the secret.
package struct SecretError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Where it should have come from.
  package let source: SecretSource
  /// What is wrong.
  package let message: String
  /// What to do.
  package let fix: String

  init(_ source: SecretSource, _ message: String, _ fix: String) {
    self.source = source
    self.message = message
    self.fix = fix
  }

  /// What is wrong and what to do.
  package var description: String { "\(message); \(fix)" }
}
