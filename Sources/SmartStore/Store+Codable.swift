import FoundationEssentials
import JSON

/// Elements as Swift types, as an alternative to JSON text.
///
/// Code that needs Foundation is compiled into the calling program. A program that does not use it,
/// such as `attache` itself, is linked without Foundation, which saves three megabytes.
extension Store {
  /// Inserts or updates one element; see `upsert(_:into:externalIDPath:)` for JSON text.
  ///
  /// ```swift
  /// _ = try store.upsert(Account(Id: "001A", Name: "Acme"), into: "accounts")
  /// ```
  /// - Returns: The element's `_soupEntryId`.
  /// - Throws: `StoreError.invalidElement` if the value does not encode as a JSON object.
  @discardableResult
  @_alwaysEmitIntoClient
  public func upsert<Element: Encodable>(
    _ element: Element, into soup: String, externalIDPath: String = "_soupEntryId"
  ) throws(StoreError) -> Int64 {
    try upsert([element], into: soup, externalIDPath: externalIDPath).first ?? 0
  }

  /// Inserts or updates elements, all of them or none, and returns their `_soupEntryId`s.
  @discardableResult
  @_alwaysEmitIntoClient
  public func upsert<Element: Encodable>(
    _ elements: [Element], into soup: String, externalIDPath: String = "_soupEntryId"
  ) throws(StoreError) -> [Int64] {
    let encoder = JSONEncoder()
    var texts: [String] = []
    for (index, element) in elements.enumerated() {
      do {
        texts.append(String(decoding: try encoder.encode(element), as: UTF8.self))
      } catch {
        throw .invalidElement(soup: soup, element: index, reason: "it does not encode as JSON")
      }
    }
    return try upsertEncoded(texts, into: soup, externalIDPath: externalIDPath)
  }

  /// The `_soupEntryId`s of elements that an encoder wrote.
  @usableFromInline
  func upsertEncoded(
    _ texts: [String], into soup: String, externalIDPath: String
  ) throws(StoreError) -> [Int64] {
    var values: [JSONValue] = []
    for (index, text) in texts.enumerated() {
      guard let value = try? JSONValue(parsing: text) else {
        throw .invalidElement(soup: soup, element: index, reason: "it does not encode as JSON")
      }
      values.append(value)
    }
    return try upsert(values, into: soup, externalIDPath: externalIDPath).map {
      $0[StoreField.soupEntryID]?.int ?? 0
    }
  }

  /// A page of a query's elements as values of a type.
  ///
  /// - Throws: `StoreError.notDecodable` for an element that does not decode as the type.
  @_alwaysEmitIntoClient
  public func query<Element: Decodable>(
    _ type: Element.Type, _ spec: QuerySpec, page: Int = 0
  ) throws(StoreError) -> [Element] {
    let decoder = JSONDecoder()
    var elements: [Element] = []
    for (index, text) in try query(spec, page: page).enumerated() {
      do {
        elements.append(try decoder.decode(type, from: Data(text.utf8)))
      } catch {
        throw .notDecodable(
          soup: spec.soupName, element: index, reason: Self.reason(of: error))
      }
    }
    return elements
  }

  /// The position at which decoding failed, without a value of the element.
  @usableFromInline
  static func reason(of error: any Error) -> String {
    func place(_ path: [any CodingKey]) -> String {
      path.isEmpty ? "" : " at " + path.map(\.stringValue).joined(separator: ".")
    }
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return "it has no \(key.stringValue)" + place(context.codingPath)
    case DecodingError.valueNotFound(_, let context):
      return "it has no value" + place(context.codingPath)
    case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context):
      return "it has a value of another type" + place(context.codingPath)
    default: return "it has another structure"
    }
  }
}
