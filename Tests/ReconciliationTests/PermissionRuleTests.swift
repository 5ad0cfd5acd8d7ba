import JSON
import Reconciliation
import Testing

@Suite struct PermissionRuleTests {
  private static let contact = "0035g0000000001AAA"
  private static let account = "0015g0000000001AAA"
  private static let other = "0015g0000000002AAA"

  @Test(arguments: [
    ("Contact", false, true, true), ("CONTACT", false, true, true), ("contact", true, false, true),
    ("Account", false, true, false), ("Account", true, false, false), ("", true, false, false),
    ("Contact ", false, true, false), ("Contact", false, false, false),
  ])
  func `a record has one of the soup's types, and is new or issued to its user`(
    _ sobject: String, _ isNew: Bool, _ isGiven: Bool, _ isPermitted: Bool
  ) {
    let subject = PermissionRule.Subject(
      sobject: sobject, types: ["contact"], isNew: isNew, isGiven: isGiven)
    #expect((PermissionRule.restriction(of: subject) == nil) == isPermitted)
  }

  /// A field's value, its former value, and whether a user who was only issued `account` may write
  /// it.
  @Test(arguments: [
    (JSONValue.string(account), [JSONValue](), true),
    (.string(String(account.prefix(15))), [], true),
    (.string(other), [], false), (.string(String(other.prefix(15))), [], false),
    // A value that stays the same, or is already in the org, is not the device's choice.
    (.string(other), [.string(other)], true),
    (.string(String(other.prefix(15))), [.string(account), .string(other)], true),
    (.string(other), [.null], false), (.null, [.string(other)], true), ("", [], true),
    ("text", [], true), (.number("7"), [], true), ("local_7", [], true),
    // An external ID instead of an ID can refer to any record.
    (.object(["External_Id__c": "K1"]), [], false), (.array([.string(account)]), [], false),
    (.object(["Name": "A"]), [.object(["Name": "A"])], true),
    (.object(["Name": "B"]), [.object(["Name": "A"])], false),
  ])
  func `a reference is to a record of its user, or unchanged`(
    _ value: JSONValue, _ former: [JSONValue], _ isPermitted: Bool
  ) {
    for name in ["AccountId", "Any_Lookup__c"] {
      let references = PermissionRule.references(in: [name: value], of: nil) { _ in former }
      let limits = PermissionRule.restrictions(of: references) { $0 == Self.account }
      #expect(limits.isEmpty == isPermitted, "\(limits)")
    }
  }

  @Test func `a record type is not a record that is issued`() {
    let references = PermissionRule.references(in: ["RecordTypeId": "0125g0000000001AAA"], of: nil)
    { _ in [] }
    #expect(PermissionRule.restrictions(of: references) { _ in false } == [])
  }
}
