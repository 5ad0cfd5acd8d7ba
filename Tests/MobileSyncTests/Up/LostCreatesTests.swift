import JSON
import MobileSync
import Testing

@Suite struct LostCreatesTests {
  private func record(_ number: Int, _ name: String, _ phone: String = "1") -> JSONObject {
    ["Id": .string("00100000000000\(number)"), "Name": .string(name), "Phone": .string(phone)]
  }

  private func id(_ number: Int) -> LostCreates.Fate {
    .made(LostCreates.id(of: record(number, "")) ?? "")
  }

  private let a: JSONObject = ["Name": "A", "Phone": "1"]
  private let b: JSONObject = ["Name": "B", "Phone": "1", "Fax": "2"]

  @Test func `a record that agrees in all that can be read is what the create made`() {
    #expect(LostCreates.match([a, b], [record(2, "B"), record(1, "A")]) == [id(1), id(2)])
  }

  @Test func `a create that no record agrees with made none`() {
    #expect(LostCreates.match([a], []) == [.notMade])
    #expect(LostCreates.match([a], [record(1, "C", "3")]) == [.notMade])
  }

  @Test func `as many equal records as equal creates are theirs, in any order`() {
    #expect(LostCreates.match([a, a], [record(1, "A"), record(2, "A")]) == [id(1), id(2)])
  }

  @Test(arguments: [[1], [1, 2, 3]])
  func `another number of equal records is for a person to look at`(_ numbers: [Int]) {
    let fates = LostCreates.match([a, a], numbers.map { record($0, "A") })
    #expect(fates.allSatisfy { if case .unclear = $0 { true } else { false } })
  }

  @Test func `a record that agrees in most is for a person to look at`() {
    let long: JSONObject = ["Name": "A", "Phone": "1", "Fax": "2"]
    let other: JSONObject = [
      "Id": "001000000000001", "Name": "A", "Phone": "1", "Fax": "9",
    ]
    guard case .unclear? = LostCreates.match([long], [other]).first else {
      Issue.record("it was decided")
      return
    }
  }

  @Test func `what an org trims agrees all the same`() {
    #expect(LostCreates.agreement(of: ["Name": "A  "], with: record(1, "A")) == .whole)
    #expect(LostCreates.agreement(of: ["Secret": "A"], with: record(1, "A")) == .partial)
    #expect(LostCreates.agreement(of: [:], with: record(1, "A")) == .whole)
  }
}
