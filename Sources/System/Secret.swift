/// Bytes that must not be printed: a key, a token, a password.
///
/// Every way to make text of it by accident (`description`, interpolation, `dump`) gives dots.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let bytes: [UInt8]

  /// Keeps `bytes`.
  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Keeps the UTF-8 of `text`.
  package init(_ text: String) { bytes = Array(text.utf8) }

  /// The bytes, for the one place that needs them.
  package func reveal() -> [UInt8] { bytes }

  /// The secret as text, without a line's end that an editor or a command left; nil unless UTF-8.
  package var text: String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let end = text.lastIndex { !$0.isNewline }
    return end.map { String(text[...$0]) } ?? ""
  }

  /// Whether there is nothing in it.
  package var isEmpty: Bool { bytes.isEmpty }

  /// Dots.
  package var description: String { "•••" }
  /// Dots.
  package var debugDescription: String { "•••" }
  /// No children, so that `dump` and `String(reflecting:)` show none.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
