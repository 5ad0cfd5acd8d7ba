import Crypto
import JSON
import Salesforce
import System

/// A pipeline's `tokens.json`: the newest refresh token for each configured one.
///
/// A member's name is the SHA-256 of the configured token, so that a new token in the configuration
/// takes effect at once. The file is replaced atomically, before the session is used, under a lock
/// next to it. Without the lock, two processes could use one token twice, which an org with token
/// rotation treats as theft.
final class RefreshTokenFile: RefreshTokenKeeper {
  private let path: String
  private let pause: RetryPause
  private let lock = Locked<FileLock?>(nil)

  /// The seconds to wait for another process's lock.
  private static let waitSeconds = 60
  private static let limitBytes = 64 << 20

  init(_ path: String, pause: RetryPause) {
    self.path = path
    self.pause = pause
  }

  func begin(_ token: Secret) async throws(OrgError) -> Secret {
    let taken = try await takeLock()
    do throws(OrgError) {
      let known = try read()[Self.name(token)]?.string.map { Secret($0) }
      lock.withLock { $0 = taken }
      return known ?? token
    } catch {
      taken.close()
      throw error
    }
  }

  func end(_ token: Secret, replacement: Secret?) throws(OrgError) {
    let taken = lock.withLock { lock in
      defer { lock = nil }
      return lock
    }
    defer { taken?.close() }
    guard let replacement = replacement?.text else { return }
    var tokens = try read()
    tokens[Self.name(token)] = .string(replacement)
    let document: JSONValue = ["format": 1, "tokens": .object(tokens)]
    do throws(SystemError) {
      try DurableFile.write(document.bytes, to: path)
    } catch {
      throw refusal("the refresh token that replaces the last one cannot be stored: \(error)")
    }
  }

  private func takeLock() async throws(OrgError) -> FileLock {
    do throws(SystemError) {
      try Files.makeDirectory(Files.parent(of: path) ?? ".")
    } catch {
      throw refusal("refresh tokens cannot be stored: \(error)")
    }
    // The call blocks, and must not occupy a thread of the shared pool.
    let thread = StoreThread(name: "tokens")
    do throws(LockError) {
      return try await thread.run { [path] () throws(LockError) in
        try FileLock.waiting(path + ".lock", seconds: Self.waitSeconds) { Task.isCancelled }
      }
    } catch {
      if Task.isCancelled {
        throw OrgError(.cancelled, message: "the login was cancelled", request: request)
      }
      guard case .held(let holder) = error else {
        throw refusal("refresh tokens cannot be stored: \(error)")
      }
      throw refusal(
        "the refresh tokens have been locked for more than \(Self.waitSeconds) seconds by "
          + holder)
    }
  }

  private func read() throws(OrgError) -> JSONObject {
    guard Files.exists(path) else { return JSONObject() }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Files.read(path, limit: Self.limitBytes)
    } catch {
      throw refusal("the refresh tokens cannot be read: \(error)")
    }
    guard let document = try? JSONValue(parsing: bytes), document["format"] == 1,
      let tokens = document["tokens"]?.object
    else {
      throw refusal("\(path) is not valid: restore it from a backup, or remove it")
    }
    return tokens
  }

  private static func name(_ token: Secret) -> String { Digest.sha256Hex(token.reveal()) }

  private let request = "POST /services/oauth2/token"

  private func refusal(_ message: String) -> OrgError {
    OrgError(.configuration, message: message, request: request)
  }
}
