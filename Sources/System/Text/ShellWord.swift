/// A word of a command that users copy into a shell.
package enum ShellWord {
  /// The word quoted for a shell: unchanged if it has no special characters, otherwise in single
  /// quotes.
  package static func quoted(_ word: String) -> String {
    let isPlain = !word.isEmpty && !word.hasPrefix("~") && word.utf8.allSatisfy(isPlain)
    return isPlain ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
      true
    default: "/._-+,:@%~".utf8.contains(byte)
    }
  }
}
