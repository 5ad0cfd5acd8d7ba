import JSON

/// The text in which the ledger keeps what a device was given of a record.
enum MergeBaseText {
  static func text(_ base: MergeBase) -> String {
    var object = JSONObject()
    object["date"] = base.modificationDate.map { JSONValue.string($0) } ?? .null
    if let lastModified = base.lastModified { object["lastModified"] = JSONValue(lastModified) }
    object["complete"] = JSONValue(base.isComplete)
    object["fields"] = .object(base.fields)
    return JSONValue.object(object).text
  }

  static func base(_ text: String) -> MergeBase? {
    // A base that cannot be read is a base that is gone: the comparison is poorer, nothing is lost.
    guard let value = try? JSONValue(parsing: text), let fields = value["fields"]?.object else {
      return nil
    }
    return MergeBase(
      modificationDate: value["date"]?.string, lastModified: value["lastModified"]?.int,
      fields: fields, isComplete: value["complete"]?.bool ?? false)
  }
}
