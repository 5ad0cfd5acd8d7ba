/// Sizes and numbers in words.
package enum ByteCount {
  /// A size in the unit that keeps it short.
  package static func text(_ bytes: Int) -> String {
    if bytes < 10_000 { return "\(bytes) bytes" }
    if bytes < 10_000_000 { return "\((bytes + 512) / 1024) KiB" }
    return "\((bytes + 524_288) / 1_048_576) MiB"
  }

  /// A number with its noun.
  package static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}
