import JSON

/// A page layout of an object type.
public struct Layout: Sendable, Hashable {
  /// The id under which the store keeps it.
  public let id: String
  /// The object type's API name.
  public let objectAPIName: String?
  /// How much of a record it shows.
  public let layoutType: String?
  /// What it is used for.
  public let mode: String?
  /// The whole layout as JSON: sections, rows, items.
  public let json: String

  init(_ element: JSONValue) {
    id = element[AnswerElement.idPath]?.string ?? ""
    objectAPIName = element["objectApiName"]?.string
    layoutType = element["layoutType"]?.string
    mode = element["mode"]?.string
    json = element.text
  }
}
