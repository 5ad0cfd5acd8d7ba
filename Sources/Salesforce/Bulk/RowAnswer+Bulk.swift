// Rows of an ingest job.
extension RowAnswer {
  /// Creates the answer for a successful row; `recordID` is the ID of the addressed record, nil for
  /// a new one.
  package init(_ success: BulkIngestJob.Results.Success, recordID: String?, isUpsert: Bool) {
    self = Self.done(
      success.id.isEmpty ? recordID : success.id, created: isUpsert ? success.isCreated : nil,
      meant: recordID)
  }

  /// Creates the answer for a rejected row: `CODE:message:field field --`.
  package init(_ failure: BulkIngestJob.Results.Failure) {
    var words = Substring(failure.error)
    var code: String?
    var fields: [String] = []
    if let colon = words.firstIndex(of: ":"), words[..<colon].allSatisfy(\.isOfCode) {
      code = String(words[..<colon])
      words = words[words.index(after: colon)...]
    }
    if words.hasSuffix("--") {
      words = words.dropLast(2)
      if let colon = words.lastIndex(of: ":") {
        let names = words[words.index(after: colon)...].split { $0 == " " || $0 == "," }
        if names.allSatisfy({ APIName.isValid(String($0)) }) {
          fields = names.map(String.init)
          words = words[..<colon]
        }
      }
    }
    self = Self.refusal(
      RowRefusal(
        code: code, message: words.isEmpty ? "the org gave no reason" : String(words),
        fields: fields, raw: failure.error), blaming: fields, isMissing: false)
  }
}

extension Character {
  fileprivate var isOfCode: Bool { self == "_" || (isASCII && (isUppercase || isNumber)) }
}
