import JSON
import MobileSync
import Salesforce
import Testing

@Suite struct ShareabilityTests {
  private static func describe(
    _ name: String = "Account", setting: Bool = false, without hidden: String = "",
    shout: String = "UPPER(Name) & ' of $User, TODAY()'"
  ) throws -> Describe {
    let fields: [(name: String, type: String, formula: String?)] = [
      ("Id", "id", nil), ("Name", "string", nil), ("Phone", "phone", nil),
      ("Plain__c", "string", nil), ("SystemModstamp", "datetime", nil),
      ("LastViewedDate", "datetime", nil),
      ("BillingAddress", "address", nil), ("Type", "picklist", nil),
      ("Amount", "currency", nil), ("Secret__c", "encryptedstring", nil),
      ("Shout__c", "string", shout),
      ("Twice__c", "string", "Shout__c & \"\\\"\" & Shout__c"),
      ("Kind__c", "boolean", "ISPICKVAL(Type, 'A') || Amount > 1.5 && TRUE"),
      ("Mine__c", "boolean", "OwnerId = $User.Id"), ("Deep__c", "string", "LEFT(Of_User__c, 3)"),
      ("Of_User__c", "string", "$Profile.Name"), ("Age__c", "double", "TODAY() - Made__c"),
      ("Parent__c", "string", "Parent.Name"), ("Rate__c", "currency", "Amount * 2"),
      ("Self__c", "string", "Self__c & 'x'"), ("Note__c", "string", "Name /* $User.Id */"),
      ("Open__c", "string", "'a"), ("Text__c", "string", "TEXT(Type)"),
      ("Setting__c", "string", "$Setup.Fleet__c.Word__c & Name"),
    ]
    var described = fields.filter { $0.name != hidden }.map { field -> JSONValue in
      [
        "name": .string(field.name), "type": .string(field.type),
        "calculated": .bool(field.formula != nil),
        "calculatedFormula": field.formula.map { .string($0) } ?? .null,
        "encrypted": .bool(field.type == "encryptedstring"),
      ]
    }
    described.append(["name": "Rollup__c", "type": "double", "calculated": true])
    let value: JSONValue = [
      "name": .string(name), "fields": .array(described), "customSetting": .bool(setting),
    ]
    return try #require(Describe(value))
  }

  private func reasons(_ shareability: Shareability) -> [String] {
    if case .separate(let reasons) = shareability { reasons } else { [] }
  }

  @Test(arguments: [
    ("Name", ""), ("phone", ""), ("Amount", ""), ("Type", ""), ("Shout__c", ""),
    ("Twice__c", ""), ("Kind__c", ""),
    ("LastViewedDate", "Account.LastViewedDate has a value for each user"),
    ("BillingAddress", "Account.BillingAddress has the type address"),
    ("Secret__c", "Account.Secret__c is encrypted, and may be masked"),
    ("Rollup__c", "Account.Rollup__c is calculated in a way that the org hides"),
    ("Mine__c", "Account.Mine__c is a formula: Account.OwnerId is unknown to this user"),
    ("Of_User__c", "Account.Of_User__c is a formula that reads $Profile.Name"),
    (
      "Deep__c",
      "Account.Deep__c is a formula: Account.Of_User__c is a formula that reads $Profile.Name"
    ),
    ("Setting__c", "Account.Setting__c is a formula that reads $Setup.Fleet__c.Word__c"),
    ("Age__c", "Account.Age__c is a formula with the function TODAY"),
    ("Text__c", "Account.Text__c is a formula with the function TEXT"),
    ("Parent__c", "Account.Parent__c is a formula that reads Parent.Name"),
    ("Rate__c", "Account.Rate__c is a formula in a currency"),
    ("Self__c", "Account.Self__c is a formula: Account.Self__c is a formula that reads itself"),
    ("Note__c", "Account.Note__c is a formula that cannot be read"),
    ("Open__c", "Account.Open__c is a formula that cannot be read"),
    ("Owner.Name", "Account.Owner.Name is a field of another record"),
    ("Nothing", "Account.Nothing is unknown to this user"),
  ])
  func `a field is shared if its value cannot depend on the user`(
    _ field: String, _ reason: String
  ) throws {
    let object = try Self.describe()
    let found = Shareability.of(object, fields: ["Id", field])
    #expect(reasons(found) == (reason.isEmpty ? [] : [reason]))
    // Next to a field that is shared, a field of the object is the user's own.
    let beside = Shareability.of(object, fields: ["Id", "Plain__c", field])
    guard object.field(field) != nil else { return #expect(reasons(beside) == [reason]) }
    guard case .shared(let name, let own) = beside else {
      Issue.record("\(beside)")
      return
    }
    #expect(own == (reason.isEmpty ? [] : [reason]))
    #expect(name.own == (reason.isEmpty ? [] : [field]))
    #expect(name.shared == ["Id", "Plain__c"] + (reason.isEmpty ? [field] : []))
  }

  @Test func `if most of the selected fields are the user's own, nothing is shared`() throws {
    let fields = ["Id", "SystemModstamp", "Name", "Of_User__c"]
    #expect(reasons(Shareability.of(try Self.describe(), fields: fields)).isEmpty)
    #expect(
      reasons(Shareability.of(try Self.describe(), fields: fields + ["Secret__c"])) == [
        "Account.Of_User__c is a formula that reads $Profile.Name",
        "Account.Secret__c is encrypted, and may be masked",
      ])
  }

  @Test func `the fields of a user that are not selected do not divide the users`() throws {
    let fields = ["Id", "Phone", "Of_User__c"]
    let found = Shareability.of(try Self.describe(), fields: fields)
    #expect(reasons(found).isEmpty)
    #expect(Shareability.of(try Self.describe(without: "Name"), fields: fields) == found)
  }

  @Test(arguments: [
    ("SELECT Id, Name FROM Account", ""),
    ("SELECT a.Id, a.Phone FROM Account a WHERE OwnerId = 'x' ORDER BY Name", ""),
    ("SELECT Id FROM Account LIMIT 5", "the query has LIMIT"),
    ("SELECT Id FROM Account LIMIT 5 OFFSET 5", "the query has LIMIT; the query has OFFSET"),
    ("SELECT Id FROM Account USING SCOPE mine", "the query has USING SCOPE"),
    ("SELECT Id FROM Account WITH SECURITY_ENFORCED", "the query has WITH"),
    ("SELECT Id FROM Account FOR VIEW", "the query has FOR"),
    ("SELECT Id FROM Account ALL ROWS", "the query has ALL ROWS"),
    ("SELECT Id, toLabel(Type) FROM Account", "other"),
    ("SELECT Id, FORMAT(Amount) FROM Account", "other"),
    ("SELECT Id, convertCurrency(Amount) FROM Account", "other"),
    ("SELECT Id, (SELECT Id FROM Contacts) FROM Account", "other"),
    ("SELECT Id, TYPEOF Owner WHEN User THEN Name END FROM Account", "other"),
    ("SELECT FIELDS(STANDARD) FROM Account", "other"),
    ("SELECT COUNT(Id) n FROM Account", "other"),
    ("SELECT Type FROM Account GROUP BY Type", "the query has GROUP BY"),
    ("SELECT Id, Owner.Name FROM Account", "Account.Owner.Name is a field of another record"),
  ])
  func `a query is shared if it selects plain fields of all matching records`(
    _ query: String, _ reason: String
  ) throws {
    let found = reasons(Shareability.of(try Self.describe(), try SOQLText(query)))
    let other = "the query selects something other than fields"
    #expect(found.joined(separator: "; ") == (reason == "other" ? other : reason))
  }

  @Test(arguments: [
    ("Contact", true), ("Site_Visit__c", true), ("User", false), ("Group", false),
    ("Event", false), ("Guide__kav", false), ("Far__x", false), ("Rule__mdt", false),
  ])
  func `only known objects are shared`(_ object: String, _ isShared: Bool) throws {
    let found = Shareability.of(try Self.describe(object), fields: ["Id", "Name"])
    #expect(reasons(found).isEmpty == isShared)
    let setting = try Self.describe("Fleet__c", setting: true)
    #expect(!reasons(Shareability.of(setting, fields: ["Id"])).isEmpty)
    let bare = try Self.describe(without: "SystemModstamp")
    #expect(!reasons(Shareability.of(bare, fields: ["Id"])).isEmpty)
  }

  @Test func `users are in one class if all that the values depend on is the same`() throws {
    func found(_ fields: [String], without hidden: String = "") throws -> Shareability {
      .of(try Self.describe(without: hidden), fields: fields)
    }
    let twice = try found(["Id", "Twice__c"])
    #expect(reasons(twice).isEmpty)
    #expect(try found(["Id", "Twice__c"], without: "Phone") == twice)
    #expect(try found(["Twice__c", "Id"]) != twice)
    let other = try Self.describe(shout: "LOWER(Name)")
    #expect(Shareability.of(other, fields: ["Id", "Twice__c"]) != twice)
    #expect(try !reasons(found(["Id", "Twice__c"], without: "Name")).isEmpty)
    let query = Shareability.of(
      try Self.describe(), try SOQLText("SELECT Id, Twice__c FROM Account"))
    #expect(reasons(query).isEmpty && query != twice)
  }
}
