/// Formats sizes for messages.
package enum ByteCount {
  /// A size in the largest fitting unit.
  package static func text(_ bytes: Int) -> String {
    if bytes < 10_000 { return "\(bytes) bytes" }
    if bytes < 10_000_000 { return "\((bytes + 512) / 1024) KiB" }
    return "\((bytes + 524_288) / 1_048_576) MiB"
  }
}
