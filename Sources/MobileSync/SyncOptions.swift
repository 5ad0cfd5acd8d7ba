import JSON

/// The options of a sync.
public struct SyncOptions: Sendable, Hashable {
  /// The fields that a sync up sends if its target names none.
  ///
  /// An empty list sends no fields.
  public var fieldlist: [String]?
  /// What happens to a record that changed on both sides.
  public var mergeMode: MergeMode

  /// Creates options; the default is that of the SDK, to overwrite.
  public init(fieldlist: [String]? = nil, mergeMode: MergeMode = .overwrite) {
    self.fieldlist = fieldlist
    self.mergeMode = mergeMode
  }

  /// The options as a device stores them.
  package var json: JSONValue {
    var object: JSONObject = ["mergeMode": .string(mergeMode.rawValue)]
    if let fieldlist { object["fieldlist"] = JSONValue(fieldlist) }
    return .object(object)
  }

  /// Reads options as stored in `syncs_soup`; a missing merge mode is the SDK's default.
  package init(stored json: JSONValue) {
    self.init(
      fieldlist: json["fieldlist"]?.array?.compactMap(\.string),
      mergeMode: json["mergeMode"]?.string.flatMap(MergeMode.init(rawValue:)) ?? .overwrite)
  }

  /// Reads the options of a sync; nil if the merge mode is wrong.
  ///
  /// A sync down without a merge mode overwrites. A sync up must have one.
  init?(_ node: JSONNode, of type: SyncType?, _ reader: ConfigurationReader) {
    let misplaced = ["createFieldlist", "updateFieldlist"]
    guard
      let object = reader.object(
        node, known: ["mergeMode", "fieldlist"] + misplaced, what: "the section options")
    else { return nil }
    for name in misplaced {
      guard let member = object.member(name), !reader.isLenient else { continue }
      reader.report(
        member, "\"\(name)\" is a key of the target, where the SDK looks for it",
        "move it into \"target\"")
    }
    fieldlist = object.strings("fieldlist")
    guard let word = object["mergeMode"] else {
      mergeMode = .overwrite
      if type == .syncUp {
        reader.report(
          node, "Android rejects a sync up without \"mergeMode\", and iOS crashes",
          "add \"mergeMode\": \"LEAVE_IF_CHANGED\", which never overwrites what others have "
            + "changed, or \"OVERWRITE\"")
      }
      return
    }
    guard let mode = reader.word(word, "a merge mode", as: MergeMode.self) else { return nil }
    mergeMode = mode
  }
}
