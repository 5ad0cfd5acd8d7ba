import System

/// The memory that all loads of the process may hold for keys.
///
/// Further keys are written to a file.
enum KeyBudget {
  /// The total limit in bytes.
  static let most = 40 << 20
  /// The minimum for a collection of keys.
  static let least = 256 << 10

  private static let held = Locked(0)

  /// Reserves bytes, if they are available or `always` is set.
  static func take(_ bytes: Int, always: Bool) -> Bool {
    held.withLock { held in
      guard always || held + bytes <= most else { return false }
      held += bytes
      return true
    }
  }

  /// Releases bytes.
  static func give(_ bytes: Int) { held.withLock { $0 -= bytes } }
}
