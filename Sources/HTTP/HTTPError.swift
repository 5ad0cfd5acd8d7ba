/// Why no whole answer came.
package struct HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong.
  package enum Kind: Sendable, Hashable {
    /// The name did not resolve, the connection was refused, or it broke before the request left.
    case unreachable
    /// The deadline passed, or the transfer all but stood still.
    case timeout
    /// The other side's certificate or its protocol is not acceptable.
    case tls
    /// The file of certificate authorities is missing, or is none.
    case authorities
    /// The connection ended before the answer was whole.
    case truncated
    /// The answer is larger than the limit.
    case tooLarge
    /// The task that waited was cancelled.
    case cancelled
    /// The address may not be used, or the configuration is wrong.
    case notAllowed
    /// Anything else; the message says what.
    case other
  }

  /// How far the request got.
  package enum Phase: Sendable, Hashable {
    /// No byte of the request left, so that the other side cannot have acted on it.
    case beforeSend
    /// A byte of the request may have left: a write's outcome is unknown.
    case afterSend
  }

  /// What went wrong.
  package let kind: Kind
  /// How far the request got.
  package let phase: Phase
  /// The address without its query.
  package let url: String
  /// What the library said.
  package let message: String

  /// An error of its parts.
  package init(_ kind: Kind, phase: Phase, url: String, message: String) {
    self.kind = kind
    self.phase = phase
    self.url = url
    self.message = message
  }

  /// What happened where, and what to do.
  package var description: String {
    let mend =
      switch kind {
      case .unreachable: "check the address and the network"
      case .timeout: "try again later, or allow a longer time"
      case .tls: "check the certificate, or name its authority's file"
      case .authorities: "name a file of certificate authorities in PEM"
      case .truncated: "the connection broke; try again"
      case .tooLarge: "ask for less at a time, or raise the limit"
      case .cancelled: "the work was cancelled"
      case .notAllowed: "use an https address"
      case .other: "see the message"
      }
    return "\(url): \(message) (\(mend))"
  }
}
