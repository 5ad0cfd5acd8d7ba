import JSON

/// A page layout of an object type.
public struct Layout: Sendable, Hashable {
  /// The ID of its element in the store.
  public let id: String
  /// The object type's API name.
  public let objectAPIName: String?
  /// The layout type, such as `Full` or `Compact`.
  public let layoutType: String?
  /// The mode, such as `View` or `Edit`.
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
