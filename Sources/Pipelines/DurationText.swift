/// Formats durations for messages.
package enum DurationText {
  /// Returns a duration in the largest fitting unit: `0.4 s`, `40 s`, `12 min`, `3 h`.
  package static func of(seconds: Double) -> String {
    switch seconds {
    case ..<10: "\((seconds * 10).rounded() / 10) s"
    case ..<100: "\(Int(seconds.rounded(.up))) s"
    case ..<6000: "\(Int((seconds / 60).rounded())) min"
    default: "\(Int((seconds / 3600).rounded())) h"
    }
  }
}
