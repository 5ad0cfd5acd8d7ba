import JSON

extension QuerySpec {
  /// Reads a query spec in the format of apps.
  ///
  /// The default page size is that of iOS.
  package init(soupName: String, reading json: JSONValue) throws(StoreError) {
    let path = json["indexPath"]?.string
    func need(_ name: String) throws(StoreError) -> String {
      guard let value = json[name]?.string else {
        throw .invalidQuery("a query of this type needs \"\(name)\"")
      }
      return value
    }
    if json["whereArgs"] != nil, json["queryType"]?.string != "smart" {
      throw .invalidQuery("whereArgs is only allowed for smart queries")
    }
    let kind: Kind
    switch json["queryType"]?.string {
    case "exact": kind = .exact(path: try need("indexPath"), matchKey: json["matchKey"]?.string)
    case "like": kind = .like(path: try need("indexPath"), likeKey: try need("likeKey"))
    case "match": kind = .match(path: path, matchKey: try need("matchKey"))
    case "smart":
      kind = .smart(
        try need("smartSql"), arguments: json["whereArgs"]?.array?.compactMap(\.string) ?? [])
    case "range":
      kind =
        path.map {
          .range(path: $0, beginKey: json["beginKey"]?.string, endKey: json["endKey"]?.string)
        } ?? .all
    default:
      throw .invalidQuery("\"queryType\" must be exact, range, like, match or smart")
    }
    self.init(
      soupName: soupName, kind, selectPaths: json["selectPaths"]?.array?.compactMap(\.string) ?? [],
      orderPath: json["orderPath"]?.string,
      order: json["order"]?.string.flatMap(Order.init) ?? .ascending,
      pageSize: json["pageSize"]?.int.map(Int.init(clamping:)) ?? Self.defaultPageSize)
  }
}
