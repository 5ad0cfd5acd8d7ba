/// The reason no complete response was received.
package struct HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What failed, and so whether the server can have received the request.
  package enum Kind: Sendable, Hashable {
    /// The name was not resolved, the connection was refused, or it broke before the request was
    /// sent.
    case unreachable
    /// The deadline passed, or the transfer nearly stalled.
    case timeout
    /// The certificate or the protocol of the server is not acceptable.
    case tls
    /// The file of certificate authorities is missing or invalid.
    case authorities
    /// The connection ended before the response was complete.
    case truncated
    /// The file that is sent cannot be read.
    case file
    /// The response is larger than the limit.
    case tooLarge
    /// The waiting task was cancelled.
    case cancelled
    /// The address is not allowed, or the configuration is invalid.
    case notAllowed
    /// Any other error, described by the message.
    case other
  }

  /// How much of the request was sent.
  package enum Phase: Sendable, Hashable {
    /// No byte of the request was sent, so the server cannot have acted on it.
    case beforeSend
    /// Some of the request may have been sent: the outcome of a write is unknown.
    case afterSend
  }

  package let kind: Kind
  package let phase: Phase
  /// The address without its query.
  package let url: String
  /// The message from the library.
  package let message: String

  package init(_ kind: Kind, phase: Phase, url: String, message: String) {
    self.kind = kind
    self.phase = phase
    self.url = url
    self.message = message
  }

  /// The failure, its address and what to do.
  package var description: String {
    let mend =
      switch kind {
      case .unreachable: "check the address and the network"
      case .timeout: "try again later, or set a longer timeout"
      case .tls: "check the certificate, or name the file of its authority"
      case .authorities: "name a file of certificate authorities in PEM"
      case .truncated: "the connection broke; try again"
      case .file: "check the file"
      case .tooLarge: "request less at a time, or raise the limit"
      case .cancelled: "the request was cancelled"
      case .notAllowed: "use an https address"
      case .other: "see the message"
      }
    return "\(url): \(message) (\(mend))"
  }
}
