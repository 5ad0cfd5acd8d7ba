import JSON

/// `POST /composite/tree/X`: records with their children, all or none.
enum TreeResource {
  private static let most = 200
  private static let deepest = 5
  private static let mostTypes = 5

  /// Thrown inside the transaction to roll it back.
  private struct RolledBack: Error {}

  /// One record of the tree.
  private struct Node {
    let reference: String
    let schema: ObjectSchema
    let fields: JSONObject
    /// The field that refers to the parent, and the parent's index in the list.
    let parent: (field: String, place: Int)?
  }

  @Sendable static func create(_ call: APIRequest) throws(OrgError) -> APIResponse {
    guard let schema = call.schema(call.path[2]) else { throw .notFound }
    let body = try call.object(of: ["records"])
    guard let records = body["records"]?.array, !records.isEmpty else {
      throw .unreadableBody("The body must have an array \"records\"")
    }
    var nodes: [Node] = []
    for record in records { try add(record, schema, nil, 1, call, &nodes) }
    try check(nodes)
    var ids: [String] = []
    var refusals: [JSONValue] = []
    do {
      try call.org.transaction {
        for node in nodes {
          var fields = node.fields
          if let parent = node.parent { fields[parent.field] = .string(ids[parent.place]) }
          let outcome = call.org.create(node.schema.name, fields, as: call.user)
          guard let id = outcome.id else {
            refusals.append([
              "referenceId": .string(node.reference),
              "errors": .array(outcome.errors.map(\.collectionEntry)),
            ])
            throw RolledBack()
          }
          ids.append(id)
        }
      }
    } catch is RolledBack {
      return .json(["hasErrors": true, "results": .array(refusals)], status: 400)
    } catch {
      throw .storage(error)
    }
    let results = zip(nodes, ids).map { node, id in
      JSONValue.object(["referenceId": .string(node.reference), "id": .string(id)])
    }
    return .json(
      ["hasErrors": false, "results": .array(results)], status: 201, records: ids.count)
  }

  /// Adds a record before its children.
  private static func add(
    _ value: JSONValue, _ schema: ObjectSchema, _ parent: (field: String, place: Int)?,
    _ depth: Int, _ call: APIRequest, _ nodes: inout [Node]
  ) throws(OrgError) {
    guard let record = value.object, let attributes = record["attributes"]?.object,
      let reference = attributes["referenceId"]?.string, !reference.isEmpty
    else { throw .unreadableBody("Each record must have attributes with type and referenceId") }
    guard attributes["type"]?.string?.lowercased() == schema.name.lowercased() else {
      throw OrgError(
        code: "INVALID_INPUT",
        message: "The type of \(reference) must be \(schema.name) at this position")
    }
    guard depth <= deepest else { throw .tooMany("levels", depth, limit: deepest) }
    var fields = JSONObject()
    var children: [(ChildRelationship, [JSONValue])] = []
    for (name, member) in record where name.lowercased() != "attributes" {
      if let relationship = schema.children(relationship: name),
        let records = member["records"]?.array
      {
        children.append((relationship, records))
      } else {
        fields[name] = member
      }
    }
    let place = nodes.count
    nodes.append(Node(reference: reference, schema: schema, fields: fields, parent: parent))
    for (relationship, records) in children {
      guard let child = call.schema(relationship.childObject) else { continue }
      for record in records {
        try add(record, child, (relationship.field, place), depth + 1, call, &nodes)
      }
    }
  }

  private static func check(_ nodes: [Node]) throws(OrgError) {
    guard nodes.count <= most else { throw .tooMany("records", nodes.count, limit: most) }
    let types = Set(nodes.map(\.schema.name))
    guard types.count <= mostTypes else { throw .tooMany("types", types.count, limit: mostTypes) }
    var seen: Set<String> = []
    for node in nodes where !seen.insert(node.reference).inserted {
      throw OrgError(
        code: "INVALID_INPUT",
        message: "Duplicate ReferenceId provided in the request: "
          + node.reference)
    }
  }
}
