import JSON
import Ledger
import Testing

@testable import Reconciliation

struct OwnWriteStoryTests {
  private func write(
    edit: Int64, _ day: Int, sent: JSONObject, entered: JSONObject = [:], row: JSONObject
  ) -> OwnWriteStory.Write {
    OwnWriteStory.Write(
      edit: edit, date: "2026-01-0\(day)T00:00:00.000+0000", left: sent, sent: sent, former: [:],
      entered: entered, element: row, isUndo: false, isDoubted: false, detail: OutcomeDetail())
  }

  @Test func `what a person entered is no device's value until the device has sent its own`() throws
  {
    var story = OwnWriteStory(nil)
    story.add(
      write(edit: 1, 1, sent: ["A": "typed"], entered: ["A": "typed"], row: ["A": "mine"]),
      isSameRow: true)
    let first = try #require(story.write(isOfDevicesOwn: false))
    #expect(first.entered == ["A"])
    // What the device holds still is no edit of it.
    #expect(first.sent["A"] == "mine")
    story.add(write(edit: 2, 2, sent: ["A": "later"], row: ["A": "later"]), isSameRow: true)
    let second = try #require(story.write(isOfDevicesOwn: false))
    #expect(second.entered == [])
    #expect(second.sent["A"] == "later")
    #expect(second.given["A"] == nil)
  }
}
