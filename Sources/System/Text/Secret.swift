/// Bytes that must not be printed: a key, a token, a password.
///
/// Every accidental conversion to text (`description`, interpolation, `dump`) gives dots.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Stores the UTF-8 of `text`.
  package init(_ text: String) { bytes = Array(text.utf8) }

  /// The bytes, for the code that needs them.
  package func reveal() -> [UInt8] { bytes }

  /// The secret as text, without a trailing line end that an editor or a command left; nil unless
  /// UTF-8.
  package var text: String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let end = text.lastIndex { !$0.isNewline }
    return end.map { String(text[...$0]) } ?? ""
  }

  package var isEmpty: Bool { bytes.isEmpty }

  package var description: String { "•••" }
  package var debugDescription: String { "•••" }
  /// No children, so that `dump` and `String(reflecting:)` show none.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
