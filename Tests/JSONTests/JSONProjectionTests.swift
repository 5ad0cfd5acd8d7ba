import JSON
import Testing

@Suite struct JSONProjectionTests {
  static let element: JSONValue = [
    "Id": "1", "Account": ["Name": "Acme", "Owner": .null], "x.y": "unreachable",
    "Lines": [["Price": 1, "Tags": [["T": "a"], ["T": "b"]]], ["Other": 2], "scalar"], "Empty": [],
  ]

  @Test(
    arguments: [
      ("", element), ("Id", "1"), ("Account.Name", "Acme"), ("Account.Owner", .null),
      ("Account.Owner.Name", nil),
      ("Id.Name", nil), ("x.y", nil), ("Lines.Price", [1]), ("Lines.Tags.T", [["a", "b"]]),
      ("Lines.None", nil),
      ("Empty", []), ("Empty.Name", nil), ("Missing", nil), ("Account.", nil),
    ] as [(String, JSONValue?)])
  func `a dotted path is projected as in the SDK`(path: String, expected: JSONValue?) {
    #expect(JSONProjection.project(path, from: Self.element) == expected)
  }
}
