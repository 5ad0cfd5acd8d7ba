import System

/// How much memory all loads of the process hold for keys: what one asks for beyond it goes to a file.
enum KeyBudget {
  /// Bytes for all together.
  static let most = 40 << 20
  /// What a collection of keys gets in any case.
  static let least = 256 << 10

  private static let held = Locked(0)

  /// Takes so many bytes more, where they are there or must be.
  static func take(_ bytes: Int, always: Bool) -> Bool {
    held.withLock { held in
      guard always || held + bytes <= most else { return false }
      held += bytes
      return true
    }
  }

  /// Gives bytes back.
  static func give(_ bytes: Int) { held.withLock { $0 -= bytes } }
}
