import System

/// A line with parts that are highlighted on a color terminal.
struct StyledLine: ExpressibleByStringInterpolation, Sendable {
  /// The style of a part.
  enum Style: String, Sendable {
    case bold = "1"
    case red = "1;31"
    case yellow = "1;33"
    case green = "32"
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [(text: String, style: Style?)] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) { parts.append((literal, nil)) }

    mutating func appendInterpolation(_ value: some CustomStringConvertible, _ style: Style? = nil)
    {
      parts.append((value.description, style))
    }
  }

  private let parts: [(text: String, style: Style?)]

  init(stringLiteral text: String) { parts = [(text, nil)] }

  init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

  /// A line without a style.
  init(_ text: String) { parts = [(text, nil)] }

  /// Returns the line for a terminal, with the control characters of untrusted text made visible.
  func rendered(isColored: Bool) -> String {
    parts.map { part in
      let text = VisibleText.line(part.text)
      guard isColored, let style = part.style, !text.isEmpty else { return text }
      return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }.joined()
  }
}
