import JSON
import System

/// The source of a secret.
///
/// A pipeline file never contains secrets.
package enum SecretSource: Sendable, Hashable {
  /// An environment variable.
  case env(String)
  /// A file that only its owner can read.
  case file(String)
  /// A credential that systemd passes to the service.
  case credential(String)
  /// A program with its arguments; the secret is the first line of its output.
  case command([String])

  /// The maximum size of a secret: a table of users with one refresh token each, with a margin.
  private static let limitBytes = 16 << 20
  /// The time limit of a program.
  ///
  /// A password manager may prompt, and under cron no one answers.
  package static let commandSeconds = 30
  /// A program with more output is not a password manager, and may not end.
  private static let commandLimitBytes = 64 << 10

  /// The message for an environment variable that is not set.
  package static func unset(_ name: String) -> (message: String, fix: String) {
    ("the environment variable \(name) is not set", "export \(name)=…")
  }

  /// Reads the secret.
  ///
  /// It may run a program, so do not call it on the cooperative pool.
  ///
  /// - Parameters:
  ///   - variables: The environment.
  ///   - commandSeconds: The time limit of a program.
  ///   - isCancelled: Whether the result is no longer needed.
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
        let fault = Self.noCredentials(name)
        throw SecretError(self, fault.message, fault.fix)
      }
      secret = try read(directory + "/" + name, ofService: true)
    case .command(let words): secret = try run(words, variables, commandSeconds, isCancelled)
    }
    guard !secret.isEmpty else { throw SecretError(self, "the secret is empty", "write it there") }
    return secret
  }

  /// Reads a file that only its owner may read.
  ///
  /// Permissions are checked on the open file.
  private func read(_ path: String, ofService: Bool = false) throws(SecretError) -> Secret {
    if let fault = Self.faultOfLink(path) { throw SecretError(self, fault.message, fault.fix) }
    let content: (status: FileStatus, bytes: [UInt8])
    do throws(SystemError) {
      content = try Files.readRegular(path, limit: Self.limitBytes)
    } catch {
      throw SecretError(self, "\(error)", "write the secret there, readable only by you")
    }
    // systemd owns its credentials; only the service can read their directory.
    if ofService { return Secret(content.bytes) }
    guard content.status.owner == ProcessEnvironment.userID() else {
      throw SecretError(
        self, "\(path) belongs to another user", "change its owner to the user who runs attache")
    }
    if let fault = Self.fault(ofMode: content.status, path) {
      throw SecretError(self, fault.message, fault.fix)
    }
    return Secret(content.bytes)
  }

  /// The message for a credential of a process that systemd passes none to.
  static func noCredentials(_ name: String) -> (message: String, fix: String) {
    ("there is no $CREDENTIALS_DIRECTORY", "add LoadCredential=\(name):… to the systemd unit")
  }

  /// Returns why a link is not the file of a secret, and the fix; nil if it is not one.
  static func faultOfLink(_ path: String) -> (message: String, fix: String)? {
    Files.isSymbolicLink(path) ? ("\(path) is a link", "name the file itself") : nil
  }

  /// Returns why a file with such a mode may not contain a secret, and the fix; nil if only its
  /// owner can read it.
  static func fault(ofMode status: FileStatus, _ path: String) -> (message: String, fix: String)? {
    guard status.mode & 0o077 != 0 else { return nil }
    return ("other users can read \(path)", "chmod 600 \(path)")
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
          self,
          "\(program) did not finish within \(CountText.of(seconds, "second")) and was stopped",
          "run it by hand: it may be waiting for input")
      }
      if error.isTooLarge {
        throw SecretError(
          self, "\(program) wrote more than \(Self.commandLimitBytes >> 10) KiB and was stopped",
          "let it print only the secret")
      }
      throw SecretError(self, "\(error)", "name an executable program")
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

/// The reason why a secret could not be read.
///
/// It never contains the secret.
package struct SecretError: Error, Sendable, Hashable, CustomStringConvertible {
  package let source: SecretSource
  package let message: String
  package let fix: String

  init(_ source: SecretSource, _ message: String, _ fix: String) {
    self.source = source
    self.message = message
    self.fix = fix
  }

  /// The fault and the suggested fix.
  package var description: String { "\(message); \(fix)" }
}
