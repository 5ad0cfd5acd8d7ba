/// The fields that a SOSL search returns.
package enum SOSLFields {
  /// The names in the parentheses of the RETURNING clause, each once, in their order.
  ///
  /// What formats a field, such as `toLabel(Status)`, is none.
  package static func names(in search: String) -> [String] {
    let bytes = Array(search.utf8)
    var names: [String] = []
    var index = textEnd(bytes)
    var depth = 0
    var word: [UInt8] = []
    // Conditions and orders follow the fields of an object.
    var isList = false
    func end(before byte: UInt8) {
      defer { word = [] }
      guard depth == 1, isList, !word.isEmpty else { return }
      let name = String(decoding: word, as: UTF8.self)
      if ["where", "order", "limit", "offset", "using"].contains(name.lowercased()) {
        isList = false
      } else if byte != UInt8(ascii: "("), !names.contains(name) {
        names.append(name)
      }
    }
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "'"):
        index = min(SOQLTokens.endOfQuoted(bytes, from: index), bytes.count)
        continue
      case UInt8(ascii: "("):
        end(before: byte)
        depth += 1
        if depth == 1 { isList = true }
      case UInt8(ascii: ")"):
        end(before: byte)
        depth -= 1
      case UInt8(ascii: ","), 0x09, 0x0A, 0x0D, 0x20: end(before: byte)
      default: word.append(byte)
      }
      index += 1
    }
    return names
  }

  /// The place after the braces that hold what is searched for; 0 where there are none.
  static func textEnd(_ bytes: [UInt8]) -> Int {
    guard var index = bytes.firstIndex(of: UInt8(ascii: "{")) else { return 0 }
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\"): index += 2
      case UInt8(ascii: "}"): return index + 1
      default: index += 1
      }
    }
    return 0
  }
}

extension SOSLFields {
  /// The names of the objects in the RETURNING clause, in their order.
  package static func objects(in search: String) -> [String] {
    let bytes = Array(search.utf8)
    var names: [String] = []
    var index = textEnd(bytes)
    var depth = 0
    var word: [UInt8] = []
    var isList = false
    /// An object's name stands after RETURNING, and after a comma between objects.
    var isName = false
    func end() {
      defer { word = [] }
      guard depth == 0, !word.isEmpty else { return }
      let text = String(decoding: word, as: UTF8.self)
      if isName {
        names.append(text)
        isName = false
      } else if text.lowercased() == "returning" {
        (isList, isName) = (true, true)
      } else {
        isList = false
      }
    }
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "'"):
        index = min(SOQLTokens.endOfQuoted(bytes, from: index), bytes.count)
        continue
      case UInt8(ascii: "("):
        end()
        depth += 1
      case UInt8(ascii: ")"):
        end()
        depth -= 1
        word = []
      case UInt8(ascii: ","):
        end()
        isName = isList && depth == 0
      case 0x09, 0x0A, 0x0D, 0x20: end()
      default: word.append(byte)
      }
      index += 1
    }
    end()
    return names
  }
}
