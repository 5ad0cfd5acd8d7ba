import System

/// Temporary.
enum Off {
  static let rules = Set(
    (ProcessEnvironment.variable("ATTACHE_OFF") ?? "").split(separator: ",").map(String.init))
  static func has(_ rule: String) -> Bool { rules.contains(rule) }
}
