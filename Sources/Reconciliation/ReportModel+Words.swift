import Ledger

extension ReportModel {
  /// What the org calls an object; else its API name in words.
  package func label(_ object: String) -> String {
    if let label = labels[object] { return label }
    var words = ""
    let name = object.hasSuffix("__c") ? object.dropLast(3) : object[...]
    for character in name {
      let isNew = character.isUppercase && words.last?.isLowercase == true
      if isNew || character == "_" { words += " " }
      if character != "_" { words.append(character) }
    }
    return words
  }

  /// The address of a record in the org, for a person to open; nil where it is not known.
  package func address(of recordID: String?) -> String? {
    guard let recordID, !recordID.isEmpty, !instance.isEmpty else { return nil }
    return recordID.utf8.allSatisfy(Self.isLetterOrDigit) ? instance + "/" + recordID : nil
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  /// What happened on the way to this report, in order of time.
  package var timeline: [ReportMoment] {
    var run = ReportMoment(kind: .run, name: "", from: self.run.now, to: self.run.now)
    run.count = edits.count
    return (edits.totals.moments + [run]).sorted {
      ($0.from, $0.to, $0.kind.rawValue, $0.name) < ($1.from, $1.to, $1.kind.rawValue, $1.name)
    }
  }

  /// The users whom a report tells of.
  package var everybody: [String] {
    let names = edits.totals.usernames.union(stillOpen.totals.usernames)
    return names.union((findings + earlierFindings).compactMap { $0.text("username") }).sorted()
  }
}
