import MobileSync
import Testing

@Suite struct BriefcaseBatchTests {
  private static let wanted = [["a", "b", "c"], [], ["d", "e"]]

  private static func text(_ slices: [[BriefcaseBatch]]) -> [String] {
    slices.map { slice in slice.map { "\($0.group):" + $0.ids.joined() }.joined(separator: " ") }
  }

  @Test(arguments: [
    (1, ["0:a", "0:b", "0:c", "2:d", "2:e"]), (2, ["0:ab", "0:c 2:d", "2:e"]),
    (3, ["0:abc", "2:de"]), (4, ["0:abc 2:d", "2:e"]), (9, ["0:abc 2:de"]),
    (0, ["0:a", "0:b", "0:c", "2:d", "2:e"]),
  ])
  func `a slice spans groups in their order`(_ size: Int, _ slices: [String]) {
    #expect(Self.text(BriefcaseBatch.slices(of: Self.wanted, size: size)) == slices)
  }

  @Test func `no slice has more ids than a retrieve accepts`() {
    let slices = BriefcaseBatch.slices(of: [(0..<4001).map(String.init)], size: 9999)
    #expect(slices.map { $0.map(\.ids.count) } == [[2000], [2000], [1]])
  }

  @Test func `a response is read by position, with any nulls in it`() throws {
    let batch = BriefcaseBatch(
      group: 0, ids: ["001000000000001AAA", "001000000000002AAA", "001000000000003AAA"])
    let page = Array(#"[{"Id":"001000000000003AAA"},null,{"Id":"001000000000001AAA"}]"#.utf8)
    let (count, missing) = try batch.read(page)
    #expect(count == 3)
    #expect(missing == ["001000000000002AAA"])
    #expect(throws: SyncError.self) { try batch.read(Array("{}".utf8)) }
  }
}
